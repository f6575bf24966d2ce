// Kernels of warpgroups, with wgmma, TMA and barriers in shared memory: emulated at three sizes, one of them
// ragged, against the plain meaning; what they move against the model; and mistakes planted by hand.
#include <fmt/format.h>

#include "cuda/emulate.hpp"
#include "napkin/cost.hpp"
#include "napkin/device.hpp"
#include "support/catch.hpp"
#include "support/machine.hpp"
#include "support/read.hpp"

using namespace napkin;
using namespace kernel_cases;

namespace {

constexpr const char* machine = "h100-sxm5";

constexpr const char* chained = R"(diagram chained
axis a = 512; axis b = 256; axis c = 64; axis d = 64
input A: f16[a, b]; input B: f16[b, c]; input D: f16[c, d]
T: f16[a, c] = sum[b](A[a, b] * B[b, c])
Y: f16[a, d] = sum[c](T[a, c] * D[c, d])
output Y
)";

// Lanes exchange what they computed in 8 bits before it is an operand.
std::string attention_of(const std::string& type) {
  return fmt::format(R"(diagram attention
axis q = 4096; axis x = 4096; axis d = 128
input Q: {0}[q, d]; input K: {0}[x, d]; input V: {0}[d, x]
S[q, x] = sum[d](Q[q, d] * K[x, d]) / sqrt(size(d))
P: {0}[q, x] = softmax[x](S[q, x])
O: f16[q, d] = sum[x](P[q, x] * V[d, x])
output O
)",
                     type);
}
constexpr const char* computed_labels = "group q 128, stream x 128 at smem; group q 16 at reg";
const std::vector<std::string> computed_sizes = {"q=128 x=128 d=128", "q=128 x=256 d=64", "q=150 x=304 d=112"};

// Rows of 16 bytes, so that TMA can copy them; ragged against every piece otherwise.
const std::vector<std::string> product_sizes = {"m=128 n=64 k=64", "m=128 n=128 k=192", "m=200 n=104 k=152"};
constexpr const char* warpgroup_labels = "group m 128, n 64, stream k 64 at smem; group m 16 at reg";

std::vector<Case> split_by_hand() {
  return {
      {"warpgroups_mk_kn", matrix_product("m, k", "k, n"), {warpgroup_labels}, product_sizes},
      {"warpgroups_mk_nk", matrix_product("m, k", "n, k"), {warpgroup_labels}, product_sizes},
      {"warpgroups_km_kn", matrix_product("k, m", "k, n"), {warpgroup_labels}, product_sizes},
      {"warpgroups_km_nk", matrix_product("k, m", "n, k"), {warpgroup_labels}, product_sizes},
      {"warpgroups_bf16", matrix_product("m, k", "k, n", "bf16"), {warpgroup_labels}, product_sizes},
      {"warpgroups_f8e4m3",
       matrix_product("m, k", "n, k", "f8e4m3"),
       {"group m 128, n 64, stream k 128 at smem; group m 16 at reg"},
       {"m=128 n=64 k=128", "m=128 n=128 k=256", "m=200 n=104 k=176"}},
      {"warpgroups_tf32",
       matrix_product("m, k", "n, k", "tf32"),
       {warpgroup_labels},
       {"m=128 n=64 k=64", "m=72 n=104 k=80", "m=200 n=64 k=148"}},
      // Panels of 64 and of 32 bytes.
      {"warpgroups_tf32_panels",
       matrix_product("m, k", "n, k", "tf32"),
       {"group m 64, n 96, stream k 16 at smem; group m 16 at reg"},
       {"m=64 n=96 k=16", "m=128 n=192 k=40", "m=77 n=104 k=20"}},
      {"warpgroups_f8e5m2",
       matrix_product("m, k", "n, k", "f8e5m2"),
       {warpgroup_labels},
       {"m=64 n=64 k=64", "m=72 n=104 k=80", "m=200 n=64 k=144"}},
      // Panels of 64 and of 32 bytes.
      {"warpgroups_panels",
       matrix_product("m, k", "k, n"),
       {"group m 64, n 96, stream k 16 at smem; group m 16 at reg"},
       product_sizes},
      // Warps are dealt anew.
      {"warpgroups_dealt",
       matrix_product("m, k", "k, n"),
       {"group m 160, n 200, stream k 32 at smem; group m 32, n 32 at reg"},
       product_sizes},
      // Pieces of pieces are rounded.
      {"warpgroups_nested",
       matrix_product("m, k", "k, n"),
       {"group m 64, n 176, stream n 64, k 32 at smem; group m 16 at reg"},
       product_sizes},
      {"warpgroups_chained",
       chained,
       {"group a 64, stream b 32 at smem; group a 16 at reg"},
       {"a=64 b=64 c=64 d=64", "a=128 b=96 c=32 d=48", "a=77 b=48 c=56 d=40"}},
      {"warpgroups_attention",
       case_named("attention").text,
       {"group q 128, stream x 128 at smem; group q 16 at reg"},
       {"q=128 x=128 d=128", "q=128 x=256 d=64", "q=150 x=300 d=104"}},
      {"warpgroups_attention_f8e4m3", attention_of("f8e4m3"), {computed_labels}, computed_sizes},
      {"warpgroups_attention_f8e5m2", attention_of("f8e5m2"), {computed_labels}, computed_sizes},
      {"warpgroups_causal",
       case_named("causal").text,
       {"group q 64, stream x 64 at smem; group q 16 at reg"},
       {"q=64 x=64 d=64", "q=128 x=128 d=128", "q=190 x=150 d=72"}},
  };
}

// Examples as the search leaves them.
std::vector<Case> searched() {
  std::vector<Case> all;
  const auto add = [&](const std::string& name, std::vector<std::string> sizes) {
    all.push_back({"warpgroups_" + name + "_searched", case_named(name).text, {}, std::move(sizes)});
  };
  add("matmul", {"a=64 b=64 c=64", "a=256 b=128 c=256", "a=130 b=72 c=144"});
  add("attention", {"q=64 x=64 d=64", "q=128 x=192 d=128", "q=130 x=133 d=88"});
  return all;
}

EmittedCode emitted(const Planned& planned) {
  return emit_cuda(planned.diagram, planned.plan, planned.hardware, CudaPath::tensor);
}

Partition on_warpgroups(const Kernel& kernel) {
  return std::get<WarpNest>(distribute_warpgroups(kernel, read_machine(machine))).partition;
}

// By single warps or as rows, unless it runs on plain threads; and by warpgroups where it may.
std::optional<Partition> by_warps(const Kernel& kernel) {
  const auto hardware = read_machine(machine);
  const auto warps = distribute(kernel, hardware);
  if (const auto* nest = std::get_if<WarpNest>(&warps)) return nest->partition;
  const auto rows = distribute_rows(kernel, hardware);
  if (const auto* nest = std::get_if<RowNest>(&rows)) return nest->partition;
  return {};
}
std::optional<Partition> as_run(const Kernel& kernel) {
  const auto warpgroups = distribute_warpgroups(kernel, read_machine(machine));
  const auto* nest = std::get_if<WarpNest>(&warpgroups);
  return nest ? std::optional(nest->partition) : by_warps(kernel);
}

void check(const Case& each) {
  const auto planned = plan(each, machine);
  const auto files = emitted(planned);
  CAPTURE(files.notes);
  REQUIRE(files.files.front().text.find("_warpgroups(") != std::string::npos);
  emulate::run_all(each, planned, files.files, on_warpgroups, [](emulate::Counts& counted) {
    CHECK(counted["warpgroup_operations"] > 0);
    CHECK(counted["matrix_operations"] == 0);
  });
}

// What the harness says of the kernels with one mistake.
std::string planted(const std::string& name, const std::string& right, const std::string& wrong) {
  const Case each{name, case_named("attention").text, {"group q 128, stream x 64 at smem; group q 16 at reg"}, {}};
  const auto planned = plan(each, machine);
  return emulate::planted(name, planned.diagram, emitted(planned).files, "attention_kernel_warpgroups",
                          {{right, wrong}}, "q=128 x=456 d=128");
}

bool says(const std::string& output, const std::string& words) { return output.find(words) != output.npos; }

// Of the sizes of an example one, another in the next; or all.
std::vector<std::string> in_turn(const std::vector<std::string>& sizes, std::size_t turn) {
  return takes_every_case() ? sizes : std::vector{sizes[turn % sizes.size()]};
}

}  // namespace

TEST_CASE("kernels of warpgroups compute what the diagram means and move what the model says",
          "[emulated][warpgroups]") {
  for (const auto& each : some_of(split_by_hand())) DYNAMIC_SECTION(each.name) {
      check(each);
    }
  for (const auto& each : some_of(searched())) DYNAMIC_SECTION(each.name) {
      check(each);
    }
}

// Examples as the search leaves them: at three sizes by warpgroups, one of them ragged, and where rows are not aligned
// by single warps, of the same text.
TEST_CASE("examples whose kernels are of warpgroups compute what they mean", "[emulated][warpgroups]") {
  struct Example {
    std::string name;
    std::vector<std::string> sizes;
    std::vector<std::string> unaligned;
    bool of_an_array = false;  // its mask, which says how much moves
  };
  const std::vector<Example> all = {
      {"alibi",
       {"h=1 q=64 x=64 d=64", "h=2 q=136 x=170 d=72", "h=2 q=200 x=64 d=128"},
       {"h=2 q=17 x=9 d=5", "h=1 q=65 x=64 d=17", "h=1 q=130 x=71 d=33"}},
      {"attention_backward",
       {"h=1 q=64 x=64 d=64", "h=2 q=72 x=136 d=64", "h=1 q=136 x=72 d=64"},
       {"h=1 q=60 x=70 d=33", "h=1 q=64 x=65 d=17", "h=2 q=7 x=9 d=5"}},
      {"block_scales",
       {"m=64 j=64 k=128 kb=1 jb=1", "m=132 j=200 k=512 kb=4 jb=2", "m=200 j=72 k=1024 kb=8 jb=1"},
       {"m=7 j=9 k=256 kb=2 jb=1", "m=71 j=140 k=384 kb=3 jb=2"}},
      {"block_sparse",
       {"q=128 x=192 d=64 qb=2 xb=3", "q=150 x=333 d=72 qb=3 xb=6", "q=192 x=64 d=128 qb=3 xb=1"},
       {"q=70 x=133 d=33 qb=2 xb=3", "q=64 x=128 d=17 qb=1 xb=2", "q=128 x=64 d=33 qb=2 xb=1"},
       true},
      {"causal",
       {"q=64 x=128 d=64", "q=150 x=133 d=128", "q=200 x=264 d=72"},
       {"q=7 x=9 d=5", "q=64 x=64 d=33", "q=130 x=133 d=65"}},
      {"chained_matmul",
       {"a=64 b=64 c=64 d=64", "a=70 b=40 c=128 d=96", "a=136 b=72 c=64 d=40"},
       {"a=7 b=9 c=5 d=11", "a=64 b=33 c=21 d=17", "a=70 b=41 c=21 d=91"}},
      {"convolution",
       {"n=16 c=64 o=64 u=3 v=2 i=3 j=3 y=5 z=4", "n=18 c=72 o=80 u=2 v=3 i=3 j=2 y=4 z=4",
        "n=3 c=128 o=72 u=4 v=3 i=1 j=3 y=4 z=5"},
       {"n=2 c=5 o=7 u=4 v=3 i=3 j=3 y=6 z=5", "n=16 c=17 o=33 u=2 v=2 i=3 j=3 y=4 z=4",
        "n=3 c=33 o=65 u=2 v=3 i=2 j=3 y=3 z=5"}},
      {"cross_entropy", {"t=64 c=64 v=128", "t=72 c=80 v=136", "t=136 c=40 v=264"}, {"t=40 c=30 v=151"}},
      {"epilogue",
       {"m=64 n=64 k=64", "m=72 n=136 k=80", "m=200 n=72 k=200"},
       {"m=67 n=41 k=143", "m=5 n=7 k=9", "m=130 n=65 k=33"}},
      {"gated_mlp",
       {"t=64 c=64 f=64 o=64", "t=40 c=56 f=64 o=72", "t=136 c=72 f=136 o=40"},
       {"t=7 c=9 f=11 o=5", "t=64 c=33 f=61 o=17", "t=40 c=50 f=61 o=70"}},
      {"grouped_query",
       {"k=1 r=2 q=64 x=64 d=64", "k=2 r=2 q=70 x=170 d=128", "k=1 r=3 q=136 x=72 d=72"},
       {"k=2 r=3 q=7 x=19 d=5", "k=1 r=2 q=64 x=64 d=33", "k=1 r=2 q=130 x=71 d=65"}},
      {"latent_attention",
       {"h=64 x=128 c=64 p=16", "h=72 x=200 c=128 p=32", "h=128 x=72 c=128 p=64"},
       {"h=3 x=9 c=12 p=4"}},
      {"layernorm_projection", {"t=64 c=64 o=64", "t=70 c=80 o=96", "t=200 c=136 o=72"}, {"t=7 c=9 o=5"}},
      {"low_rank_adapter", {"t=64 c=64 o=64 r=16", "t=72 c=80 o=96 r=16", "t=136 c=72 o=40 r=16"}, {"t=7 c=9 o=5 r=2"}},
      {"matmul_bias_relu", {"a=64 b=64 c=64", "a=67 b=40 c=144", "a=200 b=136 c=72"}, {"a=67 b=41 c=143"}},
      {"multi_head",
       {"b=1 h=2 q=64 x=64 d=64", "b=2 h=1 q=130 x=205 d=72", "b=1 h=1 q=200 x=72 d=128"},
       {"b=2 h=3 q=17 x=9 d=5", "b=1 h=1 q=64 x=64 d=33", "b=1 h=2 q=70 x=65 d=17"}},
      {"rmsnorm_projection",
       {"t=64 c=64 o=64", "t=70 c=80 o=96", "t=200 c=136 o=72"},
       {"t=7 c=9 o=5", "t=64 c=33 o=17", "t=70 c=81 o=91"}},
      {"scaled", {"m=64 n=64 k=64", "m=72 n=136 k=80", "m=200 n=72 k=208"}, {"m=17 n=11 k=43"}},
      {"sliding_window",
       {"q=128 x=128 d=64", "q=400 x=300 d=16", "q=200 x=264 d=72"},
       {"q=70 x=90 d=5", "q=64 x=64 d=17", "q=130 x=290 d=33"}},
      {"softcap",
       {"h=1 q=64 x=80 d=64", "h=1 q=130 x=133 d=256", "h=2 q=136 x=72 d=128"},
       {"h=2 q=17 x=9 d=5", "h=1 q=64 x=64 d=17", "h=1 q=65 x=71 d=33"}},
      {"spherical",
       {"q=64 x=64 d=64", "q=130 x=133 d=128", "q=200 x=72 d=72"},
       {"q=7 x=9 d=5", "q=64 x=64 d=33", "q=130 x=133 d=65"}},
      {"swiglu_mlp", {"t=64 c=64 f=64 o=64", "t=72 c=56 f=72 o=56", "t=136 c=72 f=136 o=40"}, {"t=7 c=9 f=11 o=9"}},
      {"transformer_block",
       {"t=72 x=72 c=64 h=2 d=32 f=80", "t=64 x=64 c=64 h=1 d=64 f=64", "t=136 x=136 c=72 h=1 d=40 f=72"},
       {"t=9 x=9 c=10 h=2 d=5 f=7"}},
  };
  for (std::size_t turn = 0; turn < all.size(); ++turn) {
    if (left_out(turn)) continue;
    DYNAMIC_SECTION(all[turn].name) {
      const auto& each = all[turn];
      const auto& text = case_named(each.name).text;
      const auto planned = plan(case_named(each.name), machine);
      const auto folder =
          emulate::build_driver("warpgroups_" + each.name + "_ragged", planned.diagram, emitted(planned).files);
      const auto run = [&](const std::string& sizes, bool by_warpgroups) {
        CAPTURE(sizes);
        auto counted = emulate::compare(text, folder, sizes);
        CHECK((counted["warpgroup_operations"] > 0) == by_warpgroups);
        CHECK(counted["read_bytes"] + counted["written_bytes"] ==
              (each.of_an_array ? emulate::interpreted_bytes : emulate::model_bytes)(
                  read_text(text, sizes_of(sizes)), planned, by_warpgroups ? as_run : by_warps));
      };
      for (const auto& sizes : in_turn(each.sizes, turn / 2)) run(sizes, true);
      for (const auto& sizes : in_turn(each.unaligned, turn / 2)) run(sizes, false);
    }
  }
}

TEST_CASE("whole numbers of inputs are compared in int", "[emulated][warpgroups]") {
  const auto planned =
      plan({"", case_named("cross_entropy").text, {"group t 64, stream v 64, c 32 at smem; group t 16 at reg"}, {}},
           "rtx4090");
  const auto files = emitted(planned).files;
  const auto has = [&](const std::string& words) {
    return std::ranges::any_of(files, [&](const auto& file) { return file.text.find(words) != std::string::npos; });
  };
  CHECK(has("v == napkin_shared_read(target"));
  CHECK_FALSE(has("double(napkin_shared_read(target"));
}

TEST_CASE("arrays whose rows are not aligned are left to kernels of single warps", "[emulated][warpgroups]") {
  const Case each{"warpgroups_unaligned", matrix_product("m, k", "k, n"), {warpgroup_labels}, {}};
  const auto planned = plan(each, machine);
  const auto folder = emulate::build(each.name, planned.diagram, emitted(planned).files);
  const auto ran = emulate::harness(folder, "m=75 n=101 k=43");
  INFO(ran.output);
  CHECK(ran.status == 0);
  CHECK(emulate::counts(ran.output)["warpgroup_operations"] == 0);
  CHECK(emulate::counts(ran.output)["matrix_operations"] > 0);
}

TEST_CASE("the emulation finds mistakes planted in a kernel of warpgroups", "[emulated][warpgroups]") {
  SECTION("none") {
    CHECK(says(planted("warpgroups_none", "napkin_warpgroup_fence();", "napkin_warpgroup_fence();"), "good"));
  }
  SECTION("a wrong swizzle in a descriptor") {
    CHECK_FALSE(says(planted("warpgroups_swizzle", "napkin_operand<1, ", "napkin_operand<2, "), "good"));
  }
  SECTION("a wrong distance between panels") {
    CHECK_FALSE(says(planted("warpgroups_leading", "<1>(O_sum[i_][0], a[i_][k], napkin_operand<1, 8192",
                             "<1>(O_sum[i_][0], a[i_][k], napkin_operand<1, 16384"),
                     "good"));
  }
  SECTION("a wait for a tile left out") {
    CHECK(says(planted("warpgroups_wait", "napkin_barrier_wait(V_smem_full + x_slot, x_phase);", ""), "on its way"));
  }
  SECTION("a wait for an empty copy left out") {
    CHECK(says(planted("warpgroups_empty", "napkin_barrier_wait(x_empty + x_slot, x_phase ^ 1);", ""), "emulation: "));
  }
  SECTION("a release before the tiles were read") {
    const auto output = planted("warpgroups_release", "napkin_warpgroup_commit();",
                                "napkin_warpgroup_commit(); napkin_release(x_empty + x_slot);");
    CHECK_FALSE(says(output, "good"));
    CHECK(says(output, "emulation: "));
  }
  SECTION("a phase that never comes") {
    CHECK(says(planted("warpgroups_phase", "napkin_barrier_expect(K_smem_full + x_slot, 16384);",
                       "napkin_barrier_expect(K_smem_full + x_slot, 16400);"),
               "wait forever"));
  }
  SECTION("a wait for products left out") {
    CHECK_FALSE(says(planted("warpgroups_products", "napkin_warpgroup_wait<0>();", ""), "good"));
  }
  SECTION("a fence left out") {
    CHECK(says(planted("warpgroups_fence", "napkin_warpgroup_fence();", ""), "without a fence"));
  }
  SECTION("a wrong place in a fragment") {
    CHECK_FALSE(says(planted("warpgroups_fragment", "p[i_][k * 2 + 1][0]", "p[i_][k * 2][0]"), "good"));
  }
  SECTION("tiles released that a product on its way reads") {
    const Case each{"warpgroups_lasting", matrix_product("m, k", "k, n"), {warpgroup_labels}, {}};
    const auto planned = plan(each, machine);
    CHECK(says(emulate::planted(each.name, planned.diagram, emitted(planned).files, "_warpgroups(",
                                {{"napkin_release(k_empty + k_last)", "napkin_release(k_empty + k_slot)"}},
                                "m=128 n=64 k=640"),
               "emulation: "));
  }
  SECTION("more registers than there are") {
    CHECK(says(planted("warpgroups_registers", "napkin_take_registers<240", "napkin_take_registers<256"),
               "more registers than others gave"));
  }
}
