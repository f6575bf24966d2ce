// A kernel and two memories of a machine -> its least transfers for many rooms of the inner one.
#include <algorithm>
#include <cmath>

#include "napkin/explore.hpp"
#include "search/kernels.hpp"

namespace napkin {
namespace {

// Partitions for each room. Where masks leave pieces out, and pieces may have any size, one takes as long as hundreds.
constexpr std::int64_t patience = 100'000, patience_with_masks = 500;

// How many wires a mask compares at most; 0 where none leaves pieces out.
std::size_t wires_compared(const std::vector<Step>& steps) {
  std::size_t most = 0;
  for (const auto& step : steps)
    if (const auto* loop = std::get_if<Loop>(&step)) {
      for (const auto& need : loop->needs) most = std::max(most, need.terms.size());
      if (!loop->asks.empty()) most = std::max<std::size_t>(most, 2);
      most = std::max(most, wires_compared(loop->body));
    }
  return most;
}
std::size_t wires_compared(const Derivation& derivation) {
  std::size_t most = 0;
  for (const auto& verdict : derivation.verdicts) {
    const WireId wires[] = {verdict.wire};
    const auto streamed = stream(derivation, wires);
    if (const auto* program = std::get_if<Program>(&streamed)) most = std::max(most, wires_compared(program->steps));
  }
  return most;
}

// The memory of the core and the one above it; without units, so that pieces may have any size.
Hardware two_memories(const Hardware& hardware, std::size_t level) {
  Hardware made;
  made.name = hardware.name;
  made.levels = {hardware.levels[level - 1], hardware.levels[level]};
  made.levels[0].bandwidth.reset();
  made.levels[1].max_groups.reset();
  made.levels[1].shared = false;
  return made;
}

class Rooms {
 public:
  Rooms(std::shared_ptr<const Derivation> derivation, Curve& curve)
      : derivation_(std::move(derivation)), curve_(curve) {
    goal_.objective = Objective::transfers;
    if (wires_compared(*derivation_) > 0) patience_ = patience_with_masks;
  }

  // Whether something fits.
  bool add(double room) {
    auto& level = curve_.hardware.levels[1];
    level.usable.reset();
    level.capacity = {room, Origin::given, "", ""};
    const auto space = make_space(derivation_, curve_.hardware, goal_);
    const auto found = napkin::found(space, goal_, rank, patience_);
    if (found.best.empty()) return false;
    const auto& best = found.best.front();
    const auto& cost = best.cost.levels.front();
    const auto moved = static_cast<double>(level.in_values ? cost.transfer_values : cost.transfer_bytes);
    auto bound = lower_bound(*derivation_, room, level.in_values);
    curve_.points.push_back({room, moved, std::move(bound), best.kernel, found.optimal});
    return true;
  }
  bool everything_moves_once() const {
    const auto& last = curve_.points.back();
    return last.moved <= last.bound.moved;
  }

 private:
  std::shared_ptr<const Derivation> derivation_;
  Curve& curve_;
  Goal goal_;
  std::int64_t patience_ = patience;
};

}  // namespace

Curve explore_rooms(std::shared_ptr<const Derivation> derivation, const Hardware& hardware, int each_doubling) {
  constexpr double smallest_share = 1.0 / 128, smallest = 1024, largest = 1e15;
  Curve curve;
  if (hardware.levels.size() < 2 || wires_compared(*derivation) > 2) return curve;
  const auto level = hardware.core.value_or(1);
  curve.hardware = two_memories(hardware, level);
  curve.room_here = curve.level().room();
  const bool known = std::isfinite(curve.room_here);
  Rooms rooms(std::move(derivation), curve);
  const double step = std::pow(2.0, 1.0 / each_doubling);
  double before = known ? curve.room_here * smallest_share : smallest;
  for (double room = std::exp2(std::ceil(std::log2(before))); room < largest; before = room, room *= step) {
    if (before < curve.room_here && curve.room_here < std::floor(room)) rooms.add(curve.room_here);
    if (rooms.add(std::floor(room)) && rooms.everything_moves_once()) break;
  }
  return curve;
}

}  // namespace napkin
