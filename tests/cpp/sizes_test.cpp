// Kernels in C++ at sizes that nobody planned: shorter, longer, ragged, of one position. What the interface accepts is
// right and stays inside its buffers, which a sanitizer watches; what it refuses is left untouched.
#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "cpp/program.hpp"
#include "support/catch.hpp"
#include "support/derived.hpp"
#include "support/machine.hpp"
#include "support/read.hpp"
#include "support/values.hpp"

using namespace napkin;
using namespace kernel_cases;
using namespace cpp_program;

namespace {

// Sizes that must be right; and others that may be refused, but not be wrong.
struct Sizes {
  Case given;  // its `run_sizes` must be right
  std::vector<std::string> others;
};

constexpr const char* window = R"(
axis x = 10; axis q = 2; axis c = x + q - 1
input C: f32[c]; input B: f32[x]
S[] = sum[q](sum[x](C[x + q] * B[x]))
output S
)";
constexpr const char* strided = R"(
axis u = 20; axis i = 3; axis h = 2 * u + i
input X: f32[h]; input W: f32[i]
Y[u] = sum[i](X[2 * u + i + 1] * W[i])
output Y
)";
constexpr const char* halves = R"(
axis x = 1; axis e = x / 2 + 1
input E: f32[e]; input B: f32[x]
S[] = sum[x](E[x / 2] * B[x])
output S
)";
constexpr const char* twice = R"(
axis x = 6; axis d = 2; axis b = (x + 2) / 3
input G: f32[x, b]
S[d, x] = G[x, x / 3]
output S
)";
constexpr const char* thirds = R"(
axis x = 10; axis c = x / 3 + 2; axis r = 4
input C: f32[r, c]
Z[r] = max[x](C[r, (x + 4) / 3])
output Z
)";
constexpr const char* reversed = R"(
axis x = 10; axis r = 4
input A: f32[r, x]; input B: f32[x]
Y[r] = sum[x](A[r, size(x) - 1 - x] * B[x])
output Y
)";
constexpr const char* flattened = R"(
axis r = 4; axis c = 6; axis a = r * c
input A: f32[a]
Y[r] = sum[c](A[size(c) * r + c])
output Y
)";
constexpr const char* product = R"(
axis x = 3; axis r = 4
input A: f32[r, x]
P[r] = prod[x](tanh(A[r, x]) / (1 + abs(mean[x](A[r, x]))))
output P
)";
constexpr const char* lacking = R"(
axis x = 6; axis q = 1
input A: f32[x]
S[] = sum[q](sum[x](A[x]))
output S
)";
constexpr const char* wires = R"(
axis q = 6; axis x = 7; axis d = 4
input Q: f32[q, d]; input K: f32[x, d]; input V: f32[x, d]
S[q, x] = sum[d](Q[q, d] * K[x, d]) / sqrt(size(d))
P[q, x] = softmax[x](S[q, x])
O[q, d] = sum[x](P[q, x] * V[x, d])
output O
)";
constexpr const char* greatest = R"(
axis x = 10; axis r = 3
input B: f64[r, x]
S: f64[r] = sum[x](where(B[r, x] == max[x](B[r, x]), x, 0))
output S
)";
constexpr const char* wide = R"(
axis x = 10; axis r = 3
input B: f64[r, x]; input C: f64[r, x]
L: f64[r] = logsumexp[x](B[r, x] * 3)
V: f64[r] = var[x](B[r, x])
D: f64[r] = sum[x](C[r, x] * exp(B[r, x] - max[x](B[r, x])))
output L; output V; output D
)";
// Numbers of f32 whose products and sums f32 does not hold.
constexpr const char* widened = R"(
axis x = 10; axis r = 3
input A: f32[r, x]; input B: f32[r, x]
Y: f64[r] = sum[x](A[r, x] * B[r, x])
E: f64[r, x] = exp(A[r, x]) / (2 + B[r, x])
N: i32[r] = sum[x](100000000 * A[r, x])
output Y; output E; output N
)";
// One sum, which has neither axis of the arrays that it is written to.
constexpr const char* shared = R"(
axis d = 3; axis q = 2; axis h = 6
input A: f32[h]
P[d] = sum[h](A[h])
Q[q] = sum[h](A[h])
output P; output Q
)";
// What P is equal to has no axis, though P has one.
constexpr const char* spread = R"(
axis x = 24; axis d = 27
input A: f32[d]
P[x] = logsumexp[d](A[d])
Q[x] = min[d](P[x] * A[d] * 3)
output P; output Q
)";
constexpr const char* outputs = R"(
axis x = 10; axis r = 4; axis e = x / 4 + 1
input A: f32[r, x]; input E: f32[e]
M[r] = max[x](A[r, x])
S[r] = sum[x](A[r, x] * E[x / 4])
T[] = sum[r, x](A[r, size(x) - 1 - x] * x)
output M; output S; output T
)";

Sizes sizes(const std::string& name, const char* text, const std::string& labels, std::vector<std::string> accepted,
            std::vector<std::string> others = {}) {
  const auto split = labels.empty() ? std::vector<std::string>() : std::vector{labels};
  return {{name, "diagram " + name + text, split, std::move(accepted)}, std::move(others)};
}

std::vector<Sizes> all_sizes() {
  return {
      sizes("window_streamed", window, "stream x 3 at l2; stream x 1 at l1; stream x 1 at reg",
            {"x=10 q=2", "x=300 q=2", "x=1 q=1", "x=7 q=1", "x=301 q=2 c=310"}, {"x=10 q=5", "x=1000 q=13"}),
      sizes("window_both", window, "stream q 1, x 4 at l2; stream x 1 at reg",
            {"x=10 q=2", "x=300 q=2", "x=1000 q=13", "x=1 q=1", "x=17 q=5 c=30"}),
      sizes("window_searched", window, "", {"x=10 q=2", "x=1 q=1"}, {"x=300 q=2", "x=17 q=5"}),
      sizes("strided_split", strided, "group u 6, stream i 2 at l2; group u 1 at reg",
            {"u=20 i=3", "u=37 i=5", "u=1 i=1", "u=301 i=7"}),
      sizes("shared_streamed", shared, "stream h 1 at l2", {"d=3 q=2 h=6", "d=1 q=2 h=17"}, {"d=1 q=5 h=17"}),
      sizes("spread_streamed", spread, "stream d 8 at l2", {"x=24 d=27", "x=3 d=1", "x=1 d=100"}),
      sizes("halves_one", halves, "stream x 1 at l2", {"x=1", "x=2", "x=3", "x=10", "x=301", "x=17 e=40"}),
      sizes("halves_three", halves, "stream x 3 at l2; stream x 1 at l1", {"x=1", "x=2", "x=10", "x=301"}),
      sizes("halves_searched", halves, "", {"x=1"}, {"x=2", "x=10", "x=301"}),
      sizes("twice_split", twice, "stream x 5 at l2", {"x=6 d=2", "x=17 d=1", "x=1 d=1", "x=40 d=2"}),
      sizes("thirds_four", thirds, "group r 2, stream x 4 at l2; stream x 2 at reg",
            {"x=10 r=4", "x=1 r=1", "x=257 r=7", "x=31 r=3 c=20"}),
      sizes("reversed_streamed", reversed, "group r 2, stream x 3 at l2", {"x=10 r=4", "x=10 r=1", "x=10 r=7"},
            {"x=9 r=4", "x=1 r=1", "x=301 r=5"}),
      sizes("reversed_searched", reversed, "", {"x=10 r=4", "x=10 r=3"}, {"x=9 r=3", "x=301 r=5"}),
      sizes("flattened_split", flattened, "group r 2, stream c 4 at l2", {"r=4 c=6", "r=9 c=6 a=54", "r=1 c=6"},
            {"r=4 c=5", "r=2 c=7", "r=1 c=1"}),
      sizes("product_split", product, "group r 2 at l2", {"x=3 r=4", "x=1 r=1", "x=2 r=5"}, {"x=7 r=5"}),
      sizes("lacking_streamed", lacking, "stream x 2 at l2", {"x=6 q=1", "x=6 q=4", "x=13 q=7"}),
      sizes("lacking_searched", lacking, "", {"x=6 q=1"}, {"x=6 q=4", "x=13 q=7", "x=1 q=2"}),
      sizes("wires_streamed", wires, "group q 4, d' 2, stream x 3 at l2; stream d 1 at reg",
            {"q=6 x=7 d=4", "q=17 x=40 d=1", "q=1 x=1 d=3"}, {"q=6 x=7 d=13"}),
      sizes("wires_all", wires, "group q 4, d' 1, stream x 3, d 3 at l2",
            {"q=6 x=7 d=4", "q=17 x=40 d=13", "q=1 x=1 d=1"}),
      sizes("greatest_searched", greatest, "", {"x=10 r=3", "x=1 r=1"}, {"x=301 r=3"}),
      sizes("wide_searched", wide, "", {"x=10 r=3", "x=1 r=1"}, {"x=301 r=3"}),
      sizes("wide_streamed", wide, "group r 2, stream x 4 at l2", {"x=10 r=3", "x=1 r=1", "x=301 r=5"}),
      sizes("widened_searched", widened, "", {"x=10 r=3", "x=1 r=1"}),
      sizes("widened_streamed", widened, "stream x 4 at l2", {"x=10 r=3", "x=1 r=1"}),
      sizes("outputs_searched", outputs, "", {"x=10 r=4", "x=10 r=3"}, {"x=9 r=1", "x=301 r=5", "x=13 r=17"}),
  };
}

constexpr const char* decode = R"(
axis x = 24; axis d = 4
input Q: f32[d]; input K: f32[x, d]; input V: f32[x, d]
S[x] = sum[d](Q[d] * K[x, d])
O[d] = sum[x](softmax[x](where(x < size(x) - 1, S[x], -inf)) * V[x, d])
output O
)";

// Parts of x side by side, and what merges them.
Planned in_parts(const Case& given, std::int64_t length) {
  const auto hardware = read_machine("x86-64-avx2");
  const auto diagram = read_text(given.text);
  const auto derivation = testing::derived(diagram);
  const Partition groups{{{SplitKind::group, *find_wire(diagram, "x"), length, 1}}};
  auto made = std::get<DividedPartition>(divide(diagram, *derivation, groups, 0));
  const auto kernel = [&](const std::vector<StatementId>& statements, const Partition& partition) {
    return make_kernel(std::make_shared<const Derivation>(derive(made.diagram, statements)), partition);
  };
  Plan plan{{kernel(made.parts, made.partition), kernel(made.merging, {})}};
  return {made.diagram, hardware, std::move(plan)};
}

double allowed(const Diagram& diagram) {
  const bool in_f64 = std::ranges::all_of(diagram.statements, [&](const Statement& statement) {
    const auto type = diagram.at(statement.output).type;
    return type == Datatype::f64 || type == Datatype::i32;
  });
  return in_f64 ? 1e-13 : tolerance(diagram);
}

// Whether the sizes were accepted.
bool runs(const Built& each, const std::string& folder, const std::string& words) {
  CAPTURE(each.given.name, words);
  const auto diagram = read_text(each.given.text, sizes_of(words));
  auto values = drawn_values(diagram, 7);
  write_doubles(folder + "/in", values, diagram.inputs);
  std::string all;
  for (const auto& axis : diagram.axes) all += fmt::format(" {}", *axis.size);
  const auto ran = run(fmt::format("cd {} && ./sizes {} drive in out{}", folder, each.given.name, all));
  INFO(ran.output);
  if (ran.status == 1 && ran.output.empty()) return false;
  CHECK(ran.status == 0);
  if (ran.status != 0) return true;
  evaluate(diagram, values, true);
  const auto got = read_outputs(folder + "/out", diagram);
  for (std::size_t i = 0; i < got.size(); ++i) {
    CAPTURE(diagram.at(diagram.outputs[i]).name);
    CHECK(relative_error(got[i], values.arrays[diagram.outputs[i].index]) <= allowed(diagram));
  }
  return true;
}

}  // namespace

TEST_CASE("kernels in C++ are right at every size that they accept", "[cpp][sizes]") {
  const auto given = all_sizes();
  std::vector<Built> built;
  for (const auto& each : given) built.push_back(build(each.given, plan(each.given, "x86-64-avx2")));
  // Each part has its own half of the text's keys, or all are one part; none is left out.
  const auto by_halves =
      sizes("decode_in_parts", decode, "", {"x=24 d=4", "x=12 d=4", "x=7 d=4", "x=12 d=3", "x=24 d=2"});
  const auto parted = build(by_halves.given, in_parts(by_halves.given, 12));
  built.push_back(parted);
  const auto folder = compile(built, "sizes", "-O0 -fsanitize=address,undefined -fno-sanitize-recover=all");
  for (std::size_t i = 0; i < given.size(); ++i) {
    for (const auto& words : given[i].given.run_sizes) {
      CAPTURE(given[i].given.name, words);
      CHECK(runs(built[i], folder, words));
    }
    for (const auto& words : given[i].others) runs(built[i], folder, words);
  }
  for (const auto& words : by_halves.given.run_sizes) {
    CAPTURE(words);
    CHECK(runs(parted, folder, words));
  }
  for (const auto* words : {"x=48 d=4", "x=23 d=4", "x=13 d=2", "x=25 d=4"}) {
    CAPTURE(words);
    CHECK_FALSE(runs(parted, folder, words));
  }
}
