// A kernel -> where what it works on stands: levels of memory by value and function, pieces by wire.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "napkin/configure.hpp"
#include "scene/circuit.hpp"

namespace napkin::scene {

struct Levels {
  std::vector<std::size_t> home;   // by value: where it stands between functions
  std::vector<std::size_t> read;   // by value: where functions read it
  std::vector<bool> loaded;        // by value: comes from the outermost level
  std::vector<bool> saved;         // by value: goes there
  std::vector<bool> fragments;     // by function: on matrix units, which read from fragments
  std::size_t fragment_level = 0;  // stands for those, after the machine's own
  Partition partition;
  std::size_t shared_level = 0;             // the innermost that a whole core shares
  std::map<WireId, std::int64_t> divisors;  // that pieces of wires have there

  // "g_q 96 ÷16", "s_x 64", "÷64": the innermost piece of a wire down to a level, with its divisor.
  std::string piece(const Diagram&, WireId, std::size_t level) const;
};
Levels levels(const Circuit&, const Kernel&, const Hardware&);

// What pieces are whole multiples of, as a core is configured.
std::map<WireId, std::int64_t> divisors(const Diagram&, const Configuration&);

std::vector<InkedLevel> inked(const Hardware&);

// What stands above the columns for one level: what is moved between it and the one above, and what it holds.
struct Figures {
  std::string level;
  bool in_values = false;  // else in bytes
  std::vector<ArrayCost> arrays;
  std::string holds;  // "M 46 KiB of 227 KiB"

  // "H 184 MB": of some arrays, or of all.
  std::string moves(const std::vector<std::string>& arrays, bool saved) const;
  std::string moves_all(bool saved) const;
};
std::vector<Figures> figures(const KernelCost&, const Hardware&, Model);

}  // namespace napkin::scene
