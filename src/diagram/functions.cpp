// The tables of number formats, pointwise functions and reductions, with one row for each.
//
// A row states what the derivation may assume (its role), what it costs, how it is printed and what it means. Tests
// loop over the rows and check every claim on random numbers.
#include "napkin/functions.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "diagram/order.hpp"

namespace napkin {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// Rounds to a binary format with `digits` significant bits, ties to even; numbers below 2^least are subnormal. Beyond
// `greatest` the result is infinite, or the greatest number if conversions saturate.
double round_binary(double value, int digits, int least, double greatest, bool saturates) {
  if (std::isnan(value) || value == 0) return value;
  if (std::isinf(value)) return saturates ? std::copysign(greatest, value) : value;
  int exponent = 0;
  std::frexp(value, &exponent);
  const double quantum = std::ldexp(1.0, std::max(exponent - digits, least - digits + 1));
  const double rounded = std::nearbyint(value / quantum) * quantum;
  if (std::abs(rounded) <= greatest) return rounded;
  return std::copysign(saturates ? greatest : infinity, value);
}
double round_integer(double value, double low, double high) {
  return std::isnan(value) ? 0 : std::clamp(std::nearbyint(value), low, high);
}

double to_f64(double v) { return v; }
double to_f32(double v) { return static_cast<float>(v); }
double to_tf32(double v) { return round_binary(to_f32(v), 11, -126, 3.4011621342146535e38, false); }
double to_f16(double v) { return round_binary(v, 11, -14, 65504, false); }
double to_bf16(double v) { return round_binary(v, 8, -126, 3.3895313892515355e38, false); }
double to_f8e4m3(double v) { return round_binary(v, 4, -6, 448, true); }
double to_f8e5m2(double v) { return round_binary(v, 3, -14, 57344, true); }
// The format has no sign and no zero: a value below its smallest number becomes that number.
double to_f8e8m0(double v) { return std::max(round_binary(v, 1, -127, 0x1p127, true), 0x1p-127); }
double to_f4e2m1(double v) { return std::isnan(v) ? 6 : round_binary(v, 2, 0, 6, true); }
double to_i4(double v) { return round_integer(v, -8, 7); }
double to_i8(double v) { return round_integer(v, -128, 127); }
double to_i32(double v) { return round_integer(v, -2147483648.0, 2147483647.0); }
double to_boolean(double v) { return v != 0 ? 1 : 0; }

constexpr std::array datatype_rows = {
    DatatypeRow{Datatype::f64, "f64", 8, 1, Datatype::f64, false, "double", to_f64},
    DatatypeRow{Datatype::f32, "f32", 4, 1, Datatype::f32, false, "float", to_f32},
    DatatypeRow{Datatype::tf32, "tf32", 4, 1, Datatype::tf32, false, "float", to_tf32},
    DatatypeRow{Datatype::f16, "f16", 2, 1, Datatype::f16, false, "__half", to_f16},
    DatatypeRow{Datatype::bf16, "bf16", 2, 1, Datatype::bf16, false, "__nv_bfloat16", to_bf16},
    DatatypeRow{Datatype::f8e4m3, "f8e4m3", 1, 1, Datatype::f8e4m3, false, "__nv_fp8_e4m3", to_f8e4m3},
    DatatypeRow{Datatype::f8e5m2, "f8e5m2", 1, 1, Datatype::f8e5m2, false, "__nv_fp8_e5m2", to_f8e5m2},
    DatatypeRow{Datatype::f8e8m0, "f8e8m0", 1, 1, Datatype::f8e8m0, true, "napkin_f8e8m0", to_f8e8m0},
    DatatypeRow{Datatype::f4e2m1, "f4e2m1", 1, 2, Datatype::f8e4m3, true, "napkin_f4e2m1", to_f4e2m1},
    DatatypeRow{Datatype::i8, "i8", 1, 1, Datatype::i8, false, "signed char", to_i8},
    DatatypeRow{Datatype::i4, "i4", 1, 2, Datatype::i8, true, "napkin_i4", to_i4},
    DatatypeRow{Datatype::i32, "i32", 4, 1, Datatype::i32, false, "int", to_i32},
    DatatypeRow{Datatype::boolean, "bool", 1, 1, Datatype::boolean, false, "bool", to_boolean},
};

constexpr double ln2 = 0.69314718055994530942;
constexpr int as_call = 0, as_disjunction = 1, as_conjunction = 2, as_negation = 3, as_comparison = 4, as_sum = 5,
              as_product = 6, as_sign = 7, as_power = 8;
constexpr bool in_files = true, derived_only = false;
using Arguments = const double*;

// name, summary, arity, operations, unit, role, scale, positive, precedence, callable, cuda, cpp, derivative, value,
// fast
constexpr std::array pointwise_rows = {
    Pointwise{"+", "sum of two numbers", 2, 1, Unit::fma, Role::add, 0, false, as_sum, in_files, "({0} + {1})",
              "({0} + {1})", "1; 1", [](Arguments a) { return a[0] + a[1]; }},
    Pointwise{"-", "difference", 2, 1, Unit::fma, Role::subtract, 0, false, as_sum, in_files, "({0} - {1})",
              "({0} - {1})", "1; -1", [](Arguments a) { return a[0] - a[1]; }},
    Pointwise{"*", "product of two numbers", 2, 1, Unit::fma, Role::multiply, 0, false, as_product, in_files,
              "({0} * {1})", "({0} * {1})", "b; a", [](Arguments a) { return a[0] * a[1]; }},
    Pointwise{"/", "quotient", 2, 1, Unit::sfu, Role::divide, 0, false, as_product, in_files, "({0} / {1})",
              "({0} / {1})", "1 / b; -a / b^2", [](Arguments a) { return a[0] / a[1]; },
              "({0} * napkin_reciprocal({1}))"},
    Pointwise{"neg", "the number with its sign changed", 1, 1, Unit::fma, Role::negate, 0, false, as_sign, in_files,
              "(-{0})", "(-{0})", "-1", [](Arguments a) { return -a[0]; }},
    Pointwise{"^", "power with a constant exponent", 2, 2, Unit::sfu, Role::power, 0, false, as_power, in_files,
              "napkin_power({0}, {1})", "napkin_power({0}, {1})", "", [](Arguments a) { return std::pow(a[0], a[1]); }},
    Pointwise{"exp", "e to the power of a number", 1, 1, Unit::sfu, Role::exponential, 1, true, as_call, in_files,
              "exp({0})", "napkin_exp({0})", "exp(a)", [](Arguments a) { return std::exp(a[0]); },
              "napkin_exp2({0} * 1.44269504f)"},
    Pointwise{"exp2", "2 to the power of a number", 1, 1, Unit::sfu, Role::exponential, ln2, true, as_call, in_files,
              "exp2({0})", "std::exp2({0})", "log(2) * exp2(a)", [](Arguments a) { return std::exp2(a[0]); },
              "napkin_exp2({0})"},
    Pointwise{"expdiff", "exp(a - b), and exp(a) where both are the same infinity", 2, 1, Unit::sfu,
              Role::exponential_of_difference, 0, true, as_call, derived_only, "napkin_expdiff({0}, {1})",
              "napkin_expdiff({0}, {1})", "",
              [](Arguments a) { return std::exp(std::isnan(a[0] - a[1]) ? a[0] : a[0] - a[1]); },
              "napkin_fast_expdiff({0}, {1})"},
    Pointwise{"log", "natural logarithm", 1, 1, Unit::sfu, Role::logarithm, 1, false, as_call, in_files, "log({0})",
              "std::log({0})", "1 / a", [](Arguments a) { return std::log(a[0]); }},
    Pointwise{"log2", "logarithm to base 2", 1, 1, Unit::sfu, Role::logarithm, ln2, false, as_call, in_files,
              "log2({0})", "std::log2({0})", "1 / (log(2) * a)", [](Arguments a) { return std::log2(a[0]); }},
    Pointwise{"sqrt", "square root", 1, 1, Unit::sfu, Role::root, 0, true, as_call, in_files, "sqrt({0})",
              "std::sqrt({0})", "1 / (2 * sqrt(a))", [](Arguments a) { return std::sqrt(a[0]); }},
    Pointwise{"rsqrt", "1 over the square root", 1, 1, Unit::sfu, Role::inverse_root, 0, true, as_call, in_files,
              "napkin_rsqrt({0})", "(1 / std::sqrt({0}))", "-rsqrt(a) / (2 * a)",
              [](Arguments a) { return 1 / std::sqrt(a[0]); }, "napkin_fast_rsqrt({0})"},
    Pointwise{"tanh", "hyperbolic tangent", 1, 1, Unit::sfu, Role::other, 0, false, as_call, in_files, "tanh({0})",
              "std::tanh({0})", "1 - tanh(a)^2", [](Arguments a) { return std::tanh(a[0]); }},
    Pointwise{"sigmoid", "1 / (1 + exp(-a))", 1, 2, Unit::sfu, Role::other, 0, true, as_call, in_files,
              "(1.0f / (1.0f + exp(-{0})))", "(1 / (1 + napkin_exp(-{0})))", "sigmoid(a) * (1 - sigmoid(a))",
              [](Arguments a) { return 1 / (1 + std::exp(-a[0])); },
              "napkin_reciprocal(1.0f + napkin_exp2(-1.44269504f * {0}))"},
    Pointwise{"erf", "the error function", 1, 20, Unit::fma, Role::other, 0, false, as_call, in_files, "erf({0})",
              "std::erf({0})", "2 / sqrt(3.141592653589793) * exp(-a^2)", [](Arguments a) { return std::erf(a[0]); }},
    Pointwise{"abs", "the number without its sign", 1, 1, Unit::fma, Role::magnitude, 0, true, as_call, in_files,
              "fabs({0})", "std::abs({0})", "where(a > 0, 1, where(a < 0, -1, 0))",
              [](Arguments a) { return std::abs(a[0]); }},
    Pointwise{"relu", "the number, or 0 if it is negative", 1, 1, Unit::fma, Role::other, 0, true, as_call, in_files,
              "napkin_max({0}, 0.0f)", "napkin_max({0}, 0)", "where(a > 0, 1, 0)",
              [](Arguments a) { return a[0] > 0 ? a[0] : 0.0; }},
    Pointwise{"max", "the greater of two numbers", 2, 1, Unit::fma, Role::greatest, 0, false, as_call, in_files,
              "napkin_max({0}, {1})", "napkin_max({0}, {1})",
              "where(a > b, 1, where(a == b, 0.5, 0)); where(b > a, 1, where(a == b, 0.5, 0))",
              [](Arguments a) { return std::fmax(a[0], a[1]); }},
    Pointwise{"min", "the smaller of two numbers", 2, 1, Unit::fma, Role::least, 0, false, as_call, in_files,
              "napkin_min({0}, {1})", "napkin_min({0}, {1})",
              "where(a < b, 1, where(a == b, 0.5, 0)); where(b < a, 1, where(a == b, 0.5, 0))",
              [](Arguments a) { return std::fmin(a[0], a[1]); }},
    Pointwise{"where", "b where a holds, else c", 3, 1, Unit::fma, Role::choose, 0, false, as_call, in_files,
              "({0} ? {1} : {2})", "({0} ? {1} : {2})", "; where(a, 1, 0); where(a, 0, 1)",
              [](Arguments a) { return a[0] != 0 ? a[1] : a[2]; }},
    Pointwise{"<", "less", 2, 1, Unit::fma, Role::compare, 0, true, as_comparison, in_files, "({0} < {1})",
              "({0} < {1})", "", [](Arguments a) { return a[0] < a[1] ? 1.0 : 0.0; }},
    Pointwise{"<=", "less or equal", 2, 1, Unit::fma, Role::compare, 0, true, as_comparison, in_files, "({0} <= {1})",
              "({0} <= {1})", "", [](Arguments a) { return a[0] <= a[1] ? 1.0 : 0.0; }},
    Pointwise{">", "greater", 2, 1, Unit::fma, Role::compare, 0, true, as_comparison, in_files, "({0} > {1})",
              "({0} > {1})", "", [](Arguments a) { return a[0] > a[1] ? 1.0 : 0.0; }},
    Pointwise{">=", "greater or equal", 2, 1, Unit::fma, Role::compare, 0, true, as_comparison, in_files,
              "({0} >= {1})", "({0} >= {1})", "", [](Arguments a) { return a[0] >= a[1] ? 1.0 : 0.0; }},
    Pointwise{"==", "equal", 2, 1, Unit::fma, Role::compare, 0, true, as_comparison, in_files, "({0} == {1})",
              "({0} == {1})", "", [](Arguments a) { return a[0] == a[1] ? 1.0 : 0.0; }},
    Pointwise{"!=", "not equal", 2, 1, Unit::fma, Role::compare, 0, true, as_comparison, in_files, "({0} != {1})",
              "({0} != {1})", "", [](Arguments a) { return a[0] != a[1] ? 1.0 : 0.0; }},
    Pointwise{"and", "both hold", 2, 1, Unit::fma, Role::logic, 0, true, as_conjunction, in_files, "({0} && {1})",
              "({0} && {1})", "", [](Arguments a) { return a[0] != 0 && a[1] != 0 ? 1.0 : 0.0; }},
    Pointwise{"or", "one of two holds", 2, 1, Unit::fma, Role::logic, 0, true, as_disjunction, in_files, "({0} || {1})",
              "({0} || {1})", "", [](Arguments a) { return a[0] != 0 || a[1] != 0 ? 1.0 : 0.0; }},
    Pointwise{"not", "does not hold", 1, 1, Unit::fma, Role::logic, 0, true, as_negation, in_files, "(!{0})", "(!{0})",
              "", [](Arguments a) { return a[0] == 0 ? 1.0 : 0.0; }},
};

constexpr const Pointwise* pointwise_row(std::string_view name) {
  return std::find_if(pointwise_rows.begin(), pointwise_rows.end(), [=](const Pointwise& r) { return r.name == name; });
}

// function, order, of_positive, homogeneous
constexpr std::array order_rows = {
    OrderRow{pointwise_row("exp"), Order::rising},
    OrderRow{pointwise_row("exp2"), Order::rising},
    OrderRow{pointwise_row("log"), Order::rising, true},
    OrderRow{pointwise_row("log2"), Order::rising, true},
    OrderRow{pointwise_row("sqrt"), Order::rising, true},
    OrderRow{pointwise_row("rsqrt"), Order::falling, true},
    OrderRow{pointwise_row("tanh"), Order::rising},
    OrderRow{pointwise_row("sigmoid"), Order::rising},
    OrderRow{pointwise_row("erf"), Order::rising},
    OrderRow{pointwise_row("abs"), Order::valley, false, true},
    OrderRow{pointwise_row("relu"), Order::rising, false, true},
    OrderRow{pointwise_row("max"), Order::rising, false, true},
    OrderRow{pointwise_row("min"), Order::rising, false, true},
};

constexpr std::array reduction_rows = {
    Reduction{"sum", "sum of all", 0, pointwise_row("+"), "l"},
    Reduction{"max", "greatest of all", -infinity, pointwise_row("max"), "m"},
    Reduction{"min", "smallest of all", infinity, pointwise_row("min"), "w"},
    Reduction{"prod", "product of all", 1, pointwise_row("*"), "z"},
};

template <class Rows>
constexpr bool unique_names(const Rows& rows) {
  for (auto a = rows.begin(); a != rows.end(); ++a)
    for (auto b = a + 1; b != rows.end(); ++b)
      if (a->name == b->name) return false;
  return true;
}
static_assert(unique_names(datatype_rows) && unique_names(pointwise_rows) && unique_names(reduction_rows));

template <class Rows>
auto find_row(const Rows& rows, std::string_view name) -> decltype(&rows[0]) {
  for (const auto& row : rows)
    if (row.name == name) return &row;
  return nullptr;
}

}  // namespace

std::span<const DatatypeRow> datatypes() { return datatype_rows; }
const DatatypeRow& row(Datatype type) { return datatype_rows[static_cast<std::size_t>(type)]; }
const DatatypeRow* find_datatype(std::string_view name) { return find_row(datatype_rows, name); }
std::int64_t bytes_of(Datatype type, std::int64_t values) {
  const auto& of = row(type);
  return values / of.share * of.bytes + (values % of.share > 0 ? of.bytes : 0);
}

std::string_view name(Unit unit) {
  constexpr std::array<std::string_view, 3> names = {"tensor", "fma", "sfu"};
  return names[static_cast<std::size_t>(unit)];
}

std::span<const Pointwise> pointwise_functions() { return pointwise_rows; }
const Pointwise* find_pointwise(std::string_view name) { return find_row(pointwise_rows, name); }

OrderRow order_of(const Pointwise& function) {
  for (const auto& row : order_rows)
    if (row.function == &function) return row;
  return {&function, Order::none};
}

bool is_conjunction(const Pointwise& function) {
  const double only_one[] = {1, 0};
  return function.role == Role::logic && function.arity == 2 && function.value(only_one) == 0;
}

const Reduction* opposite(const Reduction& reduction) {
  if (order_of(*reduction.combine).order == Order::none) return nullptr;
  return find_reduction(reduction.combine->role == Role::greatest ? "min" : "max");
}

std::span<const Reduction> reductions() { return reduction_rows; }
const Reduction* find_reduction(std::string_view name) { return find_row(reduction_rows, name); }

}  // namespace napkin
