// Columns and saves of one row, on the values that the lanes assigned to the row hold.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "emit/cuda/rows/row_page.hpp"
#include "emit/shared/statements.hpp"

namespace napkin {

class RowColumnPrinter : StatementPrinter<RowPage, OpenRow> {
 public:
  explicit RowColumnPrinter(RowPage&);
  void print(const Compute&);
  void print(const Save&);

 private:
  using Here = OpenRow;

  void fold(const Compute&);
  void fold_values(const Compute&, const std::string& partial, Here);
  void fold_window(const Compute&);
  void join_lanes(const Compute&, const std::string& partial);
  void save_number(BufferId);
  void save_vectors(BufferId);

  // Along rows in shared memory, a lane reads each of its vectors once for all their positions, and computes there
  // everything that a fold or an output needs of the row. These open a vector, read what `to` needs, and open a loop
  // over its positions, where they compute that.
  void open_vector_of(BufferId to, Here&);
  void open_positions_of(BufferId to, Here&);
  std::vector<const Compute*> on_the_way(BufferId to) const;

  int open_cells(const Compute&, Here&) override;
  std::string slot(BufferId, const Here&) const override;
  Typed read(const Compute&, ExprId access, const Here&) override;
  std::string rounded(BufferId, const std::string& text) const override;

  std::set<BufferId> wanted_;            // computed buffers that are read or added to later
  std::vector<const Compute*> columns_;  // all columns, in the order of the nest
};

}  // namespace napkin
