// The page of a kernel that assigns rows to warps, and loops over the values of a row that a lane has.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "emit/cuda/page.hpp"
#include "napkin/device.hpp"

namespace napkin {

// The open loops on a row: the position of every wire, and the position of a lane before it is clamped to the end; and
// the index of the current value among those of the lane.
struct OpenRow {
  std::map<WireId, std::string> position;
  std::string unclamped, value;
};

struct RowPage : Page {
  RowPage(const ThreadedKernel&, const RowNest&, const CodeNames&);

  const RowNest& rows;
  const std::string lane, part;               // the lane's number in its row, and the index of the partial result
  const std::string index, vector;            // counters: a vector's or lane's values; a lane's vectors
  std::map<BufferId, const Access*> read_as;  // accesses of inputs
  std::map<BufferId, std::string> read_into;  // inputs read as vectors where needed: the name of the current vector
  std::set<BufferId> wanted;                  // computed buffers that are read or added to later
  std::vector<const Compute*> columns;        // all columns, in the order of the nest

  // Whether the buffer has the wire along lanes.
  bool has_lanes(BufferId) const;
  std::int64_t lanes_of_row() const { return rows.warps_of_row * lanes_of_warp; }
  const WirePiece& piece() const { return own[rows.lanes.index]; }  // of the wire along lanes
  std::string left(const OpenRow& here) const { return piece().end + " - " + here.unclamped; }
  std::string type_of(BufferId) const;
};

// Declares the rows in shared memory, and names for vectors.
void declare_rows(RowPage&);
// "float p[16]", "napkin_values<__half, 8> S_reg[2]"; empty if the buffer is not held in registers.
std::string declared(const RowPage&, BufferId);

// The row outside of all loops.
OpenRow whole_row(const RowPage&);
// Open loops over all values of a lane; over its vectors; over those of a row in shared memory; and over the positions
// of one vector.
void open_values(RowPage&, OpenRow&);
void open_vectors(RowPage&, OpenRow&);
void open_row(RowPage&, OpenRow&);
void open_vector(RowPage&, OpenRow&);
// Opens loops over the other wires of a fold, and returns their number.
int open_window(RowPage&, const Compute&, OpenRow&);
// Whether a lane's value is inside the row.
std::string is_inside(const RowPage&);

}  // namespace napkin
