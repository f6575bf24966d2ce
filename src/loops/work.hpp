// What a column does at each position, by unit.
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
  Datatype type = Datatype::f32;  // of the operands: it decides the rate
  double operations = 0;
  bool folded = false;  // at every position of the output and of what is folded, else of the output alone
  bool joined = false;  // on lanes, a product and the addition of it in one
  int parts = 1;        // instructions for each pair of operands, which are among the operations
  bool operator==(const ColumnWork&) const = default;
};
// Columns of the plain meaning, and those that take the pieces of a stream in.
void each_column(const Derivation&, const std::function<void(const Diagram&, const Column&)>& visit);
// Whether matrix units run a column of it, as it is written or behind one stream. Otherwise they run none of its
// kernel: where only several loops leave a product, lanes compute it.
bool has_contraction(const Derivation&, const Hardware&);
// Whether some of them is a product in parts; of a diagram, in a kernel of all statements.
bool has_parts(const Derivation&, const Hardware&);
bool has_parts(const Diagram&, const Hardware&);
// The same work, with products of matrices on lanes.
std::vector<ColumnWork> on_lanes(std::vector<ColumnWork>);
// What both lists hold, taken out of both.
std::vector<ColumnWork> take_common(std::vector<ColumnWork>& a, std::vector<ColumnWork>& b);
// The two arrays of which a column sums products, as they are read there.
using FactorPair = std::pair<ExprId, ExprId>;
std::optional<FactorPair> factors_of(const Diagram&, const Column&);
std::pair<Datatype, Datatype> types_of(const Diagram&, const FactorPair&);
// Whether it sums products of two arrays, each of which alone has a wire of the result. Where one has none, as in a
// matrix with a vector or the squares of a row, no value meets several others: there is no product of matrices.
bool contracts(const Diagram&, const Column&);
// What contracts runs on the matrix unit, where the machine has a rate for a format of both operands.
std::vector<ColumnWork> work_of(const Diagram&, const Column&, const Hardware&);

}  // namespace napkin
