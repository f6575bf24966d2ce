// What a diagram assumes about the sizes of its axes. For example, `size(x) - 1 - x` in an index is `9 - x` for one
// size only.
#pragma once

#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "napkin/diagram.hpp"

namespace napkin {

// From here on, the diagram is only correct if the axis has its present size.
void assume_size(Diagram&, AxisId);
// From here on, the diagram is only correct if the two axes have the same size, whatever it is.
void assume_same_size(Diagram&, AxisId, AxisId);
std::vector<std::pair<AxisId, AxisId>> axes_of_one_size(const Diagram&);
// From here on, the positions of `whole` are length * (position along `part`) + (position along `inside`): the parts
// make up the whole, and have that length if there are several.
void assume_parts(Diagram&, AxisId whole, AxisId part, AxisId inside, std::int64_t length);
// The same if a part always has that length, unless the axis is a single shorter part.
void assume_blocks(Diagram&, AxisId whole, AxisId block, AxisId inside, std::int64_t length);

// An axis in parts: its position is (size of inside) * (position along part) + (position along inside).
struct Parts {
  AxisId whole, part, inside;
  bool operator==(const Parts&) const = default;
};
// The divided axis that an assumption describes, if it describes one; and all divided axes.
std::optional<Parts> parts_of(const Diagram&, ExprId assumption);
std::vector<Parts> divided_axes(const Diagram&);
// The divided axes whose part length is given by an array that the file reads once per block.
std::vector<Parts> axes_in_blocks(const Diagram&);
// An axis in blocks with a shorter last block: its position is (size of inside) * (position along block) + (position
// along inside), and after all full blocks the position along last.
struct RaggedBlocks {
  AxisId whole, block, inside, last;
  std::vector<AxisId> axes() const { return {whole, block, inside, last}; }
};
// From here on, the diagram is only correct with that number of blocks of that length; the last block may have any
// length.
void assume_ragged_blocks(Diagram&, const RaggedBlocks&);
std::vector<RaggedBlocks> ragged_blocks(const Diagram&);
// Whether an array that the file reads once per block gives the blocks their length: then the size of `inside` is
// assumed to be at most a constant. Other lengths were chosen freely.
bool has_given_length(const Diagram&, AxisId inside);
// Assumes that an axis has at most this length.
void assume_at_most(Diagram&, AxisId, std::int64_t length);

// The axes of an array as the file declares it: if a part and the position in it are adjacent, they are the divided
// axis.
std::vector<AxisId> whole_shape(const Diagram&, ArrayId);
// Changes the length of parts, in sizes, indices, positions and assumptions. The whole then has the length of all
// parts.
void set_length(Diagram&, const Parts&, std::int64_t length);
// Adapts indices, positions and assumptions to the present sizes of blocks, inside and last; the last one began at
// `begun` before.
void set_blocks(Diagram&, const RaggedBlocks&, std::int64_t begun);

// Axes whose sizes depend on each other through an index with arithmetic, or along another axis.
std::set<AxisId> tied_axes(const Diagram&);

// All assumptions, as conditions on sizes. They are stored among the expressions, where nothing else reads them.
std::vector<ExprId> assumptions(const Diagram&);

}  // namespace napkin
