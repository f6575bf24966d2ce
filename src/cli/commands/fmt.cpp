// `napkin fmt`: writes canonical text. Files are rewritten in place, only if they change; `-` goes to standard output.
#include "cli/commands/commands.hpp"
#include "cli/files.hpp"
#include "napkin/syntax.hpp"
#include "text/escape.hpp"

namespace napkin::cli {
namespace {

std::optional<std::string> canonical(Session& session, std::uint32_t file) {
  const auto before = session.diagnostics.size();
  const auto syntax = parse(session.sources, file, session.diagnostics);
  if (session.diagnostics.size() != before) return std::nullopt;
  return print(session.sources, syntax);
}

// Returns whether the text was canonical already.
bool format_file(Session& session, const std::string& path, std::string& product) {
  const auto file = load(session, path);
  const auto text = file ? canonical(session, *file) : std::nullopt;
  if (!text) return true;
  const bool same = *text == session.sources.at(*file).text;
  if (session.options.check) {
    if (!same) product += on_one_line(path) + "\n";
  } else if (path == "-" || !session.options.output.empty()) {
    product += *text;
  } else if (!same) {
    save(session, path, *text);
  }
  return same;
}

}  // namespace

int run_fmt(Session& session) {
  const auto& files = session.options.arguments;
  if (!session.options.output.empty() && files.size() > 1) {
    complain(session, "E0522", "`-o` takes the text of one file", files.back());
    return finish(session);
  }
  std::string product;
  bool all_same = true;
  for (const auto& path : files) all_same = format_file(session, path, product) && all_same;
  const int code = session.options.check && !all_same ? exit_gate : exit_done;
  if (session.diagnostics.has_errors() || product.empty()) return finish(session, code);
  return deliver(session, product, code);
}

}  // namespace napkin::cli
