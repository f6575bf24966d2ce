// Finds the least transfers of a kernel between two memories for many capacities of the inner one.
#include <algorithm>
#include <cmath>

#include "napkin/explore.hpp"
#include "search/kernels.hpp"

namespace napkin {
namespace {

// The greatest number of wires in a mask's condition; 0 if no mask skips pieces.
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

// The memory of the core and the one above it, without compute units, so that pieces may have any size.
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
  Rooms(std::shared_ptr<const Derivation> derivation, const Hardware& hardware, Curve& curve, const Effort& effort)
      : derivation_(std::move(derivation)), curve_(curve), effort_(effort), searched_(curve.hardware) {
    goal_.objective = Objective::transfers;
    if (curve.whole_tiles) searched_.compute = hardware.compute;
  }

  // Returns whether something fits. Anything that fits into less capacity fits here too.
  bool add(double room) {
    set_room(curve_.hardware, room), set_room(searched_, room);
    const auto patience = curve_.whole_tiles ? effort_.rooms_with_masks : effort_.rooms;
    const auto found = napkin::found(make_space(derivation_, searched_, goal_), goal_, rank, patience);
    const auto* before = curve_.points.empty() ? nullptr : &curve_.points.back();
    if (found.best.empty() && !before) return false;
    const auto moved = found.best.empty() ? before->moved : moved_by(found.best.front());
    const bool as_before = found.best.empty() || (before && before->moved < moved);
    CurvePoint point{room, as_before ? before->moved : moved, lower_bound(*derivation_, room, curve_.level().in_values),
                     as_before ? before->kernel : found.best.front().kernel, found.optimal && !curve_.whole_tiles};
    curve_.points.push_back(std::move(point));
    return true;
  }
  bool everything_moves_once() const {
    const auto& last = curve_.points.back();
    return last.moved <= last.bound.moved;
  }

 private:
  static void set_room(Hardware& hardware, double room) {
    hardware.levels[1].usable.reset();
    hardware.levels[1].capacity = {room, Origin::given, "", ""};
  }
  double moved_by(const Candidate& candidate) const {
    const auto& cost = candidate.cost.levels.front();
    return static_cast<double>(curve_.level().in_values ? cost.transfer_values : cost.transfer_bytes);
  }

  std::shared_ptr<const Derivation> derivation_;
  Curve& curve_;
  const Effort& effort_;
  Hardware searched_;
  Goal goal_;
};

}  // namespace

Curve explore_rooms(std::shared_ptr<const Derivation> derivation, const Hardware& hardware, const Effort& effort) {
  constexpr double smallest_share = 1.0 / 128, smallest = 1024, largest = 1e15;
  Curve curve;
  if (hardware.levels.size() < 2) return curve;
  const auto compared = wires_compared(*derivation);
  curve.whole_tiles = compared > 0 && !hardware.compute.empty();
  if (compared > 2 && !curve.whole_tiles) return curve;
  const auto level = hardware.core.value_or(1);
  curve.hardware = two_memories(hardware, level);
  curve.room_here = curve.level().room();
  const bool known = std::isfinite(curve.room_here);
  Rooms rooms(std::move(derivation), hardware, curve, effort);
  const double step = std::pow(2.0, 1.0 / effort.each_doubling);
  double before = known ? curve.room_here * smallest_share : smallest;
  for (double room = std::exp2(std::ceil(std::log2(before))); room < largest; before = room, room *= step) {
    if (before < curve.room_here && curve.room_here < std::floor(room)) rooms.add(curve.room_here);
    if (rooms.add(std::floor(room)) && rooms.everything_moves_once()) break;
  }
  return curve;
}

}  // namespace napkin
