// Every claim of every row of the tables, on random numbers.
#include "napkin/functions.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "diagram/order.hpp"
#include "support/catch.hpp"

using namespace napkin;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

double call(const Pointwise& function, std::vector<double> arguments) {
  REQUIRE(arguments.size() == static_cast<std::size_t>(function.arity));
  return function.value(arguments.data());
}

bool near(double a, double b) { return std::abs(a - b) <= 1e-12 * std::max({1.0, std::abs(a), std::abs(b)}); }

// What each role promises, for two numbers; those of `of_positives` only for positive ones.
using Law = bool (*)(const Pointwise&, double a, double b);
const std::map<Role, Law> laws = {
    {Role::add,
     [](const Pointwise& f, double a, double b) {
       return near(call(f, {a, b}), a + b);
     }},
    {Role::subtract,
     [](const Pointwise& f, double a, double b) {
       return near(call(f, {a, b}) + b, a);
     }},
    {Role::multiply,
     [](const Pointwise& f, double a, double b) {
       return near(call(f, {a, b}), a * b);
     }},
    {Role::divide,
     [](const Pointwise& f, double a, double b) {
       return near(call(f, {a, b}) * b, a);
     }},
    {Role::negate, [](const Pointwise& f, double a, double) { return call(f, {a}) + a == 0; }},
    {Role::magnitude,
     [](const Pointwise& f, double a, double b) {
       return near(call(f, {a * b}), call(f, {a}) * call(f, {b})) && call(f, {std::abs(a)}) == std::abs(a);
     }},
    {Role::greatest,
     [](const Pointwise& f, double a, double b) {
       return call(f, {a, b}) == (a > b ? a : b);
     }},
    {Role::least,
     [](const Pointwise& f, double a, double b) {
       return call(f, {a, b}) == (a < b ? a : b);
     }},
    {Role::exponential_of_difference,
     [](const Pointwise& f, double a, double b) {
       const double all = std::numeric_limits<double>::infinity();
       return near(call(f, {a, b}), std::exp(a - b)) && call(f, {-all, -all}) == 0;
     }},
    {Role::choose,
     [](const Pointwise& f, double a, double b) {
       return call(f, {1, a, b}) == a && call(f, {0, a, b}) == b;
     }},
    {Role::exponential,
     [](const Pointwise& f, double a, double b) {
       return near(call(f, {a + b}), call(f, {a}) * call(f, {b})) && near(call(f, {a}), std::exp(f.scale * a));
     }},
};
const std::map<Role, Law> laws_of_positives = {
    {Role::power,
     [](const Pointwise& f, double a, double b) {
       return near(call(f, {a * b, 3}), call(f, {a, 3}) * call(f, {b, 3})) && near(call(f, {a, 2}), a * a);
     }},
    {Role::root,
     [](const Pointwise& f, double a, double b) {
       return near(call(f, {a * b}), call(f, {a}) * call(f, {b})) && near(call(f, {a * a}), a);
     }},
    {Role::inverse_root,
     [](const Pointwise& f, double a, double b) {
       return near(call(f, {a * b}), call(f, {a}) * call(f, {b})) && near(call(f, {a * a}) * a, 1);
     }},
    {Role::logarithm,
     [](const Pointwise& f, double a, double b) {
       return near(call(f, {a * b}), call(f, {a}) + call(f, {b})) && near(call(f, {std::exp(f.scale)}), 1);
     }},
};

// The values of a binary format with `digits` significant bits, from zero to `greatest`, in order.
std::vector<double> values_of(int digits, int least_exponent, double greatest) {
  std::vector<double> values;
  const auto steps = 1 << (digits - 1);
  for (int step = 0; step < steps; ++step) values.push_back(std::ldexp(step, least_exponent - digits + 1));
  for (int exponent = least_exponent; std::ldexp(1, exponent) <= greatest; ++exponent)
    for (int step = 0; step < steps; ++step) values.push_back(std::ldexp(steps + step, exponent - digits + 1));
  std::erase_if(values, [&](double value) { return value > greatest; });
  return values;
}

struct Format {
  Datatype type;
  int digits, least_exponent;
  double greatest;
};
// Sign, exponent and fraction bits as the formats are published; f8e4m3 has no infinity, 448 is its greatest.
const std::vector<Format> formats = {{Datatype::f4e2m1, 2, 0, 6},
                                     {Datatype::f8e4m3, 4, -6, 448},
                                     {Datatype::f8e5m2, 3, -14, 57344},
                                     {Datatype::f16, 11, -14, 65504},
                                     {Datatype::bf16, 8, -126, 0x1.fep127}};

// The nearest of sorted values, ties to the one at an even place; all by looking.
double nearest_of(const std::vector<double>& values, double value) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < values.size(); ++i) {
    const double gain = std::abs(values[best] - value) - std::abs(values[i] - value);
    if (gain > 0 || (gain == 0 && i % 2 == 0)) best = i;
  }
  return values[best];
}

}  // namespace

TEST_CASE("each pointwise function obeys the law of its role", "[functions]") {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> number(-3, 3);
  for (const auto& function : pointwise_functions())
    for (int i = 0; i < 200; ++i) {
      const double a = number(random), b = number(random);
      CAPTURE(function.name, a, b);
      if (const auto law = laws.find(function.role); law != laws.end()) CHECK(law->second(function, a, b));
      if (const auto law = laws_of_positives.find(function.role); law != laws_of_positives.end())
        CHECK(law->second(function, std::abs(a) + 0.01, std::abs(b) + 0.01));
    }
}

TEST_CASE("functions do to the order, and to a positive factor, what their rows say", "[functions]") {
  std::mt19937 random(5);
  std::uniform_real_distribution<double> number(-3, 3);
  for (const auto& function : pointwise_functions()) {
    const auto row = order_of(function);
    if (row.order == Order::none) continue;
    CAPTURE(function.name);
    for (int i = 0; i < 300; ++i) {
      std::vector<double> low, high;
      for (int a = 0; a < function.arity; ++a) {
        low.push_back(row.of_positive ? std::abs(number(random)) : number(random));
        high.push_back(low.back());
      }
      const auto moved = random() % static_cast<unsigned>(function.arity);
      high[moved] += std::abs(number(random));
      const double below = call(function, low), above = call(function, high);
      if (row.order == Order::rising) CHECK(below <= above);
      if (row.order == Order::falling) CHECK(below >= above);
      if (row.order == Order::valley) {
        auto between = low;
        between[moved] += (high[moved] - low[moved]) * 0.4;
        CHECK(call(function, between) <= std::max(below, above));
      }
      if (!row.homogeneous) continue;
      auto scaled = low;
      for (auto& argument : scaled) argument *= 2.5;
      CHECK(near(call(function, scaled), 2.5 * below));
    }
  }
}

TEST_CASE("the opposite of the greatest is the smallest, and sums have none", "[functions]") {
  const auto* greatest = find_reduction("max");
  CHECK(opposite(*greatest) == find_reduction("min"));
  CHECK(opposite(*opposite(*greatest)) == greatest);
  CHECK(opposite(*find_reduction("sum")) == nullptr);
  CHECK(opposite(*find_reduction("prod")) == nullptr);
}

TEST_CASE("functions said to be positive are never negative", "[functions]") {
  std::mt19937 random(2);
  std::uniform_real_distribution<double> number(-5, 5);
  for (const auto& function : pointwise_functions()) {
    CAPTURE(function.name);
    bool negative = false;
    for (int i = 0; i < 1000; ++i) {
      std::vector<double> arguments(static_cast<std::size_t>(function.arity));
      for (auto& argument : arguments) argument = number(random);
      negative = negative || call(function, arguments) < 0;
    }
    if (function.positive) CHECK(!negative);
  }
}

TEST_CASE("comparisons and logic give 0 or 1", "[functions]") {
  for (const auto& function : pointwise_functions()) {
    if (function.role != Role::compare && function.role != Role::logic) continue;
    for (const double a : {0.0, 1.0})
      for (const double b : {0.0, 1.0}) {
        const double result = call(function, function.arity == 1 ? std::vector{a} : std::vector{a, b});
        CAPTURE(function.name, a, b);
        CHECK((result == 0 || result == 1));
      }
  }
}

TEST_CASE("code of a function names each argument", "[functions]") {
  for (const auto& function : pointwise_functions())
    for (const auto& text : {std::string(function.cuda), std::string(function.cpp)}) {
      CAPTURE(function.name, text);
      for (int i = 0; i < function.arity; ++i) CHECK(text.find("{" + std::to_string(i) + "}") != std::string::npos);
      CHECK(text.find("{" + std::to_string(function.arity) + "}") == std::string::npos);
    }
}

TEST_CASE("an exponential of a difference is 0 where the first is minus infinity", "[functions]") {
  const auto& function = *find_pointwise("expdiff");
  CHECK(call(function, {-infinity, -infinity}) == 0);
  CHECK(call(function, {-infinity, 3}) == 0);
  CHECK(near(call(function, {2, 3}), std::exp(-1)));
}

TEST_CASE("a reduction's identity is neutral, and its combine associates and commutes", "[functions]") {
  std::mt19937 random(3);
  std::uniform_int_distribution<int> number(-9, 9);
  for (const auto& reduction : reductions())
    for (int i = 0; i < 100; ++i) {
      const double a = number(random), b = number(random), c = number(random);
      const auto join = [&](double x, double y) { return call(*reduction.combine, {x, y}); };
      CAPTURE(reduction.name, a, b, c);
      CHECK(join(reduction.identity, a) == a);
      CHECK(join(a, b) == join(b, a));
      CHECK(join(join(a, b), c) == join(a, join(b, c)));
    }
}

TEST_CASE("every narrow format of floating point says what it holds") {
  for (const auto& format : datatypes()) {
    const bool is_signed_float = format.round(0.5) == 0.5 && format.round(-0.5) == -0.5;
    CAPTURE(format.name);
    CHECK((format.bytes > 2 || !is_signed_float || std::ranges::count(formats, format.type, &Format::type) == 1));
  }
}

TEST_CASE("rounding gives the nearest value of the type", "[functions]") {
  const auto format = GENERATE(from_range(formats));
  const auto values = values_of(format.digits, format.least_exponent, format.greatest);
  std::mt19937 random(4);
  std::uniform_real_distribution<double> exponent(format.least_exponent - format.digits - 1,
                                                  std::log2(format.greatest));
  for (int i = 0; i < 300; ++i) {
    const double value = std::min(std::exp2(exponent(random)), format.greatest);
    CAPTURE(row(format.type).name, value);
    CHECK(row(format.type).round(value) == nearest_of(values, value));
    CHECK(row(format.type).round(-value) == -nearest_of(values, value));
  }
  for (std::size_t i = 0; i + 1 < values.size(); i += 7) {
    const double halfway = (values[i] + values[i + 1]) / 2;
    CAPTURE(row(format.type).name, halfway);
    CHECK(row(format.type).round(halfway) == nearest_of(values, halfway));
  }
}

TEST_CASE("rounding is idempotent, keeps small integers and agrees with float", "[functions]") {
  std::mt19937 random(5);
  std::normal_distribution<double> number(0, 100);
  for (const auto& type : datatypes()) {
    CAPTURE(type.name);
    CHECK(&row(type.type) == &type);
    CHECK(find_datatype(type.name) == &type);
    CHECK(type.round(1) == 1);
    if (type.type != Datatype::f8e8m0) CHECK(type.round(0) == 0);
    for (int i = 0; i < 200; ++i) {
      const double once = type.round(number(random));
      CHECK(type.round(once) == once);
    }
  }
  const double third = 1.0 / 3;
  CHECK(row(Datatype::f64).round(third) == third);
  CHECK(row(Datatype::f32).round(third) == static_cast<double>(1.0f / 3.0f));
  CHECK(row(Datatype::tf32).round(1 + std::ldexp(1, -11)) == 1);  // halfway, to even
  CHECK(row(Datatype::bf16).round(third) == 0.333984375);
  CHECK(row(Datatype::i8).round(1000) == 127);
  CHECK(row(Datatype::boolean).round(-2) == 1);
}

TEST_CASE("beyond the greatest value a type saturates or is infinite", "[functions]") {
  CHECK(row(Datatype::f8e4m3).round(1e9) == 448);
  CHECK(row(Datatype::f8e5m2).round(-1e9) == -57344);
  CHECK(row(Datatype::f16).round(65519) == 65504);
  CHECK(row(Datatype::f16).round(65520) == infinity);
  CHECK(row(Datatype::bf16).round(-1e39) == -infinity);
}
