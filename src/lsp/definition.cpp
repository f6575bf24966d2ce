// Finds where a name is declared and used, and lists what a file declares.
#include "lsp/session.hpp"

namespace napkin::lsp {
namespace {

Json location(const Json& params, const Reading& reading, Span span) {
  return {{"uri", text_field(field(params, "textDocument"), "uri")}, {"range", range(reading, span)}};
}

enum SymbolKind : int { class_kind = 5, constant_kind = 14, function_kind = 12, object_kind = 19, variable_kind = 13 };

// A declaration in the outline: its name, and the text from there to the value.
struct Outline {
  const ast::Name* name;
  SymbolKind kind;
};

Outline outline(const ast::DeclarationNode& node) {
  struct {
    Outline operator()(const ast::Axis& axis) const { return {&axis.name, constant_kind}; }
    Outline operator()(const ast::Input& input) const { return {&input.name, variable_kind}; }
    Outline operator()(const ast::Output&) const { return {nullptr, variable_kind}; }
    Outline operator()(const ast::Statement& statement) const { return {&statement.name, variable_kind}; }
    Outline operator()(const ast::Def& def) const { return {&def.name, function_kind}; }
    Outline operator()(const ast::Partition& partition) const { return {&partition.name, object_kind}; }
    Outline operator()(const ast::Broken& broken) const {
      return {broken.name ? &*broken.name : nullptr, variable_kind};
    }
  } visitor;
  return std::visit(visitor, node);
}

Json document_symbol(const Reading& reading, const ast::Name& name, SymbolKind kind, Span whole) {
  return {{"name", name.text},
          {"kind", static_cast<int>(kind)},
          {"range", range(reading, whole)},
          {"selectionRange", range(reading, name.span)}};
}

}  // namespace

Json definition(State& state, const Json& params) {
  const auto& open = document(state, params);
  const auto& file = open.reading.syntax;
  const auto at = named(open, params);
  const auto declared = at ? declaration(file, symbol(file, *at)) : std::nullopt;
  return declared ? location(params, open.reading, declared->span) : Json();
}

Json references(State& state, const Json& params) {
  const auto& open = document(state, params);
  const auto& file = open.reading.syntax;
  const auto at = named(open, params);
  if (!at) return nullptr;
  const auto context = params.find("context");
  const bool declarations = context == params.end() || !context->is_object() ||
                            !context->contains("includeDeclaration") || (*context)["includeDeclaration"] != false;
  auto places = Json::array();
  for (const auto& use : uses(file, symbol(file, *at)))
    if (declarations || !use.declares) places.push_back(location(params, open.reading, use.span));
  return places;
}

Json document_symbols(State& state, const Json& params) {
  const auto& reading = document(state, params).reading;
  const auto& file = reading.syntax;
  auto symbols = Json::array();
  if (!file.diagram.text.empty())
    symbols.push_back(document_symbol(reading, file.diagram, class_kind, file.diagram.span));
  for (const auto& declaration : file.declarations)
    if (const auto [name, kind] = outline(declaration.node); name)
      symbols.push_back(document_symbol(reading, *name, kind, declaration.span));
  return symbols;
}

// The text that `napkin fmt` would write; no edits if there is a syntax error.
Json formatting(State& state, const Json& params) {
  const auto& reading = document(state, params).reading;
  if (!reading.parsed) return nullptr;
  auto text = print(reading.sources, reading.syntax);
  if (text == reading.text()) return Json::array();
  const Span all{reading.file, 0, static_cast<std::uint32_t>(reading.text().size())};
  return Json::array({{{"range", range(reading, all)}, {"newText", std::move(text)}}});
}

}  // namespace napkin::lsp
