// Loads, columns and saves of one row, on the values that the lanes assigned to the row hold.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "emit/cuda/page.hpp"
#include "emit/shared/statements.hpp"
#include "napkin/device.hpp"

namespace napkin {

// The open loops on a row: the position of every wire, and the position of a lane before it is clamped to the end.
struct OpenRow {
  std::map<WireId, std::string> position;
  std::string unclamped;
};

class RowColumnPrinter : StatementPrinter<Page, OpenRow> {
 public:
  RowColumnPrinter(Page&, const RowNest&);
  void print(const Load&);
  void print(const Compute&);
  void print(const Save&);
  // "float p[16]", "napkin_values<__half, 8> S_reg[2]"; empty if the buffer is not held in registers.
  std::string declared(BufferId) const;
  std::string type_of(BufferId) const;
  // Declares the rows in shared memory, and names for vectors.
  void declare_rows();

  const std::string lane, part;  // the lane's number in its row, and the index of the current partial result

 private:
  using Here = OpenRow;
  Here row() const;
  int open_cells(const Compute&, Here&) override;
  void open_values(Here&);
  void open_vectors(Here&);
  int open_window(const Compute&, Here&);
  // Along rows in shared memory: loops over a lane's vectors, reads of a vector, a loop over the positions of one, and
  // what is computed there on the way to an array.
  void open_row(Here&);
  void read_row(BufferId to, const Here&);
  void read_vector(BufferId, const Here&);
  void open_vector(Here&);
  void compute_along(BufferId to, const Here&);
  std::vector<const Compute*> on_the_way(BufferId to) const;
  std::string end() const;
  std::string left(const Here&) const;
  std::string is_inside() const;

  void fold(const Compute&);
  void fold_values(const Compute&, const std::string& partial, bool along, Here);
  bool reads_window(const Compute&) const;
  void fold_window(const Compute&);
  void join_lanes(const Compute&, const std::string& partial);

  bool has_lanes(BufferId) const;
  std::string slot(BufferId, const Here&) const override;
  std::string written(ArrayId, const std::string& text) const;
  Typed read(const Compute&, ExprId access, const Here&) override;
  // A value that is only saved is rounded when it is saved.
  std::string rounded(BufferId id, const std::string& text) const override {
    return wanted_.contains(id) ? StatementPrinter::rounded(id, text) : without_brackets(text);
  }

  const RowNest& rows_;
  const std::string index_, vector_;           // counters: a vector's or lane's values; a lane's vectors
  std::string value_;                          // the current value of a lane
  std::map<BufferId, const Access*> read_as_;  // accesses of inputs that are held in registers
  std::set<BufferId> wanted_;                  // computed buffers that are read or added to later
  std::vector<const Compute*> columns_;        // all columns, in the order of the nest
  std::map<BufferId, std::string> along_;      // inputs read as vectors where needed: the name of the current vector
};

}  // namespace napkin
