#include "derive/prefixes/ways.hpp"

namespace napkin {
namespace {

ExprId apply(Diagram& diagram, const char* function, ExprId a, ExprId b) {
  return diagram.intern(Apply{find_pointwise(function), {a, b}});
}
// By name, because small plans have chunks of other lengths.
ExprId length(Diagram& diagram, WireId inside) { return diagram.intern(Size{diagram.at(inside).axis}); }

}  // namespace

ExprId to_next(Diagram& diagram, WireId inside) {
  return apply(diagram, "-", length(diagram, inside), diagram.intern(Position{inside}));
}

ExprId between(Diagram& diagram, ExprId chunk, ExprId later, WireId inside) {
  const ExprId chunks = apply(diagram, "-", apply(diagram, "-", later, chunk), diagram.intern(Constant{1}));
  return apply(diagram, "*", length(diagram, inside), chunks);
}

}  // namespace napkin
