// How long the blocks of a kernel run on one core (an SM): what an iteration of the mainloop computes on matrix units
// and lanes, how warpgroups divide its rows, which operations overlap, and the time of the launch that follows. The
// search calls this stage. docs/theory.md, configuration, has the formulas.
//
// A warpgroup is as many warps as the register file has partitions, which is four on every GPU known here. Together
// they feed all matrix units of an SM.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "napkin/cost.hpp"

namespace napkin {

// A resource executes or moves: the compute units, the core's own memory, and the path from the level above into it.
enum class Resource : std::uint8_t { tensor, fma, sfu, shared, copy };
std::string_view name(Resource);

enum class Place : std::uint8_t { shared, registers, tensor_memory };
std::string_view name(Place);

// An array of one iteration as its owner holds it: a warpgroup, or all warpgroups of the block together.
struct Variable {
  std::string name;
  std::vector<std::int64_t> shape;
  Datatype type = Datatype::f32;
  Place place = Place::registers;
  bool by_warpgroup = true;
  std::int64_t copies = 1;  // stages: the tiles of later iterations are loaded next to those in use
  std::int64_t bytes = 0;   // of all stages
};

// The arrays that are alive while one column runs.
struct ColumnVariables {
  std::string column;  // the array that it makes
  std::string value;   // "p = exp(S - n)"
  Resource on = Resource::fma;
  std::vector<Variable> variables;
  std::int64_t warpgroup_register_bytes = 0;
};

struct Divisor {
  std::string axis;
  std::int64_t size = 1;  // the least common multiple
  std::vector<std::pair<std::int64_t, std::string>> reasons;
};

// A column on a resource, in one iteration of one block.
struct ColumnClocks {
  std::string column;
  Resource on = Resource::fma;
  double operations = 0;  // or bytes
  double clocks = 0;      // of one core
  double seconds = 0;
};
struct ResourceClocks {
  Resource on = Resource::fma;
  double clocks = 0, seconds = 0;
  double slack = 0;  // share of the iteration's bound in which it is idle
};

// How many warpgroups, blocks and warps fit on a core.
struct Occupancy {
  // By bytes alone, as the paper counts.
  double warpgroups_by_shared = 0, warpgroups_by_registers = 0;
  std::int64_t warpgroups = 0;  // the lesser of the two, rounded down
  double warps_by_registers = 0;
  // As the chip allocates: registers for each warp of a partition, shared memory in whole units and with its reserve.
  std::int64_t registers_per_thread = 0;
  std::int64_t blocks = 0, warps = 0;         // of the blocks that the partition makes; 0: they cannot run
  std::int64_t warps_by_these_registers = 0;  // for any size of block
  std::string limited_by;
  std::vector<std::pair<std::int64_t, std::int64_t>> ladder;  // registers of a thread, and how many warps then fit
};

// How the columns of an iteration overlap. Multistage: with the copies of later tiles. Co-resident: with the other
// blocks of the core, which take no turns, so that only a part of what could overlap does.
enum class Overlap : std::uint8_t {
  none,
  multistage,
  co_resident,
  intra_warpgroup,
  ping_pong_of_two,
  ping_pong_of_three
};
std::string_view name(Overlap);
std::string_view words(Overlap);  // "ping-pong of two"
// True for ping-pong, in which warpgroups use the matrix units one after another.
bool in_turn(Overlap);

// One way to overlap the columns of an iteration.
struct Pipelining {
  Overlap overlap = Overlap::none;
  std::int64_t warpgroup_register_bytes = 0;
  std::int64_t shared_bytes = 0;  // of a block
  Occupancy occupancy;
  std::int64_t stages = 1;  // of every streamed tile
  bool within = false;      // products of a warpgroup overlap its other operations
  // A lower bound of an iteration: the latency of its tiles over the tiles in flight, and, for single warps, their own
  // instructions over the blocks on the core.
  double latency_s = 0;
  bool runs = false;               // the warpgroups that it needs fit
  double unevenness = 1;           // time of the busiest partition of a core over the average of all
  double step_s = 0;               // an iteration of one block, with the other blocks of its core running
  double utilization = 0;          // of the unit that most of the kernel's operations run on; at most 1
  std::optional<double> launch_s;  // of the whole launch with this overlap; none if it does not run
  struct Event {
    std::string column;
    Resource on = Resource::fma;
    double begin_s = 0, end_s = 0;
    std::int64_t warpgroup = 0;  // of those in ping-pong; copies are for all of them
  };
  // One iteration of one warpgroup. In ping-pong it is the steady state, from the time when the first warpgroup begins
  // an iteration to the time when it begins the next. Copies load the tiles of a later iteration, unless they are
  // waited for.
  std::vector<Event> timeline;
};

// One line of "where the rest went" in the report.
struct Loss {
  std::string what;
  double seconds = 0;
};
struct Launch {
  double ideal_s = 0, time_s = 0;
  std::int64_t blocks = 0, cores = 0, blocks_per_core = 0, waves = 0;
  std::int64_t turns = 1;             // rounds, if the memory above the cores holds one piece at a time
  double last_wave_busy = 1;          // share of the places that the last wave of a round fills
  double steps = 0;                   // iterations of all blocks, counted as whole ones
  std::vector<Loss> losses;           // they add up to time_s - ideal_s
  Resource bound = Resource::tensor;  // the slowest resource; copy, too, if compulsory transfers are the slowest
  bool bound_outside = false;         // a level above the cores is slower than all of them
  bool bound_by_cache = false;        // copies from the cache are the slowest
};
// The time of a launch line by line, beginning with memory, cache and units at their best.
std::vector<Loss> lines(const Launch&);

// Neighbouring blocks that read each other's memory, and how long the tiles of an iteration then take to arrive.
struct Cluster {
  std::int64_t blocks = 1;
  std::string axis;  // along which they are neighbours; empty for a single block
  double copy_s = 0;
  bool chosen = false;
};
// A rasterization: the order in which blocks follow each other, last axis fastest. "a, c, a by 8" means eight tiles
// along a for each along c.
struct Raster {
  std::string order;
  double step_bytes = 0;  // loaded from a memory by one iteration of all its cores; its cache has the rest
};

// Operands that could be resident in registers during the mainloop, instead of being read in each iteration: tiles that
// outlive the iterations and that contractions take their rows from.
struct ResidentOperands {
  std::vector<std::string> tiles;
  std::int64_t registers_per_thread = 0;
  std::optional<double> launch_s;  // with the same rows for a warpgroup; none if it does not run
  bool chosen = false;             // the launch is shorter with them; no other number of the configuration assumes them
};

}  // namespace napkin
