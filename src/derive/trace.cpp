// Columns as expressions; see trace.hpp.
#include "derive/trace.hpp"

#include <algorithm>
#include <iterator>

#include "derive/columns.hpp"

namespace napkin {

ExprId as_expression(Diagram& scratch, const Column& column) {
  if (!column.fold) return column.value;
  const ExprId folded = scratch.intern(Reduce{column.fold, column.over, column.value});
  return column.carried ? joined(scratch, column, folded) : folded;
}

ExprId joined(Diagram& scratch, const Column& column, ExprId piece) {
  ExprId old = read_whole(scratch, *column.carried);
  if (column.repair) old = scratch.intern(Apply{find_pointwise("*"), {*column.repair, old}});
  return scratch.intern(Apply{column.fold->combine, {old, piece}});
}

Diagram told(const Derivation& derivation, const Streamable& stream, const Rewriting& step) {
  auto scratch = stream.scratch;
  auto read = arrays_read(scratch, step.before);
  std::ranges::copy(arrays_read(scratch, step.after), std::back_inserter(read));
  const auto& before = derivation.scratch.arrays;
  for (const auto id : read) {
    if (id.index >= before.size()) continue;
    const auto& name = before[id.index].name;
    const auto other = [&](ArrayId one) { return one != id && scratch.at(one).name == name; };
    if (std::ranges::none_of(read, other)) scratch.at(id).name = name;
  }
  return scratch;
}

}  // namespace napkin
