// Runs a plan's loop nests on random numbers and holds everything that can be counted against what was said of it.
#include "napkin/verify.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "diagram/match.hpp"

namespace napkin {
namespace {

constexpr std::uint64_t seed = 1;

// splitmix64: the standard's distributions differ between libraries.
class Random {
 public:
  explicit Random(std::uint64_t from) : state_(from) {}
  double unit() {
    auto z = (state_ += 0x9E3779B97F4A7C15ULL);
    z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27U)) * 0x94D049BB133111EBULL;
    return static_cast<double>((z ^ (z >> 31U)) >> 11U) * 0x1p-53;
  }

 private:
  std::uint64_t state_;
};

double draw(const Array& array, double unit) {
  if (array.type == Datatype::boolean) return unit < array.density.value_or(0.5) ? 1 : 0;
  if (array.type == Datatype::i8 || array.type == Datatype::i32) return std::floor(9 * unit) - 4;
  return row(array.type).round(2 * unit - 1);
}

// Half the distance between neighbours around 1: what rounding to the format changes, at most, as a share.
double roundoff(Datatype type) {
  double step = 1;
  while (row(type).round(1 + step / 2) > 1 && step > 0x1p-24) step /= 2;
  return step / 2;
}
bool is_whole(Datatype type) { return type == Datatype::i8 || type == Datatype::i32 || type == Datatype::boolean; }

// What rounding may explain of an output: every number format that a computed number passes through on the way, and
// the largest number there.
class Allowance {
 public:
  Allowance(const Diagram& diagram, const Values& values) : diagram_(diagram), values_(values) {}

  double of(ArrayId output) {
    visit(output);
    return std::max(8 * roundoff_ * largest_, whole_ ? 1.0 : 0.0);
  }

 private:
  void visit(ArrayId id) {
    if (!seen_.insert(id).second) return;
    for (const auto value : values_.arrays[id.index])
      if (std::isfinite(value)) largest_ = std::max(largest_, std::abs(value));
    for (const auto& statement : diagram_.statements) {
      if (statement.output != id) continue;
      pass(diagram_.at(id).type);
      visit(statement.value);
    }
  }
  void visit(ExprId id) {
    match(
        diagram_.at(id).node, [](const Constant&) {}, [](const Position&) {}, [](const Size&) {},
        [&](const Access& access) { visit(access.array); },
        [&](const Apply& apply) {
          for (const auto argument : apply.arguments) visit(argument);
        },
        [&](const Cast& cast) {
          pass(cast.type);
          visit(cast.value);
        },
        [&](const Reduce& reduce) { visit(reduce.body); });
  }
  void pass(Datatype type) {
    if (is_whole(type))
      whole_ = true;
    else
      roundoff_ = std::max(roundoff_, roundoff(type));
  }

  const Diagram& diagram_;
  const Values& values_;
  std::set<ArrayId> seen_;
  double roundoff_ = roundoff(Datatype::f32), largest_ = 0;
  bool whole_ = false;
};

// Where the meaning is no number anything goes: a derivation may cancel what divides nothing by nothing.
double difference(double got, double meant) {
  if (std::isnan(meant) || got == meant) return 0;
  const auto difference = std::abs(got - meant);
  return std::isnan(difference) ? HUGE_VAL : difference;
}

VerifiedOutput compare(const Diagram& diagram, ArrayId id, const Values& got, const Values& meant) {
  VerifiedOutput output{diagram.at(id).name, 0, 0, Allowance(diagram, meant).of(id)};
  double largest = 0;
  const auto& expected = meant.arrays[id.index];
  for (std::size_t i = 0; i < expected.size(); ++i) {
    output.error = std::max(output.error, difference(got.arrays[id.index].at(i), expected[i]));
    if (std::isfinite(expected[i])) largest = std::max(largest, std::abs(expected[i]));
  }
  output.relative = output.error == 0 ? 0 : output.error / largest;
  return output;
}

VerifiedLevel compare(const LevelCost& predicted, const Count& count, const Level& level) {
  VerifiedLevel verified{
      predicted.level,
      {predicted.transfer_values, predicted.transfer_bytes, predicted.memory_values, predicted.memory_bytes},
      count.levels.at(predicted.level - 1)};
  verified.matches = verified.predicted == verified.counted;
  const auto held = level.in_values ? verified.counted.memory_values : verified.counted.memory_bytes;
  verified.fits = static_cast<double>(held) <= level.room();
  return verified;
}

VerifiedKernel run(const Kernel& kernel, const KernelCost& predicted, const Hardware& hardware, Values& values) {
  VerifiedKernel verified{{}, kernel.partition, {}};
  const auto& diagram = kernel.derivation->scratch;
  for (const auto id : kernel.derivation->statements)
    verified.statements.push_back(diagram.at(diagram.at(id).output).name);
  const auto count = interpret(lower(kernel, hardware), hardware, values);
  for (const auto& level : predicted.levels)
    verified.levels.push_back(compare(level, count, hardware.levels.at(level.level)));
  for (const auto& unit : predicted.units) verified.predicted_operations += unit.operations;
  for (const auto operations : count.operations) verified.counted_operations += operations;
  return verified;
}

bool holds(const VerifiedKernel& kernel) {
  return kernel.predicted_operations == kernel.counted_operations &&
         std::all_of(kernel.levels.begin(), kernel.levels.end(),
                     [](const VerifiedLevel& level) { return level.matches && level.fits; });
}

}  // namespace

Values random_values(const Diagram& diagram, std::uint64_t from) {
  Random random(from);
  Values values;
  values.arrays.resize(diagram.arrays.size());
  for (const auto id : diagram.inputs) {
    std::size_t count = 1;
    for (const auto wire : diagram.at(id).wires) count *= static_cast<std::size_t>(diagram.size(wire).value());
    auto& data = values.arrays[id.index];
    for (std::size_t i = 0; i < count; ++i) data.push_back(draw(diagram.at(id), random.unit()));
  }
  return values;
}

Verification verify_plan(const Diagram& diagram, const Plan& plan, const Cost& predicted, const Hardware& hardware) {
  Verification verification{diagram, hardware, {}, {}};
  auto got = random_values(diagram, seed), meant = got;
  evaluate(diagram, meant, true);
  for (std::size_t i = 0; i < plan.kernels.size(); ++i) {
    verification.kernels.push_back(run(plan.kernels[i], predicted.kernels.at(i), hardware, got));
    verification.ok &= holds(verification.kernels.back());
  }
  for (const auto id : diagram.outputs) {
    verification.outputs.push_back(compare(diagram, id, got, meant));
    verification.ok &= verification.outputs.back().error <= verification.outputs.back().allowed;
  }
  return verification;
}

}  // namespace napkin
