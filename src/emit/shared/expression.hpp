// Expressions of a diagram in CUDA C++ and in plain C++.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "emit/shared/names.hpp"
#include "emit/shared/text.hpp"
#include "emit/shared/types.hpp"
#include "napkin/derive.hpp"

namespace napkin {

// The kind of number of a C++ expression. Positions and sizes stay integers as long as they are combined only with
// integers.
enum class NumberKind { boolean, integer, real };
struct Typed {
  std::string text;
  NumberKind kind = NumberKind::real;
};

// What names mean where an expression is printed.
struct Surroundings {
  Language language;
  std::function<std::string(WireId)> position;
  std::function<std::string(AxisId)> size;
  std::function<Typed(ExprId)> read;                   // the text of an access
  std::function<std::string(ExprId)> reduction = {};   // the name that holds a reduction's result
  std::function<std::string(std::string)> local = {};  // declares a repeated value, returns its name
  bool wide = false;                                   // computes in double
  bool fast = false;                                   // uses the machine's approximate functions
  std::vector<ArrayId> inputs = {};                    // arrays that may be compared in their stored type
  std::function<std::string(ExprId)> stored = {};      // the text of an access to one of `inputs`, in the stored type
};

// Whether a comparison is exact in int: one of positions, sizes, whole constants, and whole numbers that inputs store.
// Sums of these do not count, because an int may not hold them.
bool compares_integers(const Diagram&, const std::vector<ArrayId>& inputs, ExprId);

// Values that are used more than once become locals, declared before the expression.
Typed code_expression(const Diagram&, ExprId, const Surroundings&);

// The same as a number, with its locals declared before it. `around` needs only its language, positions and reads.
std::string code_value(const Diagram&, const CodeNames&, ExprId, Surroundings around, Lines&, Identifiers&);

// "2 * u + i", "(q - 3) / 64"; plain wires and numbers have no brackets.
std::string code_index(const Index&, const std::function<std::string(WireId)>& position);
// The greatest or the least place of an index, from the first or the last position of each wire.
std::string code_end(const Index&, bool greatest, const std::function<std::string(WireId, bool last)>& end);
// "((long long)h * n.q + q) * n.d + d", from the places and sizes of an array, slowest first.
std::string code_offset(const std::vector<std::string>& at, const std::vector<std::string>& sizes);
// Whether a condition holds somewhere in a piece, from the least and the greatest value of its linear form there; `end`
// is the first or the last position of a wire.
std::string code_possible(const Condition&, const CodeNames&, const std::function<std::string(WireId, bool last)>& end);
// Whether the condition holds everywhere in the piece.
std::string code_certain(const Condition&, const CodeNames&, const std::function<std::string(WireId, bool last)>& end);
// "3.0f", or "3.0" in double.
std::string code_number(double value, bool wide);

}  // namespace napkin
