// How the blocks of a kernel run on one core, in numbers: matrix units and registers take what an iteration of the
// mainloop computes, teams of warps share its rows, its operations overlap, and a launch takes the time that follows.
// The search asks for it; docs/theory.md, configuration.
//
// A core's matrix units are fed by a team: as many warps as the register file has partitions, four on every GPU known
// here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "napkin/cost.hpp"

namespace napkin {

// What executes or moves: the compute units, the core's own memory, and the way in from the level above.
enum class Resource : std::uint8_t { tensor, fma, sfu, shared, copy };
std::string_view name(Resource);

enum class Place : std::uint8_t { shared, registers, tensor_memory };
std::string_view name(Place);

// An array of one step as its owner holds it: a team, or all teams of the block together.
struct Variable {
  std::string name;
  std::vector<std::int64_t> shape;
  Datatype type = Datatype::f32;
  Place place = Place::registers;
  bool by_team = true;
  std::int64_t copies = 1;  // tiles of the steps to come are loaded beside those in use
  std::int64_t bytes = 0;   // of all copies
};

// What one column has alive.
struct ColumnVariables {
  std::string column;  // the array that it makes
  std::string value;   // "p = exp(S - n)"
  Resource on = Resource::fma;
  std::vector<Variable> variables;
  std::int64_t team_register_bytes = 0;
};

struct Divisor {
  std::string axis;
  std::int64_t size = 1;  // the least common multiple
  std::vector<std::pair<std::int64_t, std::string>> reasons;
};

// A column on a resource, in one step of one block.
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
  double slack = 0;  // share of the step's bound in which it has nothing to do
};

// How many fit on a core.
struct Occupancy {
  // Bytes alone, as the paper counts.
  double teams_by_shared = 0, teams_by_registers = 0;
  std::int64_t teams = 0;  // the whole of the lesser
  double warps_by_registers = 0;
  // As the chip allocates: registers by the warp in each partition, shared memory in whole units and with its reserve.
  std::int64_t registers_per_thread = 0;
  std::int64_t blocks = 0, warps = 0;         // of the blocks as partitioned; 0: they cannot run
  std::int64_t warps_by_these_registers = 0;  // whatever the blocks
  std::string limited_by;
  std::vector<std::pair<std::int64_t, std::int64_t>> ladder;  // most registers of a thread, and the warps they leave
};

// Beside: of blocks that nothing makes take turns, part of what could overlap does.
enum class Overlap : std::uint8_t { none, copies, beside, within_team, two_teams, three_teams };
std::string_view name(Overlap);
std::string_view words(Overlap);  // "ping-pong of two"

// One way to overlap the columns of a step.
struct Pipelining {
  Overlap overlap = Overlap::none;
  std::int64_t team_register_bytes = 0;
  std::int64_t shared_bytes = 0;  // of a block
  Occupancy occupancy;
  std::int64_t stages = 1;         // copies of every streamed tile
  bool within = false;             // products of a warpgroup overlap its other operations
  double latency_s = 0;            // a step is no shorter: so long its tiles are on their way, shared by those at once
  bool runs = false;               // as many teams as it needs fit
  double unevenness = 1;           // how many times as long as the partitions of a core on average the busiest works
  double step_s = 0;               // of one block, among the blocks beside it
  double utilization = 0;          // of the unit that the kernel's operations run on most, at most 1
  std::optional<double> launch_s;  // the whole launch, overlapped so; none where it does not run
  struct Event {
    std::string column;
    Resource on = Resource::fma;
    double begin_s = 0, end_s = 0;
    std::int64_t team = 0;  // of those that take turns; copies are for all of them
  };
  // One step of one team alone; of teams in turn, from where the first begins a step to where it begins the next, once
  // all are under way. Copies bring the tiles of a step to come, where they are not waited for.
  std::vector<Event> timeline;
};

// One line of "where the rest went".
struct Loss {
  std::string what;
  double seconds = 0;
};
struct Launch {
  double ideal_s = 0, time_s = 0;
  std::int64_t blocks = 0, cores = 0, blocks_per_core = 0, waves = 0;
  std::int64_t turns = 1;             // one after another: the memory above the cores holds a piece at a time
  double last_wave_busy = 1;          // of a turn, share of the places that it fills
  double steps = 0;                   // of all blocks, as whole ones
  std::vector<Loss> losses;           // they add up to time_s - ideal_s
  Resource bound = Resource::tensor;  // that takes longest; copy, too, where compulsory transfers do
  bool bound_outside = false;         // instead, a level above the cores
  bool bound_by_cache = false;        // of copies, those that the cache answers
};
// What a launch takes, line by line, from memory, cache and units at their best on.
std::vector<Loss> lines(const Launch&);

// Neighbouring blocks that read each other's memory, and how long the tiles of a step then take to arrive.
struct Cluster {
  std::int64_t blocks = 1;
  std::string axis;  // along which they are neighbours; empty of one
  double copy_s = 0;
  bool chosen = false;
};
// An order in which blocks follow each other, last axis fastest; "a, c, a by 8": eight pieces of a for each of c.
struct Raster {
  std::string order;
  double step_bytes = 0;  // that a step of all cores of one memory brings from it; the rest is in its cache
};

// What registers could hold throughout the steps, instead of reading it in each: tiles that outlive the steps, of which
// contractions take their rows.
struct Kept {
  std::vector<std::string> tiles;
  std::int64_t registers_per_thread = 0;
  std::optional<double> launch_s;  // with the same rows to a team; none where it does not run
  bool chosen = false;             // the launch is shorter so; no other number of the configuration counts on it
};

}  // namespace napkin
