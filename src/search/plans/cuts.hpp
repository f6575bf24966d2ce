// The ways to cut a diagram into kernels, as a graph: places say what is done, a step runs one more kernel, and every
// path from nothing to everything is a plan.
#pragma once

#include <bitset>
#include <cstddef>
#include <optional>
#include <vector>

#include "napkin/diagram.hpp"
#include "text/limits.hpp"

namespace napkin {

using Statements = std::bitset<limits::statements>;

// What one kernel computes, and which of that is saved for others.
struct Cut {
  Statements computed, saved;
  bool operator==(const Cut&) const = default;
};

struct Cuts {
  struct Step {
    std::size_t from = 0, to = 0;  // places, from < to
    std::size_t cut = 0;           // index into cuts
    bool in_order = false;         // a run of statements that stand side by side in the file, nothing recomputed
  };
  std::vector<Cut> cuts;    // each once
  std::vector<Step> steps;  // by place they start from; the first place is nothing, the last everything
  std::size_t places = 0;
};

// What its outputs need.
Statements needed_statements(const Diagram&);
// Every partition of these statements into kernels that do not wait for each other in a circle; a statement that may
// be recomputed and that several others read may instead be computed again by each kernel that needs it. What nothing
// needs is left out. None where there are more than `most` steps.
std::optional<Cuts> every_cut(const Diagram&, const Statements& of, std::size_t most);
// Only the steps in order, of few enough statements each that there are at most some thousand.
Cuts cuts_in_order(const Diagram&);

// The statements in runs of at most `most`, in the order of the file: cut where the arrays that cross have the fewest
// bytes together, then into the fewest runs, then into the most even ones, so that layers stay whole.
std::vector<Statements> runs_of(const Diagram&, std::size_t most);

// A statement each of whose reductions either contracts nothing (one of the arrays that it reads or its own result has
// every position that it works through) or gives more than it takes (its accesses have fewer positions than the
// result): computing such a result again may move less than saving and reading it.
bool may_be_recomputed(const Diagram&, const Statement&);

}  // namespace napkin
