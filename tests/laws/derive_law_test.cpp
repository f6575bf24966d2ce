// The derivation against the plain meaning, over random diagrams: whatever it says streams is run in random pieces,
// merged from two halves, and nested along several wires.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <set>

#include "napkin/derive.hpp"
#include "support/catch.hpp"
#include "support/derived.hpp"
#include "support/law_diagrams.hpp"
#include "support/random_diagram.hpp"
#include "support/read.hpp"
#include "support/run_columns.hpp"

using namespace napkin;
using namespace napkin::testing;

namespace {

const std::uint32_t diagrams = law_diagrams();

bool near(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  if (std::isinf(a) || std::isinf(b)) return a == b;
  return std::abs(a - b) <= 1e-7 * (1 + std::abs(a) + std::abs(b));
}

// Everything that could make a plain value infinite or not a number is left to tests of their own.
bool tame(const Values& plain) {
  for (const auto& array : plain.arrays)
    for (const double value : array)
      if (!std::isfinite(value) || std::abs(value) > 1e4) return false;
  return true;
}

// A file that reproduces a failure, and what was derived from it.
std::string described(const Diagram& diagram, const Derivation& derivation) {
  std::string text = file_text(diagram);
  for (const auto& column : derivation.columns) text += "\n  " + to_text(derivation.scratch, column);
  return text;
}

std::string described(const Streamable& s) {
  std::string text;
  for (const auto* list : {&s.before, &s.init, &s.piece, &s.absorb, &s.merge, &s.finish}) {
    text += "\n  --";
    for (const auto& column : *list) text += "\n  " + to_text(s.scratch, column);
  }
  return text;
}

std::string described(const Diagram& scratch, const std::vector<Step>& steps, const std::string& margin = "\n  ") {
  std::string text;
  for (const auto& step : steps)
    if (const auto* column = std::get_if<Column>(&step))
      text += margin + to_text(scratch, *column);
    else
      text += margin + "for " + scratch.at(std::get<Loop>(step).wire).name +
              described(scratch, std::get<Loop>(step).body, margin + "  ");
  return text;
}

// The words for a failure are made only where there is one.
template <class Words>
void check_outputs(const Diagram& diagram, const Values& plain, ColumnRunner& ran, const Words& words) {
  for (const auto output : diagram.outputs) {
    const auto& expected = plain.arrays[output.index];
    const auto& found = ran.values(output);
    REQUIRE(expected.size() == found.size());
    for (std::size_t i = 0; i < expected.size(); ++i)
      if (!near(expected[i], found[i])) {
        CAPTURE(diagram.at(output).name, i, expected[i], found[i]);
        FAIL(words());
      }
  }
}

void load_inputs(const Diagram& diagram, const Values& inputs, ColumnRunner& runner) {
  for (const auto input : diagram.inputs) runner.arrays[input.index] = inputs.arrays[input.index];
}

// Runs pieces of random sizes over [begin, end).
void absorb_range(ColumnRunner& runner, const Streamable& s, WireId wire, std::int64_t begin, std::int64_t end,
                  std::mt19937& random) {
  while (begin < end) {
    const auto next = std::min<std::int64_t>(end, begin + 1 + static_cast<std::int64_t>(random() % 3));
    runner.ranges[wire] = {begin, next};
    runner.run(s.piece);
    runner.run(s.absorb);
    begin = next;
  }
  runner.ranges.erase(wire);
}

}  // namespace

TEST_CASE("a random diagram, printed and read, is the same diagram") {
  for (std::uint32_t seed = 0; seed < diagrams; ++seed) {
    const Diagram drawn = drawn_diagram(seed);
    const Diagram read = random_diagram(seed);
    const Diagram again = read_text(file_text(read));
    if (file_text(again) != file_text(read)) FAIL(file_text(read) << "reads as\n" << file_text(again));
    Values before = random_inputs(drawn, seed), after = random_inputs(read, seed);
    evaluate(drawn, before, false);
    evaluate(read, after, false);
    if (!tame(before)) continue;
    for (std::size_t i = 0; i < drawn.outputs.size(); ++i) {
      const auto& one = before.arrays[drawn.outputs[i].index];
      const auto& other = after.arrays[read.outputs[i].index];
      if (!std::ranges::equal(one, other, near)) FAIL(file_text(drawn) << "differs in output " << i);
    }
  }
}

TEST_CASE("whatever streams gives the plain values in any pieces") {
  std::uint32_t streams = 0, states = 0;
  for (std::uint32_t seed = 0; seed < diagrams; ++seed) {
    const Diagram diagram = random_diagram(seed);
    REQUIRE(verify(diagram).empty());
    Values plain = random_inputs(diagram, seed);
    const Values inputs = plain;
    evaluate(diagram, plain, false);
    if (!tame(plain)) continue;
    const auto derivation = derive(diagram, all_statements(diagram));
    for (const auto& verdict : derivation.verdicts) {
      const auto* s = std::get_if<Streamable>(&verdict.stream);
      if (!s) continue;
      ++streams;
      states += s->state.empty() ? 0 : 1;
      const auto words = [&] {
        return "wire " + diagram.at(verdict.wire).name + " of\n" + described(diagram, derivation) + described(*s);
      };
      std::mt19937 random(seed);
      ColumnRunner runner(s->scratch);
      load_inputs(diagram, inputs, runner);
      runner.run(s->before);
      runner.run(s->init);
      absorb_range(runner, *s, verdict.wire, 0, diagram.size(verdict.wire).value(), random);
      runner.run(s->finish);
      check_outputs(diagram, plain, runner, words);
    }
  }
  CHECK(streams > diagrams / 2);
  CHECK(states > diagrams / 4);
}

TEST_CASE("two states merge to the state of the whole") {
  std::uint32_t merged = 0;
  for (std::uint32_t seed = 0; seed < diagrams; ++seed) {
    const Diagram diagram = random_diagram(seed);
    Values plain = random_inputs(diagram, seed);
    const Values inputs = plain;
    evaluate(diagram, plain, false);
    if (!tame(plain)) continue;
    const auto derivation = derive(diagram, all_statements(diagram));
    for (const auto& verdict : derivation.verdicts) {
      const auto* s = std::get_if<Streamable>(&verdict.stream);
      const auto* group = std::get_if<Groupable>(&verdict.group);
      if (!s || !group || !group->by_merge) continue;
      ++merged;
      const auto words = [&] {
        return "wire " + diagram.at(verdict.wire).name + " of\n" + described(diagram, derivation) + described(*s);
      };
      std::mt19937 random(seed);
      const auto size = diagram.size(verdict.wire).value();
      const auto cut = static_cast<std::int64_t>(random() % static_cast<unsigned>(size + 1));  // a half may be empty
      ColumnRunner runner(s->scratch);
      load_inputs(diagram, inputs, runner);
      runner.run(s->before);
      runner.run(s->init);
      absorb_range(runner, *s, verdict.wire, 0, cut, random);
      for (std::size_t i = 0; i < s->state.size(); ++i) runner.values(s->other[i]) = runner.values(s->state[i].array);
      runner.run(s->init);
      absorb_range(runner, *s, verdict.wire, cut, size, random);
      runner.run(s->merge);
      runner.run(s->finish);
      check_outputs(diagram, plain, runner, words);
    }
  }
  CHECK(merged > diagrams / 7);
}

TEST_CASE("programs along several wires give the plain values") {
  std::uint32_t programs = 0;
  for (std::uint32_t seed = 0; seed < diagrams; ++seed) {
    const Diagram diagram = random_diagram(seed);
    Values plain = random_inputs(diagram, seed);
    const Values inputs = plain;
    evaluate(diagram, plain, false);
    if (!tame(plain)) continue;
    const auto derivation = derive(diagram, all_statements(diagram));
    std::mt19937 random(seed);
    for (int attempt = 0; attempt < 4; ++attempt) {
      std::vector<WireId> wires;
      std::vector<std::int64_t> sizes;
      for (std::size_t i = 0; i < 1 + random() % 3; ++i) {
        wires.push_back({static_cast<std::uint32_t>(random() % diagram.wires.size())});
        sizes.push_back(1 + static_cast<std::int64_t>(random() % 4));
      }
      const auto result = stream(derivation, wires);
      const auto* program = std::get_if<Program>(&result);
      if (!program) continue;
      ++programs;
      const auto words = [&] { return described(diagram, derivation) + described(program->scratch, program->steps); };
      ColumnRunner runner(program->scratch);
      load_inputs(diagram, inputs, runner);
      runner.run(program->steps, sizes);
      check_outputs(diagram, plain, runner, words);
    }
  }
  CHECK(programs > diagrams / 2);
}
