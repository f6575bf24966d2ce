// The tables of number formats, pointwise functions and reductions. Everything that napkin knows about a function is in
// its row; no other file compares names.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace napkin {

enum class Datatype : std::uint8_t {
  f64,
  f32,
  tf32,
  f16,
  bf16,
  f8e4m3,
  f8e5m2,
  f8e8m0,  // a power of two, for the scale of a block
  f4e2m1,
  i8,
  i4,
  i32,
  boolean
};

struct DatatypeRow {
  Datatype type;
  std::string_view name;  // as in the language: "f16", "bool"
  int bytes;              // of a value by itself
  int share;              // values of an array that share these bytes: 2 of 4 bits, the first in the low half; else 1
  Datatype alone;         // the format of a value by itself: this one, or one that has all values of packed ones
  bool of_inputs;         // only inputs have this format; no result is stored in it
  std::string_view cuda;  // "__half"
  double (*round)(double value);  // to the nearest representable value, ties to even
};
std::span<const DatatypeRow> datatypes();
const DatatypeRow& row(Datatype);
const DatatypeRow* find_datatype(std::string_view name);
// Bytes of that many values of an array. A byte that is begun counts whole.
std::int64_t bytes_of(Datatype, std::int64_t values);

// The unit that executes an operation: matrix units, fused multiply-add lanes, special-function units.
enum class Unit : std::uint8_t { tensor, fma, sfu };
std::string_view name(Unit);

// What the derivation may assume about a pointwise function. Each role is a law that a test checks on random numbers.
enum class Role : std::uint8_t {
  other,     // opaque: separates only if its arguments do not mix
  add,       // a + b
  subtract,  // a - b
  multiply,  // a * b
  divide,    // a / b
  negate,    // -a
  power,     // a ^ constant
  root,      // a ^ (1/2); the root of a product of non-negative factors is the product of their roots
  inverse_root,
  exponential,                // turns + into *; `scale` is ln(base)
  logarithm,                  // turns * of positive factors into +
  exponential_of_difference,  // exp(a - b), but exp(a) if both are the same infinity
  magnitude,                  // the magnitude of a product is the product of the magnitudes
  greatest,                   // of two numbers
  least,
  choose,   // where(c, a, b)
  compare,  // of two numbers, gives a condition
  logic,    // of conditions, gives a condition
};

struct Pointwise {
  std::string_view name;     // as in the language, or the operator sign
  std::string_view summary;  // for documentation
  int arity;
  double operations;  // per result, on `unit`
  Unit unit;
  Role role;
  double scale;           // ln(base) of exponential and logarithm
  bool positive;          // the result is never negative for real arguments
  int precedence;         // 0: printed as a call; else the binding strength of the operator sign
  bool callable;          // may be written in a file; else only the derivation creates it
  std::string_view cuda;  // "expf({0})"
  std::string_view cpp;   // the same for portable C++
  // The derivatives with respect to the arguments a, b and c, written in the language: "b; a". Empty for conditions,
  // which have none, for powers, whose derivative the algebra knows, and for functions that only the derivation
  // creates.
  std::string_view derivative;
  double (*value)(const double* arguments);
  // CUDA text that uses the machine's own approximations in f32, if there are any.
  std::string_view fast = {};
};
std::span<const Pointwise> pointwise_functions();
const Pointwise* find_pointwise(std::string_view name);

struct Reduction {
  std::string_view name;
  std::string_view summary;
  double identity;
  const Pointwise* combine;     // a row of two arguments, associative and commutative
  std::string_view state_name;  // name of a carried state that has none of its own: "m" for max, "l" for sum
};
std::span<const Reduction> reductions();
const Reduction* find_reduction(std::string_view name);

}  // namespace napkin
