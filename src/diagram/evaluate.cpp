// Evaluates a diagram by its plain meaning, in doubles.
#include "diagram/walk.hpp"

namespace napkin {
namespace {

struct Doubles {
  using Value = double;
  bool round = true;

  void begin(const Array&) {}
  double constant(double value) const { return value; }
  double applied(const Pointwise& function, std::span<const double> arguments) const {
    return function.value(arguments.data());
  }
  double rounded(double value, Datatype type) const { return round ? row(type).round(value) : value; }
};

}  // namespace

void evaluate(const Diagram& diagram, Values& values, bool round) {
  auto computed = PlainWalk<Doubles>(diagram, values, {round}).run();
  values.arrays.resize(diagram.arrays.size());
  for (const auto& statement : diagram.statements)
    values.arrays[statement.output.index] = std::move(computed[statement.output.index]);
}

}  // namespace napkin
