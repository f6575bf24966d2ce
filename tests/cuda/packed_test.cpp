// Kernels that read numbers of 4 bits, two to a byte, and scales that are powers of two: emulated at three sizes, one
// of them ragged, against the plain meaning, with inputs that the drivers write by the definition of the formats.
#include <fmt/format.h>

#include <regex>

#include "cuda/emulate.hpp"
#include "napkin/cost.hpp"
#include "napkin/device.hpp"
#include "napkin/search.hpp"
#include "support/catch.hpp"
#include "support/machine.hpp"
#include "support/read.hpp"

using namespace napkin;
using namespace kernel_cases;

namespace {

constexpr const char* by_warps = "group m 64, n 64, stream k 64 at smem; group m 32, n 32 at reg";
const std::vector<std::string> sizes = {"m=64 n=64 k=64", "m=128 n=64 k=96", "m=75 n=101 k=42"};

std::string product(const std::string& a, const std::string& b, const std::string& types) {
  const auto middle = types.find(' ');
  return fmt::format(R"(diagram product
axis m = 512; axis n = 512; axis k = 512
input A: {2}[{0}]; input B: {3}[{1}]
C: f32[m, n] = sum[k](A[{0}] * B[{1}])
output C
)",
                     a, b, types.substr(0, middle), types.substr(middle + 1));
}
// Scales of 32 numbers each, at the end of their own rows.
constexpr const char* blocks = R"(diagram mx_blocks
axis m = 512; axis n = 512; axis k = 512; axis kb = (k + 31) / 32
input A: f4e2m1[m, k]; input B: f8e4m3[n, k]; input s: f8e8m0[m, kb]; input t: f8e8m0[n, kb]
C: f16[m, n] = sum[k](A[m, k] * B[n, k] * s[m, k / 32] * t[n, k / 32])
output C
)";
const std::vector<std::string> block_sizes = {"m=64 n=64 k=64 kb=2", "m=70 n=101 k=96 kb=3", "m=7 n=9 k=32 kb=1"};

constexpr const char* by_blocks = "group m 64, n 64, stream k_block 1 at smem; group m 32, n 32 at reg";

// The last block of scales has 20 numbers.
const std::string ragged = std::regex_replace(std::string(blocks), std::regex("axis k = 512"), "axis k = 212");

struct Built {
  Planned planned;
  EmittedCode code;
  std::string folder;
};
Built build(const Case& each, const std::string& machine, CudaPath path) {
  auto planned = plan(each, machine);
  auto code = emit_cuda(planned.diagram, planned.plan, planned.hardware, path);
  auto folder = emulate::build("packed_" + each.name, planned.diagram, code.files);
  return {std::move(planned), std::move(code), std::move(folder)};
}

std::optional<Partition> as_distributed(const Kernel& kernel, const Hardware& hardware) {
  const auto warps = distribute(kernel, hardware);
  if (const auto* made = std::get_if<WarpNest>(&warps)) return made->partition;
  const auto rows = distribute_rows(kernel, hardware);
  if (const auto* made = std::get_if<RowNest>(&rows)) return made->partition;
  return std::nullopt;
}

}  // namespace

TEST_CASE("matrix units multiply numbers of 4 bits as the model says", "[emulated][tensor][packed]") {
  const std::vector<Case> cases = {
      {"packed_f4e2m1", product("m, k", "n, k", "f4e2m1 f4e2m1"), {by_warps}, sizes},
      {"packed_f4e2m1_f8e4m3", product("m, k", "n, k", "f4e2m1 f8e4m3"), {by_warps}, sizes},
      {"packed_i4", product("m, k", "n, k", "i4 i4"), {by_warps}, sizes},
      {"packed_i4_i8", product("m, k", "n, k", "i4 i8"), {by_warps}, sizes},
      {"packed_mx",
       case_named("mx_product").text,
       {"group m 64, j 64, stream k_block 1 at smem; group m 32, j 32 at reg"},
       {"m=64 j=64 k=64 kb=2", "m=70 j=101 k=96 kb=3", "m=7 j=9 k=32 kb=1"}},
      {"packed_blocks", blocks, {by_blocks}, block_sizes},
      {"packed_ragged_blocks", ragged, {by_blocks}, {"m=64 n=64 k=212 kb=7", "m=70 n=101 k=200 kb=7"}},
  };
  for (const auto& each : some_of(cases)) DYNAMIC_SECTION(each.name) {
      const auto planned = plan(each, "rtx4090");
      const auto code = emit_cuda(planned.diagram, planned.plan, planned.hardware, CudaPath::tensor);
      CAPTURE(code.notes);
      emulate::run_all(
          each, planned, code.files, [&](const Kernel& kernel) { return as_distributed(kernel, planned.hardware); },
          [](emulate::Counts& counted) {
            CHECK(counted["matrix_operations"] > 0);
            CHECK(counted["load_conflicts"] == 0);
          });
    }
}

TEST_CASE("machines without products of 8 bits widen numbers of 4 bits once more", "[emulated][tensor][packed]") {
  const Case each{"widened", product("m, k", "n, k", "f4e2m1 f4e2m1"), {by_warps}, {}};
  const auto planned = plan(each, "a100-sxm4-80");
  auto files = emit_cuda(planned.diagram, planned.plan, planned.hardware, CudaPath::tensor).files;
  files.front().text = "#define __CUDA_ARCH__ 800\n" + files.front().text;
  const auto folder = emulate::build("packed_widened", planned.diagram, files);
  for (const auto& size : sizes) {
    const auto ran = emulate::harness(folder, size);
    CAPTURE(size, ran.output);
    CHECK(ran.status == 0);
    CHECK(emulate::counts(ran.output)["matrix_operations"] > 0);
  }
}

TEST_CASE("warpgroups leave numbers of 4 bits to single warps", "[emulated][tensor][packed]") {
  const Case each{"warpgroups", blocks, {by_blocks}, block_sizes};
  const auto built = build(each, "h100-sxm5", CudaPath::tensor);
  const auto& text = built.code.files.front().text;
  CHECK(text.find("planned_path(void) { return \"warps\"") != std::string::npos);
  CHECK(text.find("napkin_warpgroup_") == std::string::npos);
  for (const auto& size : each.run_sizes) {
    const auto ran = emulate::harness(built.folder, size);
    CAPTURE(size, ran.output);
    CHECK(ran.status == 0);
    CHECK(emulate::counts(ran.output)["matrix_operations"] > 0);
  }
}

TEST_CASE("rows and threads read numbers of 4 bits", "[emulated][tensor][packed]") {
  const auto rows = [](const std::string& type) {
    return fmt::format(
        "diagram rows\naxis r = 4096; axis x = 2048\ninput X: {}[r, x]; input s: f8e8m0[r]; input G: {}[x]\n"
        "Y: f16[r, x] = softmax[x](X[r, x] * s[r]) * G[x]\noutput Y\n",
        type, type);
  };
  const std::vector<std::string> of_rows = {"r=5 x=8", "r=6 x=2048", "r=9 x=1022"};
  const std::vector<std::string> by_rows = {"group r 1 at smem"},
                                 by_threads = {"group m 16, n 16, stream k 32 at smem"};
  struct Way {
    Case each;
    CudaPath path;
    std::string planned;
  };
  const std::vector<Way> ways = {
      {{"rows_f4e2m1", rows("f4e2m1"), by_rows, of_rows}, CudaPath::tensor, "\"rows\""},
      {{"rows_i4", rows("i4"), by_rows, of_rows}, CudaPath::tensor, "\"rows\""},
      {{"rows_scaled",
        "diagram rows\naxis r = 4096; axis x = 2048; axis b = (x + 31) / 32\n"
        "input X: f4e2m1[r, x]; input s: f8e8m0[r, b]\nY: bf16[r, x] = X[r, x] * s[r, x / 32]\noutput Y\n",
        by_rows,
        {"r=5 x=64 b=2", "r=6 x=2048 b=64", "r=9 x=1022 b=32"}},
       CudaPath::tensor,
       "\"rows\""},
      {{"threads_rows", rows("f4e2m1"), by_rows, {"r=5 x=8", "r=9 x=1022"}}, CudaPath::reference, "\"threads\""},
      {{"threads", product("m, k", "n, k", "f4e2m1 i4"), by_threads, sizes}, CudaPath::reference, "\"threads\""},
      {{"across", product("k, m", "k, n", "i4 f4e2m1"), by_threads, {"m=64 n=64 k=64", "m=74 n=102 k=43"}},
       CudaPath::tensor,
       "\"warps\""},
      {{"blocks_threads", blocks, {"group m 16, n 16, stream k_block 1 at smem"}, block_sizes},
       CudaPath::reference,
       "\"threads\""},
      {{"ragged_threads",
        ragged,
        {"group m 16, n 16, stream k_block 1, k_in_last 16 at smem"},
        {"m=64 n=64 k=212 kb=7", "m=7 n=9 k=224 kb=7", "m=7 n=9 k=200 kb=7"}},
       CudaPath::reference,
       "\"threads\""},
  };
  for (const auto& [each, path, planned] : some_of(ways)) DYNAMIC_SECTION(each.name) {
      const auto built = build(each, "a100-sxm4-80", path);
      CAPTURE(built.code.notes);
      CHECK(built.code.files.front().text.find("planned_path(void) { return " + planned) != std::string::npos);
      for (const auto& size : each.run_sizes) {
        CAPTURE(size);
        const auto ran = emulate::harness(built.folder, size);
        INFO(ran.output);
        REQUIRE(ran.status == 0);
        emulate::compare(each.text, built.folder, size);
      }
    }
}

TEST_CASE("kernels refuse rows of an odd number of 4-bit numbers", "[emulated][tensor][packed]") {
  const Case each{"odd", product("m, k", "n, k", "f4e2m1 f4e2m1"), {by_warps}, {}};
  const auto built = build(each, "rtx4090", CudaPath::tensor);
  CHECK(emulate::harness(built.folder, "m=64 n=64 k=64").status == 0);
  CHECK(emulate::harness(built.folder, "m=64 n=64 k=63").status != 0);
}
