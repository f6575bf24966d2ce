// Where the arrays of an iteration are: tiles in the core's memory, computed arrays in the registers of the warpgroup
// that computes them.
#pragma once

#include "napkin/timing.hpp"
#include "timing/lane_registers.hpp"

namespace napkin {

class Variables {
 public:
  Variables(const Mainloop&, const Partition&, const Hardware&, Model);

  // Tiles and outputs in the core's memory; a streamed tile has `stages` stages.
  std::vector<Variable> shared(const RowDivision&, std::int64_t stages) const;

  // The most bytes of a warpgroup that are alive at a column. `overlapped`: columns of the next iteration begin while
  // the last contractions of this one run, so that the operands of these stay alive.
  std::int64_t register_bytes(const RowDivision&, bool overlapped) const;
  // The same column by column, with names.
  std::vector<ColumnVariables> registers(const RowDivision&, bool overlapped) const;
  std::vector<std::pair<std::string, std::int64_t>> subloops() const;

 private:
  // The buffers alive at a column, for any sizes, and operands whose registers its result may reuse.
  struct Alive {
    std::vector<BufferId> buffers, replaced;
  };
  // A part of a staged operand or of a result that needs registers in addition to the buffers alive.
  struct Part {
    BufferId buffer;
    std::vector<std::int64_t> shape;
    const char* note;
  };
  Alive alive_at(std::size_t column) const;
  Variable variable(BufferId, std::int64_t rows) const;
  Variable variable(const Part&) const;
  std::int64_t bytes(BufferId, std::int64_t rows) const;
  std::int64_t bytes(const Part&) const;
  Datatype type_of(BufferId) const;
  bool is_alive(std::size_t column, BufferId) const;
  bool outlives(std::size_t column, BufferId) const;
  std::vector<BufferId> computed() const;
  std::int64_t saved_in_place(std::size_t column, std::int64_t rows) const;
  std::int64_t register_bytes(std::size_t column, std::int64_t rows) const;
  std::vector<BufferId> alive_outside(const MainloopOperation&) const;
  std::vector<Part> parts(const RowDivision&, bool overlapped) const;
  void add_kept(std::vector<Part>&, const RowDivision&) const;
  std::int64_t subloop(WireId, std::int64_t otherwise) const;
  std::optional<Part> fragment(const RowDivision&) const;
  std::optional<Part> product(const RowDivision&) const;
  bool in_tensor_memory(BufferId) const;

  const Mainloop& mainloop_;
  const Partition& partition_;
  const Hardware& hardware_;
  Model model_;
  Datatype uniform_;          // of the ideal model
  std::vector<Alive> alive_;  // by column
  std::vector<std::vector<BufferId>> alive_outside_;
};

}  // namespace napkin
