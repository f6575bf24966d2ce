// Hardware: what a diagram runs on. One YAML profile per machine, every number with its unit, origin and source.
//
// Units in this header are SI: bytes, bytes per second, operations per second, seconds, joules. Levels are
// outermost first; level 0 has no parent. docs/profiles.md is the schema.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "napkin/functions.hpp"
#include "napkin/text.hpp"

namespace napkin {

enum class Origin { vendor, measured, derived, assumed };

// A number and where it comes from. `source` is a citation key of the profile's `sources` map.
template <class T>
struct Sourced {
  T value{};
  Origin origin = Origin::vendor;
  std::string source;
};

// A rate with its datasheet value and, where somebody measured it, what is reached.
struct Rate {
  std::optional<Sourced<double>> datasheet;
  std::optional<Sourced<double>> sustained;
  double peak() const;     // datasheet, else sustained
  double reached() const;  // sustained, else datasheet
};

struct Level {
  std::string name;                                // "smem"
  std::string unit;                                // what one child is: "gpu", "sm", "block", "warp"
  std::int64_t count = 1;                          // children per child of the level above
  std::optional<Sourced<double>> capacity;         // of one child, all that runs on it together
  std::optional<Sourced<double>> usable;           // by one block or, at the innermost level, one group; else capacity
  bool in_values = false;                          // capacity counts values instead of bytes (the paper's model)
  std::optional<Rate> bandwidth;                   // from the level above into all children of one parent together
  std::optional<Sourced<double>> granularity;      // bytes of the smallest efficient transfer
  std::optional<Sourced<double>> energy_per_byte;  // joules, for what crosses from the level above
  std::optional<std::int64_t> max_groups;          // groups at this level that one parent piece can run together
};

// A cache between two levels: holds what its users read again, up to a share of its size.
struct Cache {
  std::string name;
  std::string below;  // the level whose reads it serves: "gmem"
  Sourced<double> capacity;
  std::optional<Sourced<double>> effective_fraction;
  std::optional<Rate> bandwidth;
};

// Children of one level that read each other's memory: thread-block clusters, GPUs joined by links.
struct Sibling {
  std::string level;
  std::map<std::int64_t, Rate> bandwidth;  // by number of siblings
  std::optional<Sourced<double>> latency;  // seconds
};

struct InstructionShape {
  std::string name;  // "mma.m16n8k16"
  Datatype operands;
  std::int64_t m, n, k;
};

// Operations per second of the whole machine, by unit and operand type. A multiply-add is two operations.
struct ComputeUnit {
  Unit unit;
  std::map<Datatype, Rate> rates;
  std::optional<Sourced<double>> clock_hz;
  std::vector<InstructionShape> instructions;
};

struct Limits {
  std::optional<Sourced<double>> warps_per_sm, blocks_per_sm, threads_per_block, registers_per_sm, registers_per_thread,
      register_allocation_unit, register_partitions, shared_allocation_unit, reserved_shared_per_block, launch_seconds;
};

struct Hardware {
  std::string name;         // "h100-sxm5"
  std::string description;  // "NVIDIA H100 SXM5 80 GB"
  std::vector<Level> levels;
  std::vector<ComputeUnit> compute;
  std::vector<Cache> caches;
  std::vector<Sibling> siblings;
  Limits limits;
  std::optional<Sourced<double>> idle_watts, power_limit_watts;
  std::string cuda_architecture;               // "sm_90", or empty
  std::map<std::string, std::string> sources;  // citation key -> what it is

  const ComputeUnit* find(Unit) const;
  std::optional<std::size_t> level(const std::string& name) const;
};

// Reads a profile; every problem is a diagnostic with line and caret. `settings` are `--set-target` pairs, a dotted
// path and a value: {"M", "10000"} or {"levels.smem.capacity", "100 KiB"}.
Hardware load_hardware(Sources&, std::uint32_t file, const std::vector<std::pair<std::string, std::string>>& settings,
                       Diagnostics&);

}  // namespace napkin
