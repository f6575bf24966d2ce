// Kernels that compute the same on other arrays, such as layers of a network. One search is enough for all of them.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "search/cuts/cuts.hpp"
#include "search/cuts/prices.hpp"
#include "search/kernels.hpp"

namespace napkin {

// A kernel as text, with whether it computes products in parts, and with its arrays, wires and axes numbered in order
// of appearance. If two kernels have the same text, their wires correspond one by one.
struct Likeness {
  std::string text;
  std::vector<WireId> wires;
};
Likeness likeness(const Diagram&, const Cut&, bool in_parts);

// The searches of kernels so far. A search has a limit on the price of its kernel and on the partitions that it may
// evaluate. Its result is reused for a kernel with limits that are not greater.
class Searched {
 public:
  // A reused search of the same plan adds nothing to the statistics. One of another plan counts as if it were repeated,
  // so that the budget of a plan does not depend on earlier searches.
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
