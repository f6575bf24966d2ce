// Kernels of warpgroups whose steps overlap, within a warpgroup and in turn: that they do what the plan says, what they
// compute and move, emulated at three sizes, one of them ragged, and mistakes planted by hand.
#include <fmt/format.h>

#include <algorithm>

#include "cuda/emulate.hpp"
#include "napkin/configure.hpp"
#include "napkin/device.hpp"
#include "support/catch.hpp"
#include "support/machine.hpp"
#include "timing/labels.hpp"
#include "timing/mainloop/mainloop.hpp"

using namespace napkin;
using namespace kernel_cases;

namespace {

constexpr const char* machine = "h100-sxm5";

// One tile is read by a product that leads and, a step later, by one that trails.
constexpr const char* keys = R"(diagram keys
axis q = 4096; axis x = 4096; axis d = 128
input Q: f16[q, d]; input K: f16[x, d]
S[q, x] = sum[d](Q[q, d] * K[x, d])
P: f16[q, x] = softmax[x](S[q, x])
O: f16[q, d] = sum[x](P[q, x] * K[x, d])
output O
)";

Case split(const std::string& example, const std::string& name, const std::string& labels,
           std::vector<std::string> sizes) {
  return {"turns_" + example + "_" + name, case_named(example).text, {labels}, std::move(sizes)};
}

Case hidden(const std::string& name, const std::string& labels) {
  auto text = case_named("gated_mlp").text;
  for (const std::string wide : {"c = 1024", "o = 1024"})
    text.replace(text.find(wide), wide.size(), wide.substr(0, 4) + "128");
  return {"turns_gated_mlp_" + name,
          text,
          {labels},
          {"t=128 c=64 f=64 o=64", "t=128 c=128 f=192 o=128", "t=70 c=72 f=136 o=104"}};
}

// The overlap is the one that the configuration of the plan chooses: no case names it.
std::vector<Case> within_a_warpgroup() {
  const std::string grouped = "group k 1, r 1, q 64, stream x 64 at smem; group q 16 at reg";
  return {
      split("attention", "within", "group q 64, stream x 64 at smem; group q 16 at reg",
            {"q=64 x=64 d=64", "q=128 x=320 d=128", "q=150 x=300 d=104"}),
      split("causal", "within", "group q 64, stream x 64 at smem; group q 16 at reg",
            {"q=64 x=64 d=64", "q=128 x=256 d=128", "q=190 x=150 d=72"}),
      split("grouped_query", "within", grouped,
            {"k=1 r=2 q=64 x=64 d=64", "k=2 r=2 q=64 x=128 d=128", "k=2 r=3 q=70 x=170 d=120"}),
      split("spherical", "within", "group q 128, stream x 64 at smem; group q 16 at reg",
            {"q=128 x=64 d=64", "q=128 x=192 d=128", "q=130 x=133 d=104"}),
      split("sliding_window", "within", "group q 64, stream x 32 at smem; group q 16 at reg",
            {"q=128 x=128 d=64", "q=192 x=192 d=128", "q=330 x=290 d=88"}),
      {"turns_keys_within",
       keys,
       {"group q 64, stream x 64 at smem; group q 16 at reg"},
       {"q=64 x=64 d=64", "q=128 x=192 d=128", "q=70 x=170 d=104"}},
      // Two products lead.
      hidden("within", "group t 64, stream f 64 at smem; group t 16 at reg"),
  };
}
std::vector<Case> in_turn() {
  const std::string grouped = "group k 1, r 1, q 128, stream x 64 at smem; group q 16 at reg";
  return {
      split("attention", "in_turn", "group q 128, stream x 128 at smem; group q 16 at reg",
            {"q=128 x=128 d=128", "q=256 x=384 d=64", "q=150 x=300 d=104"}),
      split("attention", "three", "group q 192, stream x 64 at smem; group q 16 at reg",
            {"q=192 x=64 d=64", "q=192 x=192 d=128", "q=210 x=130 d=72"}),
      split("causal", "in_turn", "group q 128, stream x 64 at smem; group q 16 at reg",
            {"q=128 x=128 d=64", "q=256 x=256 d=128", "q=190 x=250 d=72"}),
      split("grouped_query", "in_turn", grouped,
            {"k=1 r=2 q=128 x=64 d=64", "k=2 r=2 q=128 x=128 d=128", "k=2 r=3 q=70 x=170 d=120"}),
      hidden("in_turn", "group t 128, stream f 64 at smem; group t 16 at reg"),
  };
}

// What the configuration of a kernel, as it is split among cores, chooses.
Overlap planned_overlap(const Kernel& kernel, const Hardware& hardware) {
  const auto of_cores = down_to(kernel, *hardware.core);
  const auto made = configure(of_cores, estimate(of_cores, hardware, Model::machine), hardware, Model::machine);
  return made ? made->pipelinings[made->chosen].overlap : Overlap::none;
}
WarpNest on_warpgroups(const Kernel& kernel) {
  return std::get<WarpNest>(distribute_warpgroups(kernel, read_machine(machine)));
}
std::string warpgroups_text(const EmittedCode& code) {
  const auto& all = code.files.front().text;
  const auto begin = all.find("_warpgroups("), end = all.find("#else", begin);
  REQUIRE(begin != all.npos);
  return all.substr(begin, end - begin);
}
bool says(const std::string& text, const std::string& words) { return text.find(words) != text.npos; }

// Where its lanes have room for it, a warpgroup in turn overlaps within as well.
void check(const Case& each, Overlap overlap) {
  const auto planned = plan(each, machine);
  const auto& kernel = planned.plan.kernels.front();
  REQUIRE(name(planned_overlap(kernel, planned.hardware)) == name(overlap));
  const auto warps = on_warpgroups(kernel);
  REQUIRE(warps.step);
  CHECK((overlap == Overlap::intra_warpgroup ? warps.step->within : warps.step->warpgroups > 1));
  CHECK(warps.registers <= warps.lane_registers);
  const auto code = emit_cuda(planned.diagram, planned.plan, planned.hardware, CudaPath::tensor);
  const auto text = warpgroups_text(code);
  CHECK(says(text, "napkin_turn_wait") == (warps.step->warpgroups > 1));
  CHECK(says(text, "_last = -1") == warps.step->within);
  const auto distributed = [](const Kernel& k) { return on_warpgroups(k).partition; };
  emulate::run_all(each, planned, code.files, distributed,
                   [](emulate::Counts& counted) { CHECK(counted["warpgroup_operations"] > 0); });
}

// What the harness says of a kernel with one mistake in what its warpgroups that compute do, at the number-th place.
std::string planted(const Case& each, const std::string& name, const std::string& right, const std::string& wrong,
                    int number = 1) {
  const auto planned = plan(each, machine);
  const auto files = emit_cuda(planned.diagram, planned.plan, planned.hardware, CudaPath::tensor).files;
  return emulate::planted("turns_planted_" + name, planned.diagram, files, "_warpgroups(", {{right, wrong, number - 1}},
                          "q=128 x=456 d=128");
}

}  // namespace

TEST_CASE("within a warpgroup, products of a step run beside the columns of the next", "[emulated][warpgroups]") {
  for (const auto& each : some_of(within_a_warpgroup())) DYNAMIC_SECTION(each.name) {
      check(each, Overlap::intra_warpgroup);
    }
}
TEST_CASE("warpgroups in turn have the matrix units one after another", "[emulated][warpgroups]") {
  for (const auto& each : some_of(in_turn())) DYNAMIC_SECTION(each.name) {
      check(each, Overlap::ping_pong_of_two);
    }
}

// Of every third example, or of all.
TEST_CASE("the step of every example overlaps as its plan says, or says why not", "[warpgroups]") {
  std::size_t turn = 0;
  for (const auto& each : cases()) {
    if (!each.labels.empty() || left_out(turn++, 3)) continue;
    DYNAMIC_SECTION(each.name) {
      const auto planned = plan(each, machine);
      for (const auto& kernel : planned.plan.kernels) {
        const auto distributed = distribute_warpgroups(kernel, planned.hardware);
        const auto* warps = std::get_if<WarpNest>(&distributed);
        if (!warps) continue;
        const auto overlap = planned_overlap(kernel, planned.hardware);
        const bool overlaps = overlap == Overlap::intra_warpgroup || overlap == Overlap::ping_pong_of_two ||
                              overlap == Overlap::ping_pong_of_three;
        CAPTURE(name(overlap), warps->not_as_planned);
        CHECK(warps->planned == overlap);
        CHECK(overlaps == (warps->step || !warps->not_as_planned.empty()));
        if (warps->step)
          CHECK((overlap == Overlap::intra_warpgroup ? warps->step->within : warps->step->warpgroups > 1));
      }
    }
  }
}

TEST_CASE("the emulation finds mistakes planted in turns", "[emulated][warpgroups]") {
  const auto turns = in_turn().front();
  SECTION("none") { CHECK(says(planted(turns, "none", "napkin_turn_give(", "napkin_turn_give("), "good")); }
  SECTION("the first turn is not given") {
    CHECK(says(planted(turns, "first", "napkin_turn_give(next_turn)", "{}"), "wait forever for their turn"));
  }
  SECTION("a turn is not given on") {
    CHECK(says(planted(turns, "kept", "napkin_turn_give(next_turn);", "", 2), "wait forever for their turn"));
  }
  SECTION("a turn is given at the wrong barrier") {
    CHECK(says(planted(turns, "number", "napkin_turn_give(next_turn);", "napkin_turn_give(next_turn + 1);", 2),
               "wait forever for their turn"));
  }
  SECTION("both warpgroups wait at one barrier") {
    CHECK(says(planted(turns, "one", "const int turn = warpgroup + 1", "const int turn = 1"), "emulation: a turn"));
  }
  SECTION("a turn is not waited for") {
    CHECK(says(planted(turns, "taken", "napkin_turn_wait(turn);", "", 2), "while others have the turn"));
  }
  SECTION("the last turn is left over") {
    CHECK(says(planted(turns, "left", "if (warpgroup % 2 == 0) napkin_turn_wait(turn);", ""), "nobody took"));
  }
  SECTION("a barrier that is not there") {
    CHECK(says(planted(turns, "sixteen", "napkin_turn_give(next_turn);", "napkin_turn_give(16);", 2), "not there"));
  }
}

TEST_CASE("the emulation finds mistakes planted where products run beside the next step", "[emulated][warpgroups]") {
  const auto within = within_a_warpgroup().front();
  SECTION("sums are read before they are there") {
    CHECK_FALSE(says(planted(within, "early", "napkin_warpgroup_wait<1>();", "napkin_warpgroup_wait<2>();"), "good"));
  }
  SECTION("sums are repaired while products on them are on their way") {
    CHECK(says(planted(within, "repaired", "napkin_warpgroup_wait<0>();", "napkin_warpgroup_wait<1>();", 2),
               "emulation: "));
  }
  SECTION("tiles are released that products on their way read") {
    CHECK(says(planted(within, "released", "napkin_release(x_empty + x_last)", "napkin_release(x_empty + x_slot)"),
               "emulation: "));
  }
  SECTION("a product of the step before reads the tile of this one") {
    CHECK_FALSE(
        says(planted(within, "tile", "V_smem_tile = V_smem + x_last", "V_smem_tile = V_smem + x_slot"), "good"));
  }
}
