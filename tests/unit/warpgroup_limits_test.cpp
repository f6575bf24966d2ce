// What instructions that four warps issue together ask of a piece: registers beside its arrays, and that one makes all
// of its columns.
#include <algorithm>
#include <regex>

#include "napkin/configure.hpp"
#include "napkin/search.hpp"
#include "support/catch.hpp"
#include "support/machine.hpp"
#include "support/planned.hpp"
#include "support/run_cli.hpp"

using namespace napkin;

namespace {

Configuration configured(const std::string& words, const Hardware& hardware) {
  Overrides sizes;
  sizes.sizes = {{"q", 65536}};
  const auto kernel = testing::planned(read_example("attention.nap", sizes), words, hardware);
  auto made = configure(kernel, estimate(kernel, hardware, Model::machine), hardware, Model::machine);
  REQUIRE(made);
  return *made;
}
bool runs(const Configuration& made) {
  return std::ranges::any_of(made.pipelinings, [](const Pipelining& each) { return each.runs; });
}

}  // namespace

TEST_CASE("a thread has as many registers beside packed arrays as a profile says", "[configure]") {
  const auto words = "group q 128, stream x 64 at smem";
  const auto beside = [&](const Hardware& hardware) {
    const auto made = configured(words, hardware);
    const auto bytes = 4 * 32 * made.warpgroup_warps;  // of one register of all threads
    const auto& first = made.pipelinings[0];
    return first.occupancy.registers_per_thread - (first.warpgroup_register_bytes + bytes - 1) / bytes;
  };
  CHECK(beside(read_machine("h100-sxm5", {{"limits.registers_for_addresses", "30"}})) == 30);
}

TEST_CASE("a lane holds fragments, operands that were computed, and what a compiler needs", "[configure]") {
  const auto registers = [](const char* machine, const char* words) {
    return configured(words, read_machine(machine)).pipelinings[0].occupancy.registers_per_thread;
  };
  // Of 16 rows: 128 columns of O are 64 values and 64 of S 32; numbers of each row are two values each, four of them
  // where S becomes P. On single warps P stands whole as an operand of four times four registers beside S, and a step
  // of K or V takes eight; Q stays there, eight times four.
  CHECK(registers("h100-sxm5", "group q 128, stream x 64 at smem") == 64 + 32 + 4 * 2 + 52);
  CHECK(registers("a100-sxm4-80", "group q 64, stream x 64 at smem; group q 16 at reg") ==
        64 + 32 + 4 * 2 + 16 + 8 + 32 + 47);
}

TEST_CASE("a piece has no more columns than one instruction of a warpgroup", "[configure][long]") {
  const auto hardware = read_machine("h100-sxm5");
  CHECK(runs(configured("group q 64, stream x 224 at smem", hardware)));
  CHECK(configured("group q 64, stream x 256 at smem", hardware).pipelinings[0].occupancy.limited_by == "registers");
  const auto wide = configured("group q 64, stream x 272 at smem", hardware);
  CHECK_FALSE(runs(wide));
  CHECK_FALSE(wide.launch);
  CHECK(wide.pipelinings[0].occupancy.limited_by == "columns of an instruction");
  // Where the model alone would have more.
  Overrides sizes;
  sizes.sizes = {{"b", 4}, {"h", 32}, {"q", 4096}, {"x", 4096}, {"d", 64}};
  const auto found = search(read_example("multi_head.nap", sizes), hardware, Goal());
  for (const auto& kernel : found.plan.kernels)
    for (const auto& split : kernel.partition.splits) CHECK(split.size <= 256);
}

TEST_CASE("a machine of single warps keeps its other instructions", "[hardware]") {
  const auto h100 = read_machine("h100-sxm5"), b200 = read_machine("b200-sxm");
  const auto families = [](const Hardware& hardware) {
    std::vector<std::string> names;
    for (const auto& shape : hardware.find(Unit::tensor)->instructions)
      if (std::ranges::find(names, shape.name) == names.end()) names.push_back(shape.name);
    return names;
  };
  CHECK(families(h100) == std::vector<std::string>{"mma.sync", "wgmma"});
  CHECK(families(of_single_warps(h100)) == std::vector<std::string>{"mma.sync"});
  CHECK_FALSE(families(of_single_warps(b200)).empty());
}

// ptxas gives a thread its share of the registers at the beginning of a block, whatever setmaxnreg says after that, and
// refuses an instruction whose sums do not fit: of 256 columns, where two blocks of two warpgroups share an SM.
TEST_CASE("blocks that share an SM leave ptxas room for the widest instruction", "[cli]") {
  const test::Folder folder;
  const auto path = folder.write("m.nap",
                                 "diagram m\naxis h = 16; axis q = 1024; axis x = 256; axis d = 32\n"
                                 "input Q: f16[h, q, d]; input K: f16[h, x, d]\n"
                                 "S[h, q, x] = sum[d](Q[h, q, d] * K[h, x, d]); O: f16[h, q] = max[x](S[h, q, x])\n"
                                 "output O\n");
  const auto ran = test::run_cli({"emit", "cuda", path, "--target", "h100-sxm5", "-o", folder / "out"});
  REQUIRE(ran.code == exit_done);
  const auto text = test::text_of(folder / "out/m.cu");
  const std::regex bounds(R"(__launch_bounds__\((\d+), (\d+)\)\s+m_kernel_warpgroups)"), columns(R"(m64n(\d+)k)");
  std::smatch found;
  REQUIRE(std::regex_search(text, found, bounds));
  const int share = 65536 / (std::stoi(found[1]) * std::stoi(found[2])) / 8 * 8;
  int widest = 0;
  for (std::sregex_iterator one(text.begin(), text.end(), columns), end; one != end; ++one)
    widest = std::max(widest, std::stoi((*one)[1]));
  REQUIRE(widest > 0);
  CHECK(widest / 2 + 26 <= share);
}
