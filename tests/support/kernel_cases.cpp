// Plans whose kernels are compiled and run.
#include "support/kernel_cases.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <stdexcept>

#include "napkin/search.hpp"
#include "support/machine.hpp"

namespace kernel_cases {

using namespace napkin;

namespace {

std::string example(const std::string& name) { return read_file(NAPKIN_SOURCE_DIR "/examples/" + name + ".nap"); }

constexpr const char* attention_of = R"(
axis q = 64; axis x = 70; axis d = 20
input Q: f16[q, d]; input K: f16[x, d]; input V: f16[x, d]
S[q, x] = sum[d](Q[q, d] * K[x, d]) / sqrt(size(d))
P: f16[q, x] = softmax[x](S[q, x])
O: f16[q, d] = sum[x](P[q, x] * V[x, d])
output O
)";

constexpr const char* convolution = R"(diagram convolution
axis n = 3; axis c = 4; axis o = 6; axis u = 9; axis v = 11; axis i = 3; axis j = 2; axis h = u + i - 1; axis w = v + j - 1
input X: bf16[n, c, h, w]; input W: bf16[o, c, i, j]
Y[n, o, u, v] = sum[c, i, j](X[n, c, u + i, v + j] * W[o, c, i, j])
output Y
)";

constexpr const char* strided = R"(diagram strided
axis u = 20; axis i = 3; axis h = 2 * u + i
input X: f32[h]; input W: f32[i]
Y[u] = sum[i](X[2 * u + i + 1] * W[i])
output Y
)";

constexpr const char* block_mask = R"(diagram block_mask
axis q = 24; axis x = 40; axis d = 8; axis qb = 6; axis xb = 5
input Q: f16[q, d]; input K: f16[x, d]; input V: f16[x, d]
input M: bool[qb, xb] density 0.4
S[q, x] = sum[d](Q[q, d] * K[x, d]) / sqrt(size(d))
P[q, x] = softmax[x](where(M[q / 4, x / 8], S[q, x], -inf))
O: f16[q, d] = sum[x](P[q, x] * V[x, d])
output O
)";

constexpr const char* types = R"(diagram types
axis int = 13; axis x = 21; axis y = 9
input A: i8[int, x]; input B: i8[x, y]; input D: f64[int]; input E: f8e4m3[int, x]; input F: f8e5m2[x, y]
input G: tf32[int, x]; input H: tf32[x, y]
C: i32[int, y] = sum[x](A[int, x] * B[x, y])
R: f64[int] = D[int] / 3 + exp(D[int])
T: bf16[int, y] = sum[x](E[int, x] * F[x, y]) + f16(G[int, 0])
U[int, y] = sum[x](G[int, x] * H[x, y])
output C; output R; output T; output U
)";

constexpr const char* pointwise = R"(diagram pointwise
axis q = 5; axis x = 60
input A: f32[q, x]
B[q, x] = gelu(A[q, x]) + silu(A[q, x]) * tanh(A[q, x]) - A[q, x]^2 / (1 + abs(A[q, x]))
C[q, x] = where(x == 2 * q or not (q * 3 + 1 > x), B[q, x], max(-A[q, x], min(0.25, -(-1))))
L[q, x] = layernorm[x](C[q, x]) * rsqrt(2 + q)
output L
)";

constexpr const char* reductions = R"(diagram reductions
axis r = 37; axis x = 50
input A: f32[r, x]
M[r] = max[x](A[r, x])
W[r] = min[x](A[r, x])
Z[r] = prod[x](1 + A[r, x] / 100)
T[] = sum[r, x](A[r, x])
output M; output W; output Z; output T
)";

// What stands at the greatest, the second greatest, and extremes of what finished reductions change.
constexpr const char* ranks = R"(diagram ranks
axis q = 40; axis x = 96
input A: f16[q, x]; input W: f32[q, x]
P[q] = max[x](where(A[q, x] == max[x](A[q, x]), W[q, x], -inf))
S[q] = max[x](where(A[q, x] < max[x](A[q, x]), A[q, x], -inf))
D[q] = max[x](abs(W[q, x] - mean[x](W[q, x]))) + max[x](W[q, x] * sum[x](W[q, x]))
output P; output S; output D
)";
// The same of a product, which the matrix units compute.
constexpr const char* ranked_scores = R"(diagram ranked_scores
axis q = 64; axis x = 96; axis d = 32
input Q: f16[q, d]; input K: f16[x, d]; input V: f16[x, d]
S[q, x] = sum[d](Q[q, d] * K[x, d])
O[q, d] = sum[x](where(S[q, x] < max[x](S[q, x]), S[q, x], 0) * V[x, d])
output O
)";
// Numbers of f32 beside a maximum and sums of f64.
constexpr const char* wide_sums = R"(diagram wide_sums
axis q = 40; axis x = 50
input A: f32[q, x]; input B: f64[x]
Y: f64[q] = sum[x](softmax[x](A[q, x]) * B[x])
Z: f64[q] = sum[x](max(A[q, x], B[x]))
output Y; output Z
)";

// Two numbers to a byte, and scales of blocks, of which the last has 20 numbers.
constexpr const char* packed = R"(diagram packed
axis m = 70; axis j = 33; axis k = 212; axis kb = 7
input A: f4e2m1[m, k]; input B: i4[j, k]; input s: f8e8m0[m, kb]; input u: f8e4m3[j, kb]
C: f32[m, j] = sum[k](A[m, k] * B[j, k] * s[m, k / 32] * u[j, k / 32])
output C
)";

constexpr const char* epilogue = R"(diagram epilogue
axis m = 4096; axis n = 4096; axis k = 4096
input A: f16[m, k]; input B: f16[k, n]; input bias: f16[n]; input R: f16[m, n]
C: f16[m, n] = gelu(sum[k](A[m, k] * B[k, n]) + bias[n]) + R[m, n]
output C
)";

constexpr const char* scaled = R"(diagram scaled
axis m = 4096; axis n = 4096; axis k = 4096
input A: f8e4m3[m, k]; input B: f8e4m3[n, k]; input a: f32[m]; input b: f32[n]
C: bf16[m, n] = sum[k](A[m, k] * B[n, k]) * a[m] * b[n]
output C
)";

std::vector<Case> examples() {
  const auto searched = [](const std::string& name, std::vector<std::string> sizes) {
    return Case{name, example(name), {}, std::move(sizes)};
  };
  return {
      searched("matmul", {"a=5 b=7 c=9", "a=130 b=70 c=140"}),
      searched("mx_product", {"m=7 j=9 k=64 kb=2", "m=70 j=101 k=96 kb=3"}),
      searched("matmul_bias_relu", {"a=5 b=7 c=9", "a=67 b=40 c=140"}),
      searched("attention", {"q=7 x=9 d=5", "q=130 x=133 d=128"}),
      searched("causal_linear_attention", {"h=2 t=7 x=7 d=5 e=9", "h=2 t=256 x=256 d=20 e=40"}),
      searched("gated_linear_attention", {"h=2 t=7 x=7 s=7 d=5 e=9", "h=2 t=128 x=128 s=128 d=16 e=24"}),
      searched("moving_average", {"r=3 t=7 x=7", "r=2 t=2048 x=2048"}),
      searched("retention", {"h=2 t=7 x=7 d=5 e=9", "h=2 t=512 x=512 d=20 e=40"}),
      searched("causal", {"q=7 x=9 d=5", "q=150 x=133 d=128"}),
      searched("multi_head", {"b=2 h=3 q=17 x=9 d=5"}),
      searched("grouped_query", {"k=2 r=3 q=7 x=19 d=5"}),
      searched("sliding_window", {"q=7 x=9 d=5", "q=400 x=300 d=16"}),
      searched("spherical", {"q=7 x=9 d=5", "q=130 x=133 d=128"}),
      searched("rmsnorm_projection", {"t=7 c=9 o=5", "t=70 c=80 o=90"}),
      searched("gated_mlp", {"t=7 c=9 f=11 o=5", "t=40 c=50 f=60 o=70"}),
      searched("logsumexp", {"r=7 x=9", "r=70 x=333"}),
      searched("softmax", {"r=7 x=9", "r=20 x=333"}),
      searched("alibi", {"h=2 q=17 x=9 d=5"}),
      searched("attention_backward", {"h=2 q=7 x=9 d=5", "h=2 q=60 x=70 d=32"}),
      searched("average_pooling", {"n=2 c=5 u=3 v=4"}),
      searched("block_sparse", {"q=64 x=128 d=5"}),
      searched("block_scales", {"m=7 j=9 k=256 kb=2 jb=1", "m=70 j=140 k=384 kb=3 jb=2"}),
      searched("chained_matmul", {"a=7 b=9 c=5 d=11", "a=70 b=40 c=20 d=90"}),
      searched("convolution", {"n=2 c=5 o=7 u=4 v=3"}),
      searched("cross_entropy", {"t=7 c=9 v=11", "t=40 c=30 v=150"}),
      searched("cumulative_sum", {"r=3 t=7 x=7", "r=2 t=2048 x=2048"}),
      searched("decode", {"k=2 r=3 x=19 d=5"}),
      searched("depthwise_convolution", {"n=2 c=5 u=4 v=3"}),
      searched("latent_attention", {"h=3 x=9 c=12 p=4"}),
      searched("layernorm_projection", {"t=7 c=9 o=5", "t=70 c=80 o=90"}),
      searched("linear_attention", {"h=2 q=7 x=9 e=5 d=3"}),
      searched("low_rank_adapter", {"t=7 c=9 o=5 r=2", "t=70 c=80 o=90 r=16"}),
      searched("max_pooling", {"n=2 c=5 u=3 v=4"}),
      searched("rbf_attention", {"q=7 x=9 d=5", "q=60 x=70 d=32"}),
      searched("state_space", {"h=2 t=7 x=7 s=7 d=5 e=9", "h=2 t=256 x=256 s=256 d=16 e=24"}),
      searched("softcap", {"h=2 q=17 x=9 d=5"}),
      searched("swiglu_mlp", {"t=7 c=9 f=11"}),
      searched("variance", {"r=7 x=9", "r=70 x=333"}),
      searched("transformer_block", {"t=9 x=9 c=10 h=2 d=5 f=7", "t=70 x=70 c=64 h=2 d=32 f=80"}),
  };
}

std::vector<Case> by_hand() {
  const std::string attention = std::string("diagram attention_by_hand") + attention_of;
  return {
      {"matmul_warps",
       example("matmul"),
       {"group a 128, c 128, stream b 32 at smem; group a 64, c 32 at reg"},
       {"a=5 b=7 c=9", "a=70 b=33 c=130"}},
      {"matmul_ragged",
       example("matmul"),
       {"group a 48, c 40, stream b 10 at smem; group a 20, c 12, stream b 4 at reg"},
       {"a=95 b=33 c=83"}},
      {"matmul_streams", example("matmul"), {"group a 32, stream b 8, c 16 at smem"}, {"a=20 b=30 c=40"}},
      {"attention_inner",
       attention,
       {"group q 16, stream x 16 at smem; group q 8, stream x 8 at reg"},
       {"q=64 x=70 d=20", "q=1 x=1 d=1"}},
      {"attention_whole", attention, {""}, {"q=64 x=70 d=20", "q=9 x=3 d=4"}},
      {"attention_three_kernels",
       attention,
       {"group q 16 at smem", "group q 16 at smem", "group q 8, d' 8, stream x 16 at smem"},
       {"q=7 x=9 d=5", "q=64 x=70 d=20"}},
      {"convolution_ragged",
       convolution,
       {"group n 1, u 4, v 8, stream c 2 at smem; group o 2 at reg"},
       {"", "n=2 c=3 o=5 u=8 v=7 i=3 j=2 h=10 w=8"}},
      {"strided", strided, {"group u 8 at smem; group u 4, stream i 2 at reg"}, {"", "u=17 i=3 h=40"}},
      {"block_mask", block_mask, {"group q 10, stream x 12 at smem"}, {"", "q=21 x=17"}},
      {"epilogue", epilogue, {}, {"m=5 n=7 k=9"}},
      {"scaled", scaled, {}, {"m=5 n=7 k=9"}},
      {"types",
       types,
       {"group int 4 at smem", "group int' 6 at smem", "group y' 4 at smem", "group int'' 8, stream x'' 5 at smem"},
       {"", "int=11 x=5 y=2"}},
      {"pointwise", pointwise, {"group q 2 at smem"}, {"", "q=3 x=17"}},
      {"ranks",
       ranks,
       {"group q 8, stream x 32 at smem", "group q 8, stream x 32 at smem", "stream x 16 at smem"},
       {"", "q=5 x=3", "q=9 x=70"}},
      {"ranked_scores", ranked_scores, {"group q 32, stream x 32 at smem"}, {"q=7 x=9 d=5", "q=40 x=70 d=32"}},
      {"packed", packed, {}, {"m=7 j=9 k=212 kb=7", "m=70 j=33 k=200 kb=7"}},
      {"wide_sums", wide_sums, {"group q 8, stream x 16 at smem", "group q 8, stream x 16 at smem"}, {"", "q=3 x=9"}},
      {"reductions",
       reductions,
       {"stream x 8 at smem", "group r 8 at smem", "group r 8, stream x 16 at smem", "stream x 4 at smem"},
       {"", "r=5 x=3"}},
  };
}

Partition partition(const std::string& labels, const Diagram& diagram, const Hardware& hardware) {
  if (labels.empty()) return {};
  Sources sources;
  Diagnostics diagnostics;
  const auto file = sources.add("labels", labels);
  const auto parsed = parse_partition(sources, file, diagnostics);
  auto result = resolve_partition(parsed, diagram, hardware, diagnostics);
  if (diagnostics.has_errors()) throw std::runtime_error(render_text(sources, diagnostics, false));
  return result;
}

Kernel kernel(const Diagram& diagram, const std::vector<StatementId>& statements, const std::string& labels,
              const Hardware& hardware) {
  auto derivation = std::make_shared<const Derivation>(derive(diagram, statements));
  auto split = partition(labels, diagram, hardware);
  for (const auto& refused : illegal(*derivation, hardware, split)) throw std::runtime_error(refused.reason);
  return make_kernel(std::move(derivation), std::move(split));
}

Plan plan_by_hand(const Case& given, const Diagram& diagram, const Hardware& hardware) {
  std::vector<StatementId> all;
  for (std::uint32_t i = 0; i < diagram.statements.size(); ++i) all.push_back({i});
  Plan plan;
  if (given.labels.size() == 1) {
    plan.kernels.push_back(kernel(diagram, all, given.labels[0], hardware));
  } else {
    for (std::size_t i = 0; i < all.size(); ++i)
      plan.kernels.push_back(kernel(diagram, {all[i]}, given.labels.at(i), hardware));
  }
  return plan;
}

Planned plan_anew(const Case& given, const std::string& target, const Overrides& sizes) {
  const auto hardware = read_machine(target);
  auto diagram = sums_in_blocks(read_text(given.text, sizes)).diagram;
  if (!given.labels.empty()) {
    auto plan = plan_by_hand(given, diagram, hardware);
    for (const auto& kernel : plan.kernels) assume_sizes(diagram, kernel);
    return {std::move(diagram), hardware, std::move(plan)};
  }
  Goal goal;
  goal.divide = false;  // divided axes would be sizes of their own
  auto found = search(diagram, hardware, goal);
  return {std::move(found.diagram), hardware, std::move(found.plan)};
}

}  // namespace

const std::vector<Case>& cases() {
  static const auto all = [] {
    auto list = examples();
    for (auto& each : by_hand()) list.push_back(std::move(each));
    return list;
  }();
  return all;
}

std::string matrix_product(const std::string& a, const std::string& b, const std::string& type,
                           const std::string& result) {
  return fmt::format(R"(diagram product
axis m = 512; axis n = 512; axis k = 512
input A: {2}[{0}]; input B: {2}[{1}]
C: {3}[m, n] = sum[k](A[{0}] * B[{1}])
output C
)",
                     a, b, type, result);
}

const Case& case_named(const std::string& name) {
  const auto& all = cases();
  return *std::find_if(all.begin(), all.end(), [&](const Case& each) { return each.name == name; });
}

Planned plan(const Case& given, const std::string& target, const Overrides& sizes) {
  if (!sizes.types.empty()) return plan_anew(given, target, sizes);
  static std::map<std::string, Planned> known;
  auto question = fmt::format("{}\n{}\n{} labels\n", given.text, target, given.labels.size());
  for (const auto& label : given.labels) question += label + "\n";
  for (const auto& [axis, size] : sizes.sizes) question += fmt::format("{}={} ", axis, size);
  const auto found = known.find(question);
  return found != known.end() ? found->second : known.emplace(question, plan_anew(given, target, sizes)).first->second;
}

}  // namespace kernel_cases
