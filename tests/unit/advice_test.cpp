// What keeps a diagram slower than it needs to be: products off the matrix units, roundings, padding; in derive, too.
#include <nlohmann/json.hpp>

#include "napkin/summary.hpp"
#include "support/catch.hpp"
#include "support/derived.hpp"
#include "support/machine.hpp"
#include "support/read.hpp"
#include "support/run_cli.hpp"

using namespace napkin;
using namespace napkin::test;

namespace {

const std::string head =
    "diagram d\naxis q = 64; axis x = 64; axis d = 32\ninput Q: f16[q, d]\ninput K: f16[x, d]\ninput V: f16[x, d]\n"
    "S[q, x] = sum[d](Q[q, d] * K[x, d])\n";
const std::string lost = head + "P[q, x] = softmax[x](S[q, x])\nO[q, d] = sum[x](P[q, x] * V[x, d])\noutput O\n";

std::string derive_text(const std::string& text, std::vector<std::string> more = {}) {
  more.insert(more.begin(), {"derive", "-"});
  const auto ran = run_cli(more, text);
  CHECK(ran.code == 0);
  return ran.out;
}

bool has(const std::string& text, const std::string& part) {
  CAPTURE(text, part);
  CHECK(text.find(part) != std::string::npos);
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("derive says of each product whether matrix units run it, and the edit that makes them", "[advice]") {
  const auto plain = derive_text(lost);
  has(plain, "S = Q*K  matrix units  f16");
  has(plain, "O = P*V  matrix units  tf32 twice, since P is f32 and V f16: write P: f16");
  const auto on_machine = derive_text(lost, {"--target", "h100-sxm5"});
  has(on_machine, "product on h100-sxm5");
  has(on_machine, "O = P*V               matrix units  tf32 twice, since P is f32 and V f16: write P: f16");
  has(derive_text(lost, {"--target", "rtx4090"}), "fma lanes     P is f32 and V f16: write P: f16");
  has(derive_text(lost, {"--target", "x86-64-avx2"}), "the machine has no matrix units");
}

TEST_CASE("derive says the products as JSON", "[advice]") {
  const auto json = nlohmann::json::parse(derive_text(lost, {"--format", "json"}));
  const auto& products = json["kernels"][0]["products"];
  REQUIRE(products.size() == 2);
  CHECK(products[0]["unit"] == "tensor");
  CHECK(products[0]["lost"] == false);
  CHECK(products[1]["result"] == "O");
  CHECK(products[1]["unit"] == "tensor");
  CHECK(products[1]["parts"] == 2);
  CHECK(products[1]["lost"] == false);
  CHECK(products[1]["why_not"] == "P is f32 and V f16");
  CHECK(products[1]["mend"] == "write P: f16");
}

TEST_CASE("a refusal of a stream says whether a rounding alone forbids it", "[advice]") {
  const auto refused = [](const std::string& type) {
    const auto diagram = read_text(
        "diagram t\naxis t = 3; axis x = 13\ninput A: f32[t, x]\nM[t] = max[x](abs(A[t, x]))\n"
        "R: " +
        type + "[t, x] = A[t, x] * M[t]\nY[t] = sum[x](R[t, x])\noutput Y\n");
    const auto derivation = testing::derived(diagram);
    const auto& stream = derivation->find(*find_wire(diagram, "x"))->stream;
    const auto* why = std::get_if<Refused>(&stream);
    return why ? std::optional(why->of_a_cast) : std::nullopt;
  };
  CHECK(refused("f16") == true);
  CHECK(refused("f32") == std::nullopt);
}

TEST_CASE("padding of an axis that no instruction divides is said", "[advice]") {
  auto text = text_of(example("attention"));
  const std::string width = "axis d = 128";
  text.replace(text.find(width), width.size(), "axis d = 65");
  const auto page = run_cli({"analyze", "-", "--target", "h100-sxm5", "--partition", "flash2"}, text).out;
  has(page, "d 65 padded to 80");
  has(page, "d' 65 padded to 72");
  const auto even = run_cli({"analyze", example("attention"), "--target", "h100-sxm5", "--partition", "flash2"}).out;
  CHECK(even.find("padded") == std::string::npos);
}

TEST_CASE("instructions contract along the wire that is innermost in memory, whatever order axes are written in",
          "[advice]") {
  const auto page = [](const std::string& axes) {
    return run_cli({"analyze", "-", "--target", "h100-sxm5", "--partition",
                    "group e 64, d 64, stream c 1 at smem; group d 16 at reg"},
                   "diagram p\naxis t = 1024; " + axes +
                       "; axis d = 128; axis e = 64\ninput K: f16[t, d]; input V: f16[t, e]\n"
                       "S: f32[d, e] = sum[i, c](K[16*c + i, d] * V[16*c + i, e])\noutput S\n")
        .out;
  };
  const auto outer_first = page("axis c = 64; axis i = 16"), inner_first = page("axis i = 16; axis c = 64");
  has(outer_first, "wgmma m64n64k16 f16: S = K*V");
  const auto from = [](const std::string& text) { return text.substr(text.find("us predicted")); };
  CHECK(from(inner_first) == from(outer_first));
}
