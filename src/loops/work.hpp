// The operations of a column at each position, by unit.
#pragma once

#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "napkin/derive.hpp"
#include "napkin/hardware.hpp"

namespace napkin {

struct ColumnWork {
  Unit unit = Unit::fma;
  Datatype type = Datatype::f32;  // of the operands; it determines the rate
  double operations = 0;
  bool folded = false;  // at every position of the output's wires and the folded wires; else of the output's wires only
  bool joined = false;  // on lanes: a product and its addition in one fused multiply-add
  int parts = 1;        // instructions for each pair of operands; `operations` counts all of them
  bool operator==(const ColumnWork&) const = default;
};
// Visits the columns of the derivation itself, and those that absorb the pieces of a stream.
void each_column(const Derivation&, const std::function<void(const Diagram&, const Column&)>& visit);
// Whether matrix units run a column of the derivation, either as it is written or after one stream. If not, they run no
// column of its kernel: a product that appears only after several streams is computed on lanes.
bool has_contraction(const Derivation&, const Hardware&);
// Whether one of these columns is a product in parts; for a diagram, in the kernel of all its statements.
bool has_parts(const Derivation&, const Hardware&);
bool has_parts(const Diagram&, const Hardware&);
// The same work, with matrix products on lanes.
std::vector<ColumnWork> on_lanes(std::vector<ColumnWork>);
// Removes the entries that both lists have from both, and returns them.
std::vector<ColumnWork> take_common(std::vector<ColumnWork>& a, std::vector<ColumnWork>& b);
// The reads of the two arrays whose products a column sums; none for other columns.
using FactorPair = std::pair<ExprId, ExprId>;
std::optional<FactorPair> factors_of(const Diagram&, const Column&);
std::pair<Datatype, Datatype> types_of(const Diagram&, const FactorPair&);
// Whether a column sums along some wire, longer than 1, that both factors have. Otherwise it multiplies once for each
// result, as a factor that lacks the wire moves out of the sum.
bool sums_products(const Diagram&, const Column&, const FactorPair&);
// Whether a column sums products of two arrays, each of which has a wire of the result that the other lacks. Otherwise,
// as for a matrix times a vector or the squares of a row, no value is multiplied by several others, and it is not a
// matrix product.
bool contracts(const Diagram&, const Column&);
// The work of a column. A column that contracts runs on matrix units if the machine has a rate for a format of both
// operands.
std::vector<ColumnWork> work_of(const Diagram&, const Column&, const Hardware&);

}  // namespace napkin
