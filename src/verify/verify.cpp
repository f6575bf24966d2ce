// Runs a plan's loop nests on random numbers and holds everything that can be counted against what was said of it.
#include "napkin/verify.hpp"

#include <algorithm>
#include <cmath>

#include "diagram/match.hpp"
#include "diagram/operands.hpp"

namespace napkin {
namespace {

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

// The formats that an expression casts to, inside.
double cast_roundoff(const Diagram& diagram, ExprId id) {
  return match(
      diagram.at(id).node, [](const Constant&) { return 0.0; }, [](const Position&) { return 0.0; },
      [](const Size&) { return 0.0; }, [](const Access&) { return 0.0; },
      [&](const Apply& apply) {
        double most = 0;
        for (const auto argument : apply.arguments) most = std::max(most, cast_roundoff(diagram, argument));
        return most;
      },
      [&](const Cast& cast) { return std::max(roundoff(cast.type), cast_roundoff(diagram, cast.value)); },
      [&](const Reduce& reduce) { return cast_roundoff(diagram, reduce.body); });
}

double largest(const std::vector<double>& values) {
  double most = 0;
  for (const auto value : values)
    if (std::isfinite(value)) most = std::max(most, std::abs(value));
  return most;
}

// Where the meaning is no number anything goes: a derivation may cancel what divides nothing by nothing.
double difference(double got, double meant) {
  if (std::isnan(meant) || got == meant) return 0;
  const auto difference = std::abs(got - meant);
  return std::isnan(difference) ? HUGE_VAL : difference;
}
double difference(const std::vector<double>& got, const std::vector<double>& meant) {
  double most = 0;
  for (std::size_t i = 0; i < meant.size(); ++i) most = std::max(most, difference(got.at(i), meant[i]));
  return most;
}

// Terms of the longest reduction.
double longest_sum(const Diagram& diagram, ExprId id) {
  const auto among = [&](const auto& operands) {
    double most = 1;
    for (const auto operand : operands) most = std::max(most, longest_sum(diagram, operand));
    return most;
  };
  return match(
      diagram.at(id).node, [](const Constant&) { return 1.0; }, [](const Position&) { return 1.0; },
      [](const Size&) { return 1.0; }, [](const Access&) { return 1.0; },
      [&](const Apply& apply) { return among(apply.arguments); },
      [&](const Cast& cast) { return longest_sum(diagram, cast.value); },
      [&](const Reduce& reduce) {
        double terms = 1;
        for (const auto wire : reduce.over) terms *= static_cast<double>(diagram.size(wire).value_or(1));
        return std::max(terms, longest_sum(diagram, reduce.body));
      });
}

// Without its casts, which a derivation may leave out.
ExprId uncast(Diagram& diagram, ExprId id) {
  if (const auto* cast = std::get_if<Cast>(&diagram.at(id).node)) return uncast(diagram, cast->value);
  return with_operands(diagram, id, [&](ExprId operand) { return uncast(diagram, operand); });
}

// The statement on what came before, with random shares of what its casts round and of what states in f32 lose, to the
// next number of its type above or below: what moves less may be rounded away again.
std::vector<double> moved_by_rounding(Diagram one, const Statement& statement, const Values& before, double unit,
                                      double lost, Random& random) {
  one.inputs.clear();
  one.statements = {statement};
  auto rounded = before, bare = before;
  evaluate(one, rounded, true);
  one.statements[0].value = uncast(one, statement.value);
  evaluate(one, bare, true);
  auto values = std::move(rounded.arrays[statement.output.index]);
  const auto& without = bare.arrays[statement.output.index];
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double left_out = without[i] - values[i];
    if (std::isfinite(left_out)) values[i] += left_out * random.unit();
    values[i] = values[i] * (random.unit() < 0.5 ? 1 - 2 * unit : 1 + 2 * unit) + lost * (2 * random.unit() - 1);
  }
  return values;
}

// What rounding may explain of every array: as far as the plain meaning itself moves when every number of a statement
// is moved by what rounding moves it, and what is lost where numbers of the sizes on the way cancel.
std::vector<double> allowances(const Diagram& diagram, const Values& inputs, const Values& meant) {
  constexpr int factor = 16, trials = 3;
  std::vector<double> allowed(diagram.arrays.size());
  for (std::uint64_t trial = 1; trial <= trials; ++trial) {
    Random random(trial);
    Values moved = inputs;
    double magnitude = 0;  // of the largest number so far
    for (const auto id : diagram.inputs) magnitude = std::max(magnitude, largest(meant.arrays[id.index]));
    for (const auto& statement : diagram.statements) {
      const auto type = diagram.at(statement.output).type;
      const double inside = std::max(roundoff(Datatype::f32), cast_roundoff(diagram, statement.value));
      const double unit = std::max(inside, is_whole(type) ? 0 : roundoff(type));
      const auto& plain = meant.arrays[statement.output.index];
      magnitude = std::max(magnitude, largest(plain));
      const double digits = magnitude * std::sqrt(longest_sum(diagram, statement.value));
      const double lost = is_whole(type) ? 0 : digits * roundoff(Datatype::f32);
      auto values = moved_by_rounding(diagram, statement, moved, unit, lost, random);
      auto& most = allowed[statement.output.index];
      most = std::max(most, factor * (difference(values, plain) + inside * digits));
      moved.arrays[statement.output.index] = std::move(values);
      if (is_whole(type)) most = std::max(most, 1.0);
    }
  }
  return allowed;
}

VerifiedOutput compare(const Array& array, const std::vector<double>& got, const std::vector<double>& meant,
                       double allowed) {
  VerifiedOutput output{array.name, difference(got, meant), 0, allowed};
  output.relative = output.error == 0 ? 0 : output.error / largest(meant);
  return output;
}

VerifiedLevel compare(const LevelCost& predicted, const Count& count, const Level& level) {
  VerifiedLevel verified{
      predicted.level,
      {predicted.transfer_values, predicted.transfer_bytes, predicted.memory_values, predicted.memory_bytes},
      count.levels.at(predicted.level - 1)};
  verified.matches = verified.predicted == verified.counted;
  const auto held = level.in_values ? verified.counted.memory_values : verified.counted.memory_bytes;
  verified.room = predicted.capacity.value_or(level.room());
  verified.fits = static_cast<double>(held) <= verified.room;
  return verified;
}

VerifiedKernel run(const Kernel& kernel, const KernelCost& predicted, const Hardware& hardware, Values& values) {
  VerifiedKernel verified{{}, kernel.partition, {}};
  const auto& diagram = kernel.derivation->scratch;
  for (const auto id : kernel.derivation->statements)
    verified.statements.push_back(diagram.at(diagram.at(id).output).name);
  const auto nest = lower(kernel, hardware);
  auto again = values;
  const auto count = interpret(nest, hardware, again, true);
  interpret(nest, hardware, values);
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

namespace {

// Inputs, and what the statements mean on them. Masks may leave nothing to compare: then the next ones.
std::pair<Values, Values> inputs_with_meaning(const Diagram& diagram) {
  constexpr std::uint64_t most_tries = 64;
  const auto is_number = [](double value) { return !std::isnan(value); };
  for (std::uint64_t seed = 1;; ++seed) {
    const auto inputs = random_values(diagram, seed);
    auto meant = inputs;
    evaluate(diagram, meant, true);
    const bool says_something = std::all_of(diagram.outputs.begin(), diagram.outputs.end(), [&](ArrayId id) {
      const auto& values = meant.arrays[id.index];
      return 2 * std::count_if(values.begin(), values.end(), is_number) >= std::ssize(values);
    });
    if (says_something || seed == most_tries) return {inputs, meant};
  }
}

}  // namespace

Verification verify_plan(const Diagram& diagram, const Plan& plan, const Cost& predicted, const Hardware& hardware) {
  Verification verification{diagram, hardware, {}, {}};
  auto [got, meant] = inputs_with_meaning(diagram);
  const auto allowed = allowances(diagram, got, meant);
  for (std::size_t i = 0; i < plan.kernels.size(); ++i) {
    verification.kernels.push_back(run(plan.kernels[i], predicted.kernels.at(i), hardware, got));
    verification.ok &= holds(verification.kernels.back());
  }
  for (const auto id : diagram.outputs) {
    const auto i = id.index;
    verification.outputs.push_back(compare(diagram.at(id), got.arrays[i], meant.arrays[i], allowed[i]));
    verification.ok &= verification.outputs.back().error <= verification.outputs.back().allowed;
  }
  return verification;
}

}  // namespace napkin
