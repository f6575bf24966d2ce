// The page that the text of one kernel is written on, and what names mean where it stands.
#include "emit/cuda/page.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "emit/shared/types.hpp"

namespace napkin {

Page::Page(const ThreadedKernel& threaded, const CodeNames& known)
    : kernel(threaded), nest(threaded.nest), diagram(threaded.nest.scratch), names(known) {
  for (const auto id : nest.inputs) pool.fresh(array(id));
  for (const auto id : nest.outputs) pool.fresh(array(id));
  for (const auto& wire : diagram.wires) wires.push_back(pool.fresh(wire.name));
  for (const auto& wire : diagram.wires) counters.push_back(pool.fresh("i_" + wire.name));
  for (const auto& each : nest.buffers) buffers.push_back(pool.fresh(each.name));
  for (std::uint32_t w = 0; w < diagram.wires.size(); ++w)
    own.push_back({"0", size(WireId{w}), diagram.size(WireId{w}).value_or(1), "0"});
  shared = own;
}

bool Page::is_input(ArrayId id) const {
  return std::find(nest.inputs.begin(), nest.inputs.end(), id) != nest.inputs.end();
}

std::string_view Page::storage(ArrayId id) const { return code_storage(Language::cuda, diagram.at(id).type); }
std::string_view Page::memory(ArrayId id) const { return code_storage(Language::cuda, diagram.at(id).stored()); }
std::string Page::element(ArrayId id, const std::string& offset) const {
  return code_element(diagram.at(id), array(id), offset);
}
std::string Page::address(ArrayId id, const std::string& offset) const {
  if (!diagram.at(id).packed) return fmt::format("&{}[{}]", array(id), offset);
  return fmt::format("napkin_packed<{}>{{{}, {}}}", memory(id), array(id), offset);
}

std::string Page::extents(const std::vector<WireId>& of, const WirePieces& pieces) const {
  std::string text;
  for (const auto wire : of)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", diagram.at(wire).name, pieces[wire.index].extent);
  return text;
}

void Page::open_function(const std::string& name) {
  std::vector<std::string> all = {fmt::format("const {}_sizes n", names.diagram)};
  for (const auto id : nest.inputs) all.push_back(fmt::format("const {}* __restrict__ {}", memory(id), array(id)));
  for (const auto id : nest.outputs) all.push_back(fmt::format("{}* __restrict__ {}", storage(id), array(id)));
  out.list(name + "(", all, ") {");
  out.deepen();
}

void Page::limit(WireId wire) { limits[diagram.at(wire).axis] = diagram.size(wire).value_or(1); }
void Page::limit(const Index& index, const WirePieces& pieces) {
  for (const auto& term : index.terms)
    if (pieces[term.first.index].is_whole()) limit(term.first);
}

}  // namespace napkin
