// Runs a plan's loop nests on numbers, and compares the results and all counts with the predictions.
#include "napkin/verify.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <stdexcept>

#include "diagram/in_memory.hpp"
#include "verify/shaken.hpp"
#include "verify/sizes.hpp"

namespace napkin {
namespace {

// Counts

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

VerifiedKernel counted(const Kernel& kernel, const LoopNest& nest, const KernelCost& predicted,
                       const Hardware& hardware, Values& values) {
  VerifiedKernel verified{{}, {}, kernel.partition, {}};
  const auto& diagram = kernel.derivation->scratch;
  for (const auto id : kernel.derivation->statements)
    verified.statements.push_back(diagram.at(diagram.at(id).output).name);
  const auto count = interpret(nest, hardware, values, true);
  for (const auto& level : predicted.levels)
    verified.levels.push_back(compare(level, count, hardware.levels.at(level.level)));
  for (const auto& unit : predicted.units) verified.predicted_operations += unit.asked;
  for (const auto operations : count.operations) verified.counted_operations += operations;
  return verified;
}

bool holds(const VerifiedKernel& kernel) {
  return kernel.predicted_operations == kernel.counted_operations &&
         std::all_of(kernel.levels.begin(), kernel.levels.end(),
                     [](const VerifiedLevel& level) { return level.matches && level.fits; });
}

// Numbers

// The absolute error; infinite if exactly one of the two is a number.
double difference(double got, double meant) {
  if (got == meant || (std::isnan(got) && std::isnan(meant))) return 0;
  const auto difference = std::abs(got - meant);
  return std::isnan(difference) ? HUGE_VAL : difference;
}

double largest(const std::vector<double>& values) {
  double most = 0;
  for (const auto value : values)
    if (std::isfinite(value)) most = std::max(most, std::abs(value));
  return most;
}

// The error as a share of the allowed one. If even rounding in the definition decides whether the result is a number,
// nothing is checked.
double share(double error, double allowed) {
  if (std::isinf(allowed) || error == 0) return 0;
  return allowed == 0 ? HUGE_VAL : error / allowed;
}

void keep_worst(VerifiedOutput& worst, const std::vector<double>& got, const std::vector<double>& meant,
                const std::vector<double>& allowed, Numbers numbers, const std::vector<std::int64_t>& sizes) {
  for (std::size_t i = 0; i < meant.size(); ++i) {
    const double error = difference(got.at(i), meant[i]);
    if (!worst.sizes.empty() && share(error, allowed[i]) <= share(worst.error, worst.allowed)) continue;
    const double relative = error == 0 ? 0 : error / largest(meant);
    worst = {worst.array, error, relative, allowed[i], numbers, sizes};
  }
}

std::vector<std::int64_t> sizes_of(const Diagram& diagram) {
  std::vector<std::int64_t> sizes;
  for (const auto& axis : diagram.axes) sizes.push_back(axis.size.value());
  return sizes;
}

bool has_masks(const Diagram& diagram) {
  return std::ranges::any_of(diagram.inputs, [&](ArrayId id) { return diagram.at(id).type == Datatype::boolean; });
}

// Masks may leave too few results to compare; then other inputs are drawn.
bool says_something(const Diagram& diagram, const Meaning& meaning) {
  return std::ranges::all_of(diagram.outputs, [&](ArrayId id) {
    const auto& values = meaning.meant[id.index];
    return 2 * std::ranges::count_if(values, [](double value) { return !std::isnan(value); }) >= std::ssize(values);
  });
}
std::pair<Values, Meaning> inputs_with_meaning(const Diagram& diagram, Numbers numbers, Arithmetic arithmetic) {
  const std::uint64_t tries = numbers == Numbers::ordinary && has_masks(diagram) ? 64 : 1;
  for (std::uint64_t seed = 1;; ++seed) {
    auto inputs = random_values(diagram, seed, numbers);
    auto meant = meaning(diagram, inputs, arithmetic);
    if (seed == tries || says_something(diagram, meant)) return {std::move(inputs), std::move(meant)};
  }
}

// The source diagram with the sizes of a diagram that was made from it.
Diagram sized_as(const Diagram& diagram, Diagram source) {
  for (auto& axis : source.axes) {
    const auto same = std::ranges::find(diagram.axes, axis.name, &Axis::name);
    if (same != diagram.axes.end()) axis.size = same->size;
  }
  return source;
}

// Finds the arrays of one diagram in another one, by name.
class Counterparts {
 public:
  Counterparts(const Diagram& of, const Diagram& in) : in_(in) {
    for (std::uint32_t i = 0; i < of.arrays.size(); ++i) by_name_.emplace(of.arrays[i].name, i);
  }
  // The counterpart of an array, or of the array that it is a part of.
  std::size_t operator()(ArrayId array) const {
    return by_name_.at(in_.at(in_.at(array).part_of.value_or(array)).name);
  }

 private:
  const Diagram& in_;
  std::map<std::string, std::size_t> by_name_;
};

Values inputs_of(const Diagram& diagram, const Diagram& source, const Values& drawn) {
  const Counterparts counterpart(source, diagram);
  Values values;
  values.arrays.resize(diagram.arrays.size());
  for (const auto input : diagram.inputs) values.arrays[input.index] = drawn.arrays[counterpart(input)];
  return values;
}

// The numbers of a part, taken from its places in the whole array.
std::vector<double> part_of(const Diagram& diagram, ArrayId array, const std::vector<double>& whole) {
  if (!diagram.at(array).part_of) return whole;
  std::vector<double> part;
  for (const auto place : places_in_memory(diagram, array)) part.push_back(whole.at(static_cast<std::size_t>(place)));
  return part;
}

class Verifying {
 public:
  Verifying(const Diagram& diagram, const Plan& plan, const Hardware& hardware, const Diagram& source)
      : diagram_(diagram), source_(source), hardware_(hardware), verification_{diagram, hardware, {}, {},
                                                                               {},      {},       {}, true} {
    for (const auto& kernel : plan.kernels) nests_.push_back(lower(kernel, hardware));
    for (const auto id : diagram.outputs) verification_.outputs.push_back({diagram.at(id).name});
    verification_.exact = verification_.outputs;
  }

  Verification run(const Plan& plan, const Cost& predicted, std::span<const Numbers> kinds) {
    count(plan, predicted);
    for (const auto numbers : kinds) compare_with(diagram_, nests_, numbers);
    for (const auto& other : at_other_sizes(diagram_, limited())) {
      if (sizes_of(other) == sizes_of(diagram_)) continue;
      verification_.others.push_back(sizes_of(other));
      auto nests = nests_;
      for (auto& nest : nests) nest = at_sizes(std::move(nest), other);
      for (const auto numbers : kinds)
        if (numbers == Numbers::ordinary || numbers == Numbers::masked) compare_with(other, nests, numbers);
    }
    for (const auto* outputs : {&verification_.outputs, &verification_.exact})
      for (const auto& output : *outputs) verification_.ok &= output.right();
    verification_.ok &= verification_.faults.empty();
    return std::move(verification_);
  }

 private:
  void count(const Plan& plan, const Cost& predicted) {
    auto values = random_values(diagram_, 1);
    for (std::size_t i = 0; i < plan.kernels.size(); ++i) {
      verification_.kernels.push_back(counted(plan.kernels[i], nests_[i], predicted.kernels.at(i), hardware_, values));
      verification_.ok &= holds(verification_.kernels.back());
    }
  }

  std::vector<AxisId> limited() const {
    std::set<AxisId> axes;
    for (const auto& nest : nests_)
      for (const auto axis : whole_axes(nest))
        if (axis.index < diagram_.axes.size()) axes.insert(axis);
    return {axes.begin(), axes.end()};
  }

  // Exact arithmetic shows errors with any numbers; it runs only with those that it can represent.
  void compare_with(const Diagram& diagram, const std::vector<LoopNest>& nests, Numbers numbers) {
    if (numbers == Numbers::masked && !has_masks(diagram)) return;
    compare_in(Arithmetic::formats, diagram, nests, numbers, verification_.outputs);
    if (numbers == Numbers::ordinary || numbers == Numbers::masked)
      compare_in(Arithmetic::exact, diagram, nests, numbers, verification_.exact);
  }

  void compare_in(Arithmetic arithmetic, const Diagram& diagram, const std::vector<LoopNest>& nests, Numbers numbers,
                  std::vector<VerifiedOutput>& worst) {
    const auto source = sized_as(diagram, source_);
    const auto [drawn, meant] = inputs_with_meaning(source, numbers, arithmetic);
    auto values = inputs_of(diagram, source, drawn);
    try {
      for (const auto& nest : nests) interpret(nest, hardware_, values, arithmetic);
    } catch (const std::logic_error& error) {
      return fail(diagram, error.what());
    }
    const Counterparts counterpart(source, diagram);
    for (std::size_t i = 0; i < diagram.outputs.size(); ++i) {
      const auto id = diagram.outputs[i];
      const auto meaning = counterpart(id);
      keep_worst(worst[i], values.arrays[id.index], part_of(diagram, id, meant.meant[meaning]),
                 part_of(diagram, id, meant.allowed[meaning]), numbers, sizes_of(diagram));
    }
  }

  void fail(const Diagram& diagram, std::string_view what) {
    std::string text;
    for (const auto& axis : diagram.axes)
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", axis.name, *axis.size);
    text = fmt::format("{} with {}", what, text);
    if (std::ranges::find(verification_.faults, text) == verification_.faults.end())
      verification_.faults.push_back(std::move(text));
  }

  const Diagram& diagram_;
  const Diagram& source_;
  const Hardware& hardware_;
  Verification verification_;
  std::vector<LoopNest> nests_;
};

}  // namespace

Verification verify_plan(const Diagram& diagram, const Plan& plan, const Cost& predicted, const Hardware& hardware,
                         std::span<const Numbers> kinds, const Diagram* source) {
  return Verifying(diagram, plan, hardware, source ? *source : diagram).run(plan, predicted, kinds);
}

}  // namespace napkin
