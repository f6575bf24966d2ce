// A streamed wire divided into parts: the two kernels mean what the one did, and each derives as any other.
#include "derive/streams/divide.hpp"

#include <cmath>

#include "diagram/assume.hpp"
#include "napkin/search.hpp"
#include "support/by_hand.hpp"
#include "support/catch.hpp"
#include "support/derived.hpp"
#include "support/machine.hpp"
#include "support/random_diagram.hpp"
#include "support/read.hpp"

using namespace napkin;
using namespace napkin::testing;

namespace {

std::optional<Divided> divided(const Diagram& diagram, const std::string& wire, std::int64_t parts) {
  return divide(diagram, derive(diagram, all_statements(diagram)), *find_wire(diagram, wire), parts);
}

std::string statements(const Diagram& diagram) {
  std::string text;
  for (const auto& s : diagram.statements) text += diagram.at(s.output).name + " = " + to_text(diagram, s.value) + "\n";
  return text;
}

// What is infinite or not a number on the way may come out either way.
bool tame(const Values& plain) {
  for (const auto& array : plain.arrays)
    for (const double value : array)
      if (!std::isfinite(value) || std::abs(value) > 1e4) return false;
  return true;
}

// Whether there was something to compare.
bool check_same_meaning(const Diagram& diagram, const Diagram& other, std::uint32_t seed) {
  const auto inputs = random_inputs(diagram, seed);
  auto plain = inputs, parted = inputs;
  parted.arrays.resize(other.arrays.size());
  evaluate(diagram, plain, false);
  if (!tame(plain)) return false;
  evaluate(other, parted, false);
  for (const auto output : diagram.outputs) {
    const auto &expected = plain.arrays[output.index], &got = parted.arrays[output.index];
    REQUIRE(expected.size() == got.size());
    for (std::size_t i = 0; i < got.size(); ++i) {
      CAPTURE(diagram.at(output).name, i);
      const bool both_unknown = std::isnan(expected[i]) && std::isnan(got[i]);
      REQUIRE((both_unknown || std::abs(expected[i] - got[i]) <= 1e-6 * (1 + std::abs(expected[i]))));
    }
  }
  return true;
}

const std::string head =
    "diagram parted\naxis q = 6; axis x = 24; axis d = 4\n"
    "input Q: f32[q, d]\ninput K: f32[x, d]\ninput V: f32[x, d]\ninput T: f32[q, x]\n";

}  // namespace

TEST_CASE("the parts of a divided wire merge into what the whole gives") {
  const std::vector<std::string> kernels = {
      "Y[q] = sum[x](T[q, x])\noutput Y\n",
      "Y[q] = max[x](T[q, x] * 2)\noutput Y\n",
      "Y[q] = logsumexp[x](T[q, x])\noutput Y\n",
      "S[q, x] = sum[d](Q[q, d] * K[x, d]) / sqrt(size(d))\nP[q, x] = softmax[x](S[q, x])\n"
      "O[q, d] = sum[x](P[q, x] * V[x, d])\noutput O\n",
      "S[q, x] = sum[d](Q[q, d] * K[x, d])\nP[q, x] = softmax[x](where(x <= q + 3, S[q, x], -inf))\n"
      "O[q, d] = sum[x](P[q, x] * V[x, d])\noutput O\n",
      "P[q, x] = l2norm[x](T[q, x])\nO[q, d] = sum[x](P[q, x] * V[x, d])\noutput O\n",
      "Y[q, d] = sum[x](where(x == 3 * q, T[q, x] * V[x, d], 0))\noutput Y\n",
      "Y[q] = var[x](T[q, x])\noutput Y\n",
      "Y[q] = max[x](abs(T[q, x])) * sqrt(sum[x]((T[q, x] / max[x](abs(T[q, x])))^2))\noutput Y\n",
      "Y[q] = sum[x](l2norm[x](T[q, x])^4)\noutput Y\n",
      "N[q, x] = layernorm[x](T[q, x])\nO[q, d] = sum[x](N[q, x] * V[x, d])\noutput O\n",
  };
  for (const auto& kernel : kernels)
    for (const std::int64_t parts : {2, 3, 8, 24}) {
      CAPTURE(kernel, parts);
      const auto diagram = read_text(head + kernel);
      const auto made = divided(diagram, "x", parts);
      REQUIRE(made);
      INFO(statements(made->diagram));
      REQUIRE(verify(made->diagram).empty());
      CHECK(!made->parts.empty());
      CHECK(!made->merging.empty());
      CHECK(made->parts.size() + made->merging.size() == made->diagram.statements.size());
      CHECK(check_same_meaning(diagram, made->diagram, 7));
    }
}

TEST_CASE("a state that is the same for every part still merges") {
  const std::vector<std::string> kernels = {
      "Y[q] = max[x](3)\noutput Y\n",
      "S[q] = sum[x](T[q, x])\nP[q, x] = softmax[x]((T[q, x] - S[q]) - T[q, x])\nY[q] = min[x](-2 * P[q, x])\n"
      "output Y\n",
      "Y[q] = var[x](T[q, x] / max[x](abs(T[q, x])))\noutput Y\n",  // counts its terms
  };
  for (const auto& kernel : kernels) {
    CAPTURE(kernel);
    const auto diagram = read_text(head + kernel);
    const auto made = divided(diagram, "x", 3);
    REQUIRE(made);
    INFO(statements(made->diagram));
    REQUIRE(verify(made->diagram) == std::vector<std::string>{});
    CHECK(check_same_meaning(diagram, made->diagram, 5));
  }
}

TEST_CASE("parts of another length mean what the whole does at the size that they make up") {
  // A mask asks for positions, and a number of the file is as large as the length.
  const auto text = [](int size) {
    return "diagram parted\naxis q = 6; axis x = " + std::to_string(size) +
           "\ninput T: f32[q, x]\nS[q, x] = where(x <= 4 * q, 8 * T[q, x], -9)\n"
           "Y[q] = logsumexp[x](S[q, x]) + sum[x](x * T[q, x]) / size(x)\noutput Y\n";
  };
  for (const std::int64_t length : {1, 3, 8, 11}) {
    CAPTURE(length);
    auto made = divided(read_text(text(24)), "x", 3);
    REQUIRE(made);
    const auto parts = divided_axes(made->diagram);
    REQUIRE(parts.size() == 1);
    set_length(made->diagram, parts[0], length);
    INFO(statements(made->diagram));
    REQUIRE(verify(made->diagram) == std::vector<std::string>{});
    CHECK(divided_axes(made->diagram) == parts);
    CHECK(made->diagram.at(parts[0].whole).size == 3 * length);
    CHECK(check_same_meaning(read_text(text(static_cast<int>(3 * length))), made->diagram, 5));
  }
}

TEST_CASE("a part is derived as the whole was, and so is the merge") {
  const auto diagram = read_text(head +
                                 "S[q, x] = sum[d](Q[q, d] * K[x, d])\nP[q, x] = softmax[x](S[q, x])\n"
                                 "O[q, d] = sum[x](P[q, x] * V[x, d])\noutput O\n");
  const auto made = divided(diagram, "x", 4);
  REQUIRE(made);
  const auto wire = [&](const std::string& name) { return *find_wire(made->diagram, name); };
  const auto parts = derive(made->diagram, made->parts), merging = derive(made->diagram, made->merging);
  CHECK(std::holds_alternative<Groupable>(parts.find(wire("x_part"))->group));
  CHECK(std::holds_alternative<Groupable>(parts.find(wire("q"))->group));
  const auto& inside = parts.find(wire("x_in_part"))->stream;
  REQUIRE(std::holds_alternative<Streamable>(inside));
  CHECK(std::get<Streamable>(inside).state.size() == 3);
  const auto& over_parts = merging.find(wire("x_part"))->stream;
  REQUIRE(std::holds_alternative<Streamable>(over_parts));
  CHECK(std::get<Streamable>(over_parts).state.size() == 3);
  CHECK(parts.outputs.size() == 3);
}

// Both kernels are run as they were derived, streamed along two wires; the last parts of the first queries are masked
// in full, so that they leave states that have seen nothing.
TEST_CASE("parts that are masked in full merge as if they were not there") {
  const auto diagram =
      read_text(head +
                "S[q, x] = sum[d](Q[q, d] * K[x, d])\nP[q, x] = softmax[x](where(x <= q, S[q, x], -inf))\n"
                "O[q, d] = sum[x](P[q, x] * V[x, d])\noutput O\n");
  const auto made = divided(diagram, "x", 4);
  REQUIRE(made);
  const auto hardware = by_hand::machine({"a", "b"});
  const auto inputs = random_inputs(diagram, 3);
  auto plain = inputs, got = inputs;
  evaluate(diagram, plain, false);
  got.arrays.resize(made->diagram.arrays.size());
  const auto stream = [&](const std::string& name) {
    return Split{SplitKind::stream, *find_wire(made->diagram, name), 2, 1};
  };
  const Partition parts{{stream("x_in_part"), stream("d")}}, merging{{stream("x_part")}};
  for (const auto& [statements, partition] : {std::pair(made->parts, parts), std::pair(made->merging, merging)}) {
    const auto derivation = std::make_shared<const Derivation>(derive(made->diagram, statements));
    interpret(lower(make_kernel(derivation, partition), hardware), hardware, got);
  }
  const auto &expected = plain.arrays[diagram.outputs[0].index], &merged = got.arrays[diagram.outputs[0].index];
  REQUIRE(expected.size() == merged.size());
  for (std::size_t i = 0; i < merged.size(); ++i) CHECK(std::abs(expected[i] - merged[i]) < 1e-5);
}

TEST_CASE("what cannot be divided is not") {
  const auto diagram = read_text(head + "Y[q] = sum[x](T[q, x])\noutput Y\n");
  CHECK(!divided(diagram, "x", 5));  // parts would not be equal
  CHECK(!divided(diagram, "x", 1));  // nothing to merge
  CHECK(!divided(diagram, "q", 2));  // woven: its groups never meet
  CHECK(!divided(read_text(head + "P[q, x] = softmax[x](T[q, x])\noutput P\n"), "x", 2));
}

TEST_CASE("parts of a divided axis are assumed to make it up") {
  const auto made = divided(read_text(head + "Y[q] = sum[x](T[q, x])\noutput Y\n"), "x", 3);
  REQUIRE(made);
  std::string text;
  for (const auto condition : assumptions(made->diagram)) text += to_text(made->diagram, condition) + "\n";
  CHECK(text ==
        "size(x_part) * size(x_in_part) == size(x)\n"
        "size(x_part) == 1 or size(x_in_part) == 8\n");
}

TEST_CASE("random diagrams mean the same with any wire divided") {
  int checked = 0;
  for (std::uint32_t seed = 0; seed < 400; ++seed) {
    const auto diagram = random_diagram(seed);
    const auto derivation = derive(diagram, all_statements(diagram));
    for (const auto& verdict : derivation.verdicts)
      for (const std::int64_t parts : {2, 3}) {
        const auto made = divide(diagram, derivation, verdict.wire, parts);
        if (!made) continue;
        INFO("seed " << seed << ", wire " << diagram.at(verdict.wire).name << " in " << parts);
        INFO(statements(diagram) << "->\n" << statements(made->diagram));
        REQUIRE(verify(made->diagram) == std::vector<std::string>{});
        checked += check_same_meaning(diagram, made->diagram, seed) ? 1 : 0;
      }
  }
  CHECK(checked > 40);
}

TEST_CASE("a group of a streamed axis by hand is a kernel of parts and one that merges them") {
  const auto diagram = read_example("decode.nap");
  const auto hardware = read_machine("h100-sxm5");
  const auto derivation = derived(diagram);
  const auto k = *find_wire(diagram, "k"), x = *find_wire(diagram, "x");
  const Partition written{{{SplitKind::group, k, 1, 1}, {SplitKind::group, x, 2048, 1}, {SplitKind::stream, x, 64, 1}}};
  const auto group = merged_group(*derivation, written);
  REQUIRE(group == 1);
  const auto made = divide(diagram, *derivation, written, *group);
  const auto& divided = std::get<DividedPartition>(made);
  CHECK(to_text(divided.partition, divided.diagram, hardware) == "group k 1, x_part 1, stream x_in_part 64 at smem");
  const auto parts = derive(divided.diagram, divided.parts);
  CHECK(illegal(parts, hardware, divided.partition).empty());
  CHECK_FALSE(merged_group(parts, divided.partition));
  auto unequal = written;
  unequal.splits[1].size = 1000;
  const auto refused = divide(diagram, *derivation, unequal, *group);
  CHECK(std::get<Refused>(refused).reason ==
        "the parts of `x` are merged and have to be equal: 1000 does not divide 65536");
}

TEST_CASE("a group by hand whose parts leave nothing that is needed is refused") {
  const auto diagram = read_text(head + "Y[q] = max[x](abs(T[q, x] / max[x](abs(T[q, x])))^3)\noutput Y\n");
  const auto derivation = derived(diagram);
  const Partition written{{{SplitKind::group, *find_wire(diagram, "x"), 12, 1}}};
  const auto made = divide(diagram, *derivation, written, 0);
  CHECK(std::get<Refused>(made).reason == "the result does not depend on the parts of `x`");
  const auto found = search(read_text("diagram t\naxis q = 1\naxis x = 400000\ninput T: f32[q, x]\n"
                                      "Y[q] = max[x](abs(T[q, x] / max[x](abs(T[q, x])))^3)\noutput Y\n"),
                            read_machine("h100-sxm5"), {});
  for (const auto& kernel : found.plan.kernels) CHECK(!kernel.derivation->statements.empty());
}
