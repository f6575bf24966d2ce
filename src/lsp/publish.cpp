// Diagnostics to the protocol's: the words of the command line, at ranges.
#include <fmt/format.h>

#include "lsp/session.hpp"

namespace napkin::lsp {
namespace {

enum Severities : int { shown_as_error = 1, shown_as_warning = 2 };

bool of_the_text(const Reading& reading, const Label& label) { return label.span.file == reading.file; }

// A second place that no editor can open, or that this one does not show, becomes a note.
std::string place_note(const Reading& reading, const Label& label) {
  if (label.span.file >= reading.sources.size()) return "";
  const auto at = reading.sources.locate(label.span.file, label.span.begin);
  const auto file = of_the_text(reading, label) ? "line " : reading.sources.at(label.span.file).name + ":";
  return fmt::format("\nnote: {} ({}{})", label.text, file, at.line);
}

std::string message(const Reading& reading, const Diagnostic& diagnostic, bool related) {
  auto text = diagnostic.message;
  if (!diagnostic.label.empty()) text += "\n" + diagnostic.label;
  for (const auto& other : diagnostic.others)
    if (!related || !of_the_text(reading, other)) text += place_note(reading, other);
  for (const auto& note : diagnostic.notes) text += "\nnote: " + note;
  if (!diagnostic.help.empty()) text += "\nhelp: " + diagnostic.help;
  return text;
}

Json related_places(const Reading& reading, const std::string& uri, const Diagnostic& diagnostic) {
  auto places = Json::array();
  for (const auto& other : diagnostic.others)
    if (of_the_text(reading, other))
      places.push_back({{"location", {{"uri", uri}, {"range", range(reading, other.span)}}}, {"message", other.text}});
  return places;
}

Json to_json(const Reading& reading, const std::string& uri, const Diagnostic& diagnostic, bool related) {
  const auto* code = find_code(diagnostic.code);
  const bool warning = code && code->severity == Severity::warning;
  Json json{{"range", range(reading, diagnostic.span)},
            {"severity", warning ? shown_as_warning : shown_as_error},
            {"code", diagnostic.code},
            {"source", "napkin"},
            {"message", message(reading, diagnostic, related)}};
  if (related) json["relatedInformation"] = related_places(reading, uri, diagnostic);
  return json;
}

}  // namespace

void publish(State& state, const std::string& uri, const Document& document) {
  Json params{{"uri", uri}, {"diagnostics", Json::array()}};
  if (!document.version.is_null()) params["version"] = document.version;
  for (const auto& diagnostic : document.reading.diagnostics.sorted())
    params["diagnostics"].push_back(to_json(document.reading, uri, diagnostic, state.related));
  state.outgoing.push_back({{"method", "textDocument/publishDiagnostics"}, {"params", std::move(params)}});
}

}  // namespace napkin::lsp
