// Products of f32 by 16 bits, which matrix units take in two parts: emulated, compiled, and the parts themselves
// against every kind of number.
#include <fmt/format.h>

#include <regex>

#include "cuda/emulate.hpp"
#include "napkin/device.hpp"
#include "napkin/instructions.hpp"
#include "support/catch.hpp"
#include "support/machine.hpp"
#include "support/read.hpp"

using namespace napkin;
using namespace kernel_cases;

namespace {

constexpr const char* machine = "a100-sxm4-80";

std::string mixed(const std::string& a, const std::string& b, const std::string& first, const std::string& second) {
  return fmt::format(R"(diagram mixed
axis m = 512; axis n = 512; axis k = 512
input A: {2}[{0}]; input B: {3}[{1}]
C[m, n] = sum[k](A[{0}] * B[{1}])
output C
)",
                     a, b, first, second);
}
// The first product is an operand of the second, of f32 or of 16 bits.
std::string mixed_chain(const std::string& between, const std::string& last) {
  return fmt::format(R"(diagram mixed_chain
axis a = 512; axis b = 256; axis c = 64; axis d = 64
input A: f16[a, b]; input B: f16[b, c]; input D: {1}[c, d]
T: {0}[a, c] = sum[b](A[a, b] * B[b, c])
Y[a, d] = sum[c](T[a, c] * D[c, d])
output Y
)",
                     between, last);
}

// What the sum is rescaled by is read by it alone, and is no operand.
constexpr const char* rescaled = R"(diagram rescaled
axis x = 512; axis d = 64; axis e = 64
input K: f16[x, d]; input V: f16[x, e]; input h: f32[x]
Y[d, e] = sum[x](K[x, d] * V[x, e] * exp(h[x] - max[x](h[x])))
output Y
)";

std::vector<Case> all() {
  const std::string by_warps = "group m 64, n 64, stream k 32 at smem; group m 32, n 32 at reg";
  const std::string by_columns = "group m 16, n 64, stream k 32 at smem; group n 32 at reg";
  const std::string by_rows = "group a 64, stream b 32 at smem; group a 16 at reg";
  const std::vector<std::string> product = {"m=64 n=64 k=64", "m=128 n=64 k=96", "m=75 n=101 k=43"};
  const std::vector<std::string> chain = {"a=64 b=64 c=64 d=64", "a=128 b=96 c=32 d=48", "a=77 b=45 c=61 d=39"};
  return {{"parts_mk_kn", mixed("m, k", "k, n", "f32", "f16"), {by_warps}, product},
          {"parts_km_nk", mixed("k, m", "n, k", "f32", "f16"), {by_warps}, product},
          {"parts_mk_nk", mixed("m, k", "n, k", "f16", "f32"), {by_warps}, product},
          {"parts_km_kn", mixed("k, m", "k, n", "bf16", "f32"), {by_warps}, product},
          {"parts_columns", mixed("m, k", "k, n", "f32", "bf16"), {by_columns}, product},
          {"parts_made", mixed_chain("f32", "f16"), {by_rows}, chain},
          {"parts_made_narrow", mixed_chain("f16", "f32"), {by_rows}, chain},
          {"parts_rescaled",
           rescaled,
           {"group d 64, stream x 32 at smem; group d 16 at reg"},
           {"x=64 d=64 e=64", "x=77 d=45 e=61"}},
          {"parts_searched", mixed_chain("f32", "f16"), {}, chain}};
}

EmittedCode emitted(const Planned& planned) {
  return emit_cuda(planned.diagram, planned.plan, planned.hardware, CudaPath::tensor);
}

}  // namespace

TEST_CASE("products in parts compute what the diagram means and move what the model says", "[emulated][tensor]") {
  for (const auto& each : some_of(all())) DYNAMIC_SECTION(each.name) {
      CHECK(emulate::run_on_warps(each, machine).find("napkin_product_parts_") != std::string::npos);
    }
}

TEST_CASE("products without the lower parts of an operand of f32 are found to be wrong", "[emulated][tensor]") {
  const auto each = all().front();
  const auto planned = plan(each, machine);
  const auto files = emitted(planned).files;
  const std::string lower = "napkin_mma_m16n8k8_tf32(c, a + 8 + 4 * half, b + 2 * half);";
  const auto is_good = [&](const std::string& instead) {
    const auto said = emulate::planted("parts_planted", planned.diagram, files, "void napkin_product_parts_a",
                                       {{lower, instead}}, each.run_sizes.back());
    return said.find("good") != std::string::npos;
  };
  CHECK(is_good(lower));
  CHECK_FALSE(is_good(""));
}

// What the matrix units read of a register is its first 19 bits. Patterns of all exponents, with bits set at the places
// where a part ends; then the numbers that are none.
TEST_CASE("the two parts of a number of f32 leave out its last bit at most", "[emulated][tensor]") {
  const auto ran = emulate::program("parts_split", product_definitions("napkin_split(") + R"(
float of(unsigned bits) { float a; std::memcpy(&a, &bits, 4); return a; }
double both(float a) {
  unsigned upper, lower;
  napkin_split(a, upper, lower);
  return double(of(upper & ~0x1fffu)) + double(of(lower & ~0x1fffu));
}
bool holds(unsigned bits) {
  const float a = of(bits);
  const double least = 0x1p-126, off = std::fabs(both(a) - double(a));
  return off <= std::fabs(double(a)) * 0x1p-23 || off <= least * 0x1p-10;
}
int main() {
  const unsigned tails[] = {0, 1, 0xfff, 0x1000, 0x1001, 0x1fff, 0x2000, 0x2001, 0x3000, 0x3fff, 0x7ff001, 0x7fefff, 0x5a5a5a};
  for (unsigned exponent = 0; exponent < 254; ++exponent)
    for (unsigned sign = 0; sign < 2; ++sign) {
      for (const unsigned tail : tails) if (!holds(sign << 31 | exponent << 23 | tail)) return 1;
      unsigned bits = exponent * 2654435761u + sign;
      for (int i = 0; i < 5000; ++i) {
        bits = bits * 1664525u + 1013904223u;
        if (!holds(sign << 31 | exponent << 23 | (bits >> 9))) return 2;
      }
    }
  const float greatest = 3.401e38f;
  if (std::fabs(both(greatest) - double(greatest)) > greatest * 0x1p-23) return 3;
  if (!(both(INFINITY) == double(INFINITY)) || !(both(-INFINITY) == -double(INFINITY))) return 4;
  if (!std::isnan(both(NAN)) || !std::isnan(both(of(0x7fffffff))) || !std::isnan(both(of(0xffffffff)))) return 5;
  return 0;
}
)");
  INFO(ran.output);
  CHECK(ran.status == 0);
}

TEST_CASE("kernels of products in parts spill nothing", "[nvcc][tensor]") {
  for (const std::string of : {"a100-sxm4-80", "h100-sxm5"}) DYNAMIC_SECTION(of) {
      const auto planned = plan({"parts_nvcc", mixed_chain("f32", "f16"), {}, {}}, of);
      const auto files = emitted(planned).files;
      const auto folder = write("cuda_tests/parts_nvcc_" + of, files);
      const auto ran =
          run(fmt::format("cd {} && {} -Xcompiler -Wall,-Wextra -Xptxas -v -arch={} -cubin {} -o kernel.cubin", folder,
                          NAPKIN_NVCC, of == "h100-sxm5" ? "sm_90a" : "sm_80", files.front().name));
      INFO(ran.output);
      CHECK(ran.status == 0);
      CHECK(ran.output.find("warning") == std::string::npos);
      CHECK_FALSE(std::regex_search(ran.output, std::regex("[1-9]\\d* bytes spill")));
    }
}
