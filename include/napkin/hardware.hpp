// Hardware: the machine that a diagram runs on. There is one YAML profile per machine, in which every number has a
// unit, an origin and a source.
//
// Units in this header are SI: bytes, bytes per second, operations per second, seconds, joules. Latencies that vendors
// count in clocks stay in clocks. Levels are outermost first; level 0 has no parent. A number that a profile does not
// know is absent, never zero. docs/profiles.md is the schema.
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

// A `given` number is set on the command line and needs no source.
enum class Origin : std::uint8_t { vendor, measured, derived, assumed, given };
std::string_view name(Origin);

// A number with its origin.
template <class T>
struct Sourced {
  T value{};
  Origin origin = Origin::vendor;
  std::string source;  // citation keys of the profile's `sources`, joined by ", "
  std::string how;     // how it was derived, or on what it was measured; may be empty
};

// A rate with its datasheet value and, if somebody measured it, the rate that is sustained.
struct Rate {
  std::optional<Sourced<double>> datasheet;
  std::optional<Sourced<double>> sustained;
  double peak() const;     // datasheet, else sustained
  double reached() const;  // sustained, else datasheet
};

// One memory of the hierarchy. One group at this level runs on a child: a GPU, an SM, a warp.
struct Level {
  std::string name;        // "smem"
  std::string unit;        // name of one group: "gpu", "block", "warp"
  std::int64_t count = 1;  // children of one parent that run at the same time: 132 SMs of a GPU, 64 warps of an SM
  bool shared = false;     // one memory serves all children of a parent (a register file); else one memory per child
  bool together = false;   // it consists of the memories of its children: data that a child holds is not transferred
  std::optional<Sourced<double>> capacity;     // of one memory
  std::optional<Sourced<double>> usable;       // by one group; absent: all of capacity
  bool in_values = false;                      // capacity and usable count values instead of bytes (the paper's model)
  std::optional<Rate> bandwidth;               // from the level above into all children, over the whole machine
  std::optional<Sourced<double>> granularity;  // bytes of the smallest efficient transfer
  std::optional<Sourced<double>> sector;       // bytes that are moved as a whole, even if only some are needed
  std::optional<Sourced<double>> in_flight;    // bytes that one child must have in flight to reach the bandwidth
  std::optional<Sourced<double>> latency_clocks;   // from the level above
  std::optional<Sourced<double>> energy_per_byte;  // joules, for a byte from the level above
  std::optional<std::int64_t> max_groups;          // groups at this level that one parent group can run at once
  double room() const;                             // what one group may hold: usable, else capacity, else infinity
};

// A cache between two levels. It holds data that is read again, up to a share of its size.
struct Cache {
  std::string name;
  std::string below;         // the level whose reads it serves: "gmem"
  Sourced<double> capacity;  // all partitions together
  std::optional<std::int64_t> partitions;
  // Share of the capacity; a larger working set no longer runs at this bandwidth.
  std::optional<Sourced<double>> effective_fraction;
  std::optional<Rate> bandwidth;                                      // over the whole machine
  std::optional<Sourced<double>> latency_clocks, far_latency_clocks;  // of the near partition and of another one
  std::optional<Sourced<double>> energy_per_byte;
};

// Children of one level that read each other's memory: thread-block clusters, dies, GPUs joined by links.
struct Sibling {
  std::string level;
  std::map<std::int64_t, Rate> bandwidth;  // by number of siblings; over the whole machine
  std::optional<Sourced<double>> latency_clocks;
  std::optional<std::int64_t> largest;  // the largest number of siblings
  // By number of siblings: the bytes that all of them receive per second if each loads its share and multicasts it to
  // all; over the whole machine.
  std::map<std::int64_t, Rate> multicast{};
};

// The least shape of a matrix instruction: m and n of the result, and k contracted. If `n_max` is above n, every
// multiple of n up to n_max exists.
struct InstructionShape {
  std::string name;  // of the family: "mma.sync", "wgmma"
  Datatype operands = Datatype::f16;
  std::int64_t m = 1, n = 1, k = 1, n_max = 1;
  std::optional<Sourced<double>> fraction;        // the largest share of the unit's peak that the family can reach
  std::optional<Sourced<double>> latency_clocks;  // from issue to result
};

// Operations per second of the whole machine, by unit and operand type. A multiply-add is two operations. `rates` are
// for accumulation in f32 (i32 for integers, f64 for f64).
struct ComputeUnit {
  Unit unit = Unit::fma;
  std::optional<Sourced<double>> clock_hz;
  std::map<Datatype, Rate> rates;
  std::map<std::pair<Datatype, Datatype>, Rate> narrow_rates;  // (operands, narrower accumulator)
  std::map<Datatype, Sourced<double>> per_clock;               // operations per clock of one SM
  std::map<Datatype, Sourced<double>> energy;                  // joules per operation
  std::vector<InstructionShape> instructions;
};

// The limits of one core (SM, compute unit) and of launches on it. docs/theory.md, configuration.
struct Limits {
  std::optional<Sourced<double>> warps_per_sm, blocks_per_sm, threads_per_sm, threads_per_block, threads_per_warp,
      registers_per_sm, registers_per_thread, register_allocation_unit, register_partitions, shared_allocation_unit,
      reserved_shared_per_block, shared_without_opt_in, tensor_memory_per_sm, barrier_slots_per_sm, launch_seconds,
      graph_launch_seconds;
  std::vector<double> shared_carve_outs;  // bytes, ascending; empty if unknown
  // Numbers that nobody states for a machine. They are the same for all machines unless a profile sets them.
  // docs/theory.md, assumptions.
  std::optional<Sourced<double>> registers_for_addresses, unhidden, masked_end;
};

// One number of a profile as written in the file (or as derived by the loader), in the order of the file. It is for
// printing, documentation and tests.
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
  std::string aliases;      // other names, separated by spaces: "h100"
  std::vector<Level> levels;
  std::optional<std::size_t> core;  // the level whose children are SMs, which per-clock rates and limits refer to
  std::vector<ComputeUnit> compute;
  std::vector<Cache> caches;
  std::vector<Sibling> siblings;
  Limits limits;
  std::optional<Sourced<double>> idle_watts, power_limit_watts;
  std::string cuda_architecture;                  // "sm_90a", or empty
  std::map<std::string, std::string> parameters;  // short name -> dotted path, for `--set-target M=10000`
  std::map<std::string, std::string> sources;     // citation key -> citation
  std::vector<Figure> figures;

  int cuda_capability() const;  // 80 for "sm_80", 90 for "sm_90a"; 0 without a CUDA architecture
  const ComputeUnit* find(Unit) const;
  std::optional<std::size_t> level(const std::string& name) const;
  std::int64_t total(std::size_t level) const;  // children of that level on the whole machine
};

// Reads a profile. Every problem is a diagnostic with line and caret. `settings` are `--set-target` pairs of a path, or
// the short name of one, and a value: {"M", "10000"} or {"levels.smem.capacity", "100 KiB"}. If the diagnostics have
// errors, the result must not be used.
Hardware load_hardware(Sources&, std::uint32_t file, const std::vector<std::pair<std::string, std::string>>& settings,
                       Diagnostics&);

// How many warps issue the instruction together: four from 64 rows on.
std::int64_t warps_of(const InstructionShape&);

// The machine for kernels of single warps: if it has matrix instructions of single warps, those that several warps
// issue together are removed.
Hardware of_single_warps(Hardware);

// A hash of everything that the stages use: levels, numbers and instructions, but not the citations.
std::string fingerprint(const Hardware&);

// The file of a profile. The name may be that of a profile ("h100-sxm5"), an alias, or a prefix that only one profile
// has, each in letters of either case; or a path (a name with a slash or the suffix .yaml). Folders are searched in
// this order: NAPKIN_PROFILES, the program's own, the source tree, the install prefix. Returns none, with a diagnostic
// at `where`, for an unknown or ambiguous name.
std::optional<std::string> find_profile(const std::string& name, Span where, Diagnostics&);
std::vector<std::string> profile_names();  // sorted

// One profile as aligned text, in which every number has its unit, origin and source; the same as JSON
// (`napkin.target/1`); and a table of several profiles with one line each, as text and as JSON.
std::string to_text(const Hardware&);
std::string to_json(const Hardware&);
std::string list_text(const std::vector<Hardware>&);
std::string list_json(const std::vector<Hardware>&);

}  // namespace napkin
