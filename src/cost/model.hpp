// The cost of all partitions of one shape, read off its loop nest once.
//
// The places where a nest loads, saves, holds and computes do not depend on the sizes of pieces. The amounts are
// products of wire sizes, numbers of pieces and lengths of pieces. estimate(), the search and the closed forms all use
// these products, so they cannot disagree.
#pragma once

#include <compare>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cost/region.hpp"
#include "cost/sizes.hpp"
#include "cost/sums.hpp"
#include "napkin/cost.hpp"

namespace napkin {

// Operations of one kind on one unit; the operand type decides the rate.
struct Work {
  Unit unit = Unit::fma;
  Datatype type = Datatype::f32;
  int parts = 1;  // number of parts of each operation
  auto operator<=>(const Work&) const = default;
};

// The numbers of one partition, without names. The search compares them.
struct Figures {
  struct At {
    std::int64_t transfer_values = 0, transfer_bytes = 0;
    std::int64_t memory_values = 0, memory_bytes = 0;
    std::int64_t ideal_memory_values = 0, ideal_memory_bytes = 0;
    std::int64_t fullest_values = 0, fullest_bytes = 0;  // one memory with all groups that it serves
    std::int64_t ideal_fullest_values = 0, ideal_fullest_bytes = 0;
    std::int64_t groups = 1, groups_per_parent = 1;
    // The part of the transfer that comes from siblings, if the level above consists of their memories: all of it, the
    // bytes that arrive at once, and the number of pieces in which the rest arrives.
    std::int64_t crossing_bytes = 0, crossing_once_bytes = 0;
    double crossing_steps = 1;
    double sector_bytes = 0;  // the transfer in whole sectors; in bounds, the transfer itself
  };
  std::vector<At> levels;          // by level of the machine; the outermost stays empty
  std::vector<double> operations;  // by CostModel::work()
  double masks = 0;                // the operations on lanes that test masks in pieces that a mask cuts
  double steps = 0;                // iterations of the loops of each level above the leaf, over all blocks
  bool overflow = false;
  std::vector<std::int64_t> counts, lengths, reaches, holdings;  // of the model's cuts, footprints and holdings
  std::vector<std::int64_t> regions;                             // of the model's regions
  std::vector<double> shares;                                    // of the model's shares
  std::vector<std::int64_t> instances;  // reused: the number of groups at work, and of those that wait at each level
};

// Seconds; absent if the profile lacks a rate. docs/theory.md, times.
struct Times {
  std::vector<std::optional<double>> ideal_levels, levels;  // by level, seconds
  std::vector<std::optional<double>> ideal_work, work;      // by CostModel::work()
  std::optional<double> ideal, machine;
  double turns = 1;                // number of pieces that the memory above the cores holds one after another
  double per_core = 1;             // average number of blocks per core in one turn
  double rounds = 1;               // blocks that the busiest core runs one after another, in all turns
  double busy = 1;                 // average share of the cores at work, over all rounds
  std::vector<double> busy_level;  // by level down to the cores: the share of its children that load something
};

// The total demand of the blocks of a launch, which does not depend on how cores run them.
struct Demand {
  std::int64_t blocks = 1;         // groups at the core's level
  double turns = 1, per_core = 1;  // as in Times
  double tensor_operations = 0;
  double whole = 1;  // positions of all pieces if ragged pieces count as whole ones, divided by the actual positions
  double units_ideal_s = 0, units_s = 0;  // of the busiest unit, all cores at work: at datasheet and sustained rates
  double compulsory_bytes = 0;            // into the cores' memories; counts more if some memories above them are idle
  double outer_ideal_s = 0, outer_s = 0;  // of the slowest level above the cores
  // The time of what siblings hold, if the level above consists of their memories: the part before the first step, the
  // part that arrives during the steps, and the number of these steps.
  double crossing_once_s = 0, crossing_s = 0, crossing_steps = 1;
  bool masked = false;  // blocks differ in length
  double masks_s = 0;   // of lanes that test masks in pieces that a mask cuts; all cores at work, sustained rate
};

// The cost of all partitions of one shape. A shape is a kernel whose splits have a kind, a wire and a level. Their
// sizes may vary without changing the nest. A model is built once for a shape, and then needs a few multiplications for
// each choice of sizes.
class CostModel {
 public:
  CostModel(const Kernel& shape, const Hardware&);
  // Shares sums over regions with other models.
  void share(KnownSums&);
  static constexpr std::size_t most_levels = std::numeric_limits<std::size_t>::max();
  // `sizes` are by split of the shape's partition. `figures` is reused between calls, so that nothing is allocated.
  void figures(std::span<const std::int64_t> sizes, Figures& figures) const;
  // These compute what a search compares, with memory only in what its level counts, values or bytes. compared()
  // computes all of it. least_held() computes memory only, as a lower bound for all larger sizes. least_moved()
  // computes groups, and transfers, operations and steps as lower bounds for all smaller sizes.
  void compared(std::span<const std::int64_t> sizes, Figures& figures) const;
  // The number of groups is that of the sizes `most`, which have the fewest. Only levels down to `last` are computed.
  void least_held(std::span<const std::int64_t> sizes, std::span<const std::int64_t> most, Figures& figures,
                  std::size_t last = most_levels) const;
  void least_held(std::span<const std::int64_t> sizes, std::size_t level, Figures& figures) const;
  // `held` belongs to the smallest sizes, for which masks let the smallest share of pieces run. If `grains` are given,
  // all smaller sizes are multiples of them, and no deeper split cuts pieces further. A grain equals its size if there
  // is no other size.
  void least_moved(std::span<const std::int64_t> sizes, const Figures& held, Figures& figures,
                   std::span<const std::int64_t> grains = {}) const;
  const std::vector<Work>& work() const { return work_; }
  // `times` is reused like `figures`.
  void times(const Figures&, Times& times) const;
  // The energy of a launch of that duration: of transfers into the levels above `end`, operations, and the idle
  // machine.
  std::optional<double> energy(const Figures&, std::optional<double> seconds, std::size_t end) const;
  Demand demand(const Figures&) const;        // also for bounds; `whole` stays 1
  Demand whole_demand(const Figures&) const;  // the same with `whole`, which needs the figures of figures()
  // What does not fit, level by level; empty if everything fits. `array` and `what` are filled in.
  std::vector<Overrun> overruns(std::span<const std::int64_t> sizes, const Figures&, Model) const;
  // Whether memories above level `end` hold what they must, and no level has more groups than it may have.
  bool fits(const Figures&, Model, std::size_t end) const;
  // The capacity for one of `groups` groups of a parent, in what the level counts. If nothing is contracted, several
  // groups of an innermost level with a shared memory may hold a parent's only piece together, and then reduce it
  // together.
  double room(std::size_t level, std::int64_t groups) const { return groups == 1 ? rooms_[level] : own_rooms_[level]; }
  // The capacity of one memory for all groups that it serves.
  double room_of_all(std::size_t level) const;
  // What the outermost memory must hold for this kernel alone, in the unit that it counts.
  double outermost() const { return outermost_; }
  // The cost with names. `kernel` is the one that the model was made from.
  KernelCost cost(const Kernel& kernel, std::span<const std::int64_t> sizes, Model) const;

  // Sizes along one wire under some of its splits: the number of pieces and the length of a whole one.
  struct Cut {
    WireId wire;
    std::vector<std::size_t> splits;  // indices into the shape's partition, outermost first
  };
  // A product of sizes of wires, numbers of pieces, lengths of pieces, and more.
  struct Product {
    std::vector<WireId> whole;
    std::int64_t fixed = 1;                    // the product of `whole`; the greatest number on overflow
    std::vector<std::size_t> counts, lengths;  // indices into cuts()
    std::vector<std::size_t> footprints;       // indices into footprints()
    std::optional<std::size_t> region;         // index into regions(): of the wires of which masks exclude pieces
    std::vector<std::size_t> shares;           // indices into shares(): the shares of pieces that masks let run
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
    std::vector<std::size_t> held;  // indices into holdings()
    std::vector<std::pair<std::size_t, std::size_t>> shared;
    std::vector<std::size_t> own{};  // the part of `held` that not all columns of the level hold
  };
  // One instant of a memory with all groups that it serves: what a group at work holds, and what groups hold that wait
  // at a level before or after their turn.
  struct Waiting {
    std::size_t level;
    std::vector<std::size_t> before, after;  // indices into holdings()
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
  // The share of the positions of a region's wires that its conditions let through; 1 if sizes are not known.
  double share(const Region&) const;
  const std::vector<Cut>& cuts() const { return cuts_; }
  const std::vector<Region>& regions() const { return regions_; }
  const std::vector<Share>& shares() const { return shares_; }
  const std::vector<Footprint>& footprints() const { return footprints_; }
  // The figures need lengths and, for a footprint of all pieces, counts.
  std::int64_t reach(const Footprint&, std::span<const std::int64_t> sizes, const Figures&) const;
  // A lower bound of the reach of a piece, or of all pieces together. With smaller pieces the first falls and the
  // second grows.
  std::int64_t least_reach(const Footprint&, std::span<const std::int64_t> sizes, const Figures&) const;
  std::int64_t reach_by_pieces(const Footprint&, std::span<const std::int64_t> sizes) const;  // piece by piece
  const std::vector<Transfer>& transfers() const { return transfers_; }
  const std::vector<Holding>& holdings() const { return holdings_; }
  const std::vector<Column>& columns() const { return columns_; }
  const std::vector<std::vector<std::size_t>>& ideal() const { return ideal_; }  // by level, indices into holdings()
  struct Operations {
    std::size_t work;
    double each;
    Product positions;
    bool of_masks = false;  // tests of masks by lanes, in pieces that a mask cuts
  };
  const std::vector<Operations>& operations() const { return operations_; }
  const std::vector<const Rate*>& rates() const { return rates_; }  // of work(); null if the profile has none

 private:
  friend class CostModelBuilder;
  friend class Places;
  void settle(const LoopNest&);  // called after its nest has been walked
  void share_columns();
  void fix_products();
  void find_finest();
  void find_rates();
  // The groups of one wire down to one level, and those above that level.
  struct Grouping {
    std::size_t level;
    std::size_t cut, above;
  };
  static std::int64_t product(const Product&, const Figures&, bool& overflow);
  std::int64_t positions(const Region&, std::int64_t grid) const;
  void sum_regions(std::span<const std::int64_t> sizes, Figures&) const;
  std::int64_t sum_region(std::size_t, std::span<const std::int64_t> sizes) const;
  struct RegionPart;
  std::int64_t sum_pieces(const RegionPart&, std::span<const std::int64_t> sizes) const;
  void find_parts();
  std::size_t part(Region);
  std::int64_t sum_part(const RegionPart&, std::span<const std::int64_t> sizes) const;
  Footprints factor(const Footprint&, const Region&) const;
  std::vector<bool> shaped(const Footprint&, const Region&) const;
  void bound_regions(std::span<const std::int64_t> sizes, std::span<const std::int64_t> grains, Figures&) const;
  std::int64_t least_run(std::size_t region, std::span<const std::int64_t> sizes, std::span<const std::int64_t> grains,
                         const Figures&) const;
  std::int64_t piece(const Cut&, std::span<const std::int64_t> sizes) const;
  void shares(const Figures& held, Figures&) const;
  std::vector<MaskCost> masks(const Diagram&, const Figures&) const;
  std::vector<HeldArray> held_at(std::span<const std::int64_t> sizes, std::size_t level) const;
  std::vector<ArrayCost> array_costs(const Diagram&, const Figures&, std::size_t level) const;
  void name_units(KernelCost&, const Figures&, const Times&, Model) const;
  void name_bound(KernelCost&, const Figures&, const Times&, Model) const;
  std::int64_t reach_of_sum(const Footprint&, const Figures&) const;
  enum class Reach { exact, least };
  void lengths(std::span<const std::int64_t> sizes, Figures&, Reach = Reach::exact) const;
  void counts(std::span<const std::int64_t> sizes, Figures&, Reach = Reach::exact) const;
  void levels(Figures&) const;  // after counts() and the regions
  void sectors(std::span<const std::int64_t> sizes, Figures&) const;
  double sector_bytes(const Transfer&, std::span<const std::int64_t> sizes, double sector, const Figures&) const;
  bool has_siblings(std::size_t level) const;
  std::int64_t crossing(const Transfer&, std::int64_t values, const Figures&) const;
  void cross(const Transfer&, std::int64_t values, Figures&) const;
  double crossing_or_moved(std::size_t level, const Figures&) const;
  double crossing_or_sectors(std::size_t level, const Figures&) const;
  double must_move(std::size_t level, const Figures&) const;
  double from_cache(std::size_t level, const Figures&, double memories) const;
  void share_out(const Figures&, Times&) const;
  void add_outer(Demand&, const Figures&, const Times&) const;
  // The sustained times of transfers into a level: of those from memory, and of those from the cache in front of it.
  struct Sustained {
    std::optional<double> memory, cache;
    bool by_cache() const { return memory && cache && *cache > *memory; }
    std::optional<double> slower() const { return by_cache() ? cache : memory; }
  };
  Sustained sustained(std::size_t level, const Figures&, const Times&) const;
  double waves(const Figures&, const Times&, double most) const;
  double arrival(const Figures&, const Times&) const;
  double iterations(const Figures&, const Times&) const;
  double waits(const Figures&, const Times&) const;
  double ends(const Figures&) const;
  std::optional<double> machine(const Figures&, Times&) const;
  struct Held {
    std::int64_t largest = 0, ideal = 0, fullest = 0, ideal_fullest = 0;
  };
  template <class Weight>
  Held held(std::size_t level, Figures&, const Weight&) const;
  void memory(Figures&, bool everything, std::size_t first, std::size_t last) const;
  void memory(Figures&, bool everything, std::size_t level) const;
  void groups(std::span<const std::int64_t> sizes, Figures&) const;
  void groups(Figures&) const;  // for the sizes of the figures' lengths
  std::int64_t turns_of(std::size_t level, const Figures&) const;
  std::size_t turns_below(std::size_t level, const Figures&) const;
  template <class Weight>
  std::int64_t total(const std::vector<std::size_t>& held, Figures&, const Weight&) const;
  template <class Weight>
  std::int64_t largest(std::size_t level, Figures&, const Weight&) const;
  template <class Weight>
  std::int64_t of_column(const Column&, const std::vector<std::size_t>& held, Figures&, const Weight&) const;
  template <class Weight>
  std::int64_t fullest(std::size_t level, std::optional<std::int64_t> at_work, Figures&, const Weight&) const;
  template <class Weight>
  std::int64_t of_all(const Instant&, std::int64_t at_work, Figures&, const Weight&) const;
  void instances(std::size_t level, Figures&) const;
  std::int64_t parts_of(std::size_t level, const Figures&) const;

  const Hardware* hardware_;
  std::vector<std::int64_t> wire_sizes_;
  std::vector<bool> sized_;                // by wire, whether its size is known
  std::vector<double> own_rooms_, rooms_;  // capacity by level: of one group, and of groups that hold a piece together
  std::vector<Cut> cuts_;
  std::vector<std::size_t> finest_;  // the finest cut of each wire, as an index into cuts_
  std::vector<Footprint> footprints_;
  std::vector<Transfer> transfers_;
  std::vector<Holding> holdings_;
  std::vector<Column> columns_;
  std::vector<std::vector<Instant>> instants_;  // by level; empty if no groups ever wait
  double outermost_ = 0;
  std::vector<std::vector<std::size_t>> ideal_, common_;  // by level: of the ideal model; what all columns hold
  std::vector<std::vector<std::size_t>> held_;            // by level: what any column or the ideal model holds
  std::vector<Work> work_;
  std::vector<const Rate*> rates_;    // of the work; null if the profile has none
  std::vector<const Cache*> caches_;  // in front of each level; null if there is none
  std::vector<Operations> operations_;
  std::vector<Grouping> groupings_;
  std::vector<Region> regions_;
  std::vector<std::int64_t> least_positions_;  // by region: a lower bound of the positions that run
  // A part of a region that is independent of its other parts. `known` has the sums computed so far, by the sizes that
  // cut it. Only one thread uses a model.
  struct RegionPart {
    Region region;
    Footprints factor;
    std::shared_ptr<KnownSums::Sums> known = std::make_shared<KnownSums::Sums>();
  };
  std::vector<RegionPart> parts_;
  // By region: the sum is the product of `parts`. For masked pieces the product of `open` is subtracted.
  struct RegionSum {
    std::vector<std::size_t> parts, open;
  };
  std::vector<RegionSum> sums_;
  mutable std::vector<std::int64_t> sizes_of_cuts_;  // reused
  std::vector<Mask> masks_;
  std::vector<Share> shares_;
  std::vector<Product> steps_;
  std::int64_t compulsory_bytes_ = 0;
};

// H and M at the first level below the outermost, as readable expressions, and the least H to leading order.
ClosedForm closed_form(const CostModel&, const Kernel& shape, const Hardware&, Model);

}  // namespace napkin
