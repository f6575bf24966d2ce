// Columns as expressions; see trace.hpp.
#include "derive/trace.hpp"

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

}  // namespace napkin
