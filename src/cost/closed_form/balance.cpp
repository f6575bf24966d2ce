// Compares the least transfers with the rates of the machine. docs/theory.md, balance.
#include "cost/closed_form/balance.hpp"

#include <algorithm>
#include <cmath>

namespace napkin {
namespace {

constexpr double any_room = 1e30, any_length = 1e15;

// The kind of work that takes longest at peak rates, and its rate.
struct Slowest {
  std::size_t work = 0;
  double rate = 0;
};
std::optional<Slowest> slowest(const CostModel& model, const Kernel& shape, const Assignment& sizes) {
  std::optional<Slowest> found;
  double most = 0;
  for (std::size_t i = 0; i < model.work.size(); ++i) {
    if (!model.rates[i] || !(model.rates[i]->peak() > 0)) continue;
    const double seconds = value(operations(model, shape, i), sizes) / model.rates[i]->peak();
    if (seconds > most) most = seconds, found = Slowest{i, model.rates[i]->peak()};
  }
  return found;
}

// Returns the least argument at which a falling function is at most `limit`.
template <class Function>
std::optional<double> least_where(const Function& function, double limit) {
  if (function(any_length) > limit) return std::nullopt;
  if (function(1) <= limit) return 1;
  double low = 0, high = std::log(any_length);
  for (int i = 0; i < 200; ++i) {
    const double middle = (low + high) / 2;
    (function(std::exp(middle)) > limit ? low : high) = middle;
  }
  return std::exp(high);
}

std::set<Symbol> axes(const Posynomial& sum) {
  std::set<Symbol> all;
  for (const auto& term : sum)
    for (const auto& [symbol, power] : term.powers)
      if (symbol.kind == SymbolKind::size) all.insert(symbol);
  return all;
}

}  // namespace

double LeastBytes::at(double room, const Assignment& sizes) const {
  return value(fixed, sizes) + (moving ? value(moving->alpha, sizes) * std::pow(room, -moving->beta) : 0);
}

std::optional<Balance> balance(const LeastBytes& least, const CostModel& model, const Kernel& shape,
                               const Hardware& hardware, const Assignment& sizes) {
  const auto unit = slowest(model, shape, sizes);
  const auto& machine = hardware.levels[only_level];
  if (!unit || !machine.bandwidth || !(machine.bandwidth->peak() > 0)) return std::nullopt;
  const auto work = operations(model, shape, unit->work);
  const double limit = machine.bandwidth->peak() / unit->rate;  // bytes per operation
  Balance made{model.work[unit->work].unit, 1 / limit, {}, {}};
  if (least.moving)
    made.least_room = std::pow(value(least.moving->alpha, sizes) / value(work, sizes) / limit, 1 / least.moving->beta);
  const auto length = [&](const Symbol& axis, double room) {
    return least_where(
        [&](double size) {
          auto at = sizes;
          at[axis] = size;
          return least.at(room, at) / value(work, at);
        },
        limit);
  };
  for (const auto& axis : axes(work)) {
    Balance::AxisLength found{axis.name, length(axis, any_room), length(axis, machine.room())};
    if (found.in_any_room != 1) made.least_lengths.push_back(std::move(found));
  }
  return made;
}

Gains gains(const LeastBytes& least, const Hardware& hardware, const Assignment& sizes) {
  Gains made;
  const auto& machine = hardware.levels[only_level];
  const double room = machine.room();
  if (!std::isfinite(room)) return made;
  const double now = least.at(room, sizes), larger = least.at(2 * room, sizes);
  made.twice_the_room = now / larger;
  made.half_the_bytes = 2 * now / larger;
  if (!machine.bandwidth) return made;
  for (const auto& sibling : hardware.siblings) {
    if (sibling.level != machine.name) continue;
    for (const auto& [count, rate] : sibling.bandwidth) {
      // Bytes move once from outside for all siblings, and then from one sibling to the others, each at its own
      // bandwidth.
      const double across = machine.bandwidth->peak() / rate.peak();
      const auto saved = [&](double alone, double together) { return 1 - ((1 - across) * together / alone + across); };
      const auto number = static_cast<double>(count);
      Gains::Siblings one{count, saved(now, least.at(number * room, sizes)), {}};
      if (least.moving) one.saved_by_term.push_back(saved(1, std::pow(number, -least.moving->beta)));
      if (!least.fixed.empty()) one.saved_by_term.push_back(0);
      made.siblings.push_back(std::move(one));
    }
  }
  return made;
}

namespace {

// Searches whole pieces around the least at real-valued pieces. The last piece fills the remaining capacity.
class Rounding {
 public:
  Rounding(const Posynomial& terms, const Posynomial& held, const NumericLeast& near, double room,
           const Assignment& largest)
      : terms_(terms), held_(held), near_(near), room_(room), largest_(largest) {
    for (const auto& [piece, size] : near.pieces) pieces_.push_back(piece);
    window_ = pieces_.size() <= 2 ? 16 : pieces_.size() == 3 ? 4 : 0;
  }
  std::optional<WholePieces> run() {
    if (pieces_.empty()) return std::nullopt;
    round(0);
    return best_;
  }

 private:
  void round(std::size_t at) {
    if (at + 1 == pieces_.size()) return fill(pieces_[at]);
    const auto middle = std::floor(near_.pieces.at(pieces_[at]) + 0.5);
    for (double size = middle - window_; size <= middle + window_; ++size) {
      if (size < 1 || size > largest_.at(pieces_[at])) continue;
      at_[pieces_[at]] = size;
      round(at + 1);
    }
  }
  void fill(const Symbol& last) {
    double low = 0, high = std::floor(largest_.at(last)) + 1;  // low fits, high does not
    while (high - low > 1) {
      const double middle = std::floor((low + high) / 2);
      at_[last] = middle;
      (value(held_, at_) <= room_ ? low : high) = middle;
    }
    at_[last] = low;
    if (low >= 1) consider();
  }
  void consider() {
    const double moved = value(terms_, at_);
    if (best_ && moved >= best_->values) return;
    best_ = WholePieces{{}, moved};
    for (const auto& [piece, size] : at_) best_->pieces.emplace_back(piece.name, static_cast<std::int64_t>(size));
  }

  const Posynomial& terms_;
  const Posynomial& held_;
  const NumericLeast& near_;
  double room_;
  const Assignment& largest_;
  std::vector<Symbol> pieces_;
  double window_ = 0;
  Assignment at_;
  std::optional<WholePieces> best_;
};

}  // namespace

std::optional<WholePieces> whole_pieces(const Posynomial& terms, const Posynomial& held, const NumericLeast& near,
                                        double room, const Assignment& largest) {
  return Rounding(terms, held, near, room, largest).run();
}

}  // namespace napkin
