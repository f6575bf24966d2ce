// Layouts: where the entries of a tile lie, as data with an algebra. A layout is a list of modes, each a size and a
// stride; it takes an index, counted with the first mode fastest, to a place: the shape:stride layouts of CuTe, flat. A
// tile in shared memory is a layout of rows and columns with a swizzle, so that rows which are read together lie in
// different banks.
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

  std::int64_t size() const;                          // how many indices
  std::int64_t reach() const;                         // one more than the greatest place
  std::int64_t operator()(std::int64_t index) const;  // of 0 .. size() - 1
  bool operator==(const Layout&) const = default;
};
std::string to_text(const Layout&);  // "(8,4):(1,32)"
// The place of an index in C: "lane % 8 + lane / 16 * 8" of (8,2,2):(1,0,8); "0" where there is but one place.
std::string to_expression(const Layout&, const std::string& index);

// Modes of size 1 dropped, neighbours that continue each other joined: the same function, shorter.
Layout coalesced(const Layout&);
// outer(inner(i)) as a layout. None where it is none: inner's sizes and strides do not divide outer's modes.
std::optional<Layout> compose(const Layout& outer, const Layout& inner);
// What a layout leaves out of 0 .. size - 1: with its modes appended every place is reached once. None where modes
// overlap or do not divide the size.
std::optional<Layout> complement(const Layout&, std::int64_t size);
// The layout's indices as tiles: the tile's modes first, then those that go from tile to tile.
std::optional<Layout> divide(const Layout&, const Layout& tile);

// A tile of `rows` rows in shared memory: panels of so many columns one after another, each row major. Chunks of 16
// bytes change places within a row of a panel: chunk c of row r stands at c ^ (r >> shift & (2^bits - 1)).
struct SharedTile {
  std::int64_t rows = 0, columns = 0;  // columns fill whole chunks
  std::int64_t bytes = 2;              // of an entry
  int bits = 0, shift = 0;
  std::int64_t panel = columns;  // columns of a panel, which divide the tile's

  std::int64_t chunks() const { return panel * bytes / 16; }             // of a row of a panel
  std::int64_t operator()(std::int64_t row, std::int64_t column) const;  // a place, in entries
  std::int64_t size_bytes() const { return rows * columns * bytes; }
  bool operator==(const SharedTile&) const = default;
};
// With the swizzle that keeps any eight rows one below the other, at any chunk, out of each other's banks.
SharedTile shared_tile(std::int64_t rows, std::int64_t columns, std::int64_t bytes);
// The same in the widest panels of 128, 64 or 32 bytes that divide a row: the layouts that TMA writes and that matrix
// instructions of warpgroups read, as long as the tile begins at a multiple of 1024 bytes.
SharedTile paneled_tile(std::int64_t rows, std::int64_t columns, std::int64_t bytes);

// Shared memory has 32 banks of 4 bytes. How many times more than once it must be asked to reach all of these places,
// of `bytes` each, at once; equal words count once.
std::int64_t bank_conflicts(const std::vector<std::int64_t>& byte_places, std::int64_t bytes);

}  // namespace napkin
