// Turns diagnostics into those of the protocol: the words of the command line, at ranges.
#include <fmt/format.h>

#include "lsp/session.hpp"

namespace napkin::lsp {
namespace {

enum Severities : int { shown_as_error = 1, shown_as_warning = 2, shown_as_hint = 4 };

bool of_the_text(const Reading& reading, const Label& label) { return label.span.file == reading.file; }

// A second place that an editor cannot open, or does not show, becomes a note.
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

}  // namespace

Json shown(const State& state, const std::string& uri, const Reading& reading, const Diagnostic& diagnostic) {
  const auto* code = find_code(diagnostic.code);
  const bool warning = code && code->severity == Severity::warning;
  Json json{{"range", range(reading, diagnostic.span)},
            {"severity", warning ? shown_as_warning : shown_as_error},
            {"code", diagnostic.code},
            {"source", "napkin"},
            {"message", message(reading, diagnostic, state.related)}};
  if (state.related) json["relatedInformation"] = related_places(reading, uri, diagnostic);
  return json;
}

Json shown(const Reading& reading, const Advice& advice) {
  auto text = fmt::format("{}: {}", advice.what, advice.why);
  if (!advice.mend.title.empty()) text += "\nhelp: " + advice.mend.title;
  return {{"range", range(reading, advice.span)},
          {"severity", static_cast<int>(shown_as_hint)},
          {"source", "napkin"},
          {"message", std::move(text)}};
}

void publish(State& state, const std::string& uri, const Document& document) {
  Json params{{"uri", uri}, {"diagnostics", Json::array()}};
  if (!document.version.is_null()) params["version"] = document.version;
  for (const auto& diagnostic : document.reading.diagnostics.sorted())
    params["diagnostics"].push_back(shown(state, uri, document.reading, diagnostic));
  for (const auto& advice : document.advice) params["diagnostics"].push_back(shown(document.reading, advice));
  state.outgoing.push_back({{"method", "textDocument/publishDiagnostics"}, {"params", std::move(params)}});
}

}  // namespace napkin::lsp
