// Block scales in their operands: which formats hold which products, what becomes of a sum, and that it is the same.
#include "derive/orders/scaled.hpp"

#include <fmt/format.h>

#include <cmath>
#include <map>

#include "napkin/derive.hpp"
#include "napkin/verify.hpp"
#include "support/catch.hpp"
#include "support/read.hpp"

using namespace napkin;
using namespace napkin::orders;

namespace {

// Formats by their fields, as their specifications have them. Codes beside the greatest number are infinities and NaN.
struct Fields {
  int exponent_bits, digits_bits, bias, largest_code;  // of the codes without a sign
};
const std::map<Datatype, Fields> small = {
    {Datatype::f8e4m3, {4, 3, 7, 0x7e}}, {Datatype::f8e5m2, {5, 2, 15, 0x7b}}, {Datatype::f4e2m1, {2, 1, 1, 7}}};

std::vector<double> decoded(Datatype type) {
  std::vector<double> all;
  if (type == Datatype::f8e8m0)
    for (int code = 0; code < 255; ++code) all.push_back(std::exp2(code - 127));
  if (type == Datatype::i8)
    for (int value = -128; value < 128; ++value) all.push_back(value);
  if (type == Datatype::i4)
    for (int value = -8; value < 8; ++value) all.push_back(value);
  if (!all.empty()) return all;
  const auto& fields = small.at(type);
  for (int code = 0; code <= fields.largest_code; ++code) {
    const int exponent = code >> fields.digits_bits, digits = code & ((1 << fields.digits_bits) - 1);
    const double one = exponent == 0 ? 0 : 1;
    const double value = std::ldexp(one + std::ldexp(digits, -fields.digits_bits), std::max(exponent, 1) - fields.bias);
    all.push_back(value), all.push_back(-value);
  }
  return all;
}

// Whether a format of so many digits and of such exponents has the number.
struct Wide {
  int digits, least_exponent, greatest_exponent;
  double greatest;
};
const std::map<Datatype, Wide> wide = {{Datatype::f8e4m3, {4, -9, 8, 448}},
                                       {Datatype::f8e5m2, {3, -16, 15, 57344}},
                                       {Datatype::f16, {11, -24, 15, 65504}},
                                       {Datatype::bf16, {8, -133, 127, 3.38953139e38}}};
bool has(const Wide& format, double value) {
  if (value == 0 || std::abs(value) < 0x1p-126 || std::abs(value) >= 0x1p128) return true;  // no normal number of f32
  int exponent = 0;
  std::frexp(value, &exponent);
  const double unit = std::ldexp(1, std::max(exponent - format.digits, format.least_exponent));
  return std::abs(value) <= format.greatest && std::fmod(value, unit) == 0;
}

constexpr const char* head =
    "diagram t\naxis m = 5; axis j = 7; axis k = 44; axis kb = 3; axis kc = 6\n"
    "input A: f4e2m1[m, k]; input B: f4e2m1[j, k]; input E: f8e4m3[j, k]; input D: bf16[m, k]\n"
    "input s: f8e8m0[m, kb]; input t: f8e8m0[j, kb]; input u: f8e4m3[j, kc]; input v: f32[j, kb]; input w: f16[m, kb]\n"
    "input M: bool[m, kb]\n";

std::vector<std::string> form_of(const std::string& value) {
  const auto diagram = sums_in_blocks(read_text(head + ("C: f16[m, j] = " + value) + "\noutput C\n")).diagram;
  const auto made = scaled_operands(diagram, "C");
  std::vector<std::string> all;
  if (!made) return all;
  CHECK(verify(made->diagram).empty());
  for (const auto& one : made->diagram.statements) {
    const auto& array = made->diagram.at(one.output);
    all.push_back(
        fmt::format("{}: {} = {}", array.name, row(array.type).name, to_short_text(made->diagram, one.value)));
  }
  return all;
}
using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("a format holds the products of two others only if it holds each") {
  const std::vector<Datatype> all{Datatype::f8e4m3, Datatype::f8e5m2, Datatype::f8e8m0,
                                  Datatype::f4e2m1, Datatype::i8,     Datatype::i4};
  int held = 0;
  for (const auto a : all)
    for (const auto b : all)
      for (const auto& [type, format] : wide) {
        bool every = true;
        for (const double x : decoded(a))
          for (const double y : decoded(b)) every = every && has(format, x * y);
        CAPTURE(row(a).name, row(b).name, row(type).name);
        CHECK((holds_products({a, b}, type) == type) == every);
        held += every ? 1 : 0;
      }
  CHECK(held > 20);
  CHECK(holds_products({Datatype::f4e2m1, Datatype::f8e8m0}, std::nullopt) == Datatype::bf16);
  CHECK(holds_products({Datatype::f4e2m1, Datatype::f8e4m3}, std::nullopt) == Datatype::f16);
  CHECK(holds_products({Datatype::f4e2m1, Datatype::f4e2m1}, std::nullopt) == Datatype::f8e4m3);
  CHECK_FALSE(holds_products({Datatype::f4e2m1, Datatype::f16}, std::nullopt));
  CHECK_FALSE(holds_products({Datatype::f4e2m1, Datatype::boolean}, std::nullopt));
}

TEST_CASE("a scale multiplies the operand whose wires it has") {
  CHECK(form_of("sum[k](A[m, k] * B[j, k] * s[m, k / 16] * t[j, k / 16])") ==
        Lines{"As: bf16 = A * s[m, k / 16]", "Bt: bf16 = B * t[j, k / 16]", "C: f16 = sum[k](As * Bt)"});
  CHECK(form_of("sum[k](t[j, k / 16] * (D[m, k] * B[j, k]))") ==
        Lines{"Bt: bf16 = B * t[j, k / 16]", "C: f16 = sum[k](D * Bt)"});
  // Two scales of one operand, of blocks of different lengths.
  CHECK(form_of("sum[k](D[m, k] * B[j, k] * t[j, k / 16] * u[j, k / 8])") ==
        Lines{"Btu: bf16 = B * t[j, k / 16] * u[j, k / 8]", "C: f16 = sum[k](D * Btu)"});
  // Both operands get one format, although a narrower one holds the second.
  CHECK(form_of("sum[k](A[m, k] * s[m, k / 16] * B[j, k] * u[j, k / 8])") ==
        Lines{"As: bf16 = A * s[m, k / 16]", "Bu: bf16 = B * u[j, k / 8]", "C: f16 = sum[k](As * Bu)"});
}

TEST_CASE("a scale stays outside where it would be rounded, or where it is no factor of an operand") {
  for (const auto* value : {
           "sum[k](A[m, k] * B[j, k] * v[j, k / 16])",  // f32
           "sum[k](A[m, k] * B[j, k] * w[m, k / 16])",  // f16
           "sum[k](A[m, k] * E[j, k] * u[j, k / 8] * t[j, k / 16] * s[m, k / 16] * v[j, k / 16])",
           "sum[k](A[m, k] * B[j, k] / t[j, k / 16])",               // a divisor
           "sum[k](D[m, k] * B[j, k] * s[m, k / 16])",               // of an operand of 16 bits
           "sum[k](A[m, k] * B[j, k] * where(M[m, k / 16], 1, 0))",  // no input
           "sum[k](A[m, k] * B[j, k])",                              // none
       }) {
    CAPTURE(value);
    CHECK(form_of(value).empty());
  }
}

TEST_CASE("products with scaled operands are the same numbers") {
  for (const auto* value : {
           "sum[k](A[m, k] * B[j, k] * s[m, k / 16] * t[j, k / 16])",
           "sum[k](A[m, k] * E[j, k] * t[j, k / 16] * s[m, k / 16])",
           "sum[k](D[m, k] * B[j, k] * t[j, k / 16] * u[j, k / 8])",
           "3 + 2 * sum[k](A[m, k] * B[j, k] * u[j, k / 8])",
       }) {
    CAPTURE(value);
    const auto plain = read_text(head + ("C: f64[m, j] = " + std::string(value)) + "\noutput C\n");
    const auto made = scaled_operands(sums_in_blocks(plain).diagram, "C");
    REQUIRE(made);
    auto meant = random_values(plain, 5);
    auto scaled = meant;
    scaled.arrays.resize(made->diagram.arrays.size());
    evaluate(plain, meant, false);
    evaluate(made->diagram, scaled, true);  // rounds the operands to their formats
    const auto &a = meant.arrays[plain.outputs[0].index], &b = scaled.arrays[made->diagram.outputs[0].index];
    REQUIRE(a.size() == b.size());
    for (std::size_t i = 0; i < a.size(); ++i) REQUIRE(std::abs(a[i] - b[i]) <= 1e-12 * (1 + std::abs(a[i])));
  }
}

TEST_CASE("no operand is stored in a format of inputs alone") {
  using enum Datatype;
  CHECK(holds_products({f8e8m0, f8e8m0}, f8e8m0) == bf16);
  CHECK(holds_products({f8e8m0}, f8e8m0) == bf16);
  CHECK(holds_products({f4e2m1, f8e8m0}, bf16) == bf16);
}
