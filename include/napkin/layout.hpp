// Layouts: where the entries of a tile lie, and an algebra of layouts. A layout is a list of modes, each with a size
// and a stride, like a flat shape:stride layout of CuTe. It maps an index, counted with the first mode fastest, to a
// place. A tile in shared memory is a layout of rows and columns with a swizzle, so that rows which are read together
// lie in different banks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace napkin {

struct Mode {
  std::int64_t size = 1, stride = 1;
  auto operator<=>(const Mode&) const = default;
};

struct Layout {
  std::vector<Mode> modes;

  std::int64_t size() const;                          // the number of indices
  std::int64_t reach() const;                         // one more than the greatest place
  std::int64_t operator()(std::int64_t index) const;  // index is in 0 .. size() - 1
  bool operator==(const Layout&) const = default;
};
std::string to_text(const Layout&);  // "(8,4):(1,32)"
// The place of an index as a C expression: "lane % 8 + lane / 16 * 8" for (8,2,2):(1,0,8); "0" if all places are 0.
std::string to_expression(const Layout&, const std::string& index);

// The same function with fewer modes: those of size 1 are dropped, and neighbours that continue each other are joined.
Layout coalesced(const Layout&);
// outer(inner(i)) as a layout. None if it is not a layout: inner's sizes and strides do not divide outer's modes.
std::optional<Layout> compose(const Layout& outer, const Layout& inner);
// The layout whose modes, appended to those of the given one, make it reach every place in 0 .. size - 1 once. None if
// modes overlap or do not divide the size.
std::optional<Layout> complement(const Layout&, std::int64_t size);
// The layout with its indices grouped into tiles: first the modes within a tile, then those from tile to tile. None if
// the tile does not divide the layout.
std::optional<Layout> divide(const Layout&, const Layout& tile);

// A tile of `rows` rows in shared memory. It consists of panels of `panel` columns one after another, each row major.
// The swizzle permutes the chunks of 16 bytes within a row of a panel: chunk c of row r is at
// c ^ (r >> shift & (2^bits - 1)).
struct SharedTile {
  std::int64_t rows = 0, columns = 0;  // `columns` must fill whole chunks
  std::int64_t bytes = 2;              // of an entry
  int bits = 0, shift = 0;
  std::int64_t panel = columns;  // columns of a panel; divides `columns`

  std::int64_t chunks() const { return panel * bytes / 16; }             // of a row of a panel
  std::int64_t operator()(std::int64_t row, std::int64_t column) const;  // a place, in entries
  std::int64_t size_bytes() const { return rows * columns * bytes; }
  bool operator==(const SharedTile&) const = default;
};
// A tile with the swizzle by which the same chunk of any eight consecutive rows lies in different banks.
SharedTile shared_tile(std::int64_t rows, std::int64_t columns, std::int64_t bytes);
// The same in the widest panels of 128, 64 or 32 bytes that divide a row. TMA writes these layouts and matrix
// instructions of warpgroups read them, if the tile begins at a multiple of 1024 bytes.
SharedTile paneled_tile(std::int64_t rows, std::int64_t columns, std::int64_t bytes);

// The number of additional accesses to shared memory that bank conflicts cause if all of these places, of `bytes` each,
// are accessed at once. Shared memory has 32 banks of 4 bytes; equal words count once.
std::int64_t bank_conflicts(const std::vector<std::int64_t>& byte_places, std::int64_t bytes);

}  // namespace napkin
