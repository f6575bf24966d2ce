// A kernel -> where its values and functions are: levels of memory by value and function, pieces by wire.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "napkin/configure.hpp"
#include "scene/circuit.hpp"

namespace napkin::scene {

struct Levels {
  std::vector<std::size_t> home;   // by value: its level between functions
  std::vector<std::size_t> read;   // by value: the level from which functions read it
  std::vector<bool> loaded;        // by value: whether it comes from the outermost level
  std::vector<bool> saved;         // by value: whether it goes to the outermost level
  std::vector<bool> fragments;     // by function: whether it runs on matrix units, which read fragments
  std::size_t fragment_level = 0;  // the number that represents fragments, after the machine's levels
  Partition partition;
  std::size_t shared_level = 0;             // the innermost level that a whole core shares
  std::map<WireId, std::int64_t> divisors;  // of the pieces of wires at the shared level

  // "g_q 96 ÷16", "s_x 64", "÷64": the innermost piece of a wire at a level or above, with its divisor.
  std::string piece(const Diagram&, WireId, std::size_t level) const;
};
Levels levels(const Circuit&, const Kernel&, const Hardware&);

// The numbers that pieces are multiples of in a launch configuration.
std::map<WireId, std::int64_t> divisors(const Diagram&, const Configuration&);

std::vector<InkedLevel> inked(const Hardware&);

// The figures above the columns for one level: the bytes moved between it and the level above, and what it holds.
struct Figures {
  std::string level;
  bool in_values = false;  // in values, else in bytes
  std::vector<ArrayCost> arrays;
  std::string holds;  // "M 46 KiB of 227 KiB"

  // "H 184 MB": for some arrays, or for all.
  std::string moves(const std::vector<std::string>& arrays, bool saved) const;
  std::string moves_all(bool saved) const;
};
std::vector<Figures> figures(const KernelCost&, const Hardware&, Model);

}  // namespace napkin::scene
