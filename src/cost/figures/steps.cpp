// Pieces repeat once they begin at the same offset within a step. Pieces with the same offset and span are therefore
// counted together: first for each wire, then for the sum of the wires.
#include "cost/figures/steps.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

#include "diagram/checked.hpp"

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

// Visits the pieces of a wire, those that are alike together. The sizes of its splits cut it, outermost first.
template <class Visit>
class PiecesOfWire {
 public:
  PiecesOfWire(std::int64_t coefficient, std::int64_t divisor, const SteppedWire& wire,
               std::span<const std::int64_t> sizes, Visit visit)
      : coefficient_(coefficient), divisor_(divisor), splits_(wire.splits), sizes_(sizes), visit_(std::move(visit)) {}
  // The first position is at the offset `begin` within a step.
  void run(std::int64_t begin, std::int64_t extent) { add(begin, extent, 0, 1); }

 private:
  void add(std::int64_t begin, std::int64_t length, std::size_t at, std::int64_t times) {
    if (at == splits_.size()) return add_piece(begin, length, times);
    const auto piece = std::min(length, sizes_[splits_[at]]);
    if (piece <= 0) return;
    const auto whole = length / piece, advance = into_step(coefficient_ * piece, divisor_);
    const auto period = advance == 0 ? 1 : divisor_ / std::gcd(advance, divisor_);
    const auto periods = whole / period, more = whole % period;
    if (const auto rest = length - whole * piece; rest > 0)
      add(into_step(begin + advance * more, divisor_), rest, at + 1, times);
    for (std::int64_t i = 0; i < std::min(period, whole); ++i) {
      add(begin, piece, at + 1, saturating_multiply(times, periods + (i < more ? 1 : 0)));
      begin += advance;
      if (begin >= divisor_) begin -= divisor_;
    }
  }
  void add_piece(std::int64_t begin, std::int64_t length, std::int64_t times) {
    const auto span = std::abs(coefficient_) * (length - 1);
    visit_(Alike{coefficient_ < 0 ? into_step(begin - span, divisor_) : begin, span, times});
  }

  std::int64_t coefficient_, divisor_;
  const std::vector<std::size_t>& splits_;
  std::span<const std::int64_t> sizes_;
  Visit visit_;
};

template <class Visit>
void each_alike(const Index& index, std::size_t term, const SteppedWire& wire, std::span<const std::int64_t> sizes,
                std::int64_t begin, const Visit& visit) {
  PiecesOfWire(index.terms[term].second, index.divisor, wire, sizes, visit).run(begin, wire.extent);
}

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

// Adds up the places that pieces reach. Most pieces are as long as the one before, so that it seldom divides.
class Adding {
 public:
  explicit Adding(std::int64_t divisor) : divisor_(divisor) {}
  void operator()(const Alike& piece) {
    if (piece.span != span_) span_ = piece.span, steps_ = span_ / divisor_, rest_ = span_ % divisor_;
    const auto places = steps_ + (piece.begin + rest_ >= divisor_ ? 2 : 1);
    all.sum = saturating_add(all.sum, saturating_multiply(piece.times, places));
    all.largest = std::max(all.largest, places);
  }
  SteppedReach all;

 private:
  std::int64_t divisor_, span_ = 0, steps_ = 0, rest_ = 0;
};

// The pieces of all wires together.
std::vector<Alike> all_alike(const Index& index, const std::vector<SteppedWire>& wires,
                             std::span<const std::int64_t> sizes) {
  std::vector<Alike> all = {{into_step(index.offset, index.divisor), 0, 1}};
  for (std::size_t i = 0; i < wires.size(); ++i) {
    std::vector<Alike> pieces;
    each_alike(index, i, wires[i], sizes, 0, [&](const Alike& piece) { pieces.push_back(piece); });
    merge(pieces);
    all = combined(all, pieces, index.divisor);
    merge(all);
  }
  return all;
}

}  // namespace

SteppedReach reach_of_steps(const Index& index, const std::vector<SteppedWire>& wires,
                            std::span<const std::int64_t> sizes) {
  Adding adding(index.divisor);
  const auto add = [&](const Alike& piece) { adding(piece); };
  if (wires.size() == 1)
    each_alike(index, 0, wires[0], sizes, into_step(index.offset, index.divisor), add);
  else
    std::ranges::for_each(all_alike(index, wires, sizes), add);
  return adding.all;
}

}  // namespace napkin
