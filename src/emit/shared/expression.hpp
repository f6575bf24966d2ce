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

// What C++ takes an expression for. Positions and sizes stay whole numbers as long as they meet only such.
enum class NumberKind { boolean, integer, real };
struct Typed {
  std::string text;
  NumberKind kind = NumberKind::real;
};

// What names stand for where an expression is printed.
struct Surroundings {
  Language language;
  std::function<std::string(WireId)> position;
  std::function<std::string(AxisId)> size;
  std::function<Typed(ExprId)> read;                   // of an access
  std::function<std::string(ExprId)> reduction = {};   // where a reduction's result stands
  std::function<std::string(std::string)> local = {};  // declares a value used more than once, gives its name
  bool wide = false;                                   // in double
  bool fast = false;                                   // by the machine's own approximations
  std::vector<ArrayId> inputs = {};                    // arrays that are read as they are stored
  std::function<std::string(ExprId)> stored = {};      // of an access to one of these
};

// A comparison that is exact in int: of positions, sizes, whole constants and the whole numbers that inputs store. Not
// of sums of these, which an int may not hold.
bool compares_integers(const Diagram&, const std::vector<ArrayId>& inputs, ExprId);

// Values used more than once become locals, in front.
Typed code_expression(const Diagram&, ExprId, const Surroundings&);

// The same as a number, its locals in front. `around` needs its language, positions and reads.
std::string code_value(const Diagram&, const CodeNames&, ExprId, Surroundings around, Lines&, Identifiers&);

// "2 * u + i", "(q - 3) / 64"; bare wires and numbers without brackets.
std::string code_index(const Index&, const std::function<std::string(WireId)>& position);
// The greatest or the least place of an index, by the first or the last position of each wire.
std::string code_end(const Index&, bool greatest, const std::function<std::string(WireId, bool last)>& end);
// "((long long)h * n.q + q) * n.d + d" of an array's places and sizes, slowest first.
std::string code_offset(const std::vector<std::string>& at, const std::vector<std::string>& sizes);
// Whether a condition holds somewhere on a piece, by the least and the greatest value of its form there; `end` is the
// first or the last position of a wire.
std::string code_possible(const Condition&, const CodeNames&, const std::function<std::string(WireId, bool last)>& end);
// Whether it holds everywhere there.
std::string code_certain(const Condition&, const CodeNames&, const std::function<std::string(WireId, bool last)>& end);
// "3.0f", or "3.0" where computing in double.
std::string code_number(double value, bool wide);

}  // namespace napkin
