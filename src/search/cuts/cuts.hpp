// The ways to cut a diagram into kernels, as a graph. A place is a set of computed statements, a step adds one kernel,
// and every path from the empty place to the full one is a plan.
#pragma once

#include <bitset>
#include <cstddef>
#include <optional>
#include <vector>

#include "napkin/diagram.hpp"
#include "text/limits.hpp"

namespace napkin {

using Statements = std::bitset<limits::statements>;

// The statements that one kernel computes, and those whose results it saves for others.
struct Cut {
  Statements computed, saved;
  bool operator==(const Cut&) const = default;
};

struct Cuts {
  struct Step {
    std::size_t from = 0, to = 0;  // places, from < to
    std::size_t cut = 0;           // index into cuts
    bool in_order = false;         // consecutive statements of the file, with nothing recomputed
  };
  std::vector<Cut> cuts;    // each once
  std::vector<Step> steps;  // sorted by `from`; at the first place nothing is computed, at the last everything
  std::size_t places = 0;
};

// The statements that the outputs need.
Statements needed_statements(const Diagram&);
// Every partition of these statements into kernels without cyclic dependences. A statement that may be recomputed and
// that several others read may instead be computed again by each kernel that needs it. Statements that nothing needs
// are left out. None if there are more than `most` steps.
std::optional<Cuts> every_cut(const Diagram&, const Statements& of, std::size_t most);
// Only the steps in order. The number of statements of each is limited so that there are at most a few thousand steps.
Cuts cuts_in_order(const Diagram&);

// The statements in runs of at most `most`, in the order of the file. The runs minimise the bytes of the arrays between
// them, then their number, then their unevenness, so that layers stay whole.
std::vector<Statements> runs_of(const Diagram&, std::size_t most);

// True if each reduction of the statement either contracts nothing (an array that it reads, or its result, has every
// position that it iterates over) or expands (its accesses have fewer positions than the result). Computing such a
// result again may move less than saving and reading it.
bool may_be_recomputed(const Diagram&, const Statement&);

}  // namespace napkin
