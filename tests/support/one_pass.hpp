// Forms of which one pass is possible though pieces and finished reductions mix: each is run in pieces, merged of two
// halves, divided into parts and nested along two axes, on data with ties, zeros and entries that are masked.
#pragma once

#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "derive/streams/divide.hpp"
#include "support/catch.hpp"
#include "support/derived.hpp"
#include "support/read.hpp"
#include "support/run_columns.hpp"

namespace napkin::testing {

constexpr double infinity = std::numeric_limits<double>::infinity();

inline const std::string head =
    "diagram t\naxis q = 5; axis x = 12; axis y = 3\n"
    "input A: f32[q, x]\ninput W: f32[q, x]\ninput V: f32[x, y]\ninput T: f32[q, x, y]\ninput M: bool[q, x]\n"
    "input G: f32[q, x]\n";

enum class InputKind { plain, ties, negative, zero, large, huge, infinite };

// G has rows in which nothing or little is above minus infinity; M lets a few, no or all positions through.
inline Values inputs_of(const Diagram& diagram, InputKind data, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> number(-2, 2);
  const auto drawn = [&] {
    switch (data) {
      case InputKind::ties:
        return std::floor(number(random));
      case InputKind::negative:
        return -0.1 - std::abs(number(random));
      case InputKind::zero:
        return 0.0;
      case InputKind::large:
        return 1000 + number(random);
      case InputKind::huge:
        return 1e60 * number(random);
      default:
        return number(random);
    }
  };
  Values values;
  values.arrays.resize(diagram.arrays.size());
  for (const auto input : diagram.inputs) {
    const auto& array = diagram.at(input);
    std::size_t size = 1, row = 1;
    for (const auto wire : array.wires) size *= static_cast<std::size_t>(*diagram.size(wire));
    row = size / static_cast<std::size_t>(*diagram.size(array.wires[0]));
    for (std::size_t i = 0; i < size; ++i) {
      const auto at = i / row;
      const bool masked = at == 0 || (at == 1 && i % row != row - 1) || (at == 2 && i % row < row / 2);
      double value = drawn();
      if (array.type == Datatype::boolean) value = at == 0 ? 0 : at == 1 ? 1 : static_cast<double>(random() % 2);
      if (array.name == "G" && masked) value = -infinity;
      if (data == InputKind::infinite && i % 17 == 3) value = infinity;
      values.arrays[input.index].push_back(value);
    }
  }
  return values;
}

inline bool near(double a, double b, double scale) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  if (std::isinf(a) || std::isinf(b)) return a == b;
  return std::abs(a - b) <= 1e-9 * (scale + std::abs(a) + std::abs(b));
}

struct Form {
  Diagram diagram;
  Derivation derivation;
  const Streamable* stream;
  WireId x;
  Values inputs, meant;
};

inline void check(const Form& form, const std::function<const std::vector<double>&(ArrayId)>& got) {
  for (const auto output : form.diagram.outputs) {
    const auto& expected = form.meant.arrays[output.index];
    const auto& found = got(output);
    REQUIRE(expected.size() == found.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      CAPTURE(form.diagram.at(output).name, i, expected[i], found[i]);
      CHECK(near(expected[i], found[i], 1000));
    }
  }
}

inline void absorb(ColumnRunner& runner, const Form& form, std::int64_t begin, std::int64_t end, std::int64_t piece) {
  for (auto at = begin; at < end; at += piece) {
    runner.ranges[form.x] = {at, std::min(end, at + piece)};
    runner.run(form.stream->piece);
    runner.run(form.stream->absorb);
  }
  runner.ranges.erase(form.x);
}

inline ColumnRunner begun(const Form& form) {
  ColumnRunner runner(form.stream->scratch);
  for (const auto input : form.diagram.inputs) runner.arrays[input.index] = form.inputs.arrays[input.index];
  runner.run(form.stream->before);
  runner.run(form.stream->init);
  return runner;
}

inline void check_pieces(const Form& form) {
  for (const std::int64_t piece : {1, 5, 12}) {
    CAPTURE(piece);
    auto runner = begun(form);
    absorb(runner, form, 0, 12, piece);
    runner.run(form.stream->finish);
    check(form, [&](ArrayId array) -> const std::vector<double>& { return runner.values(array); });
  }
}

inline void check_merged(const Form& form) {
  for (const std::int64_t cut : {0, 4, 12}) {
    CAPTURE(cut);
    auto runner = begun(form);
    absorb(runner, form, 0, cut, 3);
    const auto& state = form.stream->state;
    for (std::size_t i = 0; i < state.size(); ++i) runner.values(form.stream->other[i]) = runner.values(state[i].array);
    runner.run(form.stream->init);
    absorb(runner, form, cut, 12, 3);
    runner.run(form.stream->merge);
    runner.run(form.stream->finish);
    check(form, [&](ArrayId array) -> const std::vector<double>& { return runner.values(array); });
  }
}

inline void check_divided(const Form& form) {
  const auto made = divide(form.diagram, form.derivation, form.x, 4);
  REQUIRE(made);
  auto values = form.inputs;
  values.arrays.resize(made->diagram.arrays.size());
  evaluate(made->diagram, values, false);
  check(form, [&](ArrayId array) -> const std::vector<double>& { return values.arrays[array.index]; });
}

// Every pair of axes that nests.
inline void check_nested(const Form& form) {
  for (const auto& one : form.derivation.verdicts)
    for (const auto& other : form.derivation.verdicts) {
      const std::vector<WireId> wires = {one.wire, other.wire};
      const auto nested = stream(form.derivation, wires);
      const auto* program = std::get_if<Program>(&nested);
      if (!program) continue;
      CAPTURE(form.diagram.at(one.wire).name, form.diagram.at(other.wire).name);
      ColumnRunner runner(program->scratch);
      for (const auto input : form.diagram.inputs) runner.arrays[input.index] = form.inputs.arrays[input.index];
      runner.run(program->steps, {5, 2});
      check(form, [&](ArrayId array) -> const std::vector<double>& { return runner.values(array); });
    }
}

// The statements, of which the last is the output, in one pass along x on every kind of data.
inline void check_one_pass(const std::string& statements, bool merges = true,
                           const std::vector<InputKind>& kinds = {InputKind::plain, InputKind::ties,
                                                                  InputKind::negative, InputKind::zero,
                                                                  InputKind::large}) {
  CAPTURE(statements);
  Form form;
  form.diagram = read_text(head + statements + "\noutput Y\n");
  form.derivation = derive(form.diagram, all_statements(form.diagram));
  form.x = *find_wire(form.diagram, "x");
  const auto& verdict = *form.derivation.find(form.x);
  if (const auto* refused = std::get_if<Refused>(&verdict.stream)) FAIL(refused->reason);
  CHECK(verdict.passes == 1);
  form.stream = &std::get<Streamable>(verdict.stream);
  for (const auto data : kinds) {
    CAPTURE(static_cast<int>(data));
    form.inputs = inputs_of(form.diagram, data, 7);
    form.meant = form.inputs;
    evaluate(form.diagram, form.meant, false);
    check_pieces(form);
    check_nested(form);
    if (!merges) continue;
    check_merged(form);
    check_divided(form);
  }
}

inline void check_refused(const std::string& statements) {
  CAPTURE(statements);
  const auto diagram = read_text(head + statements + "\noutput Y\n");
  const auto derivation = derive(diagram, all_statements(diagram));
  CHECK(std::holds_alternative<Refused>(derivation.find(*find_wire(diagram, "x"))->stream));
}

}  // namespace napkin::testing
