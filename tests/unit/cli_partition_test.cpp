// Partitions by hand through the public commands: what is merged, what fits, what is refused, and that it verifies.
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>

#include "support/catch.hpp"
#include "support/run_cli.hpp"

using namespace napkin;
using namespace napkin::test;

TEST_CASE("a group of a streamed axis is merged by a second kernel, or refused") {
  const auto with = [](const std::string& size, const std::string& command) {
    return run_cli({command, example("decode"), "--target", "h100-sxm5", "--partition",
                    "group k 1, x " + size + " at smem; stream x 64 at smem"});
  };
  const auto verified = with("2048", "verify");
  CHECK(verified.code == 0);
  CHECK(verified.out.find("group k 1, x_part 1") != std::string::npos);
  const auto refused = with("1000", "analyze");
  CHECK(refused.code == 1);
  CHECK(refused.err.find("error[E0303]: the parts of `x` are merged and have to be equal") != std::string::npos);
}

namespace {

// How many keys say team, of which each is there with warpgroup and the same value.
int count_repeated(const nlohmann::json& json) {
  int count = 0;
  for (const auto& [key, value] : json.items()) {
    if (value.is_structured()) count += count_repeated(value);
    const auto at = json.is_object() ? key.find("team") : std::string::npos;
    if (at == std::string::npos) continue;
    CAPTURE(key);
    CHECK(json.at(std::string(key).replace(at, 4, "warpgroup")) == value);
    ++count;
  }
  return count;
}

}  // namespace

TEST_CASE("keys that say team are repeated with the word of CUDA") {
  const auto ran = run_cli({"analyze", example("attention"), "--target", "h100-sxm5", "--format", "json"});
  REQUIRE(ran.code == 0);
  const auto configuration = nlohmann::json::parse(ran.out)["kernels"][0]["configuration"];
  CHECK(count_repeated(configuration) > 20);
  CHECK(configuration["warpgroup_rows"] == 64);
  CHECK(configuration["pipelinings"][0]["occupancy"]["by_bytes"].contains("warpgroups_by_shared"));
}

TEST_CASE("in the ideal model a launch has one time, and its units take no longer") {
  for (const auto* name : {"attention", "matmul", "causal", "multi_head"}) {
    CAPTURE(name);
    const auto ran =
        run_cli({"analyze", example(name), "--target", "h100-sxm5", "--model", "ideal", "--format", "json"});
    REQUIRE(ran.code == 0);
    const auto json = nlohmann::json::parse(ran.out);
    for (const auto& kernel : json["kernels"]) {
      const double seconds = kernel["time_s"];
      CHECK(kernel["configuration"]["launch"]["time_s"] == seconds);
      for (const auto& unit : kernel["units"]) CHECK(unit["time_s"].get<double>() <= seconds * (1 + 1e-9));
    }
  }
}

TEST_CASE("what does not fit is not set beside a bound of what does") {
  const auto ran = run_cli(
      {"analyze", example("attention"), "--target", "h100-sxm5", "--partition", "group q 1024 at smem", "--details"});
  CHECK(ran.code == 1);
  CHECK(ran.out.find("every program that fits moves at least") != std::string::npos);
  CHECK(ran.out.find("this one does not") != std::string::npos);
}

TEST_CASE("a partition of which a core can run no block is refused, and says why") {
  const std::vector<std::array<std::string, 3>> cases = {
      {"softcap", "group h 1, q 64, stream x 192 at smem", "a thread would need 302 registers, and has at most 255"},
      {"matmul", "group a 320, c 320, stream b 64 at smem", "one instruction computes all columns of a product"},
      {"matmul", "group a 512, c 64, stream a 192, b 64 at smem", "a copy ends only at the end of an array"},
      {"matmul", "group a 384, c 64, stream b 64 at smem", "one copy has at most 256 rows"},
      {"attention", "group q 128, stream x 64, d' 64 at smem", "registers cannot be indexed by a loop"},
      {"convolution", "group n 16, u 2, v 7, o 64, stream c 64 at smem", "a matrix has two axes"}};
  for (const auto& [diagram, partition, why] : cases) {
    CAPTURE(diagram);
    const auto ran = run_cli({"analyze", example(diagram), "--target", "h100-sxm5", "--partition", partition});
    CHECK(ran.code == 1);
    CHECK(ran.err.find("does not fit: smem: no block can run: " + why) != std::string::npos);
  }
}

// What would leave the matrix units to plain threads is no plan for them.
TEST_CASE("a tile of three axes beside a product fits no fragments, and one position of the third does") {
  const Folder folder;
  const auto file = folder.write("lanes.nap",
                                 "diagram lanes\naxis h = 8; axis t = 256; axis d = 64; axis e = 64\n"
                                 "input A: f16[t, d]; input B: f16[e, d]; input G: f32[h]\n"
                                 "S: f32[t, e] = sum[d](A[t, d] * B[e, d])\n"
                                 "Y: f32[h, t, e] = exp(S[t, e] * G[h])\noutput Y\n");
  const auto emitted = [&](const std::string& partition) {
    return run_cli({"emit", "cuda", file, "--target", "a100-sxm4-80", "--partition", partition, "-o", folder / "out"});
  };
  const auto refused = emitted("S, Y: group t 64, stream d 64 at smem; group t 16 at reg");
  CHECK(refused.code == 1);
  CHECK(refused.err.find("fragments have rows and one more axis") != std::string::npos);
  const auto made = emitted("S, Y: group h 1, t 64, stream d 64 at smem; group t 16 at reg");
  CHECK(made.code == 0);
  CHECK(made.err.find("without matrix units") == std::string::npos);
}

// The rows of the warps are the plan's, written or not, and so are the registers of one.
TEST_CASE("a plan says how its warps share out rows, and given back is that plan", "[long]") {
  const auto plan = [](const std::string& name, const std::string& machine, const std::vector<std::string>& more) {
    std::vector<std::string> words = {"analyze", example(name), "--target", machine, "--format", "json"};
    words.insert(words.end(), more.begin(), more.end());
    const auto ran = run_cli(words);
    REQUIRE(ran.code == 0);
    return nlohmann::json::parse(ran.out).at("kernels").at(0);
  };
  const std::vector<std::array<std::string, 3>> cases = {
      {"matmul", "h100-sxm5", "group a 176, c 256, stream b 64 at smem; group c 32 at reg"},
      {"matmul", "a100-sxm4-80", "group a 112, c 128, stream b 64 at smem; group c 32 at reg"},
      {"multi_head", "h100-sxm5", "group b 1, h 1, q 128, stream x 160 at smem; group q 16 at reg"},
      {"softcap", "h100-sxm5", "group h 1, q 128, stream x 64 at smem; group q 16 at reg"}};
  for (const auto& [name, machine, words] : cases) {
    CAPTURE(name, machine);
    const auto found = plan(name, machine, {});
    CHECK(found.at("partition_text") == words);
    const auto again = plan(name, machine, {"--partition", words});
    for (const auto* key : {"partition_text", "time_s", "levels"}) CHECK(again.at(key) == found.at(key));
    const auto& configuration = found.at("configuration");
    for (const auto& one : configuration.at("pipelinings"))
      if (one.at("overlap") == configuration.at("chosen"))
        CHECK(found.at("levels").at(1).at("memory_bytes") ==
              one.at("occupancy").at("as_allocated").at("registers_per_thread").get<int>() * 32 * 4);
  }
}

TEST_CASE("tiles of divided indices hold for no longer axis that groups below them share out") {
  Folder folder;
  const auto file = folder.write("t.nap",
                                 "diagram t\naxis x = 4\naxis b = (x + 4) / 5\ninput A: f64[b]\ninput B: f64[x]\n"
                                 "P[] = max[x](A[x / 5] * B[x])\noutput P\n");
  const auto ran =
      run_cli({"emit", "cpp", file, "--target", "toy", "--partition", "group x 2 at reg", "-o", folder / "out"});
  CHECK(ran.code == 0);
  CHECK(text_of(folder / "out/t.cpp").find("if (sizes.x_part > 2) return false;") != std::string::npos);
}

TEST_CASE("a result is finished in the order of factors that the file has") {
  Folder folder;
  const auto file = folder.write("t.nap",
                                 "diagram t\naxis q = 8\naxis x = 40\ninput A: f32[q, x]\ninput W: f32[q]\n"
                                 "Y[q] = sum[x](A[q, x]) / W[q] * max[x](A[q, x])\n"
                                 "Z[q] = W[q] * (sum[x](A[q, x] * A[q, x]) * (max[x](abs(A[q, x])) / 127))\n"
                                 "output Y\noutput Z\n");
  for (const auto* partition : {"stream x 7 at smem", "group x 10 at smem"}) {
    CAPTURE(partition);
    CHECK(run_cli({"verify", file, "--target", "toy", "--partition", partition}).code == 0);
  }
  const auto derived = run_cli({"derive", file});
  CHECK(derived.out.find("Y = Y / W * m") != std::string::npos);
}

TEST_CASE("powers of quotients stay within range in parts that are merged") {
  Folder folder;
  for (const auto* power :
       {"max[x]((A[q, x] / max[x](abs(A[q, x])))^8)", "min[x]((A[q, x] / max[x](abs(A[q, x])))^7)"}) {
    CAPTURE(power);
    const auto file =
        folder.write("t.nap", std::string("diagram t\naxis q = 8\naxis x = 40\ninput A: f32[q, x]\nY[q] = ") + power +
                                  "\noutput Y\n");
    const auto ran = run_cli({"verify", file, "--target", "toy", "--partition", "group x 10 at smem"});
    CHECK(ran.code == 0);
  }
}

// Axes of one operand compete for its fragments; which of them fills some depends on their lengths.
// Whether a division would be faster is another question, which may stay open.
TEST_CASE("no partition of a convolution by hand is faster than what is found", "[search][long]") {
  std::mt19937 random(5);
  const auto one_of = [&](std::initializer_list<int> all) {
    return std::data(all)[std::uniform_int_distribution<std::size_t>(0, all.size() - 1)(random)];
  };
  for (const auto& sizes : {std::array{32, 16, 16}, std::array{16, 32, 24}, std::array{32, 16, 14}}) {
    const auto n = sizes[0], u = sizes[1], v = sizes[2];
    const auto analyzed = [&](const std::vector<std::string>& more) {
      std::vector<std::string> words = {"analyze", example("convolution"), "--target", "h100-sxm5", "--format", "json"};
      for (const auto& [axis, size] : {std::pair{"n", n}, {"u", u}, {"v", v}})
        words.insert(words.end(), {"--set", fmt::format("{}={}", axis, size)});
      words.insert(words.end(), more.begin(), more.end());
      const auto ran = run_cli(words);
      return ran.code == 0 ? std::optional(nlohmann::json::parse(ran.out)) : std::nullopt;
    };
    const auto seconds = [](const nlohmann::json& report) { return report["kernels"][0]["time_s"].get<double>(); };
    const auto planned = analyzed({});
    REQUIRE(planned);
    REQUIRE(((*planned)["search"]["optimal"] == true || (*planned)["search"]["gap"].is_number()));
    int ran = 0;
    for (int i = 0; i < 60; ++i) {
      const auto row = one_of({0, 0, 1, 2, 3});
      const auto partition =
          fmt::format("group n {}, u {}, v {}, o {}, stream i 1, j 1, c {} at smem; group {} {} at reg",
                      row == 1 ? n : one_of({1, 2, 16}), row == 2 ? u : one_of({1, 1, 2}),
                      row == 3 ? v : one_of({1, 1, 2}), one_of({32, 64, 128, 192}), one_of({16, 32, 64, 128}),
                      std::string("onuv")[static_cast<std::size_t>(row)], 16);
      const auto by_hand = analyzed({"--partition", partition});
      if (!by_hand) continue;
      ++ran;
      CAPTURE(n, u, v, partition);
      CHECK(seconds(*by_hand) >= seconds(*planned) * 0.995);
    }
    CHECK(ran > 0);
  }
}

TEST_CASE("tiles that matrix instructions do not take are said to be adjusted") {
  const auto analyzed = [](const std::string& labels, const std::string& target) {
    return run_cli({"analyze", example("attention"), "--target", target, "--partition", labels}).err;
  };
  const auto said = analyzed("group q 96, stream x 128 at smem", "h100-sxm5");
  CHECK(said.find("warning[W0308]") != std::string::npos);
  CHECK(said.find("'group q 64, stream x 128 at smem; group q 16 at reg'") != std::string::npos);
  CHECK(analyzed("group q 64, stream x 128 at smem", "h100-sxm5").empty());
  CHECK(analyzed("group q 128, stream x 64 at smem", "a100-sxm4-80").empty());
}

TEST_CASE("a length of chunks that nothing is taken in is refused") {
  const auto analyzed = [](const std::vector<std::string>& more) {
    std::vector<std::string> words = {
        "analyze", example("cumulative_sum"), "--target", "toy", "--set", "r=2", "--set", "t=60", "--set", "x=60"};
    words.insert(words.end(), more.begin(), more.end());
    return run_cli(words).err;
  };
  CHECK(analyzed({"--chunks", "7"}).empty());
  CHECK(analyzed({"--chunks", "60"}).find("error[E0523]: nothing is reduced in chunks of 60") != std::string::npos);
  CHECK(analyzed({"--chunks", "7", "--partition", "group r 1 at smem"}).find("E0523") != std::string::npos);
}

TEST_CASE("as many partitions are listed as are asked for, the best first", "[cli]") {
  for (const std::size_t many : {1, 2, 4}) {
    const auto ran = run_cli({"analyze", example("attention"), "--target", "toy", "--set", "q=24", "--set", "x=40",
                              "--set", "d=8", "--format", "json", "--top", std::to_string(many)});
    REQUIRE(ran.code == exit_done);
    const auto kernel = nlohmann::json::parse(ran.out)["kernels"][0];
    CHECK(kernel["runners_up"].size() == many - 1);
    double last = kernel["time_s"];
    for (const auto& one : kernel["runners_up"]) {
      CHECK(one["time_s"] >= last);
      last = one["time_s"];
    }
  }
}

TEST_CASE("the text of a plan with scaled operands is that plan, also if orders share names or follow each other") {
  using nlohmann::json;
  Folder folder;
  const auto read = [](const Ran& ran) {
    REQUIRE(ran.code == exit_done);
    return json::parse(ran.out);
  };
  const std::string head = "diagram d\naxis m = 64; axis n = 130; axis k = 64; axis b = (k + 6) / 7\n",
                    inputs = "input A: f4e2m1[m, k]; input B: f8e4m3[n, k]; input s: f8e8m0[m, b]\n",
                    product = "C[m, n] = sum[k](A[m, k] * s[m, k / 7] * B[n, k])\n";
  for (const auto& rest : {product + "output C\n", product + "D[m] = sum[n](C[m, n] / size(n))\noutput D\n"}) {
    CAPTURE(rest);
    const auto file = folder.write("d.nap", head + inputs + rest);
    const auto plan = read(run_cli({"analyze", file, "--target", "h100-sxm5", "--format", "json"}));
    const std::string text = plan["partition"];
    const auto again =
        read(run_cli({"analyze", file, "--target", "h100-sxm5", "--format", "json", "--partition", text}));
    CHECK(again["partition"] == text);
    CHECK(again["totals"]["time_s"] == plan["totals"]["time_s"]);
    const auto page = run_cli({"analyze", file, "--target", "h100-sxm5", "--partition", text});
    CHECK(page.out.find(text.substr(0, text.find(':') + 1)) != page.out.npos);
  }
  // Two orders are called As; only one of them has an axis k.
  const auto file = folder.write("d.nap", head + inputs + product + "output C\n");
  const auto by = [&](const std::string& labels) {
    return run_cli({"analyze", file, "--target", "h100-sxm5", "--partition", labels});
  };
  CHECK(by("As: group m 1, k 64 at smem | C: group m 64, n 64 at smem").code == exit_done);
  const auto in_blocks = by("As: group m 1, k_block 2 at smem | C: group m 64, n 64 at smem");
  CHECK(in_blocks.err.find("E0303") == std::string::npos);
  CHECK(in_blocks.out.find("k_block 2") != std::string::npos);
  // A kernel of both says its statements; a wrong name is the only one that is unknown.
  const auto fused = by("As, C: group m 8, n 32 at smem");
  CHECK(fused.out.find("--partition \"As, C: group m 8") != std::string::npos);
  const auto wrong = by("As: group m 1, k 64 at smem | Cz: group m 64, n 64 at smem");
  CHECK(wrong.err.find("no statement `Cz`") != std::string::npos);
  CHECK(wrong.err.find("no statement `As`") == std::string::npos);
}

TEST_CASE("parts of arrays that share nothing are merged by a kernel each, which the text of the plan leaves out") {
  Folder folder;
  const auto file = folder.write("d.nap",
                                 "diagram d\naxis q = 32768; axis x = 256; axis d = 128; axis e = 128\n"
                                 "input P: f16[q, x]; input Q: f16[q, d]; input O: f16[q, e]\n"
                                 "A: f16[x, d] = sum[q](P[q, x] * Q[q, d])\nB: f16[x, e] = sum[q](P[q, x] * O[q, e])\n"
                                 "output A; output B\n");
  const auto json = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words{"analyze", file, "--target", "a100-sxm4-80", "--format", "json"};
    words.insert(words.end(), more.begin(), more.end());
    const auto ran = run_cli(words);
    REQUIRE(ran.code == exit_done);
    return nlohmann::json::parse(ran.out);
  };
  const auto plan = json({});
  REQUIRE(plan["kernels"].size() == 3);
  const auto& division = plan["divisions"].at(0);
  CHECK(division["merging_kernels"] == 2);
  const double of_both = division["time_s"], of_all = plan["totals"]["time_s"];
  CHECK(std::abs(of_both - of_all) < 1e-9 * of_all);
  const std::string text = plan["partition"];
  CHECK(text.find("A, B: group q ") == 0);
  CHECK(text.find('|') == text.npos);
  const auto again = json({"--partition", text});
  CHECK(again["kernels"].size() == 3);
  CHECK(again["totals"]["time_s"] == plan["totals"]["time_s"]);
  const auto page = run_cli({"analyze", file, "--target", "a100-sxm4-80"}).out;
  for (const auto* words : {"1 A, B (parts)", "2 A (merge)", "3 B (merge)", "2 more kernels merge them"})
    CHECK(page.find(words) != page.npos);
}

TEST_CASE("a division may fuse a part of one kernel with another kernel", "[long]") {
  const auto time = [](const std::vector<std::string>& more) {
    std::vector<std::string> words{
        "analyze", example("layernorm_projection_gradient"), "--target", "a100-sxm4-80", "--format", "json"};
    words.insert(words.end(), more.begin(), more.end());
    return nlohmann::json::parse(run_cli(words).out)["totals"]["time_s"].get<double>();
  };
  const auto by_hand = time({"--partition",
                             "N, sum_X, sum_t: group t 1 at smem | dW: group c 80, o 256, stream t 48 at smem | "
                             "dN: group t 112, c 128, stream o 64 at smem | "
                             "Y, Y_dY: group o 256, t 128, stream o 128, c 48 at smem | "
                             "sum_N, sum_dN, dX: group t 1 at smem"});
  CHECK(time({}) <= 1.005 * by_hand);
}

TEST_CASE("tiles and axes far longer than a block can hold take no longer than others", "[cli]") {
  for (const char* labels : {"group q 9999999 at smem", "stream x 1000000 at smem"}) {
    const auto ran = run_cli({"analyze", example("attention"), "--target", "h100-sxm5", "--partition", labels});
    CAPTURE(labels);
    CHECK(ran.err.find("E0304") != std::string::npos);
  }
  const auto huge = run_cli({"analyze", example("matmul"), "--target", "h100-sxm5", "--set", "a=1152921504606846976",
                             "--set", "b=1", "--set", "c=1"});
  CHECK(huge.code == exit_done);
}

TEST_CASE("other sizes of a loop are told from those of its groups", "[cli]") {
  Folder folder;
  const auto file = folder.write("d.nap",
                                 "diagram d\naxis m = 4096; axis n = 128; axis k = 128\n"
                                 "input A: f16[m, k]; input B: f16[k, n]\n"
                                 "C: f16[m, n] = sum[k](A[m, k] * B[k, n])\noutput C\n");
  const auto ran =
      run_cli({"analyze", file, "--target", "rtx4090", "--partition", "group m 32, n 32, stream n 16 at smem"});
  CHECK(ran.out.find("loop n ") != std::string::npos);
  const auto change = ran.out.find("CHANGE");
  REQUIRE(change != std::string::npos);
  CHECK(ran.out.find("; loop n ", change) != std::string::npos);
}

TEST_CASE("formats that have all kernels refuse to show one", "[cli]") {
  for (const char* format : {"json", "html"}) {
    const auto ran =
        run_cli({"analyze", example("softmax"), "--target", "h100-sxm5", "--kernel", "1", "--format", format});
    CAPTURE(format);
    CHECK(ran.code == exit_command_line);
    CHECK((ran.out + ran.err).find("E0522") != std::string::npos);
  }
}

TEST_CASE("no type makes a mask of numbers", "[cli]") {
  const auto ran = run_cli({"derive", example("attention"), "--dtype", "bool"});
  CHECK(ran.code != exit_done);
  CHECK(ran.err.find("E0502") != std::string::npos);
}
