// The time of transfers into one level, from the memory above it and from the cache in front of that memory.
#pragma once

#include <optional>

#include "cost/figures/figures.hpp"
#include "cost/model/model.hpp"
#include "cost/times/spread.hpp"

namespace napkin {

// None if the profile has no such rate. `kind` is Rate::peak or Rate::reached.
inline std::optional<double> seconds_at(double amount, const Rate* rate, double (Rate::*kind)() const) {
  if (!rate) return {};
  const double value = (rate->*kind)();
  return value > 0 ? std::optional(amount / value) : std::nullopt;
}
inline const Rate* bandwidth_of(const Level& level) { return level.bandwidth ? &*level.bandwidth : nullptr; }

// The bytes that enter or leave a level, or that cross between siblings; and the same in whole sectors.
double moved_bytes(const CostModel&, std::size_t level, const Figures&);
double moved_sectors(const CostModel&, std::size_t level, const Figures&);
// The bytes that must enter or leave a level once: the kernel's own arrays and, if there are several memories above,
// what each of these holds.
double must_move(const CostModel&, std::size_t level, const Figures&);
// The bytes that come from the cache. Repeated reads do, as far as their data fits in the caches of the `memories`
// above that are at work.
double from_cache(const CostModel&, std::size_t level, const Figures&, double memories);

// The sustained times of transfers into a level: of those from memory, and of those from the cache in front of it.
struct Sustained {
  std::optional<double> memory, cache;
  bool by_cache() const { return memory && cache && *cache > *memory; }
  std::optional<double> slower() const { return by_cache() ? cache : memory; }
};
Sustained sustained(const CostModel&, std::size_t level, const Figures&, const BlockSpread&);

}  // namespace napkin
