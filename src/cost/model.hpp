// The cost of every partition of one shape, read off its loop nest once.
//
// Where a nest loads, saves, holds and computes does not depend on the sizes of pieces; how much follows from products
// of wire sizes, numbers of pieces and lengths of pieces. estimate(), the search and the closed forms all use these
// products, so that they cannot disagree.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "napkin/cost.hpp"

namespace napkin {

// Operations of one kind on one unit; the operand type decides the rate.
struct Work {
  Unit unit = Unit::fma;
  Datatype type = Datatype::f32;
  auto operator<=>(const Work&) const = default;
};

// The numbers of one partition, without names: what the search compares.
struct Figures {
  struct At {
    std::int64_t transfer_values = 0, transfer_bytes = 0;
    std::int64_t memory_values = 0, memory_bytes = 0;
    std::int64_t ideal_memory_values = 0, ideal_memory_bytes = 0;
    std::int64_t groups = 1, groups_per_parent = 1;
  };
  std::vector<At> levels;          // by level of the machine; the outermost stays empty
  std::vector<double> operations;  // by CostModel::work()
  bool overflow = false;
};

struct Times {
  std::vector<std::optional<double>> ideal_levels, levels;  // by level, seconds
  std::vector<std::optional<double>> ideal_work, work;      // by CostModel::work()
  std::optional<double> ideal, machine, energy;
};

// The cost of every partition of one shape. A shape is a kernel whose splits have a kind, a wire and a level; their
// sizes may vary without changing the nest. Built once for a shape, then a few multiplications for each choice of
// sizes.
class CostModel {
 public:
  CostModel(const Kernel& shape, const Hardware&);
  // `sizes` by split of the shape's partition. `figures` is reused between calls, so that nothing is allocated.
  void figures(std::span<const std::int64_t> sizes, Figures& figures) const;
  const std::vector<Work>& work() const { return work_; }
  Times times(const Figures&) const;
  // What does not fit, level by level; empty if it fits. `array` and `what` are filled in.
  std::vector<Overrun> overruns(std::span<const std::int64_t> sizes, const Figures&, Model) const;
  bool fits(const Figures&, Model) const;
  KernelCost cost(std::span<const std::int64_t> sizes, Model) const;

  // Sizes along one wire under some of its splits: the number of pieces and the length of a whole one.
  struct Cut {
    WireId wire;
    std::vector<std::size_t> splits;  // indices into the shape's partition, outermost first
  };
  // A product: of the sizes of wires, of numbers of pieces, of lengths of pieces.
  struct Product {
    std::vector<WireId> whole;
    std::vector<std::size_t> counts, lengths;  // indices into cuts()
    std::vector<std::size_t> footprints;       // indices into footprints()
    double factor = 1;
  };
  // Values that an affine index reaches over the pieces of its wires.
  struct Footprint {
    Index index;
    std::vector<std::size_t> cuts;  // of the index's terms
    std::int64_t array_size = 0;
    bool all_pieces = true;  // summed over all pieces, else of one whole piece
  };
  struct Transfer {
    std::size_t level;
    ArrayId array;
    bool saved;
    Product values;
  };
  struct Holding {
    ArrayId array;
    std::string name;
    int bytes;
    Product values;
  };
  // What one column holds at one level; `overwritten` holdings share a place with another.
  struct Column {
    std::size_t level;
    std::vector<std::size_t> held;  // indices into holdings()
    std::vector<std::pair<std::size_t, std::size_t>> shared;
  };
  const std::vector<Cut>& cuts() const { return cuts_; }
  const std::vector<Footprint>& footprints() const { return footprints_; }
  const std::vector<Transfer>& transfers() const { return transfers_; }
  const std::vector<Holding>& holdings() const { return holdings_; }
  const std::vector<Column>& columns() const { return columns_; }
  const std::vector<std::vector<std::size_t>>& ideal() const { return ideal_; }  // by level, indices into holdings()

 private:
  friend class CostModelBuilder;
  Kernel shape_;
  const Hardware* hardware_;
  std::vector<Cut> cuts_;
  std::vector<Footprint> footprints_;
  std::vector<Transfer> transfers_;
  std::vector<Holding> holdings_;
  std::vector<Column> columns_;
  std::vector<std::vector<std::size_t>> ideal_;
  std::vector<Work> work_;
  std::vector<std::pair<std::size_t, Product>> operations_;  // index into work_
};

// H and M at the first level below the outermost, as readable expressions, and the least H to leading order.
ClosedForm closed_form(const CostModel&, const Kernel& shape, const Hardware&, Model);

}  // namespace napkin
