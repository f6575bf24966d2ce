// The types in which sums, states and values without a name are kept.
#include <set>
#include <string>

#include "support/catch.hpp"
#include "support/derived.hpp"
#include "support/read.hpp"

using namespace napkin;

namespace {

// Types of all that a kernel computes, however it is streamed.
std::set<Datatype> computed_types(const std::string& statements) {
  const auto all = testing::derived(read_text(
      "diagram t\naxis q = 8; axis x = 8\ninput A: f64[q, x]; input B: f32[q, x]; input I: i8[q, x]\n" + statements));
  std::set<Datatype> types;
  const auto add = [&](const Diagram& scratch, const std::vector<Column>& columns) {
    for (const auto& column : columns) types.insert(scratch.at(column.output).type);
  };
  add(all->scratch, all->columns);
  for (const auto& each : all->verdicts)
    if (const auto* s = std::get_if<Streamable>(&each.stream))
      for (const auto* list : {&s->before, &s->init, &s->piece, &s->absorb, &s->merge, &s->finish})
        add(s->scratch, *list);
  return types;
}

}  // namespace

TEST_CASE("what is in f64 is reduced in f64") {
  const std::set<Datatype> wide = {Datatype::f64};
  CHECK(computed_types("Y: f64[q] = sum[x](where(A[q, x] == max[x](A[q, x]), x, 0)); output Y") == wide);
  CHECK(computed_types("Y: f64[q] = logsumexp[x](3 * A[q, x]); output Y") == wide);
  CHECK(computed_types("Y: f64[q] = var[x](A[q, x]); output Y") == wide);
  CHECK(computed_types("P: f64[q, x] = softmax[x](A[q, x])\nY: f64[q] = sum[x](P[q, x] * A[q, x]); output Y") == wide);
  CHECK(computed_types("Y: f64[q] = sum[x](exp(B[q, x] - max[x](B[q, x]))); output Y") == wide);
  CHECK(computed_types("Y[q] = sum[x](A[q, x]); output Y") == std::set{Datatype::f64, Datatype::f32});
  CHECK(computed_types("Y[q] = sum[x](B[q, x] * x); output Y") == std::set{Datatype::f32});
}

TEST_CASE("fractions are summed into whole numbers without rounding each piece") {
  CHECK(computed_types("Y: i32[q] = sum[x](I[q, x] * x + I[q, x]); output Y") == std::set{Datatype::i32});
  CHECK(computed_types("Y: i32[q] = sum[x](I[q, x] / (1 + x)); output Y") == std::set{Datatype::i32, Datatype::f64});
}
