// Who holds what, on kernels split by hand: grids, operands, tiles, and why a kernel is refused.
#include <algorithm>

#include "device/warpgroups/overlap.hpp"
#include "napkin/device.hpp"
#include "support/catch.hpp"
#include "support/distributed.hpp"

using namespace napkin;
using namespace napkin::testing;

TEST_CASE("rows of both products of attention are the queries, and P is an operand where it is") {
  const auto warps = distributed(attention(), "group q 64, stream x 64 at smem; group q 16 at reg");
  CHECK(warps.warps == 4);
  REQUIRE(warps.products.size() == 2);
  CHECK(name(warps, grid(warps, "S_sum").rows) == "q");
  CHECK(name(warps, grid(warps, "S_sum").columns) == "x");
  CHECK(grid(warps, "S_sum").values() == 16 * 64 / 32);
  CHECK(grid(warps, "O_sum").values() == 16 * 128 / 32);
  CHECK(name(warps, grid(warps, "m").rows) == "q");
  CHECK(name(warps, grid(warps, "m").columns) == "-");
  CHECK(grid(warps, "m").values() == 2);
  const auto& [scores, sum] = std::tie(warps.products[0], warps.products[1]);
  CHECK(scores.rows.kept);
  CHECK(!scores.columns.transposed);  // a row of K is contracted
  CHECK(sum.rows.computed);
  CHECK(sum.columns.transposed);  // a column of V is
  CHECK(sum.steps == 4);
  CHECK(warps.inlined.size() == 2);  // P, packed where it is used, and O on its way out
  CHECK(warps.pipelined.size() == 1);
}

TEST_CASE("operands that outlive a stream stay in registers where the configuration has the launch shorter so") {
  const auto on = [](const std::string& machine) {
    const auto hardware = read_machine(machine);
    return std::get<WarpNest>(
        distribute(kernel_of(attention(), "group q 64, stream x 64 at smem; group q 16 at reg", hardware), hardware));
  };
  const auto kept = on("a100-sxm4-80"), not_kept = on("rtx4090");
  CHECK(kept.keeps);
  CHECK(kept.products[0].rows.kept);
  CHECK_FALSE(not_kept.keeps);
  CHECK_FALSE(not_kept.products[0].rows.kept);
  CHECK(kept.registers == not_kept.registers + 16 * 128 * 2 / (32 * 4));
}

TEST_CASE("tiles of pipelined loops have room for two steps, others for one") {
  const auto warps = distributed(attention(), "group q 64, stream x 64 at smem; group q 16 at reg");
  std::int64_t bytes = 0;
  for (const auto& [id, tile] : warps.tiles) {
    CHECK(tile.copies == (warps.nest->at(id).name == "Q_smem" ? 1 : 2));
    bytes += tile.layout.size_bytes() * tile.copies;
  }
  CHECK(bytes == warps.shared_bytes);
  CHECK(bytes == (64 + 2 * 64 + 2 * 64) * 128 * 2);
}

TEST_CASE("tiles have as many copies as planned while there is room for them") {
  const auto copies = [](const std::string& labels, const Settings& settings) {
    const auto hardware = read_machine("a100-sxm4-80", settings);
    const auto warps = std::get<WarpNest>(distribute(kernel_of(product(), labels, hardware), hardware));
    std::int64_t most = 1;
    for (const auto& [id, tile] : warps.tiles) most = std::max(most, tile.copies);
    return std::pair{warps.planned_stages, most};
  };
  using Pair = std::pair<std::int64_t, std::int64_t>;
  const std::string labels = "group m 64, n 64, stream k 32 at smem; group m 32, n 32 at reg";
  CHECK(copies(labels, {{"levels.smem.latency", "100 clk"}}) == Pair{2, 2});
  CHECK(copies(labels, {{"levels.smem.latency", "1500 clk"}}) == Pair{3, 3});
  CHECK(copies(labels, {{"levels.smem.latency", "4000 clk"}}) == Pair{4, 4});
  // Pieces of 8 are planned to take half of what fragments do: so many copies are 4 KiB then, but have to be 8 KiB.
  const std::string narrow = "group m 32, n 32, stream k 8 at smem; group m 16, n 16 at reg";
  const auto in = [&](const std::string& bytes) {
    return copies(narrow,
                  {{"levels.smem.latency", "4000 clk"}, {"levels.smem.usable", bytes}, {"levels.reg.usable", "4 KiB"}});
  };
  CHECK(in("8 KiB") == Pair{4, 4});
  CHECK(in("7 KiB") == Pair{4, 3});
  CHECK(in("5 KiB") == Pair{4, 2});
}

TEST_CASE("pieces are fitted to fragments") {
  // 48 in pieces of 32 would leave half a warp idle; 19 and 114 are no whole fragments.
  CHECK(distributed(attention(), "group q 48, stream x 64 at smem; group q 32 at reg").warps == 3);
  const auto warps = distributed(product(), "group m 114, n 32, stream k 40 at smem; group m 19 at reg");
  CHECK(warps.warps == 7);
  CHECK(grid(warps, "C").row_tiles == 1);
  // 128 x 128 for one warp are 512 registers of a lane.
  CHECK(distributed(product(), "group m 128, n 128, stream k 32 at smem; group m 128 at reg").registers <= 255);
}

TEST_CASE("what does not fit says why") {
  CHECK(refusal(read_file(NAPKIN_SOURCE_DIR "/examples/grouped_query.nap"),
                "group k 1, r 4, q 16, stream x 32 at smem; group r 1 at reg") ==
        "tiles of `Q` hold the parts of several warps in a separate dimension");
  CHECK(refusal(product("f32"), "group m 32, n 32, stream k 32 at smem") == "it has no sum of products of two arrays");
  CHECK(refusal(product("f16", "bf16"), "group m 32, n 32, stream k 32 at smem") ==
        "`C` multiplies arrays of f16 and bf16, and no instruction takes both: cast one of them");
  CHECK(refusal(product("f16", "i8"), "group m 32, n 32, stream k 32 at smem").empty());
  CHECK(refusal(product("tf32"), "group m 32, n 32, stream k 32 at smem").empty());
  CHECK(refusal(product(), "group m 32, n 32, stream k 32 at smem", "v100-sxm2") ==
        "napkin knows no matrix instructions for this machine");
}

TEST_CASE("tiles that columns read number by number reach as far as fragments, with registers to spare") {
  const std::string text =
      "diagram residual\naxis m = 512; axis n = 512; axis k = 512\ninput A: f16[m, k]; input B: "
      "f16[k, n]; input R: f16[m, n]; input b: f16[n]\nC: f16[m, n] = sum[k](A[m, k] * B[k, n])";
  const std::string labels = "group m 12, n 12, stream k 32 at smem";
  const auto with = [&](const std::string& more) { return distributed(text + more + "\noutput C\n", labels); };
  const auto warps = with(" + R[m, n]");
  const auto& tile = std::find_if(warps.tiles.begin(), warps.tiles.end(), [](const auto& each) {
                       return !each.second.of_products;
                     })->second;
  CHECK(tile.covers);
  CHECK(tile.layout.rows == 16);
  CHECK(tile.layout.columns == 16);
  CHECK(warps.registers == with(" + b[n]").registers + 16);
}

TEST_CASE("a fold along a wire beside rows and columns goes along it position by position") {
  const auto text = [](const std::string& r) {
    return "diagram low\naxis t = 512; axis o = 512; axis c = 512; axis r = " + r +
           "\ninput X: f16[t, c]; input A: f16[c, r]; input B: f16[r, o]\nU[t, r] = sum[c](X[t, c] * A[c, r])\n"
           "Y: f16[t, o] = sum[r](U[t, r] * B[r, o])\noutput Y\n";
  };
  const std::string labels = "group t 64, o 64, stream c 32 at smem; group t 16 at reg";
  const auto lanes = "rtx4090";  // has no products of f32 and f16
  const auto warps = distributed(text("24"), labels, lanes);
  REQUIRE(warps.shuffled.size() == 1);
  CHECK(name(warps, warps.shuffled.begin()->second) == "r");
  CHECK(name(warps, grid(warps, "U").columns) == "r");
  CHECK(name(warps, grid(warps, "Y").columns) == "o");
  CHECK(refusal(text("80"), labels, lanes).find("has the axes") != std::string::npos);
}

TEST_CASE("products of i8 are summed as i32, as far as that holds them") {
  const auto text = [](const std::string& k, const std::string& more = "") {
    return "diagram whole\naxis m = 512; axis n = 512; axis k = " + k +
           "\ninput A: i8[m, k]; input B: i8[n, k]\nC[m, n] = sum[k](A[m, k] * B[n, k]" + more + ")\noutput C\n";
  };
  const std::string labels = "group m 64, n 64, stream k 64 at smem; group m 32 at reg";
  const auto warps = distributed(text("131071"), labels);
  REQUIRE(warps.products.size() == 1);
  const auto& product = warps.products.front();
  CHECK(warps.is_integer(product.compute->to));
  CHECK(product.steps == 2);
  CHECK(product.longest == 131071);
  CHECK_FALSE(product.widened);
  CHECK(refusal(text("131072"), labels) == "`C` sums more than 131071 products, and i32 may overflow");
}

TEST_CASE("numbers of f8 are widened where the machine has no products of them") {
  const std::string text =
      "diagram eight\naxis m = 512; axis n = 512; axis k = 512\ninput A: f8e4m3[m, k]; input B: f8e4m3[n, k]\n"
      "C[m, n] = sum[k](A[m, k] * B[n, k])\noutput C\n";
  const std::string labels = "group m 64, n 64, stream k 64 at smem; group m 32, n 32 at reg";
  const auto on = [&](const std::string& machine) {
    const auto hardware = read_machine(machine);
    return std::get<WarpNest>(distribute(kernel_of(text, labels, hardware), hardware));
  };
  const auto native = on("rtx4090"), before = on("a100-sxm4-80"), after = on("h100-sxm5");
  CHECK_FALSE(native.products.front().widened);
  CHECK(before.products.front().widened);
  CHECK(after.products.front().widened);
  // Native sums are promoted, which takes those of 32 x 32 twice.
  CHECK(native.products.front().promoted == 4);
  CHECK(before.products.front().promoted == 0);
  CHECK(after.products.front().promoted == 0);
  CHECK(before.registers - native.registers == 2 * 12 - 32);
}

TEST_CASE("warps are dealt to warpgroups, sixteen rows to each") {
  const auto warps = warpgroups(product(), "group m 160, n 128, stream k 64 at smem; group m 32, n 64 at reg");
  CHECK(labels(warps) == "group m 128, n 128, stream k 64 at smem; group m 16 at reg");
  CHECK(warps.warps == 8);
  CHECK(warps.issuing_warps == 4);
  CHECK(warps.products.front().instruction->m == 64);
  // 64 is no part of 176: the block's piece is rounded, so that only the last of all pieces is ragged.
  CHECK(labels(warpgroups(product(), "group m 64, n 176, stream n 64, k 64 at smem; group m 16 at reg")) ==
        "group m 64, n 192, stream n 64, k 64 at smem; group m 16 at reg");
}

TEST_CASE("rings have the copies that are planned, outputs the room beside them, and one thread's copies fill them") {
  const auto warps = warpgroups(attention(), "group q 128, stream x 128 at smem; group q 16 at reg");
  REQUIRE(warps.pipelines.size() == 2);
  std::int64_t bytes = 0, barriers = 0;
  for (const auto& pipeline : warps.pipelines) {
    CHECK(pipeline.copies == (pipeline.loop ? warps.planned_stages : 1));
    CHECK(!pipeline.lasting);  // attention rescales its sum
    barriers += pipeline.copies * static_cast<std::int64_t>(pipeline.tiles.size() + 1);
    for (const auto id : pipeline.tiles) {
      const auto& tile = warps.tiles.at(id);
      CHECK(tile.begin % 1024 == 0);
      CHECK(tile.copies == pipeline.copies);
      CHECK(tile.layout.panel == 64);
      bytes += tile.layout.size_bytes() * tile.copies;
    }
  }
  CHECK(warps.planned_stages == 2);
  CHECK(bytes == (128 + 2 * 2 * 128) * 128 * 2);
  REQUIRE(warps.stores.size() == 1);
  CHECK(warps.stores.begin()->second.begin == bytes);
  bytes += 128 * 128 * 2;
  CHECK(warps.barriers_begin == bytes);
  CHECK(warps.shared_bytes == bytes + 8 * barriers);
}

TEST_CASE("a sum that rounds only add to stays on its way") {
  const auto warps = warpgroups(product(), "group m 128, n 128, stream k 64 at smem; group m 16 at reg");
  REQUIRE(warps.pipelines.size() == 1);
  CHECK(warps.pipelines.front().lasting == warps.products.front().compute);
  CHECK(warps.lasts(warps.products.front().compute));
}

TEST_CASE("warpgroups that compute take the registers that the one that copies gives") {
  const auto registers = [](const std::string& rows) {
    const auto warps = warpgroups(product(), "group m " + rows + ", n 64, stream k 64 at smem; group m 16 at reg");
    return std::pair{warps.lane_registers, warps.loader_lane_registers};
  };
  // A lane has at most 255, of which 240 are counted on; a core has 65536.
  CHECK(registers("64") == std::pair<std::int64_t, std::int64_t>{240, 0});
  CHECK(registers("128") == std::pair<std::int64_t, std::int64_t>{240, 24});
  CHECK(registers("192") == std::pair<std::int64_t, std::int64_t>{160, 24});
  CHECK(registers("256") == std::pair<std::int64_t, std::int64_t>{112, 24});
}

TEST_CASE("what does not fit warpgroups says why") {
  const std::string fits = "group m 64, n 64, stream k 64 at smem; group m 16 at reg";
  CHECK(refused_by_warpgroups(product(), fits).empty());
  CHECK(refused_by_warpgroups(product(), fits, "a100-sxm4-80") ==
        "napkin knows no matrix instructions of warpgroups for this machine");
  for (const auto* type : {"tf32", "f8e4m3"})
    CHECK(refused_by_warpgroups(product(type), fits).empty());  // read one by one, by single warps
  CHECK(refused_by_warpgroups(product(), "group m 32, n 32, stream k 64 at smem").empty());  // planned for single warps
  CHECK(refused_by_warpgroups(product(), "group m 64, n 64, stream k 8 at smem") == "tiles of k do not fill fragments");
}

namespace {

std::vector<std::string> names(const WarpNest& warps, const std::vector<const Compute*>& some) {
  std::vector<std::string> all;
  for (const auto* compute : some) all.push_back(warps.nest->scratch.at(warps.nest->at(compute->to).array).name);
  return all;
}

}  // namespace

TEST_CASE("the step of attention is cut between its products, and overlaps as its plan says") {
  using Names = std::vector<std::string>;
  const auto within = warpgroups(attention(), "group q 64, stream x 64 at smem; group q 16 at reg");
  REQUIRE(within.step);
  CHECK(within.planned == Overlap::intra_warpgroup);
  CHECK(within.step->within);
  CHECK(within.step->warpgroups == 1);
  CHECK(names(within, within.step->leading) == Names{"S_sum"});
  CHECK(names(within, within.step->trailing) == Names{"O_sum"});
  CHECK(copies_of(within, within.step->loop) >= 2);
  const auto turns = warpgroups(attention(), "group q 128, stream x 64 at smem; group q 16 at reg");
  REQUIRE(turns.step);
  CHECK(turns.planned == Overlap::ping_pong_of_two);
  CHECK(turns.step->warpgroups == 2);
  CHECK(copies_of(turns, turns.step->loop) >= 2);
  CHECK_FALSE(turns.step->within);
  const auto three = warpgroups(attention(), "group q 192, stream x 64 at smem; group q 16 at reg");
  REQUIRE(three.step);
  CHECK(three.step->warpgroups == 3);
  CHECK_FALSE(three.step->within);
  CHECK(three.registers + 20 > three.lane_registers);
}

TEST_CASE("more warps share out the same rows before pieces become shorter") {
  // 32 rows of 128 channels and 128 keys are more than a warp's registers hold.
  const auto spread = distributed(attention(), "group q 128, stream x 128 at smem; group q 32 at reg");
  CHECK(labels(spread) == "group q 128, stream x 128 at smem; group q 16 at reg");
  CHECK(spread.warps == 8);
  // Channels that warps alone share out stay as they are: a shorter piece of them would be more warps.
  const auto text = read_file(NAPKIN_SOURCE_DIR "/examples/softcap.nap");
  const auto wide = distributed(text, "group h 1, q 64, stream x 128 at smem; group q 32, d' 128 at reg");
  CHECK(labels(wide) == "group h 1, q 64, stream x 128 at smem; group q 16, d' 128 at reg");
}

TEST_CASE("plans whose rows are not as warpgroups want them are dealt to warpgroups all the same") {
  const auto streamed = "group m 512, n 64, stream m 128, k 64 at smem; group n 16 at reg";
  CHECK(labels(warpgroups(product(), streamed)) == streamed);
  const auto inside = "group m 128, n 64, stream k 64, m 64 at smem; group n 16 at reg";
  CHECK(labels(warpgroups(product(), inside)) == "group m 128, n 64, stream k 64 at smem; group m 16 at reg");
  // The other side of the product has enough rows.
  const auto other = "group m 32, n 64, stream k 64 at smem";
  CHECK(labels(warpgroups(product(), other)) == "group m 32, n 64, stream k 64 at smem; group n 16 at reg");
  // Rows are those that the plan deals out, and as many of them to a warpgroup.
  const auto across =
      warpgroups(product(), "group m 192, n 256, stream k 64 at smem; group m 96, n 64, stream k 16 at reg");
  CHECK(labels(across) == "group m 192, n 256, stream k 64 at smem; group n 32 at reg");
  CHECK(grid(across, "C").row_tiles == 2);
  CHECK(across.warps == 8);
  // The longer side gives way, for it loads least.
  const auto wide = warpgroups(product(), "group m 256, n 192, stream k 64 at smem; group m 16 at reg");
  CHECK(labels(wide) == "group m 192, n 192, stream k 64 at smem; group m 16 at reg");
}

TEST_CASE("a sum of products along more wires is one of matrices at each position of the others") {
  const auto text = read_file(NAPKIN_SOURCE_DIR "/examples/convolution.nap");
  const auto labels_given = "group n 16, u 2, v 8, o 64, stream c 64 at smem; group v 4, o 32 at reg";
  CHECK(labels(warpgroups(text, labels_given)) ==
        "group n 16, u 1, v 1, o 64, stream c 64, i 1, j 1 at smem; group o 16 at reg");
}

TEST_CASE("as many warpgroups take turns as share out all warpgroups of the block") {
  CHECK(ping_pong_groups(Overlap::ping_pong_of_two, 1) == 0);
  CHECK(ping_pong_groups(Overlap::ping_pong_of_two, 2) == 2);
  CHECK(ping_pong_groups(Overlap::ping_pong_of_two, 3) == 3);
  CHECK(ping_pong_groups(Overlap::ping_pong_of_two, 4) == 2);
  CHECK(ping_pong_groups(Overlap::ping_pong_of_three, 2) == 0);
  CHECK(ping_pong_groups(Overlap::ping_pong_of_three, 4) == 4);
  CHECK(ping_pong_groups(Overlap::ping_pong_of_three, 6) == 3);
}

TEST_CASE("a step that cannot be cut is not planned to overlap") {
  const std::string weights =
      "diagram weights\naxis q = 4096; axis x = 4096; axis d = 128\ninput D: f32[q, x]; input V: f16[x, d]\n"
      "P: f16[q, x] = softmax[x](D[q, x])\nO: f16[q, d] = sum[x](P[q, x] * V[x, d])\noutput O\n";
  const auto one = warpgroups(weights, "group q 64, d 32, stream x 16 at smem; group q 16 at reg");
  CHECK(one.planned == Overlap::co_resident);
  CHECK_FALSE(one.step);
  CHECK(one.not_as_planned.empty());
  const std::string twice =
      "diagram twice\naxis q = 4096; axis x = 4096; axis d = 64; axis e = 64\ninput Q: f16[q, d]; input K: f16[x, d]\n"
      "input V: f16[x, d]; input W: f16[d, e]\nP: f16[q, x] = softmax[x](sum[d](Q[q, d] * K[x, d]))\n"
      "O: f16[q, d] = sum[x](P[q, x] * V[x, d])\nY: f16[q, e] = sum[d](O[q, d] * W[d, e])\noutput Y\n";
  const auto outside = warpgroups(twice, "group q 64, stream x 64 at smem; group q 16 at reg");
  CHECK(outside.planned == Overlap::multistage);
  CHECK(outside.not_as_planned.empty());
}

TEST_CASE("as many blocks stand beside each other on a core as planned, where there is room") {
  const auto text = read_file(NAPKIN_SOURCE_DIR "/examples/grouped_query.nap");
  const auto beside = warpgroups(text, "group k 1, r 1, q 64, stream x 64 at smem; group q 16 at reg");
  CHECK(beside.planned_blocks == 2);
  CHECK(beside.blocks == 2);
  CHECK(beside.first_registers * (beside.warps + beside.issuing_warps) * 32 * beside.blocks <= 65536);
  CHECK(beside.lane_registers + beside.loader_lane_registers <= 2 * beside.first_registers);
  CHECK(beside.registers <= beside.lane_registers);
  // A core has 228 KiB, of which each block takes 1 KiB more than it asks for.
  CHECK((beside.shared_bytes + 1024) * beside.blocks <= 228 * 1024);
  // There are fewer blocks than cores.
  CHECK(warpgroups(attention(), "group q 64, stream x 64 at smem; group q 16 at reg").blocks == 1);
}
