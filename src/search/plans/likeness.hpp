// Kernels that compute the same on other arrays: layers of a network repeat them, and one search does for all.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "search/kernels.hpp"
#include "search/plans/cuts.hpp"
#include "search/plans/prices.hpp"

namespace napkin {

// What a kernel computes and whether it takes products in parts, its arrays, wires and axes numbered as they appear: of
// two kernels with the same text the wires correspond one by one.
struct Likeness {
  std::string text;
  std::vector<WireId> wires;
};
Likeness likeness(const Diagram&, const Cut&, bool in_parts);

// The searches of kernels so far. A search is told what a kernel may cost at most, and how many partitions it may look
// at: it answers for a kernel that is allowed no more of either.
class Searched {
 public:
  // A search of this plan costs nothing more; one of another plan counts as if it were made again, so that plans have
  // the same patience whatever was looked for before.
  std::optional<Ranking> find(const Likeness&, std::int64_t partitions, const Price& allowed) const;
  void begin_plan() { ++plan_; }
  void keep(Likeness, const Ranking&, std::int64_t partitions, const Price& allowed);

 private:
  struct Entry {
    std::vector<WireId> wires;
    Ranking ranking;
    std::int64_t partitions;
    Price allowed;
    std::int64_t plan;  // in which it was searched
    bool answers(std::int64_t partitions, const Price& allowed) const;
  };
  std::map<std::string, Entry> all_;  // by the text
  std::int64_t plan_ = 0;
};

}  // namespace napkin
