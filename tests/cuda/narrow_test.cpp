// Products that contract at most 8 positions at a time, by the instruction for as many: operands in both layouts, and
// one that was computed.
#include <fmt/format.h>

#include "cuda/emulate.hpp"
#include "support/catch.hpp"

using namespace napkin;
using namespace kernel_cases;

namespace {

constexpr const char* chained = R"(diagram chained
axis a = 512; axis b = 256; axis c = 8; axis d = 64
input A: f16[a, b]; input B: f16[b, c]; input D: f16[c, d]
T: f16[a, c] = sum[b](A[a, b] * B[b, c])
Y: f16[a, d] = sum[c](T[a, c] * D[c, d])
output Y
)";

std::vector<Case> narrow() {
  const std::string by_eights = "group m 64, n 64, stream k 8 at smem; group m 32, n 32 at reg";
  const std::vector<std::string> sizes = {"m=64 n=64 k=64", "m=75 n=101 k=43"};
  return {{"narrow", matrix_product("m, k", "n, k"), {by_eights}, sizes},
          {"narrow_across", matrix_product("k, m", "k, n"), {by_eights}, sizes},
          {"narrow_chained",
           chained,
           {"group a 64, stream b 32 at smem; group a 16 at reg"},
           {"a=64 b=64 c=8 d=64", "a=77 b=45 c=5 d=39"}}};
}

}  // namespace

TEST_CASE("products of at most eight pairs run by the instruction for as many", "[emulated][tensor]") {
  for (const auto& each : narrow()) DYNAMIC_SECTION(each.name) {
      const auto text = emulate::run_on_warps(each, "a100-sxm4-80");
      CHECK(text.find("napkin_mma_m16n8k8_f16(") != std::string::npos);
    }
}
