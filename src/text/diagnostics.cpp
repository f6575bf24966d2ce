// Collects diagnostics and puts them in order.
#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "napkin/text.hpp"
#include "text/limits.hpp"

namespace napkin {

namespace {

bool is_error(const Diagnostic& diagnostic) {
  const Code* code = find_code(diagnostic.code);
  return code == nullptr || code->severity == Severity::error;
}

auto place(const Diagnostic& d) { return std::tie(d.span.file, d.span.begin, d.span.end, d.code, d.message); }

Diagnostic too_many() {
  return {.code = "E0601", .message = fmt::format("more than {} errors; the rest is left out", limits::errors)};
}

}  // namespace

Fix write_instead(Span span, const std::string& text) { return {fmt::format("write `{}`", text), {{span, text}}}; }

void Diagnostics::add(Diagnostic diagnostic) {
  if (diagnostic.help.empty() && !diagnostic.fixes.empty()) diagnostic.help = diagnostic.fixes.front().title;
  const bool error = is_error(diagnostic);
  if (error && errors_ > limits::errors) return;
  const auto same = [&](const auto& other) { return place(other) == place(diagnostic); };
  if (std::any_of(all_.begin(), all_.end(), same)) return;
  if (error && ++errors_ > limits::errors) diagnostic = too_many();
  all_.push_back(std::move(diagnostic));
}

bool Diagnostics::has_errors() const { return errors_ > 0; }

std::vector<Diagnostic> Diagnostics::sorted() const {
  auto result = all_;
  std::stable_sort(result.begin(), result.end(), [](const auto& a, const auto& b) { return place(a) < place(b); });
  return result;
}

}  // namespace napkin
