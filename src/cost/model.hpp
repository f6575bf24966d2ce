// The cost of every partition of one shape, read off its loop nest once.
//
// Where a nest loads, saves, holds and computes does not depend on the sizes of pieces; how much follows from products
// of wire sizes, numbers of pieces and lengths of pieces. estimate(), the search and the closed forms all use these
// products, so that they cannot disagree.
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
  int parts = 1;  // of which each operation consists
  auto operator<=>(const Work&) const = default;
};

// The numbers of one partition, without names: what the search compares.
struct Figures {
  struct At {
    std::int64_t transfer_values = 0, transfer_bytes = 0;
    std::int64_t memory_values = 0, memory_bytes = 0;
    std::int64_t ideal_memory_values = 0, ideal_memory_bytes = 0;
    std::int64_t fullest_values = 0, fullest_bytes = 0;  // of one memory, with all groups that it serves
    std::int64_t ideal_fullest_values = 0, ideal_fullest_bytes = 0;
    std::int64_t groups = 1, groups_per_parent = 1;
    // Of the transfer, what a sibling holds, where the level above is the siblings: all of it, what comes at once, and
    // in how many pieces the rest comes.
    std::int64_t crossing_bytes = 0, crossing_once_bytes = 0;
    double crossing_steps = 1;
    double sector_bytes = 0;  // the transfer in whole sectors; in bounds, the transfer itself
  };
  std::vector<At> levels;          // by level of the machine; the outermost stays empty
  std::vector<double> operations;  // by CostModel::work()
  double masks = 0;                // of them, of lanes, what masks ask of the pieces that they cut
  double steps = 0;                // iterations of the loops of each level above the leaf, over all blocks
  bool overflow = false;
  std::vector<std::int64_t> counts, lengths, reaches, holdings;  // of the model's cuts, footprints and holdings
  std::vector<std::int64_t> regions;                             // and regions
  std::vector<double> shares;                                    // of the pieces that masks let run
  std::vector<std::int64_t> instances;  // reused: of groups at work, and of those that wait at each level
};

// Seconds and joules; absent where the profile lacks a rate. docs/theory.md, times.
struct Times {
  std::vector<std::optional<double>> ideal_levels, levels;  // by level, seconds
  std::vector<std::optional<double>> ideal_work, work;      // by CostModel::work()
  std::optional<double> ideal, machine;
  double turns = 1;                // pieces that the memory above the cores holds one after another
  double per_core = 1;             // blocks of a turn on average of a core
  double rounds = 1;               // blocks that the busiest core runs one after another, in all turns
  double busy = 1;                 // share of the cores at work, over all rounds
  std::vector<double> busy_level;  // by level down to the cores, share of its children with something to load
};

// What the blocks of a launch must do together, however cores run them.
struct Demand {
  std::int64_t blocks = 1;         // groups at the core's level
  double turns = 1, per_core = 1;  // as in Times
  double tensor_operations = 0;
  double whole = 1;  // positions of all pieces, were the ragged ones as long as the others, over those that there are
  double units_ideal_s = 0, units_s = 0;  // of the busiest unit, all cores at work: as on the datasheet, and sustained
  double compulsory_bytes = 0;  // into the cores' memories; more where not all memories above them are at work
  double outer_ideal_s = 0, outer_s = 0;  // of the slowest level above the cores
  // Of the last, what siblings hold: what is there before the first step, and what comes in so many steps.
  double crossing_once_s = 0, crossing_s = 0, crossing_steps = 1;
  bool masked = false;  // blocks differ in length
  double masks_s = 0;   // of lanes, for what masks ask of the pieces that they cut; all cores at work, sustained
};

// The cost of every partition of one shape. A shape is a kernel whose splits have a kind, a wire and a level; their
// sizes may vary without changing the nest. Built once for a shape, then a few multiplications for each choice of
// sizes.
class CostModel {
 public:
  CostModel(const Kernel& shape, const Hardware&);
  // Takes sums that other models have told, and tells them its own.
  void share(KnownSums&);
  static constexpr std::size_t most_levels = std::numeric_limits<std::size_t>::max();
  // `sizes` by split of the shape's partition. `figures` is reused between calls, so that nothing is allocated.
  void figures(std::span<const std::int64_t> sizes, Figures& figures) const;
  // What a search compares: memory only in what its level counts, values or bytes. All of it; or only memory, that no
  // larger sizes undercut; or transfers, operations and steps that no smaller sizes undercut, and groups.
  void compared(std::span<const std::int64_t> sizes, Figures& figures) const;
  // The number of groups is that of `most`, of which there are fewest. Of levels down to the last one asked about.
  void least_held(std::span<const std::int64_t> sizes, std::span<const std::int64_t> most, Figures& figures,
                  std::size_t last = most_levels) const;
  void least_held(std::span<const std::int64_t> sizes, std::size_t level, Figures& figures) const;
  // `held` is of the smallest sizes, of which masks let fewest pieces run. `grains`, where given, are sizes of which
  // all smaller sizes are multiples, equal to `sizes` where there is no other size; no deeper split cuts pieces
  // further.
  void least_moved(std::span<const std::int64_t> sizes, const Figures& held, Figures& figures,
                   std::span<const std::int64_t> grains = {}) const;
  const std::vector<Work>& work() const { return work_; }
  // `times` is reused like `figures`.
  void times(const Figures&, Times& times) const;
  // Of a launch that takes so long: of what enters levels above `end`, of operations, and of the idle machine.
  std::optional<double> energy(const Figures&, std::optional<double> seconds, std::size_t end) const;
  Demand demand(const Figures&) const;        // also of bounds, in which no piece is ragged
  Demand whole_demand(const Figures&) const;  // of figures of all sizes
  // What does not fit, level by level; empty if it fits. `array` and `what` are filled in.
  std::vector<Overrun> overruns(std::span<const std::int64_t> sizes, const Figures&, Model) const;
  // Whether memories above level `end` hold what they must, and every level has no more groups than it may have.
  bool fits(const Figures&, Model, std::size_t end) const;
  // Of one of so many groups of a parent, in what the level counts. A leaf whose groups have one memory may hold the
  // only piece in several of them, where nothing is contracted: what each of them folds, all then fold.
  double room(std::size_t level, std::int64_t groups) const { return groups == 1 ? rooms_[level] : own_rooms_[level]; }
  // Of one memory with all groups that it serves.
  double room_of_all(std::size_t level) const;
  // What the outermost memory must hold for this kernel alone, in what it counts.
  double outermost() const { return outermost_; }
  // With names: `kernel` is what the model was made from.
  KernelCost cost(const Kernel& kernel, std::span<const std::int64_t> sizes, Model) const;

  // Sizes along one wire under some of its splits: the number of pieces and the length of a whole one.
  struct Cut {
    WireId wire;
    std::vector<std::size_t> splits;  // indices into the shape's partition, outermost first
  };
  // A product: of the sizes of wires, of numbers of pieces, of lengths of pieces.
  struct Product {
    std::vector<WireId> whole;
    std::int64_t fixed = 1;                    // the product of `whole`; the greatest number where it overflows
    std::vector<std::size_t> counts, lengths;  // indices into cuts()
    std::vector<std::size_t> footprints;       // indices into footprints()
    std::optional<std::size_t> region;         // index into regions(): of wires that masks leave pieces of out
    std::vector<std::size_t> shares;           // indices into shares(): it counts as often as masks let a piece run
  };
  // The pieces that have an entry of a random mask, as a share of all: 1 - (1 - density)^entries. Of a piece that is
  // ragged as of a whole one.
  struct Share {
    double density;   // of the entries that are asked for
    Product entries;  // of a whole piece
  };
  // Values that indices which share wires reach together: over all pieces of their wires, or in one whole piece.
  struct Footprint {
    std::vector<std::pair<Index, std::int64_t>> indices;  // with the size of their dimension
    std::vector<std::size_t> cuts;                        // of the wires in them
    bool all_pieces = true;
    bool inside = false;  // one index that never leaves its dimension
    bool steps = false;   // one index, of one wire, that takes every place in turn: `x / 64`
  };
  struct Transfer {
    std::size_t level;
    ArrayId array;
    bool saved;
    Datatype type;     // in which it crosses
    int bytes, share;  // that many bytes hold `share` values
    Product values;
    Product loads = {};  // how often, of all groups
    // Of its last dimensions, innermost first, the cuts of their wires, while each is one wire; whether all are.
    std::vector<std::size_t> rows = {};
    bool rows_alone = false;
    bool from_file = false;  // an input of the diagram, which may lie wherever it is read
    std::int64_t array_values = 0;

    std::int64_t bytes_of(std::int64_t all) const { return (share == 1 ? all : (all + share - 1) / share) * bytes; }
    double width() const { return static_cast<double>(bytes) / share; }  // of one value, in bytes
  };
  struct Holding {
    ArrayId array;
    std::string name;
    int bytes;
    Product values;
    Datatype type, stored;  // here, and of the array
  };
  // What one column holds at one level; the two holdings of `shared` take the place of the larger.
  struct Column {
    std::size_t level;
    std::vector<std::size_t> held;  // indices into holdings()
    std::vector<std::pair<std::size_t, std::size_t>> shared;
    std::vector<std::size_t> own{};  // of `held`, those that not all columns of the level hold
  };
  // One instant of a memory with all groups that it serves: what one at work holds, and what others hold that wait for
  // their turn at a level, before it or after it.
  struct Waiting {
    std::size_t level;
    std::vector<std::size_t> before, after;  // indices into holdings()
    bool operator==(const Waiting&) const = default;
  };
  struct Instant {
    Column at_work{};
    // Where groups of this level take turns, and none between: tiles of the memory stay for all of these turns.
    std::size_t turns = 0;  // 0: where none below do
    std::vector<Waiting> waiting{};
  };
  // A loop that passes pieces over.
  struct Mask {
    Split loop;
    std::vector<Condition> needs;
    std::vector<std::string> asks;
    Product run, all;  // pieces of the wires in the conditions: those that are run
  };
  // Positions of a region's wires that its conditions let through, as a share of all; 1 where sizes are not known.
  double share(const Region&) const;
  const std::vector<Cut>& cuts() const { return cuts_; }
  const std::vector<Region>& regions() const { return regions_; }
  const std::vector<Share>& shares() const { return shares_; }
  const std::vector<Footprint>& footprints() const { return footprints_; }
  // Of figures that have lengths, and for all pieces counts.
  std::int64_t reach(const Footprint&, std::span<const std::int64_t> sizes, const Figures&) const;
  // What no piece, or all of them together, reaches less than: it falls with smaller pieces, or grows.
  std::int64_t least_reach(const Footprint&, std::span<const std::int64_t> sizes, const Figures&) const;
  std::int64_t reach_by_pieces(const Footprint&, std::span<const std::int64_t> sizes) const;  // the same, one by one
  const std::vector<Transfer>& transfers() const { return transfers_; }
  const std::vector<Holding>& holdings() const { return holdings_; }
  const std::vector<Column>& columns() const { return columns_; }
  const std::vector<std::vector<std::size_t>>& ideal() const { return ideal_; }  // by level, indices into holdings()
  struct Operations {
    std::size_t work;
    double each;
    Product positions;
    bool of_masks = false;  // of lanes, on pieces that a mask cuts
  };
  const std::vector<Operations>& operations() const { return operations_; }
  const std::vector<const Rate*>& rates() const { return rates_; }  // of work(); null where the profile has none

 private:
  friend class CostModelBuilder;
  friend class Places;
  void settle(const LoopNest&);  // once its nest has been walked
  void share_columns();
  void fix_products();
  void find_finest();
  void find_rates();
  // The groups of one wire down to one level: all of them, and those above it.
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
  // Of what comes into a level: what memory brings, and what the cache in front of it answers.
  struct Sustained {
    std::optional<double> memory, cache;
    bool by_cache() const { return memory && cache && *cache > *memory; }
    std::optional<double> slower() const { return by_cache() ? cache : memory; }
  };
  Sustained sustained(std::size_t level, const Figures&, const Times&) const;
  double waits(const Figures&, const Times&) const;
  double exposed(const Figures&, const Times&) const;
  struct Held {
    std::int64_t largest = 0, ideal = 0, fullest = 0, ideal_fullest = 0;
  };
  template <class Weight>
  Held held(std::size_t level, Figures&, const Weight&) const;
  void memory(Figures&, bool everything, std::size_t first, std::size_t last) const;
  void memory(Figures&, bool everything, std::size_t level) const;
  void groups(std::span<const std::int64_t> sizes, Figures&) const;
  void groups(Figures&) const;  // of the sizes whose lengths are there
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
  std::vector<double> own_rooms_, rooms_;  // by level: of one group, and of the groups that may hold a piece together
  std::vector<Cut> cuts_;
  std::vector<std::size_t> finest_;  // of them, one of each wire
  std::vector<Footprint> footprints_;
  std::vector<Transfer> transfers_;
  std::vector<Holding> holdings_;
  std::vector<Column> columns_;
  std::vector<std::vector<Instant>> instants_;  // by level; none where no groups ever wait
  double outermost_ = 0;
  std::vector<std::vector<std::size_t>> ideal_, common_;  // by level; what all of its columns hold
  std::vector<std::vector<std::size_t>> held_;            // by level, what any column or the ideal holds
  std::vector<Work> work_;
  std::vector<const Rate*> rates_;    // of the work; null where the profile has none
  std::vector<const Cache*> caches_;  // in front of each level; null where there is none
  std::vector<Operations> operations_;
  std::vector<Grouping> groupings_;
  std::vector<Region> regions_;
  std::vector<std::int64_t> least_positions_;  // by region: a lower bound of the positions it runs
  // Independent of the others of its region; sums already told, by the sizes that cut it. Of a model that one thread
  // asks.
  struct RegionPart {
    Region region;
    Footprints factor;
    std::shared_ptr<KnownSums::Sums> known = std::make_shared<KnownSums::Sums>();
  };
  std::vector<RegionPart> parts_;
  // By region, the parts whose product its sum is; of what is masked, less the product of those that are open.
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
