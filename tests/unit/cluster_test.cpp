// Blocks that share their tiles against the paper's cross transfer, and orders of blocks against visiting them one by
// one.
#include "timing/cluster.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "napkin/configure.hpp"
#include "support/catch.hpp"
#include "support/machine.hpp"
#include "support/planned.hpp"
#include "timing/raster.hpp"

using namespace napkin;

namespace {

Configuration configured(const std::string& example, const std::string& words, const Hardware& hardware, Model model) {
  const auto kernel = testing::planned(read_example(example + ".nap"), words, hardware);
  const auto made = configure(kernel, estimate(kernel, hardware, model), hardware, model);
  REQUIRE(made);
  return *made;
}

}  // namespace

TEST_CASE("clusters of two and four save what the paper says", "[cluster]") {
  // Bandwidths as measured on an H800: 2.04 TB/s from above, 3.27 and 2.65 across.
  const auto hardware = read_machine("h100-pcie", {{"levels.smem.bandwidth", "2.04 TB/s"}});
  const auto made = configured("attention", "group q 128, stream x 64 at smem", hardware, Model::ideal);
  REQUIRE(made.clusters.size() == 3);
  const double alone = made.clusters[0].copy_s;
  const double two = 1 - made.clusters[1].copy_s / alone, four = 1 - made.clusters[2].copy_s / alone;
  // K and V both lack q: the whole of what is streamed falls by 1/N, beta 1.
  CHECK(two == Approx(0.188).epsilon(0.01));
  CHECK(four == Approx(0.173).epsilon(0.01));
  CHECK(made.clusters[1].axis == "q");
  CHECK(made.clusters[0].chosen);
  // Of a matrix product only one operand lacks the group: half of what a pair saves is saved.
  const auto product = configured("matmul", "group a 128, c 128, stream b 64 at smem", hardware, Model::ideal);
  for (const auto& one : product.clusters)
    if (one.blocks == 2) CHECK(1 - one.copy_s / product.clusters[0].copy_s == Approx(two / 2));
}

TEST_CASE("clusters are chosen where tiles then arrive sooner, and the launch is shorter", "[cluster]") {
  const auto launched = [](const char* across) {
    const auto hardware = read_machine("h100-sxm5", {{"caches.l2.bandwidth", "1.5 TB/s"},
                                                     {"siblings.smem.bandwidth.2", across},
                                                     {"siblings.smem.bandwidth.4", "1 TB/s"}});
    return configured("attention", "group q 64, stream x 64 at smem", hardware, Model::machine);
  };
  const auto with = launched("4.28 TB/s"), without = launched("1 TB/s");
  const auto copies = [](const Configuration& made) {
    double all = 0;
    for (const auto& column : made.clocks)
      if (column.on == Resource::copy) all += column.seconds;
    return all;
  };
  CHECK(with.clusters[1].chosen);
  CHECK(without.clusters[0].chosen);
  CHECK(copies(with) == Approx(with.clusters[1].copy_s));
  CHECK(copies(without) == Approx(without.clusters[0].copy_s));
  // Half at the cache's bandwidth and half across.
  CHECK(copies(with) / copies(without) == Approx(0.5 + 0.5 * 1.5 / 4.28));
  CHECK(with.launch->time_s < without.launch->time_s);
}

TEST_CASE("blocks that multicast load a part of a tile each, and get all of it", "[cluster]") {
  const auto of = [](double multicast, const std::string& example, const std::string& words) {
    auto hardware = read_machine("h100-sxm5", {{"caches.l2.bandwidth", "2 TB/s"}});
    hardware.siblings.front().bandwidth.erase(2);  // which multicasts do not need
    hardware.siblings.front().multicast[2].sustained = Sourced<double>{multicast, Origin::given, "", ""};
    return configured(example, words, hardware, Model::machine);
  };
  const auto two_along = [](const Configuration& made, const std::string& axis) {
    return *std::ranges::find_if(made.clusters,
                                 [&](const Cluster& one) { return one.blocks == 2 && one.axis == axis; });
  };
  const std::string rows = "group q 128, stream x 64 at smem", tiles = "group a 128, c 128, stream b 64 at smem";
  // Both tiles lack q: half of the time, or what arrives takes longer.
  const auto fast = of(8e12, "attention", rows), slow = of(3e12, "attention", rows);
  CHECK(two_along(fast, "q").chosen);
  CHECK(two_along(fast, "q").copy_s == Approx(fast.clusters[0].copy_s / 2));
  CHECK(two_along(slow, "q").copy_s == Approx(slow.clusters[0].copy_s * 2 / 3));
  CHECK(fast.launch->time_s <= slow.launch->time_s);
  // One of two tiles of a product lacks each group.
  const auto product = of(8e12, "matmul", tiles);
  CHECK(two_along(product, "a").copy_s == Approx(product.clusters[0].copy_s * 3 / 4));
  CHECK_FALSE(two_along(of(1e12, "matmul", tiles), "a").chosen);
}

TEST_CASE("siblings no faster than what is above them share nothing", "[cluster]") {
  const auto hardware = read_machine("h100-sxm5");
  const auto made =
      configured("attention", "group q 128, stream x 64 at smem", hardware, Model::machine);  // behind a cache
  REQUIRE(made.clusters.size() == 3);
  CHECK(made.clusters[0].chosen);
  for (const auto& one : made.clusters) CHECK(one.copy_s >= made.clusters[0].copy_s);
  CHECK(configured("attention", "group q 128, stream x 64 at smem", read_machine("a100-sxm4-80"), Model::machine)
            .clusters.empty());
  // One block has no neighbour.
  CHECK(configured("attention", "group q 4096, stream x 64 at smem", hardware, Model::ideal).clusters.empty());
}

namespace {

// Bytes of different tiles that the first blocks of an order read, one by one. `a` and `c` give the place of block i.
template <class Place>
double read_by(std::int64_t blocks, double bytes_a, double bytes_c, const Place& place) {
  std::set<std::int64_t> rows, columns;
  for (std::int64_t i = 0; i < blocks; ++i) {
    const auto [a, c] = place(i);
    rows.insert(a), columns.insert(c);
  }
  return bytes_a * static_cast<double>(rows.size()) + bytes_c * static_cast<double>(columns.size());
}

}  // namespace

TEST_CASE("orders of blocks read what visiting them one by one reads", "[cluster]") {
  // 32 by 32 blocks, 128 of which run at once.
  const auto hardware = read_machine("h100-sxm5", {{"levels.smem.count", "128"}});
  const auto made = configured("matmul", "group a 128, c 128, stream b 64 at smem", hardware, Model::machine);
  const double tile = 128 * 64 * 2;
  std::map<std::string, double> bytes;
  for (const auto& raster : made.rasters) bytes[raster.order] = raster.step_bytes;
  CHECK(made.rasters.front().order == "a, c");
  CHECK(bytes.at("a, c") == Approx(read_by(128, tile, tile, [](auto i) { return std::pair(i / 32, i % 32); })));
  CHECK(bytes.at("c, a") == Approx(read_by(128, tile, tile, [](auto i) { return std::pair(i % 32, i / 32); })));
  for (const std::int64_t width : {2, 4, 8, 16}) {
    CAPTURE(width);
    const auto place = [width](std::int64_t i) {
      return std::pair(i / (width * 32) * width + i % width, i / width % 32);
    };
    CHECK(bytes.at("a, c, a by " + std::to_string(width)) == Approx(read_by(128, tile, tile, place)));
  }
  // Nearly square is best: 8 rows of 16.
  const auto best = std::ranges::min_element(made.rasters, {}, &Raster::step_bytes);
  CHECK(best->step_bytes == Approx(tile * (8 + 16)));
  const auto turned = configured("matmul", "group c 128, a 128, stream b 64 at smem", hardware, Model::machine);
  CHECK(turned.rasters.front().order == "c, a");
}
