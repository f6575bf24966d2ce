// One attempt to lay the rows of a kernel over warps, with a given wire along lanes. What does not fit is thrown as a
// Misfit.
#pragma once

#include <set>

#include "distribute/fit.hpp"
#include "distribute/wires.hpp"

namespace napkin {

// What becomes of the wire along lanes, and how many lanes and values there are for it.
enum class RowSplit : std::uint8_t { grouped, whole, streamed, staged };
struct RowShape {
  WireId lanes;
  RowSplit split = RowSplit::whole;
  std::int64_t vector = 1, vectors = 1;
  int warps_of_row = 1;
  bool shares = true;  // rows of a block share what they all read

  std::int64_t piece() const { return vector * vectors * warps_of_row * lanes_of_warp; }
};

// All reads of inputs.
std::vector<Access> inputs_read(const Program&);

// The wires along which inputs, then outputs, lie in memory; and the shapes to try of one.
std::vector<WireId> wires_along_memory(const Kernel&);
std::vector<RowShape> row_shapes(const Kernel&, const Verdict&, std::size_t leaf);

class RowAttempt {
 public:
  RowAttempt(const Kernel& kernel, const Hardware& hardware, const RowShape& shape)
      : kernel_(kernel), hardware_(hardware), shape_(shape) {}
  RowNest run();

 private:
  const LoopNest& nest() const { return *result_.nest; }
  const Diagram& diagram() const { return nest().scratch; }
  std::string name(BufferId id) const { return diagram().at(nest().at(id).array).name; }
  std::size_t leaf() const { return hardware_.levels.size() - 1; }

  // The partition

  void find_rows();
  void find_partition();
  std::int64_t size(WireId) const;
  std::optional<WireId> shared_row() const;
  std::int64_t shared_rows(WireId) const;
  void find_nest();

  // What columns and reads are

  void check_columns(const LoopBody&, const Extents&);
  void check_column(const Compute&, const Extents&);
  void check_computed(const Compute&, const Access&, const Extents&) const;
  void find_read(const Compute&, ExprId, BufferId, const Extents&);
  RowRead kind(const Compute&, const Access&, const Extents&) const;
  void check_outputs() const;
  void check_traffic() const;

  // Rows in shared memory

  void stage();
  std::ptrdiff_t loops_that_read(BufferId) const;

  void count_registers();
  int blocks_together() const;
  std::int64_t registers(BufferId) const;

  const Kernel& kernel_;
  const Hardware& hardware_;
  RowShape shape_;
  RowNest result_;
  std::vector<WireId> rows_;
  std::map<BufferId, std::vector<Index>> read_at_;
  std::vector<const Compute*> columns_;
};

}  // namespace napkin
