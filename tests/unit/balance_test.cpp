// What closed forms say of a machine, against looking at every piece and against the machine changed.
#include "cost/closed_form/balance.hpp"

#include <cmath>

#include "cost/bound.hpp"
#include "support/catch.hpp"
#include "support/derived.hpp"
#include "support/machine.hpp"
#include "support/planned.hpp"

using namespace napkin;

namespace {

const std::string tiles = "group a 128, c 128, stream b 64 at smem", flash = "group q 128, stream x 64 at smem";

ClosedForm closed(const Diagram& diagram, const std::string& words, const Hardware& hardware) {
  return estimate(testing::planned(diagram, words, hardware), hardware, Model::ideal).closed_form;
}
Diagram matmul(std::int64_t a, std::int64_t b, std::int64_t c) {
  return read_example("matmul.nap", {{{"a", a}, {"b", b}, {"c", c}}, {}});
}

}  // namespace

TEST_CASE("the best whole pieces are those that looking at all of them finds", "[balance]") {
  for (const std::int64_t room : {24, 100, 399, 1000}) {
    const auto hardware = read_machine("two-level", {{"M", std::to_string(room)}});
    const auto form = closed(matmul(60, 30, 45), "group a 4, c 4, stream b 1 at low", hardware);
    double least = HUGE_VAL;
    for (int g = 1; g <= 60; ++g)
      for (int h = 1; h <= 45 && g * h + g + h <= room; ++h)
        least = std::min(least, 60.0 * 30 * 45 / g + 60.0 * 30 * 45 / h + 60 * 45);
    CAPTURE(room);
    REQUIRE(form.whole);
    CHECK(form.whole->values == Approx(least));
  }
}

TEST_CASE("the room and the length from which operations are the bound are where times cross", "[balance]") {
  const auto seconds = [](const Hardware& machine, std::int64_t b) {
    // Axes without end but for b; least bytes over bandwidth, operations over rate.
    const std::int64_t n = 1 << 20;
    const auto form = closed(matmul(n, b, n), tiles, machine);
    const double moved = *form.bound_values * 2 / machine.levels[1].bandwidth->peak();
    return moved / (2.0 * static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(b) /
                    machine.find(Unit::tensor)->rates.at(Datatype::f16).peak());
  };
  const auto at = [](double bytes) {
    const auto room = std::to_string(static_cast<std::int64_t>(bytes)) + " B";
    return read_machine("h100-sxm5", {{"levels.smem.capacity", room}, {"levels.smem.usable", room}});
  };
  const auto small = at(4 << 20);
  const auto balance = closed(matmul(4096, 4096, 4096), tiles, small).balance;
  REQUIRE(balance);
  CHECK(balance->unit == Unit::tensor);
  CHECK(seconds(at(*balance->least_room), 1 << 20) == Approx(1).epsilon(1e-3));
  REQUIRE(balance->least_lengths.size() == 1);
  CHECK(balance->least_lengths[0].axis == "b");
  const auto length = static_cast<std::int64_t>(*balance->least_lengths[0].in_this_room);
  CHECK(seconds(small, length) == Approx(1).epsilon(1e-2));
  CHECK(*balance->least_lengths[0].in_any_room < *balance->least_lengths[0].in_this_room);
}

TEST_CASE("halving the bytes gains what the same diagram in eight bits gains", "[balance]") {
  const auto hardware = read_machine("h100-sxm5");
  const auto form = [&](const std::string& type) {
    auto text = read_file(NAPKIN_SOURCE_DIR "/examples/attention.nap");
    for (auto at = text.find("f16"); type != "f16" && at != std::string::npos; at = text.find("f16"))
      text.replace(at, 3, type);
    return closed(read_text(text, {{{"q", 1 << 15}, {"x", 1 << 20}}, {}}), flash, hardware);
  };
  const auto wide = form("f16"), narrow = form("f8e4m3");
  REQUIRE(wide.gains.half_the_bytes);
  CHECK(*wide.bound_values * 2 / *narrow.bound_values == Approx(*wide.gains.half_the_bytes).epsilon(1e-9));
  CHECK(*wide.gains.half_the_bytes == Approx(4).epsilon(1e-3));
}

TEST_CASE("twice the room gains what a machine with twice the room gains", "[balance]") {
  const auto hardware = read_machine("two-level", {{"M", "5000"}}), twice = read_machine("two-level", {{"M", "10000"}});
  const auto diagram = matmul(4096, 4096, 4096);
  const std::string words = "group a 16, c 16, stream b 1 at low";
  const auto now = closed(diagram, words, hardware), then = closed(diagram, words, twice);
  REQUIRE(now.gains.twice_the_room);
  CHECK(*now.bound_values / *then.bound_values == Approx(*now.gains.twice_the_room));
}

TEST_CASE("siblings save by what each of H*'s terms falls with the room", "[balance]") {
  const auto hardware = read_machine("h100-pcie", {{"levels.smem.bandwidth", "2.04 TB/s"}});
  const auto form = closed(read_example("attention.nap"), flash, hardware);
  REQUIRE(form.gains.siblings.size() == 2);
  const double across = 2.04 / 3.27;
  CHECK(form.gains.siblings[0].saved_by_term.at(0) == Approx((1 - across) / 2));
  CHECK(form.gains.siblings[0].saved < form.gains.siblings[0].saved_by_term.at(0));
  CHECK(form.gains.siblings[0].saved > 0);
}

TEST_CASE("cores that read each other's memory are as few memories as hold all of them", "[balance]") {
  auto hardware = read_machine("h100-sxm5");
  hardware.siblings = {{.level = "smem", .bandwidth = {}, .latency_clocks = {}, .largest = 5}};
  const auto bound = lower_bound(*testing::derived(matmul(65536, 65536, 65536)), hardware);
  CHECK(bound.why.find("for each of 27 memories of 5 ") != std::string::npos);  // of 132 cores
}
