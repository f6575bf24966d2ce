// Quick fixes: the edits of diagnostics and advice at the range that the editor requests.
#include "lsp/session.hpp"

namespace napkin::lsp {
namespace {

struct Asked {
  std::size_t begin, end;
  bool touches(Span span) const { return span.begin <= end && begin <= span.end; }
};

bool wants_fixes(const Json& params) {
  const auto context = params.find("context");
  if (context == params.end() || !context->is_object()) return true;
  const auto only = context->find("only");
  if (only == context->end() || !only->is_array()) return true;
  for (const auto& kind : *only)
    if (kind == "quickfix" || kind == "") return true;
  return false;
}

Json edits_json(const Reading& reading, const Fix& fix) {
  auto edits = Json::array();
  for (const auto& edit : fix.edits) edits.push_back({{"range", range(reading, edit.span)}, {"newText", edit.text}});
  return edits;
}

bool is_of_the_text(const Reading& reading, const Fix& fix) {
  for (const auto& edit : fix.edits)
    if (edit.span.file != reading.file) return false;
  return !fix.edits.empty();
}

Json action(const Reading& reading, const std::string& uri, const Fix& fix, const Json& diagnostic, bool preferred) {
  return {{"title", fix.title},
          {"kind", "quickfix"},
          {"diagnostics", Json::array({diagnostic})},
          {"isPreferred", preferred},
          {"edit", {{"changes", {{uri, edits_json(reading, fix)}}}}}};
}

}  // namespace

Json code_actions(State& state, const Json& params) {
  const auto& open = document(state, params);
  const auto& reading = open.reading;
  const auto& uri = text_field(field(params, "textDocument"), "uri");
  const auto& place = field(params, "range");
  const Asked asked{reading.lines.offset(reading.text(), position_field(place, "start")),
                    reading.lines.offset(reading.text(), position_field(place, "end"))};
  auto all = Json::array();
  if (!wants_fixes(params)) return all;
  for (const auto& diagnostic : reading.diagnostics.sorted()) {
    if (diagnostic.span.file != reading.file || !asked.touches(diagnostic.span)) continue;
    for (const auto& fix : diagnostic.fixes)
      if (is_of_the_text(reading, fix))
        all.push_back(action(reading, uri, fix, shown(state, uri, reading, diagnostic), diagnostic.fixes.size() == 1));
  }
  for (const auto& advice : open.advice)
    if (asked.touches(advice.span) && is_of_the_text(reading, advice.mend))
      all.push_back(action(reading, uri, advice.mend, shown(reading, advice), false));
  return all;
}

}  // namespace napkin::lsp
