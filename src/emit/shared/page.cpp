// The text of one kernel while it is printed, and what names in it refer to, for any language.
#include "emit/shared/page.hpp"

#include <fmt/format.h>

#include "derive/columns.hpp"
#include "emit/shared/expression.hpp"

namespace napkin {

CodePage::CodePage(Language in, const LoopNest& of, const CodeNames& known)
    : language(in), nest(of), diagram(of.scratch), names(known), sources(tile_sources(of)) {
  for (const auto id : nest.inputs) pool.fresh(array(id));
  for (const auto id : nest.outputs) pool.fresh(array(id));
  for (const auto& wire : diagram.wires) wires.push_back(pool.fresh(wire.name));
  for (const auto& wire : diagram.wires) counters.push_back(pool.fresh("i_" + wire.name));
  for (const auto& each : nest.buffers) buffers.push_back(pool.fresh(each.name));
}

std::string CodePage::outputs() const {
  return listed(nest.outputs, ", ", [&](ArrayId id) { return diagram.at(id).name; });
}

std::string_view CodePage::storage(ArrayId id) const { return code_storage(language, diagram.at(id).type); }
std::string_view CodePage::memory(ArrayId id) const { return code_storage(language, diagram.at(id).stored()); }
const CodeType& CodePage::type(BufferId id) const { return code_type(language, nest.at(id).type); }

std::vector<std::string> CodePage::parameters(const std::vector<ArrayId>& inputs, std::string_view restricted) const {
  std::vector<std::string> all;
  for (const auto id : inputs) all.push_back(fmt::format("const {}* {} {}", memory(id), restricted, array(id)));
  for (const auto id : nest.outputs) all.push_back(fmt::format("{}* {} {}", memory(id), restricted, array(id)));
  return all;
}

std::string CodePage::begin_name(WireId wire) {
  return pool.fresh(fmt::format("{}{}", wires[wire.index], splits_[wire]++));
}

std::string CodePage::offset(ArrayId id, const std::vector<std::string>& at) const {
  return code_place(diagram, names, id, at);
}

void CodePage::limit(WireId wire) { limits[diagram.at(wire).axis] = diagram.size(wire).value_or(1); }

Lines::From CodePage::from(BufferId id) { return out.from(diagram.at(nest.at(id).array).span); }
Lines::From CodePage::from(const Compute& compute) { return out.from(origin(diagram, compute.column)); }

std::string CodePage::begin_ask(const MaskTest& ask) {
  auto any = pool.fresh("any");
  out.line("bool {} = false;  // {} is {} somewhere", any, to_text(diagram, ask.access), ask.wanted);
  return any;
}

}  // namespace napkin
