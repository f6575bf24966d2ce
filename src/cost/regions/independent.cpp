// Divides a region into independent parts. Wires that a condition or a footprint has in common get the same part
// number.
#include "cost/regions/independent.hpp"

#include <algorithm>

namespace napkin {
namespace {

using OfWires = std::vector<bool>;  // by wire of the region

class Parts {
 public:
  Parts(const Region& region, Region::Part what, const std::vector<OfWires>& shaped)
      : region_(region), what_(what), shaped_(shaped) {
    for (std::size_t w = 0; w < region.wires.size(); ++w) part_of_.push_back(w);
  }

  std::vector<Region> run() {
    for (const auto& wires : shaped_) tie(wires);
    for (const auto& test : region_.needs) tie(test);
    if (what_ == Region::Part::open) tie(region_.open);
    std::vector<Region> all;
    for (std::size_t part = 0; part < region_.wires.size(); ++part)
      if (std::ranges::count(part_of_, part) > 0) all.push_back(made(part));
    return all;
  }

 private:
  OfWires wires(const Condition& condition) const {
    OfWires all;
    for (const auto wire : region_.wires)
      all.push_back(std::ranges::count(condition.terms, wire, [](const auto& term) { return term.first; }) > 0);
    return all;
  }
  void tie(const Region::Test& test) {
    for (const auto& condition : test.conditions) tie(wires(condition));
  }
  // Puts these wires into one part, that of the first of them.
  void tie(const OfWires& wires) {
    const auto first = first_part(wires);
    for (std::size_t w = 0; w < wires.size(); ++w)
      if (const auto before = part_of_[w]; wires[w]) std::ranges::replace(part_of_, before, first);
  }
  // Conditions and footprints without wires belong to the first part.
  std::size_t first_part(const OfWires& wires) const {
    const auto first = std::ranges::find(wires, true);
    return first == wires.end() ? part_of_.front() : part_of_[static_cast<std::size_t>(first - wires.begin())];
  }

  Region made(std::size_t part) const {
    Region made;
    made.part = what_;
    made.wires = own(region_.wires, part), made.cuts = own(region_.cuts, part);
    made.measured = own(region_.measured, part);
    for (std::size_t i = 0; i < region_.footprints.size(); ++i)
      if (first_part(shaped_[i]) == part) made.footprints.push_back(region_.footprints[i]);
    for (const auto& test : region_.needs)
      if (auto asked = own(test, part); !asked.conditions.empty()) made.needs.push_back(std::move(asked));
    made.open = own(region_.open, part);
    return made;
  }
  Region::Test own(const Region::Test& test, std::size_t part) const {
    Region::Test some;
    some.depths = own(test.depths, part);
    for (const auto& condition : test.conditions)
      if (first_part(wires(condition)) == part) some.conditions.push_back(condition);
    return some;
  }
  template <class T>
  std::vector<T> own(const std::vector<T>& all, std::size_t part) const {
    std::vector<T> some;
    for (std::size_t w = 0; w < all.size(); ++w)
      if (part_of_[w] == part) some.push_back(all[w]);
    return some;
  }

  const Region& region_;
  Region::Part what_;
  const std::vector<OfWires>& shaped_;
  std::vector<std::size_t> part_of_;  // by wire of the region
};

}  // namespace

std::vector<Region> independent(const Region& region, Region::Part what, const std::vector<OfWires>& shaped) {
  return Parts(region, what, shaped).run();
}

}  // namespace napkin
