// Tiles whose rows are aligned to 16, 8, 4 or 2 bytes or to one, as planned and at sizes that are aligned otherwise:
// emulated, with arrays that end where memory ends, so that nothing is read outside of them.
#include <fmt/format.h>

#include <algorithm>

#include "cuda/emulate.hpp"
#include "napkin/device.hpp"
#include "support/catch.hpp"

using namespace napkin;
using namespace kernel_cases;

namespace {

struct Aligned {
  std::string type;
  int columns, bytes;  // of a row of B, and how they are aligned together
};

Case product(const Aligned& each) {
  constexpr const char* tile = "group m 64, n 64, stream k 32 at smem; group m 32 at reg";
  const auto text = fmt::format(R"(diagram product
axis m = 96; axis n = {0}; axis k = 64
input A: {1}[m, k]; input B: {1}[k, n]
C: f32[m, n] = sum[k](A[m, k] * B[k, n])
output C
)",
                                each.columns, each.type);
  std::vector<std::string> sizes = {fmt::format("m=96 n={} k=64", each.columns)};
  for (const auto n : {1, 64, 131, 132, 134, 136}) sizes.push_back(fmt::format("m=33 n={} k=70", n));
  return {fmt::format("{}_{}", each.type, each.columns), text, {tile}, sizes};
}
std::optional<Partition> as_distributed(const Kernel& kernel, const Hardware& hardware) {
  const auto warps = distribute(kernel, hardware);
  if (const auto* made = std::get_if<WarpNest>(&warps)) return made->partition;
  return std::nullopt;
}
std::vector<EmittedFile> emitted(const Planned& planned) {
  return emit_cuda(planned.diagram, planned.plan, planned.hardware, CudaPath::tensor).files;
}
// How often a text stands in the kernels.
std::ptrdiff_t calls(const std::vector<EmittedFile>& files, const std::string& text) {
  std::ptrdiff_t count = 0;
  for (auto at = files.front().text.find(text); at != std::string::npos; at = files.front().text.find(text, at + 1))
    ++count;
  return count;
}

}  // namespace

TEST_CASE("tiles are copied as many bytes at a time as rows are aligned to", "[emulated][tensor][alignment]") {
  const std::vector<Aligned> all = {{"f16", 136, 16},   {"f16", 132, 8},  {"f16", 134, 4}, {"f16", 131, 2},
                                    {"f8e4m3", 131, 1}, {"tf32", 131, 4}, {"bf16", 65, 2}};
  for (const auto& each : all) {
    const auto made = product(each);
    DYNAMIC_SECTION(made.name) {
      const auto planned = plan(made, "rtx4090");
      const auto files = emitted(planned);
      CHECK(calls(files, fmt::format("napkin_load_tile<{}, ", each.bytes)) > 0);
      emulate::run_all(
          made, planned, files, [&](const Kernel& kernel) { return as_distributed(kernel, planned.hardware); },
          [](emulate::Counts& counted) { CHECK(counted["matrix_operations"] > 0); });
    }
  }
}

TEST_CASE("mistakes in copies of tiles are found", "[emulated][tensor][alignment]") {
  const auto odd = product({"f16", 131, 2}), even = product({"f16", 136, 16});
  const auto is_found = [&](const Case& made, const std::string& right, const std::string& wrong) {
    const auto planned = plan(made, "rtx4090");
    const auto output =
        emulate::planted("alignment_mistake", planned.diagram, emitted(planned), "napkin_copy_tile", {{right, wrong}},
                         fmt::format("m=96 n={} k=70", made.name == even.name ? 136 : 131));
    CAPTURE(right, output);
    CHECK(output.find("good") == std::string::npos);
  };
  is_found(odd, "before & 8", "before & 2");
  is_found(odd, "before & 4", "before & 2");
  is_found(odd, "before % 4 * 8", "before % 4 * 4");
  is_found(odd, "k < left ?", "k + 1 < left ?");
  is_found(odd, "left >= 2 * each ||", "left >= 0 ||");
  is_found(even, "next += step * row_step", "next += row_step");
  is_found(even, "to += step * columns", "to += step * columns - 8");
  is_found(even, "rows_left >= rows &&", "rows_left > 0 &&");
  is_found(even, "row < rows_left ? left", "row + 1 < rows_left ? left");
}
