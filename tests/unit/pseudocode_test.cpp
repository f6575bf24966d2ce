// Pseudocode of two kernels on a toy machine, as text and as JSON.
#include <nlohmann/json.hpp>

#include "napkin/emit.hpp"
#include "support/by_hand.hpp"
#include "support/catch.hpp"

using namespace napkin;
using by_hand::group;
using by_hand::stream;

TEST_CASE("pseudocode of a matmul", "[pseudocode]") {
  by_hand::Matmul m(64, 64, 64);
  const auto hardware = by_hand::machine({"high", "low"});
  const auto nest = lower(m.kernel({group(m.a, 16, 1), group(m.c, 24, 1), stream(m.b, 8, 1)}), hardware);
  CHECK("\n" + emit_pseudocode(nest, hardware) == R"(
kernel C on by_hand

variable  shape     type  level     bytes
l         [16, 24]  f32   low    1.50 KiB
C         [16, 24]  f16   low       768 B
A_low     [16, 8]   f16   low       256 B
B_low     [8, 24]   f16   low       384 B

step                         shape     type  level     bytes  operations
group a 16 at low            4 tiles
  group c 24 at low          3 tiles
    l = 0                    [16, 24]  f32   low    1.50 KiB
    stream b 8 at low        8 tiles
      load A_low from A      [16, 8]   f16   low       256 B
      load B_low from B      [8, 24]   f16   low       384 B
      l = l + sum[b](A * B)  [16, 24]  f32   low    1.50 KiB  6.14 k fma
    C = l                    [16, 24]  f16   low       768 B
    save C from C            [16, 24]  f16   high      768 B
)");
}

TEST_CASE("pseudocode of attention", "[pseudocode]") {
  by_hand::Attention a(32, 32, 8, true);
  const auto hardware = by_hand::machine({"gmem", "smem", "reg"});
  const auto nest = lower(a.kernel({group(a.q, 16, 1), stream(a.x, 8, 1), group(a.q, 4, 2)}), hardware);
  const auto text = emit_pseudocode(nest, hardware);
  CHECK("\n" + text.substr(text.find("step ")) == R"(
step                                                              shape    type  level  bytes  operations
group q 16 at smem                                                2 tiles
  group q 4 at reg                                                4 tiles
    m = -inf                                                      [4]      f32   reg     16 B
    l = 0                                                         [4]      f32   reg     16 B
    o = 0                                                         [4, 8]   f32   reg    128 B
    load Q_smem from Q                                            [16, 8]  f16   smem   256 B
    load Q_reg from Q_smem                                        [4, 8]   f16   reg     64 B
    stream x 8 at smem                                            4 tiles
      load K_smem from K                                          [8, 8]   f16   smem   128 B
      load K_reg from K_smem                                      [8, 8]   f16   reg    128 B
      load V_smem from V                                          [8, 8]   f16   smem   128 B
      load V_reg from V_smem                                      [8, 8]   f16   reg    128 B
      S = sum[d](Q * K)                                           [4, 8]   f32   reg    128 B  512 fma
      n = max(m, max[x](where(x <= q, S / sqrt(size(d)), -inf)))  [4]      f32   reg     16 B  128 fma
      r = exp(m - n)                                              [4]      f32   reg     16 B  4 sfu
      P = exp(where(x <= q, S / sqrt(size(d)), -inf) - n)         [4, 8]   f16   reg     64 B  96 fma, 32 sfu
      l = r * l + sum[x](P)                                       [4]      f32   reg     16 B  36 fma
      o = r * o + sum[x](P * V)                                   [4, 8]   f32   reg    128 B  544 fma
      m = n                                                       [4]      f32   reg     16 B
    O = o / l                                                     [4, 8]   f16   reg     64 B  32 sfu
    save O_smem from O                                            [4, 8]   f16   smem    64 B
    save O from O_smem                                            [4, 8]   f16   gmem    64 B
)");
}

TEST_CASE("pseudocode as JSON has the same steps, nested", "[pseudocode]") {
  by_hand::Matmul m(64, 64, 64);
  const auto hardware = by_hand::machine({"high", "low"});
  const auto nest = lower(m.kernel({group(m.a, 16, 1), stream(m.b, 8, 1)}), hardware);
  const auto json = nlohmann::json::parse(emit_pseudocode_json(nest, hardware));
  CHECK(json["schema"] == "napkin.pseudocode/1");
  CHECK(json["variables"].size() == nest.buffers.size());
  const auto& outer = json["steps"].at(0);
  CHECK(outer["kind"] == "group");
  CHECK(outer["axis"] == "a");
  CHECK(outer["pieces"] == 4);
  const auto& inner = outer["steps"].at(1);
  CHECK(inner["kind"] == "stream");
  CHECK(inner["steps"].at(0)["from"] == "A");
  CHECK(inner["steps"].at(2)["operations"]["fma"] == 2 * 16 * 8 * 64);
}
