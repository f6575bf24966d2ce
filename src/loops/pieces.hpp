// Intervals of wires, and the places that an index reaches over them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "diagram/index.hpp"
#include "napkin/derive.hpp"
#include "napkin/loops.hpp"

namespace napkin {

// Positions begin .. end - 1.
struct Interval {
  std::int64_t begin = 0, end = 0;
  std::int64_t length() const { return end - begin; }
};

// By WireId.
using Intervals = std::vector<Interval>;

// The index at one position of every wire.
std::int64_t evaluate(const Index&, const std::vector<std::int64_t>& positions);
// From the least to the greatest place that the index reaches over the intervals, clipped to the size of the array.
Interval footprint(const Index&, const Intervals&, std::int64_t array_size);
// The index that consists of one wire.
Index along(WireId);

// Whether a condition holds at some position, or at every position, of a piece that is not empty.
bool holds_somewhere(const Condition&, const Intervals&);
bool holds_everywhere(const Condition&, const Intervals&);
bool all_hold_somewhere(const std::vector<Condition>&, const Intervals&);
bool all_hold_everywhere(const std::vector<Condition>&, const Intervals&);

// The accesses below an expression, in the order of their ids.
std::vector<ExprId> accesses(const Diagram&, ExprId);
const Access& access(const Diagram&, ExprId);

// How many pieces of a size cover a length, and the length of all of them.
inline std::int64_t pieces_of(std::int64_t length, std::int64_t size) { return (length + size - 1) / size; }
inline std::int64_t round_up(std::int64_t length, std::int64_t size) { return pieces_of(length, size) * size; }

std::int64_t product_of(const std::vector<std::int64_t>& extents);  // the greatest 64-bit number on overflow

// The length of the piece of every wire at some place of a nest; by WireId.
using Lengths = std::vector<std::int64_t>;
// The only wire of an index whose piece is longer than one position, if the index moves along it place by place.
std::optional<WireId> long_wire(const Index&, const Lengths&);
// True if a piece of the wire can be a dimension of a tile that instructions of this many positions read: no
// instruction reads past the piece, unless the array ends there.
bool is_dimension(const Index&, WireId, const Lengths&, const Diagram&, std::int64_t instruction);

// The alignment in bytes of the rows of an array that has several rows. It is at most 16, which TMA copies need.
// Asynchronous copies need 4.
std::int64_t row_alignment(const Diagram&, const Array&);
// The alignment in bytes of the rows of all pieces of a buffer, if `column` is the dimension along which numbers are
// side by side: that of the array's rows, and of where the pieces begin in them. 16 for parts of another array.
std::int64_t tile_alignment(const LoopNest&, const Buffer&, std::size_t column);

}  // namespace napkin
