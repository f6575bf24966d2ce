// What every column of a step costs, resource by resource.
#pragma once

#include <array>

#include "cost/model.hpp"
#include "timing/cluster.hpp"
#include "timing/variables.hpp"

namespace napkin {

struct IterationClocks {
  std::vector<ColumnClocks> columns;  // only where they are asked for
  std::array<ResourceClocks, 5> resources{{{Resource::tensor, 0, 0, 0},
                                           {Resource::fma, 0, 0, 0},
                                           {Resource::sfu, 0, 0, 0},
                                           {Resource::shared, 0, 0, 0},
                                           {Resource::copy, 0, 0, 0}}};  // without their slack
  const ResourceClocks& at(Resource on) const { return resources[static_cast<std::size_t>(on)]; }
  // Seconds of a block: contractions of tiles alone, what is neither, contractions of what was computed, and the way
  // in.
  double leading = 0, pointwise = 0, trailing = 0, copy = 0;
  double leading_units = 0, trailing_units = 0;  // of contractions, without reading what takes longer
  double bound = 0;                              // of the slowest resource
  double unhidden = 0;   // share of what could overlap that does not, among blocks that nothing makes take turns
  double waits = 0;      // from the last instruction of a contraction to its result, of all whose results lanes work on
  double last_copy = 0;  // the way in, in the last round of blocks: cores without one leave the others their share
  double handover = 0;   // when the matrix units pass from one warpgroup to another, of all warpgroups of the block
  bool by_cache = false;  // of the way in, what the cache answers takes longest
  Resource slowest = Resource::tensor;
  double operations = 0;   // on the matrix units
  double inner_bytes = 0;  // between the core's memory and registers, with those of other bodies
  // For each step, of columns of other bodies: seconds, one after another, on what, and operations on the matrix units.
  double outside = 0, operations_outside = 0;
  std::array<double, 5> outside_on{};
  // Of what the busiest part of a core could hide, so much it does not. Contractions that nothing follows but
  // contractions read their tiles ahead and hide them.
  double beside(bool with_outside) const;

  double serial() const { return leading + pointwise + trailing; }
  double alone() const { return serial() + waits; }  // of a warpgroup whose own columns follow one another
  // Of a core of which the busiest partition works so many times as long as all do on average.
  IterationClocks of_busiest_partition(double unevenness) const;
  void find_bound();
  IterationClocks in_last_round() const;
  IterationClocks without_waits() const;
};
// What a step has of the whole launch.
struct OfLaunch {
  double last_round = 1;            // the share of the cores that have a block in the last round
  double masks_by_operation_s = 0;  // for each operation of matrix units, what lanes do for masks, all cores at work
};
// Rates of the ideal model are the datasheet's. `cached`: tiles that several blocks read at once come from memory once.
// `least`: in totals, as if instructions were always full and every row of a block could share what one of them reads.
// `passage`: of all that the step brings and takes.
enum class Detail : std::uint8_t { totals, columns, least };
IterationClocks clocks_of(const Mainloop&, const RowDivision&, const Passage&, const OfLaunch&, const Hardware&,
                          Model rates, bool cached, Detail = Detail::totals);

}  // namespace napkin
