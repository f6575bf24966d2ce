// What a column does at each position, and on which unit.
#include "loops/work.hpp"

#include "derive/columns.hpp"
#include "napkin/search.hpp"
#include "napkin/summary.hpp"
#include "support/catch.hpp"
#include "support/derived.hpp"
#include "support/machine.hpp"
#include "support/read.hpp"

using namespace napkin;

namespace {

// Operations at each position of the one column of `value`, on a unit.
double operations_on(Unit unit, const std::string& value) {
  const auto diagram = read_text("diagram d; axis x = 8; input X: f32[x]; Y[x] = " + value + "; output Y");
  const Column column{diagram.statements[0].output, diagram.statements[0].value, nullptr, {}, {}, {}};
  double all = 0;
  for (const auto& work : work_of(diagram, column, read_machine("h100-sxm5")))
    if (work.unit == unit) all += work.operations;
  return all;
}

}  // namespace

TEST_CASE("a small power is products on lanes") {
  for (const int power : {2, 3, 4}) {
    CHECK(operations_on(Unit::fma, "X[x]^" + std::to_string(power)) == power - 1);
    CHECK(operations_on(Unit::sfu, "X[x]^" + std::to_string(power)) == 0);
  }
  CHECK(operations_on(Unit::sfu, "X[x]^5") > 0);
  CHECK(operations_on(Unit::sfu, "X[x]^(1/2)") > 0);
}

TEST_CASE("what no position changes is not counted") {
  CHECK(operations_on(Unit::sfu, "X[x] / sqrt(size(x))") == 0);
  CHECK(operations_on(Unit::fma, "X[x] / sqrt(size(x))") == 1);
}

TEST_CASE("a product of matrices has rows from one array and columns from the other") {
  const auto unit = [](const std::string& output, const std::string& value, const std::string& b = "64") {
    const auto diagram = read_text("diagram d; axis a = 64; axis b = " + b +
                                   "; axis c = 64; input A: f16[a, b]; input B: f16[b, c]; input D: f16[a, b, c]; "
                                   "input v: f16[b]; input w: f16[c]; " +
                                   output + " = " + value + "\noutput Y");
    const auto derivation = testing::derived(diagram);
    std::string units;
    for (const auto& column : derivation->columns)
      if (column.fold)
        for (const auto& work : work_of(derivation->scratch, column, read_machine("h100-sxm5")))
          units += name(work.unit);
    return units;
  };
  CHECK(unit("Y[a, c]", "sum[b](A[a, b] * B[b, c])") == "tensor");
  CHECK(unit("Y[a, c]", "sum[b](D[a, b, c] * A[a, b])") == "fma");  // a matrix with a vector for every a
  CHECK(unit("Y[a]", "sum[b](A[a, b] * v[b])") == "fma");
  CHECK(unit("Y[a]", "sum[b](A[a, b] * A[a, b])") == "fma");
  CHECK(unit("Y[a, c]", "sum[b](A[a, b] * B[b, c])", "2") == "tensor");
  CHECK(unit("Y[a, c]", "sum[b](A[a, b] * B[b, c])", "1") == "fma");  // one product for each result
  CHECK(unit("Y[a, c]", "sum[b](A[a, b] * w[c])") == "fma");          // w moves out of the sum
}

// The row's factor leaves the sum, and what is left is a product of f16.
TEST_CASE("a product that the program gives to matrix units is executed once") {
  const auto hardware = read_machine("rtx3090");
  const auto found = search(read_example("rmsnorm_projection.nap"), hardware, {});
  const auto made = operations_of(found.plan.kernels.at(0), found.cost.kernels.at(0), hardware, true);
  CHECK(made.useful == 2.0 * 4096 * 2048 * 2048);
  CHECK(made.executed == made.useful);
}
