// Kernels printed in C++, compiled and run: every case at all its sizes against the plain meaning, by their own harness
// and by evaluate(); once with sanitizers, once with vectors. All cases are one program, each in a namespace of its
// own, so that the compiler starts once.
#include <fmt/format.h>

#include <regex>

#include "cpp/program.hpp"
#include "support/catch.hpp"
#include "support/read.hpp"
#include "support/values.hpp"

using namespace napkin;
using namespace kernel_cases;
using namespace cpp_program;

namespace {

// A case with a name of its own in its text too: several may be of one diagram.
Case renamed(Case each, const std::string& suffix) {
  each.name += suffix;
  each.text = std::regex_replace(each.text, std::regex("(^|\n)diagram [a-z_]+"), "$1diagram " + each.name,
                                 std::regex_constants::format_first_only);
  return each;
}

void compare(const Built& each, const std::string& folder, const std::string& program, const std::string& words) {
  const auto diagram = read_text(each.given.text, sizes_of(words));
  auto values = drawn_values(diagram, 7);
  write_doubles(folder + "/in", values, diagram.inputs);
  std::string sizes;
  for (const auto& axis : diagram.axes) sizes += fmt::format(" {}", *axis.size);
  const auto ran = run(fmt::format("cd {} && ./{} {} drive in out{}", folder, program, diagram.name, sizes));
  INFO(ran.output);
  REQUIRE(ran.status == 0);
  evaluate(diagram, values, true);
  const auto outputs = read_outputs(folder + "/out", diagram);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    CAPTURE(diagram.at(diagram.outputs[i]).name);
    CHECK(relative_error(outputs[i], values.arrays[diagram.outputs[i].index]) <= tolerance(diagram));
  }
}

void check(const std::vector<Built>& cases, const std::string& program, const std::string& options) {
  const auto folder = compile(cases, program, options);
  for (const auto& each : cases)
    for (const auto& sizes : each.given.run_sizes) {
      CAPTURE(each.given.name, sizes);
      const auto harness = run(fmt::format("cd {} && ./{} {} {}", folder, program, each.given.name, sizes));
      INFO(harness.output);
      CHECK(harness.status == 0);
      if (sizes == each.given.run_sizes.front()) compare(each, folder, program, sizes);
    }
}

}  // namespace

TEST_CASE("kernels in C++ compute what the diagram means", "[cpp][cases]") {
  std::vector<Built> all;
  for (const auto& each : cases()) all.push_back(build(renamed(each, ""), "h100-sxm5", {}));
  check(all, "checked", "-O0 -fsanitize=address,undefined -fno-sanitize-recover=all");
}

// Of every third case, or of all.
TEST_CASE("so do those of a processor's plans at small sizes, as vectors", "[cpp]") {
  std::vector<Built> all;
  std::size_t turn = 0;
  for (const auto& each : cases())
    if (each.labels.empty() && !left_out(turn++, 3))
      all.push_back(build(renamed(each, "_small"), "x86-64-avx2", sizes_of(each.run_sizes.back())));
  check(all, "small_checked", "-O0 -fsanitize=address,undefined -fno-sanitize-recover=all");
  check(all, "small_fast", "-O3 -march=native");
}

TEST_CASE("kernels hold for longer axes than planned where the plan splits them", "[cpp]") {
  auto matmul = cases().front();
  matmul.name = "matmul_longer";
  matmul.labels = {"group a 8, c 24, stream b 1 at l2; group a 3, c 8 at reg"};
  matmul.run_sizes = {"a=70 b=300 c=90", "a=1 b=1 c=1"};
  const std::vector<Built> all = {build(renamed(matmul, ""), "x86-64-avx2", sizes_of("a=5 b=6 c=7"))};
  check(all, "longer_checked", "-O0 -fsanitize=address,undefined -fno-sanitize-recover=all");
  check(all, "longer_parallel", "-O2 -fopenmp");
  check(all, "longer_plain", "-O2 -fno-openmp-simd -Wno-unknown-pragmas");
}
