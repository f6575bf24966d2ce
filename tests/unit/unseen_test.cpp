// Machines of which nobody wrote what their instructions divide: pieces of every number, too many to look at all.
#include "napkin/search.hpp"
#include "support/catch.hpp"
#include "support/machine.hpp"

using namespace napkin;

namespace {

// Scratchpads of 512 KiB below a cache that all share, and registers of 16 KiB for each of four warps.
constexpr const char* accelerator = R"(
name: accelerator
description: an accelerator that nobody has seen
levels:
  hbm: {unit: chip, capacity: 32 GiB assumed INVENTED}
  l2:
    unit: cluster
    count: 1 assumed INVENTED
    capacity: 32 MiB assumed INVENTED
    bandwidth: 1 TB/s assumed INVENTED
  spad:
    unit: block
    count: 64 assumed INVENTED
    capacity: 512 KiB assumed INVENTED
    bandwidth: 4 TB/s assumed INVENTED
  reg:
    unit: warp
    count: 8 assumed INVENTED
    capacity: 16 KiB assumed INVENTED
    max_groups: 4 assumed INVENTED
    bandwidth: 20 TB/s assumed INVENTED
core: spad
compute:
  tensor:
    clock: 1 GHz assumed INVENTED
    per_clock: {f16: 8192 FLOP/clk assumed INVENTED}
  fma:
    clock: 1 GHz assumed INVENTED
    per_clock: {f32: 256 FLOP/clk assumed INVENTED}
  sfu:
    clock: 1 GHz assumed INVENTED
    per_clock: {f32: 32 OP/clk assumed INVENTED}
limits:
  warps_per_sm: 8 assumed INVENTED
  blocks_per_sm: 4 assumed INVENTED
  threads_per_warp: 32 assumed INVENTED
  launch: 1 us assumed INVENTED
sources:
  INVENTED: made up
)";

Split split(const Diagram& diagram, SplitKind kind, const std::string& axis, std::int64_t size) {
  return {kind, *find_wire(diagram, axis), size, 2};
}

}  // namespace

TEST_CASE("a search that gives up finds what is written by hand", "[search][long]") {
  const auto loaded = load_text(accelerator);
  REQUIRE(loaded.text == "");
  const auto diagram = read_text(read_file(NAPKIN_SOURCE_DIR "/examples/attention.nap"));
  Goal goal;
  goal.divide = false;
  const auto planned = search(diagram, loaded.hardware, goal);
  goal.fixed.splits = {split(diagram, SplitKind::group, "q", 64), split(diagram, SplitKind::stream, "x", 64)};
  const auto by_hand = search(diagram, loaded.hardware, goal);
  REQUIRE(planned.cost.time_s);
  REQUIRE(by_hand.cost.time_s);
  CHECK(*planned.cost.time_s <= *by_hand.cost.time_s);
  CHECK_FALSE(planned.optimal);
}
