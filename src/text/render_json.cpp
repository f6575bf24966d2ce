// Diagnostics as JSON, schema napkin.diagnostics/1. Places are one-based lines and columns; a diagnostic that stands
// in no file has null for them.
#include <nlohmann/json.hpp>

#include "napkin/text.hpp"

namespace napkin {

namespace {

using Json = nlohmann::ordered_json;

void add_place(Json& json, const Sources& sources, Span span) {
  if (span.file >= sources.size()) {
    for (const auto* key : {"file", "line", "column", "end_line", "end_column"}) json[key] = nullptr;
    return;
  }
  const auto begin = sources.locate(span.file, span.begin), end = sources.locate(span.file, span.end);
  json["file"] = sources.at(span.file).name;
  json["line"] = begin.line;
  json["column"] = begin.column;
  json["end_line"] = end.line;
  json["end_column"] = end.column;
}

Json to_json(const Sources& sources, const Fix& fix) {
  Json json{{"title", fix.title}, {"edits", Json::array()}};
  for (const auto& edit : fix.edits) {
    Json one{{"text", edit.text}};
    add_place(one, sources, edit.span);
    json["edits"].push_back(std::move(one));
  }
  return json;
}

Json to_json(const Sources& sources, const Diagnostic& diagnostic) {
  const Code* code = find_code(diagnostic.code);
  const bool warning = code != nullptr && code->severity == Severity::warning;
  Json json{{"code", diagnostic.code}, {"severity", warning ? "warning" : "error"}, {"message", diagnostic.message}};
  add_place(json, sources, diagnostic.span);
  json["label"] = diagnostic.label;
  json["others"] = Json::array();
  for (const auto& label : diagnostic.others) {
    Json other{{"text", label.text}};
    add_place(other, sources, label.span);
    json["others"].push_back(std::move(other));
  }
  json["notes"] = diagnostic.notes;
  json["help"] = diagnostic.help;
  json["fixes"] = Json::array();
  for (const auto& fix : diagnostic.fixes) json["fixes"].push_back(to_json(sources, fix));
  return json;
}

}  // namespace

std::string render_json(const Sources& sources, const Diagnostics& diagnostics) {
  Json json{{"schema", "napkin.diagnostics/1"}, {"diagnostics", Json::array()}};
  for (const auto& diagnostic : diagnostics.sorted()) json["diagnostics"].push_back(to_json(sources, diagnostic));
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace napkin
