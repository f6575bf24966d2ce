// Memory moves whole sectors: rows of pieces against counting them, tiles of a step against whole ones.
#include "cost/figures/sectors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <random>

#include "cost/figures/pieces.hpp"
#include "napkin/configure.hpp"
#include "support/catch.hpp"
#include "support/machine.hpp"
#include "support/planned.hpp"

using namespace napkin;

namespace {

Diagram doubled(std::int64_t a, std::int64_t b) {
  return read_text(
      fmt::format("diagram d\naxis a = {}; axis b = {}\ninput X: f16[a, b]\nY: f16[a, b] = X[a, b] * 2\n"
                  "output Y\n",
                  a, b));
}

LevelCost smem(const Diagram& diagram, const std::string& words, const Hardware& hardware) {
  return estimate(testing::planned(diagram, words, hardware), hardware, Model::machine).levels.at(0);
}

}  // namespace

TEST_CASE("sectors of nested pieces are those of each piece alone", "[cost][sectors]") {
  const auto one_by_one = [](const Sectors& memory, std::int64_t begin, std::int64_t extent,
                             std::span<const std::int64_t> sizes, std::int64_t bytes,
                             const auto& self) -> std::int64_t {
    if (sizes.empty()) return memory.of(begin, extent * bytes);
    std::int64_t all = 0;
    for (std::int64_t at = 0; at < extent; at += sizes[0])
      all += self(memory, begin + at * bytes, std::min(sizes[0], extent - at), sizes.subspan(1), bytes, self);
    return all;
  };
  std::mt19937 random(5);
  const auto to = [&](std::int64_t most) { return std::uniform_int_distribution<std::int64_t>(1, most)(random); };
  for (int i = 0; i < 3000; ++i) {
    const std::int64_t sector = i % 3 == 0 ? to(40) : 32, extent = to(300), bytes = to(9), rows = to(70);
    std::vector<std::int64_t> sizes;
    std::vector<std::size_t> splits;
    for (auto left = to(3), most = extent; left > 1; --left)
      splits.push_back(sizes.size()), sizes.push_back(most = to(most));
    const Sectors memory(sector);
    std::int64_t expected = 0;
    for (std::int64_t r = 0; r < rows; ++r)
      expected += one_by_one(memory, r * extent * bytes, extent, sizes, bytes, one_by_one);
    CAPTURE(sector, extent, bytes, rows, sizes);
    REQUIRE(memory.of_pieces(rows, extent, splits, sizes, bytes) == expected);
  }
}

TEST_CASE("pieces narrower than a sector move whole ones", "[cost][sectors]") {
  const auto hardware = read_machine("h100-sxm5");
  const std::int64_t a = 6, b = 128, sector = 32;
  for (const std::int64_t piece : {1, 10, 16, 17, 40, 127}) {
    std::int64_t sectors = 0;
    for (std::int64_t at = 0; at < b; at += piece)
      sectors += (2 * std::min(at + piece, b) - 1) / sector - 2 * at / sector + 1;
    const auto cost = smem(doubled(a, b), fmt::format("group b {} at smem", piece), hardware);
    CAPTURE(piece);
    CHECK(cost.transfer_bytes == 2 * a * b * 2);
    CHECK(cost.sector_bytes == 2 * a * sectors * sector);
  }
}

TEST_CASE("whole rows lie together", "[cost][sectors]") {
  const auto hardware = read_machine("h100-sxm5");
  CHECK(smem(doubled(6, 128), "group a 3 at smem", hardware).sector_bytes == 2 * 6 * 128 * 2);
  // Two rows of ten bytes together, in and out: bytes 0 to 20, 20 to 40 over an edge, and 40 to 60.
  CHECK(smem(doubled(6, 5), "group a 2 at smem", hardware).sector_bytes == 2 * 4 * 32);
  CHECK(smem(doubled(6, 5), "group b 5 at smem", hardware).sector_bytes == 2 * 64);
  CHECK_FALSE(smem(doubled(6, 5), "group a 2 at smem", read_machine("mi300x")).sector_bytes);
}

TEST_CASE("tiles of a step come in whole sectors", "[configure][sectors]") {
  auto hardware = read_machine("h100-sxm5");
  const auto copy_of_b = [&](std::int64_t columns) {
    const auto words = fmt::format("group a 128, c {}, stream b 64 at smem", columns);
    const auto kernel = testing::planned(read_example("matmul.nap"), words, hardware);
    const auto made = configure(kernel, estimate(kernel, hardware, Model::machine), hardware, Model::machine);
    REQUIRE(made);
    const auto is = [](const ColumnClocks& one) { return one.column == "B" && one.on == Resource::copy; };
    const auto found = std::ranges::find_if(made->clocks, is);
    REQUIRE(found != made->clocks.end());
    return found->seconds / static_cast<double>(columns);
  };
  const double narrow = copy_of_b(8), wide = copy_of_b(16);
  CHECK(narrow == Approx(2 * wide));
  hardware.levels[*hardware.core].sector.reset();
  CHECK(copy_of_b(8) == Approx(copy_of_b(16)));
}
