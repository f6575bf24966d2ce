// Evaluates the statements as they are, in many lanes at once. In each lane, every operation is perturbed by some
// roundoffs of its format, and every store and cast takes either of the two neighbours. The same operation on the same
// numbers is perturbed equally, so that equal values stay equal: each lane is an arithmetic of its own, and a bad one.
// Values out of range leave it differently in each lane, so results that depend only on them are not checked.
#include "verify/shaken.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "diagram/walk.hpp"
#include "verify/formats.hpp"
#include "verify/random.hpp"

namespace napkin {
namespace {

constexpr std::size_t lane_count = 16;
constexpr double roundoffs = 4;  // of the format, by which an operation may be perturbed
// How far a result may be from the meaning, in multiples of the farthest lane. The factor for exact numbers is larger:
// an exponential that is taken apart loses as many roundoffs as its exponents are large, and mistakes are still larger
// by orders of magnitude.
constexpr double margin = 2, exact_margin = 16;

using Lanes = std::array<double, lane_count>;

std::uint64_t joined(std::uint64_t hash, double number) { return mixed(hash ^ std::bit_cast<std::uint64_t>(number)); }

// Whether an operation is exact: functions that only choose an argument are, and so is arithmetic on small whole
// numbers. A product with a factor of 1 is perturbed like any other, so that an average of one number is no special
// case.
bool is_exact(const Pointwise& function, std::span<const double> arguments, double result, double most_whole) {
  const auto is_whole_number = [](double value) { return value == std::floor(value); };
  const bool chooses = std::ranges::find(arguments, result) != arguments.end();
  if (result == 0 || !std::isfinite(result)) return true;
  switch (function.role) {
    case Role::compare:
    case Role::logic:
    case Role::negate:
    case Role::magnitude:
      return true;
    case Role::multiply:
    case Role::divide:
    case Role::add:
    case Role::subtract:
      if (std::abs(result) <= most_whole && is_whole_number(result) && std::ranges::all_of(arguments, is_whole_number))
        return true;
      return chooses && (function.role == Role::add || function.role == Role::subtract);
    default:
      return chooses;
  }
}

class Shaken {
 public:
  using Value = Lanes;
  explicit Shaken(Arithmetic arithmetic) : rounds_(arithmetic == Arithmetic::formats) {}

  void begin(const Array& array) {
    in_f32_ = rounds_ && array.type != Datatype::f64 && array.type != Datatype::i32;
    roundoff_ = in_f32_ ? 0x1p-24 : 0x1p-53;
  }
  static Lanes constant(double value) {
    Lanes all;
    all.fill(value);
    return all;
  }
  Lanes applied(const Pointwise& function, std::span<const Lanes> arguments) {
    Lanes results{};
    of_lane_.resize(arguments.size());
    for (std::size_t lane = 0; lane < lane_count; ++lane) {
      for (std::size_t i = 0; i < arguments.size(); ++i) of_lane_[i] = arguments[i][lane];
      results[lane] = applied(function, of_lane_, lane);
    }
    return results;
  }
  Lanes rounded(const Lanes& values, Datatype type) const {
    if (!rounds_) return values;
    Lanes results{};
    for (std::size_t lane = 0; lane < lane_count; ++lane) results[lane] = rounded(values[lane], type, lane);
    return results;
  }

 private:
  double applied(const Pointwise& function, std::span<const double> arguments, std::size_t lane) const {
    const double result = function.value(arguments.data());
    if (const auto lost = out_of_range(function, arguments, in_format(result), lane)) return *lost;
    if (is_exact(function, arguments, result, 1 / roundoff_)) return in_format(result);
    auto hash = mixed(lane + 1) ^ static_cast<std::uint64_t>(&function - pointwise_functions().data());
    for (const double argument : arguments) hash = joined(hash, argument);
    return in_format(result * (1 + roundoffs * roundoff_ * (2 * unit_of(hash) - 1)));
  }
  // The value of a result that is too large or too small for its format, although no operand is infinite or zero. Even
  // lanes keep it. In odd lanes, an overflow gives the greatest number in some and NaN in others, as when two
  // infinities meet, and an underflow gives the smallest number.
  std::optional<double> out_of_range(const Pointwise& function, std::span<const double> arguments, double result,
                                     std::size_t lane) const {
    const auto is_between = [](double argument) { return std::isfinite(argument) && argument != 0; };
    const bool is_term = function.role == Role::exponential || function.role == Role::multiply ||
                         function.role == Role::divide || function.role == Role::power;
    const bool overflows = std::isinf(result), underflows = result == 0 && is_term;
    if (lane % 2 == 0 || !(overflows || underflows) || !std::ranges::all_of(arguments, is_between)) return std::nullopt;
    if (overflows && lane % 4 == 3)
      return std::copysign(
          in_f32_ ? static_cast<double>(std::numeric_limits<float>::max()) : std::numeric_limits<double>::max(),
          result);
    return overflows ? std::numeric_limits<double>::quiet_NaN()
           : in_f32_ ? static_cast<double>(std::numeric_limits<float>::denorm_min())
                     : std::numeric_limits<double>::denorm_min();
  }
  double in_format(double value) const { return in_f32_ ? static_cast<float>(value) : value; }

  static double rounded(double value, Datatype type, std::size_t lane) {
    const double nearest = row(type).round(value);
    const bool is_coarse = !is_whole(type) && type != Datatype::f32 && type != Datatype::f64;
    const bool is_nearest = lane < 2 ? lane == 0 : unit_of(joined(mixed(lane + 1), value)) < 0.5;  // each at least once
    return !is_coarse || is_nearest ? nearest : other_neighbour(type, value, nearest);
  }

  bool rounds_, in_f32_ = false;
  double roundoff_ = 0x1p-53;
  std::vector<double> of_lane_;  // the arguments of a function, in one lane
};

// The largest distance from what is meant in any lane.
double distance(const Lanes& lanes, double meant) {
  double most = 0;
  for (const double value : lanes) {
    if (value == meant || (std::isnan(value) && std::isnan(meant))) continue;
    const double away = std::abs(value - meant);
    most = std::max(most, std::isfinite(away) ? away : HUGE_VAL);
  }
  return most;
}

}  // namespace

Meaning meaning(const Diagram& diagram, const Values& inputs, Arithmetic arithmetic) {
  Values plain = inputs;
  evaluate(diagram, plain, arithmetic == Arithmetic::formats);
  const auto lanes = PlainWalk<Shaken>(diagram, inputs, Shaken(arithmetic)).run();
  Meaning result{std::move(plain.arrays), {}};
  for (std::size_t a = 0; a < lanes.size(); ++a) {
    result.allowed.emplace_back();
    for (std::size_t i = 0; i < lanes[a].size(); ++i)
      result.allowed[a].push_back((arithmetic == Arithmetic::formats ? margin : exact_margin) *
                                  distance(lanes[a][i], result.meant[a][i]));
  }
  return result;
}

}  // namespace napkin
