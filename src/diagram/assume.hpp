// What a diagram takes for granted of the sizes of its axes: `size(x) - 1 - x` in an index is `9 - x` at one size
// alone.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "napkin/diagram.hpp"

namespace napkin {

// From here on the diagram means what it should only where an axis has the size that it has here.
void assume_size(Diagram&, AxisId);
// The same where two axes have one size, whatever it is.
void assume_same_size(Diagram&, AxisId, AxisId);
std::vector<std::pair<AxisId, AxisId>> axes_of_one_size(const Diagram&);
// Where the positions of `whole` are length * (position along `part`) + (position along `inside`): the parts make up
// the whole, and have that length if there are several.
void assume_parts(Diagram&, AxisId whole, AxisId part, AxisId inside, std::int64_t length);
// The same where a part always has that length, but for the only one of an axis that is shorter.
void assume_blocks(Diagram&, AxisId whole, AxisId block, AxisId inside, std::int64_t length);

// An axis in parts: position (size of inside) * (position along part) + (position along inside).
struct Parts {
  AxisId whole, part, inside;
  bool operator==(const Parts&) const = default;
};
// What an assumption says is made up of parts, if it says that; and all that is.
std::optional<Parts> parts_of(const Diagram&, ExprId assumption);
std::vector<Parts> divided_axes(const Diagram&);
// Of those, the ones whose length is given by what the file reads once a block.
std::vector<Parts> axes_in_blocks(const Diagram&);
// An axis in blocks and a last, shorter one: position (size of inside) * (position along block) + (position along
// inside), and behind all blocks the position along last.
struct RaggedBlocks {
  AxisId whole, block, inside, last;
  std::vector<AxisId> axes() const { return {whole, block, inside, last}; }
};
// From here on the diagram is right only with that number of blocks of that length; the last block may have any length.
void assume_ragged_blocks(Diagram&, const RaggedBlocks&);
std::vector<RaggedBlocks> ragged_blocks(const Diagram&);
// Whether blocks have the length inside because of what the file reads once a block: an axis of at most that many
// positions is assumed. Other lengths were chosen.
bool has_given_length(const Diagram&, AxisId inside);
// That an axis is no longer than so many positions.
void assume_at_most(Diagram&, AxisId, std::int64_t length);

// The axes of an array as the file declares it: where a part and the position in it are adjacent, the divided axis.
std::vector<AxisId> whole_shape(const Diagram&, ArrayId);
// Gives parts another length, in sizes, indices, positions and what is assumed: then the whole is as long as all parts.
void set_length(Diagram&, const Parts&, std::int64_t length);
// Makes indices, positions and what is assumed fit the sizes that blocks, inside and last have now; the last one began
// at `begun`.
void set_blocks(Diagram&, const RaggedBlocks&, std::int64_t begun);

// All of that, as conditions on sizes. They stand among the expressions, where nothing else reads them.
std::vector<ExprId> assumptions(const Diagram&);

}  // namespace napkin
