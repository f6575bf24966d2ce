// Orders of contraction against the plain meaning, over random networks of products and sums.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <set>

#include "napkin/derive.hpp"
#include "support/catch.hpp"
#include "support/law_diagrams.hpp"
#include "support/read.hpp"

using namespace napkin;
using namespace napkin::testing;

namespace {

// A few statements, each of which multiplies some arrays and sums what it does not keep.
class Networks {
 public:
  explicit Networks(std::uint32_t seed) : random_(seed), of_extremes_(below(5) == 0) {}

  std::string text() {
    std::string all = "diagram network\n";
    const auto axes = 3 + below(4);
    for (std::size_t i = 0; i < axes; ++i) all += fmt::format("axis {} = {}\n", axis(i), 1 + below(7));
    for (std::size_t i = 0; i < 3 + below(3); ++i) all += input(i, axes);
    const auto statements = 1 + below(4);
    for (std::size_t i = 0; i < statements; ++i) all += statement(i, i + 1 == statements);
    return all;
  }

 private:
  struct Array {
    std::string name;
    std::set<std::string> axes;
    std::string read() const { return fmt::format("{}[{}]", name, fmt::join(axes, ", ")); }
  };
  std::size_t below(std::size_t n) { return random_() % n; }
  static std::string axis(std::size_t i) { return std::string(1, static_cast<char>('a' + i)); }

  std::string input(std::size_t i, std::size_t axes) {
    Array made{fmt::format("{}", static_cast<char>('P' + i)), {}};
    while (made.axes.empty() || below(3) > 0) made.axes.insert(axis(below(axes)));
    arrays_.push_back(made);
    return fmt::format("input {}: f32[{}]\n", made.name, fmt::join(made.axes, ", "));
  }
  std::string statement(std::size_t i, bool last) {
    Array made{fmt::format("T{}", i), {}};
    std::set<std::string> all;
    std::string product;
    for (std::size_t n = 2 + below(2); n > 0; --n) {
      // What was made last is likely to be read.
      const auto& operand = arrays_[below(2) == 0 ? arrays_.size() - 1 : below(arrays_.size())];
      all.insert(operand.axes.begin(), operand.axes.end());
      product += (product.empty() ? "" : of_extremes_ ? " + " : " * ") + factor(operand);
    }
    std::vector<std::string> summed;
    for (const auto& one : all) below(2) == 0 ? void(summed.push_back(one)) : void(made.axes.insert(one));
    if (!summed.empty())
      product = fmt::format("{}[{}]({})", of_extremes_ ? "max" : "sum", fmt::join(summed, ", "), product);
    if (below(4) == 0) product = of_extremes_ ? product + " - 2" : "-" + product + " / 2";
    const char* type = below(4) == 0 ? ": f16" : "";
    arrays_.push_back(made);
    return fmt::format("{}{}[{}] = {}\n{}", made.name, type, fmt::join(made.axes, ", "), product,
                       last || below(4) == 0 ? "output " + made.name + "\n" : "");
  }
  std::string factor(const Array& operand) {
    const auto read = operand.read();
    switch (below(8)) {
      case 0:
        return of_extremes_ ? fmt::format("tanh({})", read) : fmt::format("abs({})", read);
      case 1:
        return fmt::format("f16({})", read);
      default:
        return read;
    }
  }

  std::mt19937 random_;
  bool of_extremes_;
  std::vector<Array> arrays_;
};

Values inputs_of(const Diagram& diagram, std::uint32_t seed, bool whole) {
  std::mt19937 random(seed);
  Values values;
  values.arrays.resize(diagram.arrays.size());
  for (const auto input : diagram.inputs) {
    std::size_t count = 1;
    for (const auto wire : diagram.at(input).wires) count *= static_cast<std::size_t>(diagram.size(wire).value());
    for (std::size_t i = 0; i < count; ++i)
      values.arrays[input.index].push_back(whole ? static_cast<double>(random() % 5) - 2
                                                 : static_cast<double>(random() % 2001) / 1000 - 1);
  }
  return values;
}

// The greatest difference of an output, as a part of its greatest value.
double difference(const Diagram& diagram, const Diagram& form, const Values& inputs, bool round) {
  Values plain = inputs, other;
  other.arrays.resize(form.arrays.size());
  for (const auto input : form.inputs) other.arrays[input.index] = inputs.arrays[input.index];
  evaluate(diagram, plain, round);
  evaluate(form, other, round);
  double most = 0;
  for (const auto output : diagram.outputs) {
    const auto &a = plain.arrays[output.index], &b = other.arrays[output.index];
    if (a.size() != b.size()) return HUGE_VAL;
    double greatest = 1e-3;
    for (const double value : a) greatest = std::max(greatest, std::abs(value));
    for (std::size_t i = 0; i < a.size(); ++i) most = std::max(most, std::abs(a[i] - b[i]) / greatest);
  }
  return most;
}

}  // namespace

TEST_CASE("every order of contraction means what the diagram means") {
  std::uint32_t forms = 0, met = 0, refused = 0;
  for (std::uint32_t seed = 0; seed < law_diagrams(); ++seed) {
    const auto text = Networks(seed).text();
    const auto diagram = read_text(text);
    const auto whole = inputs_of(diagram, seed, true), fractions = inputs_of(diagram, seed, false);
    for (const auto& one : contractions(diagram)) {
      for (const auto& form : one.forms) {
        ++forms, met += form.met.empty() ? 0 : 1;
        const auto wrong = verify(form.diagram);
        if (!wrong.empty()) FAIL(text << wrong.front());
        if (const auto d = difference(diagram, form.diagram, fractions, false); d > 1e-9)
          FAIL(text << one.factors << d);
        if (form.diagram.inputs != diagram.inputs || form.diagram.outputs != diagram.outputs) FAIL(text);
      }
      if (!one.refused) continue;
      ++refused;
      CHECK(one.refused->operations < one.refused->operations_as_written);
      if (const auto d = difference(diagram, one.refused->diagram, whole, false); d > 1e-9) FAIL(text << d);
    }
  }
  CAPTURE(forms, met, refused);
  CHECK(forms > law_diagrams() / 10);
  CHECK(met > 0);
  CHECK(refused > law_diagrams() / 100);
}

// What is rounded to f16 is in both, so that results differ by roundoffs of f32 alone: a form that left out such a
// rounding, or added one, would be a thousand times as far away.
TEST_CASE("no order of contraction crosses a rounding") {
  std::uint32_t forms = 0, near = 0;
  for (std::uint32_t seed = 0; seed < law_diagrams(); ++seed) {
    const auto diagram = read_text(Networks(seed).text());
    const auto inputs = inputs_of(diagram, seed, false);
    for (const auto& one : contractions(diagram))
      for (const auto& form : one.forms)
        ++forms, near += difference(diagram, form.diagram, inputs, true) < 2e-6 ? 1 : 0;
  }
  // A roundoff of f32 may decide which of two neighbours in f16 is stored; that is rare.
  CHECK(near > forms - forms / 20);
}
