// Draws inputs for verification: ordinary numbers, and numbers that expose badly written kernels.
#include <algorithm>
#include <array>
#include <cmath>

#include "napkin/verify.hpp"
#include "verify/formats.hpp"
#include "verify/random.hpp"

namespace napkin {
namespace {

struct Place {
  std::vector<std::int64_t> at, sizes;
  std::size_t array = 0;  // number of inputs before this one

  std::int64_t sum() const {
    std::int64_t all = 0;
    for (const auto position : at) all += position;
    return all;
  }
  bool is_first() const {
    return std::ranges::any_of(at, [](std::int64_t position) { return position == 0; });
  }
  bool is_last() const {
    for (std::size_t i = 0; i < at.size(); ++i)
      if (at[i] == sizes[i] - 1) return true;
    return false;
  }
};

// An offset far from 1 that leaves some fraction digits; an outlier that leaves half of them; and a huge and a tiny
// number that leave range for a product of a few. For integers, they cover most of the range.
struct Magnitudes {
  double offset, outlier, huge, tiny;
};
Magnitudes magnitudes(Datatype type) {
  if (type == Datatype::i8 || type == Datatype::i32) return {100, 120, 25, 0.3};
  if (type == Datatype::i4) return {4, 7, 2, 0.3};
  const double digits = -std::log2(roundoff(type));
  const auto power = [](double exponent) { return std::exp2(std::floor(exponent)); };
  const auto range = greatest_exponent(type) * 2 / 3;
  return {power(std::max(digits - 7, 0.0)), power(digits / 2), power(range), power(-range)};
}

double number(Datatype type, const Magnitudes& far, Numbers numbers, const Place& place, double unit) {
  if (type == Datatype::f8e8m0) return std::exp2(std::floor(7 * unit) - 3);  // a scale: from 1/8 to 8
  const double ordinary = is_whole(type) ? std::floor(9 * unit) - 4 : 2 * unit - 1;
  const double sign = place.sum() % 2 == 0 ? 1 : -1;
  const bool is_odd = place.array % 2 == 1;
  const bool chosen = unit * 8 - std::floor(unit * 8) < 0.5;
  switch (numbers) {
    case Numbers::ordinary:
    case Numbers::masked:
      break;
    case Numbers::offset:
      return (is_odd ? -far.offset : far.offset) + ordinary;
    case Numbers::outlier_first:
      return place.is_first() && chosen ? far.outlier * (is_odd ? -sign : sign) : ordinary;
    case Numbers::outlier_last:
      return place.is_last() && chosen ? far.outlier * (is_odd ? -sign : sign) : ordinary;
    case Numbers::alternating:
      return sign * (is_whole(type) ? std::floor(3 * unit) + 1 : 1 + unit / 16);
    case Numbers::constant:
      return is_whole(type) ? 3 : 0.3 + 0.1 * static_cast<double>(place.array);
    case Numbers::huge:
      return far.huge * ordinary;
    case Numbers::tiny:
      return far.tiny * ordinary;
  }
  return ordinary;
}

// With masked rows, every second row of a mask along its first axis is empty.
bool mask(const Array& array, Numbers numbers, const Place& place, double unit) {
  if (numbers == Numbers::constant) return true;
  if (numbers == Numbers::masked && (place.at.empty() ? place.array : place.at[0]) % 2 == 0) return false;
  return unit < array.density.value_or(0.5);
}

// Moves to the next place, the last axis fastest; false after the last place.
bool step(Place& place) {
  for (auto i = place.at.size(); i-- > 0;) {
    if (++place.at[i] < place.sizes[i]) return true;
    place.at[i] = 0;
  }
  return false;
}

std::vector<double> draw(const Array& array, Place place, Numbers numbers, Random& random) {
  const auto type = array.stored();
  const auto far = magnitudes(type);
  std::vector<double> values;
  do {
    const double unit = random.unit();
    const bool is_mask = type == Datatype::boolean;
    values.push_back(is_mask ? static_cast<double>(mask(array, numbers, place, unit))
                             : row(type).round(number(type, far, numbers, place, unit)));
  } while (step(place));
  return values;
}

}  // namespace

std::string_view name(Numbers numbers) {
  constexpr std::array<std::string_view, 9> names = {
      "ordinary", "offset", "outlier first", "outlier last", "alternating", "constant", "masked rows", "huge", "tiny"};
  return names.at(static_cast<std::size_t>(numbers));
}

Values random_values(const Diagram& diagram, std::uint64_t from, Numbers numbers) {
  Random random(from);
  Values values;
  values.arrays.resize(diagram.arrays.size());
  std::size_t before = 0;
  for (const auto id : diagram.inputs) {
    Place place{{}, {}, before++};
    for (const auto wire : diagram.at(id).wires) place.sizes.push_back(diagram.size(wire).value());
    place.at.assign(place.sizes.size(), 0);
    values.arrays[id.index] = draw(diagram.at(id), std::move(place), numbers, random);
  }
  return values;
}

}  // namespace napkin
