// The shipped profiles: what must hold of every one, and some numbers that the published tables give.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>

#include "napkin/instructions.hpp"
#include "support/catch.hpp"
#include "support/documents.hpp"
#include "support/machine.hpp"

using namespace napkin;

namespace {

std::vector<std::string> shipped() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(NAPKIN_SOURCE_DIR "/hardware_profiles"))
    if (entry.path().extension() == ".yaml") names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

double f16_rate(const Hardware& machine) { return machine.find(Unit::tensor)->rates.at(Datatype::f16).peak(); }

}  // namespace

TEST_CASE("the machines promised are there", "[hardware]") {
  const std::vector<std::string> promised = {"a100-sxm4-40", "a100-sxm4-80", "a100-sxm4-80-l2", "b200-sxm",
                                             "h100-pcie",    "h100-sxm5",    "h100-sxm5-x8",    "h200-sxm",
                                             "mi300x",       "rtx3090",      "rtx4090",         "toy",
                                             "two-level",    "v100-sxm2",    "x86-64-avx2"};
  CHECK(shipped() == promised);
}

TEST_CASE("every shipped profile loads without a word", "[hardware]") {
  for (const std::string& name : shipped()) {
    const Loaded loaded = load_text(read_file(profile_path(name)));
    CAPTURE(name);
    CHECK(loaded.text == "");
    CHECK(loaded.hardware.name == name);
    CHECK(loaded.hardware.levels.size() >= 2);
  }
}

TEST_CASE("every shipped number has an origin and sources that exist, and every source is used", "[hardware]") {
  for (const std::string& name : shipped()) {
    const Hardware machine = read_machine(name);
    std::set<std::string> used;
    for (const Figure& figure : machine.figures) {
      CAPTURE(name, figure.path);
      CHECK_FALSE(figure.sources.empty());
      CHECK(figure.origin != Origin::given);
      CHECK((figure.origin != Origin::derived || !figure.how.empty()));
      for (const std::string& key : figure.sources) CHECK(machine.sources.count(key) == 1);
      used.insert(figure.sources.begin(), figure.sources.end());
    }
    for (const auto& [key, citation] : machine.sources) {
      CAPTURE(name, key);
      CHECK(used.count(key) == 1);
      CHECK(citation.size() > 10);
    }
  }
}

TEST_CASE("room shrinks and bandwidth grows downwards", "[hardware]") {
  for (const std::string& name : shipped()) {
    const Hardware machine = read_machine(name);
    for (std::size_t i = 1; i < machine.levels.size(); ++i) {
      const Level &above = machine.levels[i - 1], &level = machine.levels[i];
      CAPTURE(name, level.name);
      if (std::isfinite(level.room())) CHECK(level.room() < above.room());
      if (above.bandwidth) CHECK(level.bandwidth->peak() > above.bandwidth->peak());
    }
  }
}

TEST_CASE("a datasheet rate is its rate per clock times cores times clock", "[hardware]") {
  int checked = 0;
  for (const std::string& name : shipped()) {
    const Hardware machine = read_machine(name);
    for (const ComputeUnit& unit : machine.compute)
      for (const auto& [type, per_clock] : unit.per_clock) {
        const double cores = static_cast<double>(machine.total(*machine.core));
        const double derived = per_clock.value * cores * unit.clock_hz->value;
        CAPTURE(name, std::string(row(type).name));
        CHECK(std::abs(unit.rates.at(type).datasheet->value / derived - 1) < 0.005);
        ++checked;
      }
  }
  CHECK(checked > 100);
}

TEST_CASE("register bandwidths are 128 bytes per clock and multiprocessor", "[hardware]") {
  for (const std::string& name : shipped()) {
    const Hardware machine = read_machine(name);
    if (!machine.level("reg") || !machine.core || machine.name == "toy" || machine.find(Unit::tensor) == nullptr)
      continue;
    const double cores = static_cast<double>(machine.total(*machine.core));
    const double derived = 128 * cores * machine.find(Unit::tensor)->clock_hz->value;
    CAPTURE(name);
    CHECK(std::abs(machine.levels.back().bandwidth->peak() / derived - 1) < 0.005);
  }
}

TEST_CASE("nothing is reached beyond its peak", "[hardware]") {
  for (const std::string& name : shipped()) {
    const Hardware machine = read_machine(name);
    CAPTURE(name);
    for (const Level& level : machine.levels)
      if (level.bandwidth) CHECK(level.bandwidth->reached() <= level.bandwidth->peak());
    for (const ComputeUnit& unit : machine.compute)
      for (const auto& [type, rate] : unit.rates) CHECK(rate.reached() <= rate.peak());
  }
}

TEST_CASE("carve-outs end at the capacity, and one block leaves room for what is reserved", "[hardware]") {
  for (const std::string& name : shipped()) {
    const Hardware machine = read_machine(name);
    if (machine.limits.shared_carve_outs.empty()) continue;
    const Level& smem = machine.levels[*machine.level("smem")];
    CAPTURE(name);
    CHECK(machine.limits.shared_carve_outs.back() == smem.capacity->value);
    CHECK(smem.usable->value + machine.limits.reserved_shared_per_block->value == smem.capacity->value);
  }
}

TEST_CASE("the shapes of instructions that napkin prints are those of its table", "[hardware]") {
  int found = 0;
  for (const std::string& name : shipped()) {
    const Hardware machine = read_machine(name);
    if (machine.cuda_capability() < 80 || !machine.find(Unit::tensor)) continue;
    for (const auto& shape : machine.find(Unit::tensor)->instructions) {
      if (shape.name != "mma.sync" && shape.name != "wgmma") continue;
      const auto warps = static_cast<int>(warps_of(shape));
      const auto* row = find_matrix_instruction(shape.operands, warps);
      if (!row) continue;
      CAPTURE(name, shape.name, napkin::row(shape.operands).name);
      CHECK((shape.m == row->m && shape.n == row->n && shape.k == row->k && warps == row->warps));
      CHECK(shape.n_max == (warps > 1 ? most_warpgroup_columns : row->n));
      CHECK(machine.cuda_capability() >= row->capability);
      CHECK((warps == 1 || has_warpgroup_instructions(machine.cuda_architecture)));
      ++found;
    }
  }
  CHECK(found > 20);
}

TEST_CASE("the H100 is the one that the whitepaper describes", "[hardware]") {
  const Hardware machine = read_machine("h100-sxm5");
  REQUIRE(machine.levels.size() == 3);
  CHECK(machine.levels[1].name == "smem");
  CHECK(machine.levels[1].count == 132);
  CHECK(machine.levels[1].usable->value == 232448);
  CHECK(machine.levels[1].bandwidth->peak() == 3.352e12);
  CHECK(machine.levels[1].bandwidth->reached() == 3.0e12);
  CHECK(machine.levels[2].capacity->value == 65536 * 4);
  CHECK(machine.levels[2].usable->value == 255 * 4 * 32);
  CHECK(machine.levels[2].shared);
  CHECK(machine.levels[2].max_groups == 32);
  CHECK(f16_rate(machine) == 989.4e12);
  CHECK(machine.find(Unit::tensor)->rates.at(Datatype::bf16).reached() == Approx(0.8 * 989.4e12));
  CHECK(machine.find(Unit::sfu)->rates.at(Datatype::f32).peak() == Approx(3.86e12).epsilon(0.005));
  CHECK(machine.cuda_architecture == "sm_90a");
}

TEST_CASE("matrix rates are dense, and consumer cards halve them for f32 accumulators", "[hardware]") {
  CHECK(f16_rate(read_machine("a100-sxm4-40")) == 312e12);
  CHECK(f16_rate(read_machine("h200-sxm")) == 989.4e12);
  CHECK(f16_rate(read_machine("b200-sxm")) == 2250e12);
  const Hardware ada = read_machine("rtx4090");
  CHECK(f16_rate(ada) == 165.2e12);
  CHECK(ada.find(Unit::tensor)->narrow_rates.at({Datatype::f16, Datatype::f16}).peak() == 330.3e12);
}

TEST_CASE("eight GPUs are one machine", "[hardware]") {
  const Hardware one = read_machine("h100-sxm5"), eight = read_machine("h100-sxm5-x8");
  CHECK(eight.levels[0].name == "node");
  CHECK(eight.levels[1].count == 8);
  CHECK(eight.total(*eight.level("smem")) == 8 * one.total(*one.level("smem")));
  CHECK(f16_rate(eight) == Approx(8 * f16_rate(one)).epsilon(0.001));
  for (const char* level : {"smem", "reg"}) {
    const Rate &all = *eight.levels[*eight.level(level)].bandwidth, &single = *one.levels[*one.level(level)].bandwidth;
    CHECK(all.peak() == Approx(8 * single.peak()).epsilon(0.001));
    CHECK(all.reached() == Approx(8 * single.reached()).epsilon(0.001));
  }
  CHECK(eight.levels[1].capacity->value == one.levels[0].capacity->value);
  CHECK(eight.levels[0].capacity->value == 8 * one.levels[0].capacity->value);
}

TEST_CASE("the paper's machine counts values and is given M", "[hardware]") {
  const Hardware machine = read_machine("two-level", {{"M", "10000"}});
  REQUIRE(machine.levels.size() == 2);
  CHECK(machine.levels[1].in_values);
  CHECK(machine.levels[1].capacity->value == 10000);
  CHECK(machine.levels[1].capacity->origin == Origin::given);
  CHECK(machine.compute.empty());
  CHECK_FALSE(read_machine("two-level").levels[1].capacity.has_value());
}

TEST_CASE("parameters lead to numbers", "[hardware]") {
  for (const std::string& name : shipped())
    for (const auto& [parameter, path] : read_machine(name).parameters) {
      CAPTURE(name, parameter, path);
      const Hardware machine = read_machine(name, {{parameter, "1000" + std::string(name == "two-level" ? "" : " B")}});
      CHECK(std::any_of(machine.figures.begin(), machine.figures.end(), [&, wanted = path](const Figure& figure) {
        return figure.path == wanted && figure.value == 1000;
      }));
    }
}

TEST_CASE("the documented profile is right, and uses every key that a shipped one does", "[hardware]") {
  const std::string document = read_file(NAPKIN_SOURCE_DIR "/docs/profiles.md");
  const std::vector<std::string> examples = code_blocks(document, "yaml");
  REQUIRE(examples.size() == 1);
  CHECK(load_text(examples[0]).text == "");
  for (const std::string& name : shipped())
    for (const Figure& figure : read_machine(name).figures) {
      const std::string last = figure.path.substr(figure.path.rfind('.') + 1);
      const std::string key = last.substr(0, last.find(' '));  // `f16 into f16` is of f16
      CAPTURE(name, key);
      CHECK((key == "rate" || document.find(key) != std::string::npos));
    }
}

TEST_CASE("every shipped machine is in the documented table", "[hardware]") {
  const std::string document = read_file(NAPKIN_SOURCE_DIR "/docs/profiles.md");
  for (const std::string& name : shipped()) {
    CAPTURE(name);
    CHECK(document.find("`" + name + "`") != std::string::npos);
  }
}
