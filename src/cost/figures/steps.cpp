// Pieces repeat once they begin at the same offset within a step. Pieces with the same offset and span are therefore
// counted together: first for each wire, then for the sum of the wires.
#include "cost/figures/steps.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

#include "diagram/checked.hpp"
#include "loops/pieces.hpp"

namespace napkin {
namespace {

// Pieces that begin at the same offset within a step and have the same distance from their first to their last value,
// and the number of these pieces.
struct Alike {
  std::int64_t begin, span, times;
};

std::int64_t into_step(std::int64_t value, std::int64_t divisor) {
  return value - floor_divide(value, divisor) * divisor;
}

class PiecesOfWire {
 public:
  PiecesOfWire(std::int64_t coefficient, std::int64_t divisor, const SteppedWire& wire,
               std::span<const std::int64_t> sizes)
      : coefficient_(coefficient), divisor_(divisor), splits_(wire.splits), sizes_(sizes) {
    add({0, wire.extent}, 0, 1);
  }
  std::vector<Alike> all;

 private:
  void add(Interval extent, std::size_t at, std::int64_t times) {
    if (at == splits_.size()) return add_piece(extent, times);
    const auto piece = std::min(extent.length(), sizes_[splits_[at]]);
    if (piece <= 0) return;
    const auto whole = extent.length() / piece;
    const auto period = divisor_ / std::gcd(std::abs(coefficient_) * piece, divisor_);
    for (std::int64_t i = 0; i < std::min(period, whole); ++i) {
      const auto begin = extent.begin + i * piece;
      add({begin, begin + piece}, at + 1, saturating_multiply(times, (whole - i + period - 1) / period));
    }
    const auto rest = extent.begin + whole * piece;
    if (rest < extent.end) add({rest, extent.end}, at + 1, times);
  }
  void add_piece(Interval extent, std::int64_t times) {
    const auto least = coefficient_ * (coefficient_ < 0 ? extent.end - 1 : extent.begin);
    all.push_back({into_step(least, divisor_), std::abs(coefficient_) * (extent.length() - 1), times});
  }

  std::int64_t coefficient_, divisor_;
  const std::vector<std::size_t>& splits_;
  std::span<const std::int64_t> sizes_;
};

void merge(std::vector<Alike>& pieces) {
  std::ranges::sort(pieces, {}, [](const Alike& one) { return std::tuple(one.begin, one.span); });
  std::vector<Alike> merged;
  for (const auto& one : pieces)
    if (!merged.empty() && merged.back().begin == one.begin && merged.back().span == one.span)
      merged.back().times = saturating_add(merged.back().times, one.times);
    else
      merged.push_back(one);
  pieces = std::move(merged);
}

std::vector<Alike> combined(const std::vector<Alike>& some, const std::vector<Alike>& others, std::int64_t divisor) {
  std::vector<Alike> all;
  for (const auto& one : some)
    for (const auto& other : others)
      all.push_back(
          {(one.begin + other.begin) % divisor, one.span + other.span, saturating_multiply(one.times, other.times)});
  return all;
}

}  // namespace

SteppedReach reach_of_steps(const Index& index, const std::vector<SteppedWire>& wires,
                            std::span<const std::int64_t> sizes) {
  std::vector<Alike> all = {{into_step(index.offset, index.divisor), 0, 1}};
  for (std::size_t i = 0; i < wires.size(); ++i) {
    auto pieces = PiecesOfWire(index.terms[i].second, index.divisor, wires[i], sizes).all;
    if (wires.size() > 1) merge(pieces);
    all = combined(all, pieces, index.divisor);
    if (i + 1 < wires.size()) merge(all);
  }
  SteppedReach reach;
  for (const auto& [begin, span, times] : all) {
    const auto places = (begin + span) / index.divisor + 1;
    reach.sum = saturating_add(reach.sum, saturating_multiply(times, places));
    reach.largest = std::max(reach.largest, places);
  }
  return reach;
}

}  // namespace napkin
