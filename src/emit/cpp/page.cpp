// The text of one C++ kernel while it is printed, and what each name in it refers to.
#include "emit/cpp/page.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "emit/shared/types.hpp"
#include "loops/pieces.hpp"

namespace napkin {
namespace {

constexpr std::int64_t vector_values = 8;         // of f32, in AVX2
constexpr std::int64_t most_local_bytes = 16384;  // larger buffers are not on the stack

}  // namespace

CppPage::CppPage(const LoopNest& of, const CodeNames& known)
    : CodePage(Language::cpp, of, known), layout(cpu_layout(of)) {
  for (std::uint32_t w = 0; w < diagram.wires.size(); ++w)
    own.push_back({"0", size(WireId{w}), diagram.size(WireId{w}).value_or(1)});
}

bool CppPage::is_single(WireId wire) const {
  const auto& piece = own[wire.index];
  return piece.extent == 1 && (!piece.is_whole() || limits.contains(diagram.at(wire).axis));
}

bool CppPage::is_shared_out(WireId wire, std::size_t level) const {
  const auto below = [&](const Split& group) { return group.wire == wire && group.level > level; };
  const auto above = [&](const Split& group) { return group.wire == wire && group.level <= level; };
  return std::ranges::none_of(nest.groups, below) || std::ranges::any_of(nest.groups, above);
}

void CppPage::place(BufferId id) {
  const auto& buffer = nest.at(id);
  CppPlace place{own, {}, buffer.extent, std::vector<std::string>(buffer.at.size())};
  for (std::size_t i = 0; i < buffer.at.size(); ++i) {
    const auto& index = buffer.at[i];
    const auto alone = plain_wire(index);
    if (alone) {
      place.extent[i] = own[alone->index].extent;
      place.corner[i] = own[alone->index].begin;
    }
    // An extent that was measured with the whole wire must not be exceeded, even if groups of a deeper level divide the
    // wire.
    for (const auto& term : index.terms)
      if (own[term.first.index].is_whole() || (!alone && !is_shared_out(term.first, buffer.level))) limit(term.first);
    if (place.extent[i] > 1) place.order.push_back(i);
  }
  const auto fastest = layout.fastest.find(id);
  if (fastest != layout.fastest.end())
    if (const auto at = std::find(place.order.begin(), place.order.end(), fastest->second); at != place.order.end())
      std::rotate(at, at + 1, place.order.end());
  if (!place.order.empty()) {
    auto& last = place.extent[place.order.back()];
    if (last > vector_values / 2) last = round_up(last, vector_values);
  }
  places[id] = std::move(place);
}

std::string CppPage::element(BufferId id, const std::vector<std::string>& at) const {
  auto text = buffer(id);
  for (const auto i : places.at(id).order) text += fmt::format("[{}]", at[i]);
  return text;
}

std::string CppPage::declaration(BufferId id) const {
  const auto& place = places.at(id);
  std::string shape;
  std::int64_t bytes = 8;
  for (const auto i : place.order) {
    shape += fmt::format("[{}]", place.extent[i]);
    bytes *= place.extent[i];
  }
  const auto own_type = type(id).own;
  if (shape.empty()) return fmt::format("{} {} = 0;", own_type, buffer(id));
  if (bytes <= most_local_bytes) return fmt::format("alignas(64) {} {}{} = {{}};", own_type, buffer(id), shape);
  const auto inner = shape.substr(shape.find(']') + 1);
  return fmt::format("const napkin_space<{}{}> {}({});", own_type, inner, buffer(id),
                     place.extent[place.order.front()]);
}

}  // namespace napkin
