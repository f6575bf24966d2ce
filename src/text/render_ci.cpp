// Diagnostics for machines of continuous integration: GitHub's commands and JUnit's XML.
#include <fmt/format.h>

#include "napkin/text.hpp"
#include "text/escape.hpp"
#include "text/github.hpp"
#include "text/junit.hpp"

namespace napkin {
namespace {

std::string percent_encoded(std::string_view text, std::string_view also) {
  std::string out;
  for (const char c : printable(text))
    if (c == '%' || c == '\n' || also.find(c) != std::string_view::npos)
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    else
      out += c;
  return out;
}

bool is_warning(const Diagnostic& diagnostic) {
  const auto* code = find_code(diagnostic.code);
  return code != nullptr && code->severity == Severity::warning;
}

// Message, notes and help.
std::string whole_text(const Diagnostic& diagnostic) {
  auto text = diagnostic.message;
  for (const auto& note : diagnostic.notes) text += "\n" + note;
  return diagnostic.help.empty() ? text : text + "\nhelp: " + diagnostic.help;
}

// "attention.nap:3", or empty where the mistake stands in no file.
std::string place_of(const Sources& sources, const Diagnostic& diagnostic) {
  const auto file = diagnostic.span.file;
  if (file >= sources.size() || sources.at(file).name.starts_with('<')) return "";
  return fmt::format("{}:{}", sources.at(file).name, sources.locate(file, diagnostic.span.begin).line);
}

}  // namespace

std::string github_command(std::string_view kind, const std::vector<std::pair<std::string, std::string>>& properties,
                           std::string_view message) {
  std::string line = fmt::format("::{}", kind);
  for (const auto& [key, value] : properties)
    line += (&key == &properties.front().first ? " " : ",") + fmt::format("{}={}", key, percent_encoded(value, ":,"));
  return line + "::" + percent_encoded(message, "") + "\n";
}

std::string render_github(const Sources& sources, const Diagnostics& diagnostics) {
  std::string text;
  for (const auto& one : diagnostics.sorted()) {
    std::vector<std::pair<std::string, std::string>> properties;
    if (const auto place = place_of(sources, one); !place.empty()) {
      const auto colon = place.rfind(':');
      properties = {{"file", place.substr(0, colon)}, {"line", place.substr(colon + 1)}};
    }
    properties.emplace_back("title", fmt::format("napkin {}", one.code));
    text += github_command(is_warning(one) ? "warning" : "error", properties, whole_text(one));
  }
  return text;
}

std::string render_junit(const Sources& sources, const Diagnostics& diagnostics) {
  std::vector<JunitCase> cases;
  for (const auto& one : diagnostics.sorted())
    if (!is_warning(one))
      cases.push_back(
          {"napkin", std::string(one.code), "error", one.message, place_of(sources, one) + "\n" + whole_text(one)});
  return junit_text({{"napkin", std::move(cases)}});
}

}  // namespace napkin
