// The cost of all partitions of one shape, read off its loop nest once.
//
// The places where a nest loads, saves, holds and computes do not depend on the sizes of pieces. The amounts are
// products of wire sizes, numbers of pieces and lengths of pieces. estimate(), the search and the closed forms all use
// these products, so they cannot disagree.
#pragma once

#include <compare>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cost/regions/known_sums.hpp"
#include "cost/regions/region.hpp"
#include "napkin/cost.hpp"

namespace napkin {

// Operations of one kind on one unit; the operand type decides the rate.
struct Work {
  Unit unit = Unit::fma;
  Datatype type = Datatype::f32;
  int parts = 1;  // number of parts of each operation
  auto operator<=>(const Work&) const = default;
};

// The cost of all partitions of one shape. A shape is a kernel whose splits have a kind, a wire and a level. Their
// sizes may vary without changing the nest. make_cost_model() makes a model once for a shape. Afterwards each choice of
// sizes needs a few multiplications.
struct CostModel {
  // Sizes along one wire under some of its splits: the number of pieces and the length of a whole one.
  struct Cut {
    WireId wire;
    std::vector<std::size_t> splits;  // indices into the shape's partition, outermost first
  };
  // A product of sizes of wires, numbers of pieces, lengths of pieces, and more.
  struct Product {
    std::vector<WireId> whole;
    std::int64_t fixed = 1;                    // the product of `whole`; the greatest number on overflow
    std::vector<std::size_t> counts, lengths;  // indices into `cuts`
    std::vector<std::size_t> footprints;       // indices into `footprints`
    std::optional<std::size_t> region;         // index into `regions`: of the wires of which masks exclude pieces
    std::vector<std::size_t> shares;           // indices into `shares`: the shares of pieces that masks let run
  };
  // The share of pieces that have a wanted entry of a random mask: 1 - (1 - density)^entries. Ragged pieces count as
  // whole ones.
  struct Share {
    double density;   // of the wanted entries
    Product entries;  // of a whole piece
  };
  // The number of values that indices with common wires reach together, over all pieces of their wires or in one whole
  // piece.
  struct Footprint {
    std::vector<std::pair<Index, std::int64_t>> indices;  // with the size of their dimension
    std::vector<std::size_t> cuts;                        // of the wires in them
    bool all_pieces = true;
    bool inside = false;  // it is one index that never leaves its dimension
    bool steps = false;   // it is one index of one wire that reaches every place in order: `x / 64`
  };
  struct Transfer {
    std::size_t level;
    ArrayId array;
    bool saved;
    Datatype type;     // format in which it is transferred
    int bytes, share;  // `share` values take `bytes` bytes
    Product values;
    Product loads = {};  // number of loads in all groups
    // The cuts of the wires of the last dimensions, innermost first, as long as each dimension is one wire.
    std::vector<std::size_t> rows = {};
    bool rows_alone = false;  // all dimensions are in `rows`
    bool from_file = false;   // an input of the diagram, which may be stored with any child that reads it
    std::int64_t array_values = 0;

    std::int64_t bytes_of(std::int64_t all) const { return (share == 1 ? all : (all + share - 1) / share) * bytes; }
    double width() const { return static_cast<double>(bytes) / share; }  // of one value, in bytes
  };
  struct Holding {
    ArrayId array;
    std::string name;
    int bytes;
    Product values;
    Datatype type, stored;  // format at this level, and of the array in memory
  };
  // What one column holds at one level. The two holdings of a pair in `shared` use the same memory, as much as the
  // larger needs.
  struct Column {
    std::size_t level;
    std::vector<std::size_t> held;  // indices into `holdings`
    std::vector<std::pair<std::size_t, std::size_t>> shared;
    std::vector<std::size_t> own{};  // the part of `held` that not all columns of the level hold
  };
  // One instant of a memory with all groups that it serves: what a group at work holds, and what groups hold that wait
  // at a level before or after their turn.
  struct Waiting {
    std::size_t level;
    std::vector<std::size_t> before, after;  // indices into `holdings`
    bool operator==(const Waiting&) const = default;
  };
  struct Instant {
    Column at_work{};
    // The first level below whose groups take turns. Tiles of the memory stay for all of these turns.
    std::size_t turns = 0;  // 0: no groups below take turns
    std::vector<Waiting> waiting{};
  };
  // A loop that skips pieces.
  struct Mask {
    Split loop;
    std::vector<Condition> needs;
    std::vector<std::string> asks;
    Product run, all;  // pieces of the wires in the conditions: those that run, and all
  };
  struct Operations {
    std::size_t work;  // index into `work`
    double each;
    Product positions;
    bool of_masks = false;  // tests of masks by lanes, in pieces that a mask cuts
  };
  // The groups of one wire down to one level, and those above that level: indices into `cuts`.
  struct Grouping {
    std::size_t level;
    std::size_t cut, above;
  };
  // Capacities by level, in what the level counts.
  struct Rooms {
    std::vector<double> own;       // of one group
    std::vector<double> together;  // of groups that hold a parent's only piece together
    std::vector<double> of_all;    // of one memory for all groups that it serves
    // The capacity for one of `groups` groups of a parent. If nothing is contracted, several groups of an innermost
    // level with a shared memory may hold a parent's only piece together, and then reduce it together.
    double at(std::size_t level, std::int64_t groups) const { return groups == 1 ? together[level] : own[level]; }
  };
  // A part of a region that is independent of its other parts. `known` has the sums computed so far, by the sizes that
  // cut it. Only one thread uses a model.
  struct RegionPart {
    Region region;
    Footprints factor;
    std::shared_ptr<KnownSums::Sums> known = std::make_shared<KnownSums::Sums>();
  };
  // The sum over a region is the product of `parts`. For masked pieces the product of `open` is subtracted.
  struct RegionSum {
    std::vector<std::size_t> parts, open;  // indices into `parts`
  };

  const Hardware* hardware = nullptr;
  std::vector<std::int64_t> wire_sizes;
  std::vector<bool> sized;  // by wire, whether its size is known
  Rooms rooms;
  double outermost = 0;               // what the outermost memory must hold for this kernel alone, in what it counts
  std::int64_t compulsory_bytes = 0;  // every input read once, every output written once

  std::vector<Cut> cuts;
  std::vector<std::size_t> finest;  // the finest cut of each wire
  std::vector<Grouping> groupings;
  std::vector<Footprint> footprints;
  std::vector<Transfer> transfers;
  std::vector<Product> steps;

  std::vector<Holding> holdings;
  std::vector<Column> columns;
  std::vector<std::vector<Instant>> instants;           // by level; empty if no groups ever wait
  std::vector<std::vector<std::size_t>> ideal, common;  // by level: of the ideal model; what all columns hold
  std::vector<std::vector<std::size_t>> held;           // by level: what any column or the ideal model holds

  std::vector<Work> work;
  std::vector<Operations> operations;
  std::vector<const Rate*> rates;    // of the work; null if the profile has none
  std::vector<const Cache*> caches;  // in front of each level; null if there is none

  std::vector<Mask> masks;
  std::vector<Share> shares;
  std::vector<Region> regions;
  std::vector<std::int64_t> least_positions;  // by region: a lower bound of the positions that run
  std::vector<RegionSum> sums;                // by region
  std::vector<RegionPart> parts;
};

// True if the level above consists of the memories of its children, who then read from each other.
inline bool has_siblings(const CostModel& model, std::size_t level) {
  return level > 0 && model.hardware->levels[level - 1].together;
}

}  // namespace napkin
