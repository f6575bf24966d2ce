// Hardware: what a diagram runs on. One YAML profile per machine, every number with its unit, origin and source.
//
// Units in this header are SI: bytes, bytes per second, operations per second, seconds, joules; latencies that vendors
// count in clocks stay in clocks. Levels are outermost first; level 0 has no parent. What a profile does not know is
// absent, never zero. docs/profiles.md is the schema.
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

// `given`: set on the command line, which needs no source.
enum class Origin : std::uint8_t { vendor, measured, derived, assumed, given };
std::string_view name(Origin);

// A number and where it comes from.
template <class T>
struct Sourced {
  T value{};
  Origin origin = Origin::vendor;
  std::string source;  // citation keys of the profile's `sources`, joined by ", "
  std::string how;     // how it was derived, or on what it was measured; may be empty
};

// A rate with its datasheet value and, where somebody measured it, what is reached.
struct Rate {
  std::optional<Sourced<double>> datasheet;
  std::optional<Sourced<double>> sustained;
  double peak() const;     // datasheet, else sustained
  double reached() const;  // sustained, else datasheet
};

// One memory of the hierarchy. A child is what one group at this level runs on: a GPU, an SM, a warp.
struct Level {
  std::string name;        // "smem"
  std::string unit;        // what one group is: "gpu", "block", "warp"
  std::int64_t count = 1;  // children of one parent, all side by side: 132 SMs of a GPU, 64 warps of an SM
  bool shared = false;     // one memory serves all children of a parent (a register file); else one memory per child
  bool together = false;   // nothing but the memories of its children, seen as one: what a child holds does not cross
  std::optional<Sourced<double>> capacity;     // of that one memory
  std::optional<Sourced<double>> usable;       // by one group; absent: all of capacity
  bool in_values = false;                      // capacity and usable count values instead of bytes (the paper's model)
  std::optional<Rate> bandwidth;               // from the level above into all children, over the whole machine
  std::optional<Sourced<double>> granularity;  // bytes of the smallest efficient transfer
  std::optional<Sourced<double>> sector;       // bytes that are moved whole, however few of them are wanted
  std::optional<Sourced<double>> in_flight;    // bytes one child must have under way to reach the bandwidth
  std::optional<Sourced<double>> latency_clocks;   // from the level above
  std::optional<Sourced<double>> energy_per_byte;  // joules, for what crosses from the level above
  std::optional<std::int64_t> max_groups;          // groups at this level that one parent group can run together
  double room() const;                             // what one group may hold: usable, else capacity, else infinity
};

// A cache between two levels: holds what its users read again, up to a share of its size.
struct Cache {
  std::string name;
  std::string below;         // the level whose reads it serves: "gmem"
  Sourced<double> capacity;  // all partitions together
  std::optional<std::int64_t> partitions;
  std::optional<Sourced<double>>
      effective_fraction;         // of capacity; a working set above it no longer runs at this bandwidth
  std::optional<Rate> bandwidth;  // over the whole machine
  std::optional<Sourced<double>> latency_clocks, far_latency_clocks;  // in the near and in another partition
  std::optional<Sourced<double>> energy_per_byte;
};

// Children of one level that read each other's memory: thread-block clusters, dies, GPUs joined by links.
struct Sibling {
  std::string level;
  std::map<std::int64_t, Rate> bandwidth;  // by number of siblings; over the whole machine
  std::optional<Sourced<double>> latency_clocks;
  std::optional<std::int64_t> largest;  // how many siblings there can be at most
  // By number of siblings, what all of them together get if each loads its share for all; over the whole machine.
  std::map<std::int64_t, Rate> multicast{};
};

// A matrix instruction of a unit, as least shape: m and n of the result, k contracted. Where `n_max` is above n, every
// multiple of n up to n_max exists.
struct InstructionShape {
  std::string name;  // of the family: "mma.sync", "wgmma"
  Datatype operands = Datatype::f16;
  std::int64_t m = 1, n = 1, k = 1, n_max = 1;
  std::optional<Sourced<double>> fraction;        // share of the unit's peak that the family can reach at all
  std::optional<Sourced<double>> latency_clocks;  // from its issue to its result
};

// Operations per second of the whole machine, by unit and operand type. A multiply-add is two operations. `rates`
// accumulate in f32 (i32 for integers, f64 for f64).
struct ComputeUnit {
  Unit unit = Unit::fma;
  std::optional<Sourced<double>> clock_hz;
  std::map<Datatype, Rate> rates;
  std::map<std::pair<Datatype, Datatype>, Rate> narrow_rates;  // (operands, narrower accumulator)
  std::map<Datatype, Sourced<double>> per_clock;               // operations per clock of one core
  std::map<Datatype, Sourced<double>> energy;                  // joules per operation
  std::vector<InstructionShape> instructions;
};

// What one core (SM, compute unit) grants. docs/theory.md, configuration.
struct Limits {
  std::optional<Sourced<double>> warps_per_sm, blocks_per_sm, threads_per_sm, threads_per_block, threads_per_warp,
      registers_per_sm, registers_per_thread, register_allocation_unit, register_partitions, shared_allocation_unit,
      reserved_shared_per_block, shared_without_opt_in, tensor_memory_per_sm, barrier_slots_per_sm, launch_seconds,
      graph_launch_seconds;
  std::vector<double> shared_carve_outs;  // bytes, ascending; empty where unknown
  // What nobody states for a machine, the same for all unless it is set. docs/theory.md, assumptions.
  std::optional<Sourced<double>> registers_for_addresses, unhidden, masked_end;
};

// One number of a profile as it stands in the file (or as the loader derived it), in file order: for printing,
// documentation and tests.
struct Figure {
  std::string path;     // "levels.smem.capacity"
  std::string written;  // "228 KiB"
  double value = 0;     // in `unit`
  std::string unit;     // SI: "B", "B/s", "op/s"; "" for counts, "shape" for an instruction, which has no value
  Origin origin = Origin::vendor;
  std::vector<std::string> sources;
  std::string how;
  Span span;  // of value and unit
};

struct Hardware {
  std::string name;         // "h100-sxm5"
  std::string description;  // "NVIDIA H100 SXM5 80 GB"
  std::string aliases;      // other names of it, separated by spaces: "h100"
  std::vector<Level> levels;
  std::optional<std::size_t> core;  // the level of which per-clock rates and limits count one child: the SM
  std::vector<ComputeUnit> compute;
  std::vector<Cache> caches;
  std::vector<Sibling> siblings;
  Limits limits;
  std::optional<Sourced<double>> idle_watts, power_limit_watts;
  std::string cuda_architecture;                  // "sm_90a", or empty
  std::map<std::string, std::string> parameters;  // short name -> dotted path, for `--set-target M=10000`
  std::map<std::string, std::string> sources;     // citation key -> what it is
  std::vector<Figure> figures;

  int cuda_capability() const;  // 80 for "sm_80", 90 for "sm_90a"; 0 where it has none
  const ComputeUnit* find(Unit) const;
  std::optional<std::size_t> level(const std::string& name) const;
  std::int64_t total(std::size_t level) const;  // children of that level on the whole machine
};

// Reads a profile; every problem is a diagnostic with line and caret. `settings` are `--set-target` pairs, a dotted
// path and a value: {"M", "10000"} or {"levels.smem.capacity", "100 KiB"}. With errors in the diagnostics the result
// must not be used.
Hardware load_hardware(Sources&, std::uint32_t file, const std::vector<std::pair<std::string, std::string>>& settings,
                       Diagnostics&);

// How many warps issue it together: from 64 rows on, four.
std::int64_t warps_of(const InstructionShape&);

// The machine without the matrix instructions that several warps issue together, where it has others: what kernels of
// single warps run on.
Hardware of_single_warps(Hardware);

// A hash of all that the machine is to the stages: its levels, numbers and instructions, but no citation.
std::string fingerprint(const Hardware&);

// The profile's file for a name such as "h100-sxm5", for a name that a profile has as an alias, for a prefix that only
// one has, all in letters of either case; or a path (a name with a slash or the suffix .yaml). Folders in the order
// searched: NAPKIN_PROFILES, beside the program, the source tree, the install prefix. None: an unknown or ambiguous
// name is a diagnostic at `where`.
std::optional<std::string> find_profile(const std::string& name, Span where, Diagnostics&);
std::vector<std::string> profile_names();  // sorted

// One profile with every number, its unit, origin and source, aligned; the same as JSON (`napkin.target/1`); and a
// table of several with one line each.
std::string to_text(const Hardware&);
std::string to_json(const Hardware&);
std::string list_text(const std::vector<Hardware>&);
std::string list_json(const std::vector<Hardware>&);

}  // namespace napkin
