// Kernels on matrix units: emulated warp by warp at three sizes, one of them ragged, against the plain meaning; what
// they move against the model; and mistakes planted by hand, each of which the emulation must find.
#include <fmt/format.h>

#include <regex>

#include "cuda/emulate.hpp"
#include "napkin/cost.hpp"
#include "napkin/device.hpp"
#include "napkin/instructions.hpp"
#include "napkin/search.hpp"
#include "support/catch.hpp"
#include "support/machine.hpp"
#include "support/read.hpp"

using namespace napkin;
using namespace kernel_cases;

namespace {

// Numbers of 8 bits, with a scale for each row and column.
std::string scaled(const std::string& type) {
  return fmt::format(R"(diagram scaled
axis m = 512; axis n = 512; axis k = 512
input A: {0}[m, k]; input B: {0}[n, k]; input a: f32[m]; input b: f32[n]
C: bf16[m, n] = sum[k](A[m, k] * B[n, k]) * a[m] * b[n]
output C
)",
                     type);
}
constexpr const char* by_warps = "group m 64, n 64, stream k 32 at smem; group m 32, n 32 at reg";
const std::vector<std::string> product_sizes = {"m=64 n=64 k=64", "m=128 n=64 k=96", "m=75 n=101 k=43"};

constexpr const char* chained = R"(diagram chained
axis a = 512; axis b = 256; axis c = 64; axis d = 64
input A: f16[a, b]; input B: f16[b, c]; input D: f16[c, d]
T: f16[a, c] = sum[b](A[a, b] * B[b, c])
Y: f16[a, d] = sum[c](T[a, c] * D[c, d])
output Y
)";

// Weights of 8 bits, widened before they are multiplied.
constexpr const char* cast = R"(diagram cast
axis m = 512; axis n = 512; axis k = 512
input A: f16[m, k]; input B: i8[k, n]; input b: f16[n]
C: f16[m, n] = sum[k](A[m, k] * f16(B[k, n])) * b[n]
output C
)";

// Splits by hand, that leave warps in both directions, uneven pieces, operands in all four layouts.
constexpr const char* implicit = R"(diagram implicit
axis c = 64; axis o = 64; axis u = 256; axis i = 3; axis h = u + i - 1
input X: f16[c, h]; input W: f16[o, c, i]
Y: f16[o, u] = sum[c, i](X[c, u + i] * W[o, c, i])
output Y
)";

constexpr const char* shuffled = "group t 64, o 128, stream o 64, c 32 at smem; group t 16 at reg";

std::vector<Case> split_by_hand() {
  return {
      {"tensor_mk_kn", matrix_product("m, k", "k, n"), {by_warps}, product_sizes},
      {"tensor_mk_nk", matrix_product("m, k", "n, k"), {by_warps}, product_sizes},
      {"tensor_km_kn", matrix_product("k, m", "k, n"), {by_warps}, product_sizes},
      {"tensor_km_nk", matrix_product("k, m", "n, k"), {by_warps}, product_sizes},
      {"tensor_bf16", matrix_product("m, k", "k, n", "bf16"), {by_warps}, product_sizes},
      {"tensor_tf32", matrix_product("m, k", "n, k", "tf32"), {by_warps}, product_sizes},
      {"tensor_f8e4m3", scaled("f8e4m3"), {by_warps}, product_sizes},
      {"tensor_f8e5m2", matrix_product("m, k", "n, k", "f8e5m2"), {by_warps}, product_sizes},
      {"tensor_i8", matrix_product("m, k", "n, k", "i8", "i32"), {by_warps}, product_sizes},
      {"tensor_i8_stored", matrix_product("m, k", "n, k", "i8", "i8"), {by_warps}, product_sizes},
      {"tensor_i8_scaled", scaled("i8"), {by_warps}, product_sizes},
      {"tensor_uneven",
       matrix_product("m, k", "k, n"),
       {"group m 80, n 48, stream k 48 at smem; group m 48 at reg"},
       product_sizes},
      {"tensor_implicit",
       implicit,
       {"group o 32, u 64, stream c 16, i 1 at smem; group o 16 at reg"},
       {"c=32 o=32 u=64 i=3 h=66", "c=16 o=64 u=128 i=2 h=129", "c=21 o=37 u=75 i=3 h=77"}},
      {"tensor_chained",
       chained,
       {"group a 64, stream b 32 at smem; group a 16 at reg"},
       {"a=64 b=64 c=64 d=64", "a=128 b=96 c=32 d=48", "a=77 b=45 c=61 d=39"}},
  };
}

// Examples as the search leaves them.
std::vector<Case> searched() {
  std::vector<Case> all;
  const auto add = [&](const std::string& name, std::vector<std::string> sizes) {
    all.push_back({"tensor_" + name, case_named(name).text, {}, std::move(sizes)});
  };
  all.push_back({"tensor_cast", cast, {}, product_sizes});
  add("matmul", {"a=5 b=7 c=9", "a=256 b=128 c=256", "a=130 b=70 c=143"});
  add("matmul_bias_relu", {"a=5 b=7 c=9", "a=128 b=64 c=96", "a=67 b=40 c=141"});
  add("attention", {"q=7 x=9 d=5", "q=128 x=192 d=64", "q=130 x=133 d=128"});
  add("causal", {"q=7 x=9 d=5", "q=128 x=128 d=64", "q=150 x=133 d=128"});
  add("grouped_query", {"k=2 r=3 q=7 x=19 d=5", "k=2 r=2 q=64 x=160 d=64", "k=1 r=2 q=130 x=171 d=128"});
  add("gated_mlp", {"t=7 c=9 f=11 o=5", "t=64 c=64 f=128 o=64", "t=40 c=50 f=61 o=70"});
  add("block_scales", {"m=7 j=9 k=256 kb=2 jb=1", "m=70 j=140 k=384 kb=3 jb=2", "m=128 j=64 k=128 kb=1 jb=1"});
  add("chained_matmul", {"a=7 b=9 c=5 d=11", "a=64 b=64 c=64 d=64", "a=70 b=40 c=21 d=90"});
  add("low_rank_adapter", {"t=7 c=9 o=5 r=3", "t=128 c=64 o=128 r=16", "t=150 c=81 o=190 r=13"});
  add("rmsnorm_projection", {"t=7 c=9 o=5", "t=64 c=128 o=64", "t=70 c=81 o=90"});
  add("layernorm_projection", {"t=7 c=9 o=5", "t=64 c=64 o=64", "t=70 c=81 o=90"});
  return all;
}

constexpr const char* machine = "a100-sxm4-80";
// That multiplies f32 by f16 on lanes.
constexpr const char* of_lanes = "rtx4090";
const Case shuffled_along{"tensor_handed",
                          case_named("low_rank_adapter").text,
                          {shuffled},
                          {"t=7 c=9 o=5 r=3", "t=64 c=64 o=256 r=16", "t=70 c=81 o=90 r=13"}};

EmittedCode emitted(const Planned& planned) {
  return emit_cuda(planned.diagram, planned.plan, planned.hardware, CudaPath::tensor);
}

bool says(const std::string& text, const std::string& words) { return text.find(words) != text.npos; }

// On matrix units, or where there is no product for them with rows over warps; what threads move one by one is not
// counted.
std::optional<Partition> on_units(const Kernel& kernel, const std::string& of) {
  const auto hardware = read_machine(of);
  const auto distributed = distribute(kernel, hardware);
  if (const auto* warps = std::get_if<WarpNest>(&distributed)) return warps->partition;
  const auto in_rows = distribute_rows(kernel, hardware);
  if (const auto* rows = std::get_if<RowNest>(&in_rows)) return rows->partition;
  return std::nullopt;
}

void check(const Case& each, const std::string& of = machine) {
  const auto planned = plan(each, of);
  const auto files = emitted(planned);
  CAPTURE(files.notes);
  for (const auto& note : files.notes)
    if (says(note, "without matrix units")) REQUIRE(says(note, "no instruction takes both"));
  const auto distributed = [&](const Kernel& kernel) { return on_units(kernel, of); };
  emulate::run_all(each, planned, files.files, distributed, [](emulate::Counts& counted) {
    CHECK(counted["matrix_operations"] > 0);
    CHECK(counted["load_conflicts"] == 0);
  });
}

// The text of the kernels with one mistake.
std::string planted(const std::string& name, const std::string& right, const std::string& wrong) {
  const Case each{name, case_named("attention").text, {"group q 32, stream x 32 at smem; group q 16 at reg"}, {}};
  const auto planned = plan(each, machine);
  return emulate::planted(name, planned.diagram, emitted(planned).files, "__global__", {{right, wrong}},
                          "q=70 x=133 d=64");
}

}  // namespace

TEST_CASE("kernels on matrix units compute what the diagram means and move what the model says", "[emulated][tensor]") {
  for (const auto& each : some_of(split_by_hand())) DYNAMIC_SECTION(each.name) {
      check(each);
    }
  DYNAMIC_SECTION(shuffled_along.name) { check(shuffled_along, of_lanes); }
  for (const auto& each : some_of(searched())) DYNAMIC_SECTION(each.name) {
      check(each);
    }
}

// Numbers of f8 as such of f16, as machines before 8.9 multiply them.
TEST_CASE("numbers of f8 are multiplied where the machine has no products of them", "[emulated][tensor]") {
  for (const std::string type : {"f8e4m3", "f8e5m2"}) DYNAMIC_SECTION(type) {
      const auto planned = plan({"", scaled(type), {by_warps}, {}}, machine);
      auto files = emitted(planned).files;
      files.front().text = "#define __CUDA_ARCH__ 800\n" + files.front().text;
      const auto ran =
          emulate::harness(emulate::build("tensor_widened_" + type, planned.diagram, files), product_sizes.back());
      INFO(ran.output);
      CHECK(ran.status == 0);
      CHECK(emulate::counts(ran.output)["matrix_operations"] > 0);
    }
}

TEST_CASE("every pair of numbers of f8 is the same pair in f16", "[emulated][tensor]") {
  for (const std::string type : {"f8e4m3", "f8e5m2"}) DYNAMIC_SECTION(type) {
      const auto ran = emulate::program(
          "tensor_widening_" + type, product_definitions("napkin_product_" + type + "(") + fmt::format(R"(
float of_f8(unsigned bits) {{
  __nv_fp8_{0} number;
  number.bits = static_cast<std::uint8_t>(bits);
  return static_cast<float>(number);
}}
float of_f16(unsigned bits) {{
  __half number;
  number.bits = static_cast<std::uint16_t>(bits);
  return static_cast<float>(number);
}}
bool same(float a, float b) {{ return (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b)); }}
int main() {{
  for (unsigned two = 0; two < 65536; ++two) {{
    const unsigned wide = napkin_widen_f8{0}(two | 0xabcd0000);
    if (!same(of_f8(two & 0xff), of_f16(wide & 0xffff)) || !same(of_f8(two >> 8), of_f16(wide >> 16))) return 1;
  }}
  return 0;
}}
)",
                                                                                                       type.substr(2)));
      INFO(ran.output);
      CHECK(ran.status == 0);
    }
}

// Kernels of plain threads copy tiles and save results number by number: here they tell the emulation so.
std::vector<EmittedFile> counting(std::vector<EmittedFile> files, const std::string& kernel) {
  auto& text = files.front().text;
  const auto begin = text.find("\n" + kernel + "("), end = text.find("\n}\n", begin);
  REQUIRE(end != text.npos);
  auto body = text.substr(begin, end - begin);
  body = std::regex_replace(body, std::regex(R"((\w+_smem\[i\]) = (\w+\[.*\]);)"), "$1 = napkin_global_read(&$2);");
  body = std::regex_replace(body, std::regex(R"((\n *)(\w+\[\(+long long\).*\]) = (__float2\w+\(.*\));)"),
                            "$1napkin_global_write(&$2, $3);");
  text.replace(begin, end - begin, body);
  return files;
}
Diagram at_sizes(Diagram diagram, const std::string& sizes) {
  for (const auto& [name, size] : sizes_of(sizes).sizes)
    for (auto& axis : diagram.axes)
      if (axis.name == name) axis.size = size;
  return diagram;
}

// Keys and values divided among blocks, and what merges their parts, as the search leaves a single query: one part or
// several, the last of which is shorter; and one of all keys where they are more than planned.
TEST_CASE("attention whose keys are divided among blocks is merged", "[emulated][tensor]") {
  const auto hardware = read_machine(machine);
  const auto found = search(read_text(case_named("decode").text, sizes_of("x=4096")), hardware, Goal());
  REQUIRE(found.plan.kernels.size() == 2);
  REQUIRE(found.divisions.size() == 1);
  const auto part = 4096 / found.divisions[0].parts;
  const Planned planned{found.diagram, hardware, found.plan};
  const auto files = counting(emitted(planned).files, "decode_kernel_2");
  const auto folder = emulate::build("tensor_decode_divided", found.diagram, files);
  const auto as_run = [&](const Kernel& kernel) {
    const auto distributed = distribute(kernel, hardware);
    const auto* warps = std::get_if<WarpNest>(&distributed);
    return warps ? warps->partition : kernel.partition;
  };
  const auto parts = found.divisions[0].parts;
  // A merge that takes the parts in turn takes any number of them.
  const bool in_turn = std::ranges::any_of(found.plan.kernels[1].partition.splits, [&](const Split& split) {
    return split.kind == SplitKind::stream && split.wire == found.divisions[0].part;
  });
  const auto more = in_turn ? fmt::format("x_part={} x_in_part={}", parts + 1, part)
                            : fmt::format("x_part=1 x_in_part={}", part * parts + 8);
  struct Sizes {
    std::string given, of_parts;
  };
  for (const auto& [given, of_parts] :
       {Sizes{fmt::format("k=1 r=4 q=1 d=64 x={}", part * 2), fmt::format("x_part=2 x_in_part={}", part)},
        Sizes{fmt::format("k=1 r=3 q=1 d=40 x={}", part * 3), fmt::format("x_part=3 x_in_part={}", part)},
        Sizes{fmt::format("k=1 r=1 q=1 d=8 x={}", part * parts + 8), more},
        Sizes{"k=2 r=3 q=1 d=37 x=41", "x_part=1 x_in_part=41"}}) {
    const auto sizes = given + " " + of_parts;
    CAPTURE(sizes);
    const auto ran = emulate::harness(folder, given);
    INFO(ran.output);
    CHECK(ran.status == 0);
    auto counted = emulate::counts(ran.output);
    CHECK(counted["matrix_operations"] > 0);
    CHECK(counted["read_bytes"] + counted["written_bytes"] ==
          emulate::model_bytes(at_sizes(found.diagram, sizes), planned, as_run));
  }
}

// A sum so long that its blocks are divided among SMs: parts of blocks, each of which has a length of its own.
TEST_CASE("products with block scales whose blocks are divided are merged", "[emulated][tensor]") {
  const auto diagram = sums_in_blocks(read_text(R"(diagram divided_blocks
axis m = 64; axis j = 128; axis k = 65536; axis kb = 512
input A: f8e4m3[m, k]; input B: f8e4m3[j, k]; input s: f32[kb, m]
C: f32[m, j] = sum[k](A[m, k] * B[j, k] * s[k / 128, m])
output C
)"))
                           .diagram;
  for (const std::string target : {"a100-sxm4-80", "h100-sxm5"}) {
    const auto hardware = read_machine(target);
    const auto found = search(diagram, hardware, Goal());
    REQUIRE(found.divisions.size() == 1);
    CHECK(found.divisions[0].axis == "k_block");
    const auto files = emitted(Planned{found.diagram, hardware, found.plan}).files;
    const auto folder = emulate::build("tensor_divided_blocks_" + target, found.diagram, files);
    const auto blocks = 512 / found.divisions[0].parts;  // of a part
    for (const auto kb : {blocks * 2, blocks * 3, std::int64_t{1}, std::int64_t{2}}) {
      const auto ran = emulate::harness(folder, fmt::format("m=64 j=72 k={} kb={}", 128 * kb, kb));
      CAPTURE(target, kb, ran.output);
      CHECK(ran.status == 0);
    }
  }
}

namespace {

// Attention with a causal mask on a machine whose memory answers after so long that a plan has so many copies of keys
// and values.
struct Ahead {
  std::int64_t copies;
  std::string latency;
};
Planned planned_ahead(const Ahead& ahead) {
  auto planned =
      plan({"", case_named("causal").text, {"group q 64, stream x 64 at smem; group q 16 at reg"}, {}}, machine);
  planned.hardware = read_machine(machine, {{"levels.smem.latency", ahead.latency}});
  return planned;
}

}  // namespace

TEST_CASE("a ring of as many copies as planned is filled ahead, pieces that masks pass over left out",
          "[emulated][tensor]") {
  for (const auto& ahead : {Ahead{2, "466 clk"}, Ahead{3, "4000 clk"}, Ahead{4, "8000 clk"}})
    DYNAMIC_SECTION(ahead.copies) {
      const auto planned = planned_ahead(ahead);
      const auto code = emitted(planned);
      CHECK(code.files.front().text.find(fmt::format("napkin_copy_wait<{}>", ahead.copies - 2)) != std::string::npos);
      const Case each{fmt::format("tensor_ahead_{}", ahead.copies),
                      case_named("causal").text,
                      {},
                      {"q=7 x=9 d=5", "q=256 x=256 d=64", "q=150 x=333 d=128"}};
      const auto as_run = [&](const Kernel& kernel) {
        return std::get<WarpNest>(distribute(kernel, planned.hardware)).partition;
      };
      emulate::run_all(each, planned, code.files, as_run,
                       [](emulate::Counts& counted) { CHECK(counted["load_conflicts"] == 0); });
    }
}

TEST_CASE("the emulation finds a ring that is waited for too little or filled too early", "[emulated][tensor]") {
  const auto planned = planned_ahead({3, "4000 clk"});
  const auto planted = [&](const std::string& name, const emulate::Mistake& mistake) {
    return emulate::planted(name, planned.diagram, emitted(planned).files, "__global__", {mistake}, "q=270 x=333 d=64");
  };
  SECTION("none") {
    const auto output = planted("ahead_none", {"napkin_copy_wait<1>();", "napkin_copy_wait<1>();"});
    CHECK(output.find("good") != output.npos);
  }
  SECTION("one group too few is waited for") {
    const auto output = planted("ahead_wait", {"napkin_copy_wait<1>();", "napkin_copy_wait<2>();"});
    CHECK(output.find("copy is still on its way") != output.npos);
  }
  SECTION("the next tiles land where this piece's stand") {
    const auto output = planted("ahead_place", {"slot == 0 ? 2 : slot - 1", "slot"});
    INFO(output);
    CHECK((output.find("race: ") != output.npos || output.find("on its way") != output.npos));
  }
}

TEST_CASE("the emulation finds mistakes planted in a kernel", "[emulated][tensor]") {
  SECTION("none") {
    const auto output = planted("planted_none", "napkin_copy_wait<0>();", "napkin_copy_wait<0>();");
    CHECK(output.find("good") != output.npos);
    CHECK(emulate::counts(output)["load_conflicts"] == 0);
  }
  SECTION("a barrier left out") {
    const auto output = planted("planted_race", "    __syncthreads();", "");
    CHECK(output.find("race: ") != output.npos);
  }
  SECTION("a wait left out") {
    const auto output = planted("planted_wait", "napkin_copy_wait<0>();", "");
    CHECK(output.find("copy is still on its way") != output.npos);
  }
  SECTION("tiles that are not swizzled") {
    const Case each{
        "planted_swizzle", case_named("attention").text, {"group q 32, stream x 32 at smem; group q 16 at reg"}, {}};
    const auto planned = plan(each, machine);
    const auto output =
        emulate::planted(each.name, planned.diagram, emitted(planned).files, "",
                         {{"((row >> (3 - bits)) & ((1 << bits) - 1))", "(bits & 0)"}}, "q=70 x=133 d=64");
    CHECK(emulate::counts(output)["load_conflicts"] > 1000);
  }
  SECTION("a wrong place in a fragment") {
    const auto output = planted("planted_fragment", "lane % 16, ", "lane / 2, ");
    CHECK(output.find("good") == output.npos);
  }
  SECTION("a number handed on by the wrong lane") {
    const auto planned = plan(shuffled_along, of_lanes);
    const auto output = emulate::planted("planted_lane", planned.diagram, emitted(planned).files, "__global__",
                                         {{"% 8 / 2)", "% 8 / 4)"}}, "t=70 c=81 o=90 r=13");
    CHECK(output.find("good") == output.npos);
  }
  SECTION("a row past the tile") {
    const auto output = planted("planted_bounds", "lane % 8 + ", "lane % 8 + 4096 + ");
    CHECK(output.find("outside of the block's shared memory") != output.npos);
  }
}
