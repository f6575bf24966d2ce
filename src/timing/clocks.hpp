// The time of every column of an iteration on every resource.
#pragma once

#include <array>

#include "cost/times/demand.hpp"
#include "timing/cluster.hpp"
#include "timing/variables.hpp"

namespace napkin {

struct IterationClocks {
  std::vector<ColumnClocks> columns;  // only with Detail::columns
  std::array<ResourceClocks, 5> resources{{{Resource::tensor, 0, 0, 0},
                                           {Resource::fma, 0, 0, 0},
                                           {Resource::sfu, 0, 0, 0},
                                           {Resource::shared, 0, 0, 0},
                                           {Resource::copy, 0, 0, 0}}};  // without their slack
  const ResourceClocks& at(Resource on) const { return resources[static_cast<std::size_t>(on)]; }
  // Seconds of a block: contractions of tiles alone, columns that are no contractions, contractions of computed values,
  // and the copies into the core.
  double leading = 0, pointwise = 0, trailing = 0, copy = 0;
  double leading_units = 0, trailing_units = 0;  // of contractions on the matrix units, without reads that take longer
  double bound = 0;                              // of the slowest resource
  double unhidden = 0;   // share of the possible overlap that is lost, among blocks that nothing makes take turns
  double waits = 0;      // from the last instruction of a contraction to its result, for all whose results lanes use
  double last_copy = 0;  // the copies in the last round of blocks, in which idle cores leave the others their share
  double handover = 0;   // for passing the matrix units from one warpgroup to another, of all warpgroups of the block
  double instructions = 0;  // of a single warp, for instructions that no resource counts and for its own results
  double issue = 0;         // in which the schedulers of the core issue those of all warps
  bool by_cache = false;    // the part of the copies that the cache delivers takes longest
  Resource slowest = Resource::tensor;
  double operations = 0;   // on the matrix units
  double inner_bytes = 0;  // between the core's memory and registers, including those outside the mainloop
  // For each iteration, of columns outside the mainloop: seconds one after another, and operations on the matrix units;
  // then the seconds by resource.
  double outside = 0, operations_outside = 0;
  std::array<double, 5> outside_on{};
  // The time that the busiest part of a core could hide but does not. Contractions that are followed only by
  // contractions read their tiles ahead, which hides the reads.
  double beside(bool with_outside) const;

  double serial() const { return leading + pointwise + trailing; }
  double alone() const { return serial() + waits; }  // of a warpgroup whose own columns do not overlap
  // The clocks of a core whose busiest partition works `unevenness` times as long as the average partition.
  IterationClocks of_busiest_partition(double unevenness) const;
  void find_bound();
  IterationClocks in_last_round() const;
  IterationClocks without_waits() const;
};
// A mainloop on the cores of a machine: how the rows of a block are divided, and the model of the machine.
struct OnCore {
  const Mainloop& mainloop;
  const RowDivision& warpgroup;
  const Hardware& hardware;
  Model model;
};
// The resource that a unit is.
Resource resource_of(Unit);
// Properties of the whole launch that an iteration depends on.
struct OfLaunch {
  double last_round = 1;            // the share of the cores that have a block in the last round
  double masks_by_operation_s = 0;  // time of lanes for masks per operation of matrix units, with all cores busy
};
// In the ideal model, rates are the datasheet's. The passage is that of all tiles and outputs of an iteration.
// `cached`: tiles that several blocks read at once come from memory once. Detail::least: totals as if all instructions
// were full and all rows of a block shared what one of them reads.
enum class Detail : std::uint8_t { totals, columns, least };
IterationClocks clocks_of(const OnCore&, const Passage&, const OfLaunch&, bool cached, Detail = Detail::totals);

}  // namespace napkin
