// Reading a profile: units, spans, settings; every mistake is a diagnostic at the right characters.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "support/catch.hpp"
#include "support/machine.hpp"

using namespace napkin;

namespace {

// A machine that is right, into which the tests put one wrong line.
const std::string good = R"(name: small
description: a machine for these tests
core: smem
levels:
  gmem:
    unit: gpu
    capacity: 1 GiB  vendor HERE
  smem:
    unit: block
    count: 4  vendor HERE
    capacity: 64 KiB  vendor HERE
    bandwidth: 1 GB/s  vendor HERE
compute:
  fma:
    clock: 2 GHz  vendor HERE
    per_clock:
      f32: 16 FLOP/clk  vendor HERE
sources:
  HERE: invented for this test
)";

std::string replaced(const std::string& from, const std::string& to) {
  std::string text = good;
  const auto at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

// One diagnostic of `code`, whose span covers exactly `marked`.
void check_refused(const std::string& yaml, const std::string& code, const std::string& marked) {
  const Loaded loaded = load_text(yaml);
  CAPTURE(yaml, loaded.text, code, marked);
  const std::vector<Diagnostic> all = loaded.diagnostics.sorted();
  REQUIRE(all.size() == 1);
  CHECK(all[0].code == code);
  CHECK(yaml.substr(all[0].span.begin, all[0].span.end - all[0].span.begin) == marked);
}

double capacity(const std::string& written) {
  const Loaded loaded = load_text(replaced("64 KiB  vendor", written + " vendor"));
  CAPTURE(loaded.text);
  REQUIRE(loaded.text.empty());
  return loaded.hardware.levels[1].capacity->value;
}

}  // namespace

TEST_CASE("a profile is read with its numbers, origins and sources", "[hardware]") {
  const Loaded loaded = load_text(good);
  REQUIRE(loaded.text == "");
  const Level& smem = loaded.hardware.levels[1];
  CHECK(smem.capacity->value == 65536);
  CHECK(smem.capacity->origin == Origin::vendor);
  CHECK(smem.capacity->source == "HERE");
  CHECK(loaded.hardware.find(Unit::fma)->rates.at(Datatype::f32).peak() == 128e9);
  CHECK(loaded.hardware.find(Unit::sfu) == nullptr);
  CHECK(loaded.hardware.figures[0].path == "levels.gmem.capacity");
  CHECK(loaded.hardware.figures[0].written == "1 GiB");
}

TEST_CASE("units are decimal or binary as written", "[hardware]") {
  CHECK(capacity("128 B") == 128);
  CHECK(capacity("1 kB") == 1000);
  CHECK(capacity("1.5 KiB") == 1536);
  CHECK(capacity("1e3 B") == 1000);
  CHECK(capacity("0.5 MiB") == 524288);
}

TEST_CASE("a rate may have a datasheet and a sustained value", "[hardware]") {
  const auto rate = [](const std::string& map) {
    const Loaded loaded = load_text(replaced("bandwidth: 1 GB/s  vendor HERE", "bandwidth: {" + map + "}"));
    REQUIRE(loaded.text.empty());
    return *loaded.hardware.levels[1].bandwidth;
  };
  CHECK(rate("datasheet: 2 GB/s vendor HERE, sustained: 1 GB/s measured HERE").reached() == 1e9);
  CHECK(rate("datasheet: 2 GB/s vendor HERE, sustained_fraction: 0.75 measured HERE").reached() == 1.5e9);
  CHECK(rate("sustained: 1 GB/s measured HERE").peak() == 1e9);
  CHECK(rate("datasheet: 2 GB/s vendor HERE").reached() == 2e9);
}

TEST_CASE("energy per bit and per byte", "[hardware]") {
  const auto energy = [](const std::string& written) {
    const Loaded loaded = load_text(replaced("    count: 4  vendor HERE", "    energy: " + written + " vendor HERE"));
    REQUIRE(loaded.text.empty());
    return loaded.hardware.levels[1].energy_per_byte->value;
  };
  CHECK(energy("80 pJ/B") == Approx(80e-12));
  CHECK(energy("10 pJ/bit") == Approx(80e-12));
}

TEST_CASE("instruction shapes", "[hardware]") {
  const Loaded loaded = load_text(replaced("    clock: 2 GHz  vendor HERE", R"(    clock: 2 GHz  vendor HERE
    instructions:
      wide:
        fraction: 0.5  measured HERE
        f16: m64n8-256k16  vendor HERE
        i8: m16n8k32  vendor HERE)"));
  REQUIRE(loaded.text == "");
  const auto& shapes = loaded.hardware.find(Unit::fma)->instructions;
  REQUIRE(shapes.size() == 2);
  CHECK(shapes[0].name == "wide");
  CHECK(shapes[0].n == 8);
  CHECK(shapes[0].n_max == 256);
  CHECK(shapes[1].k == 32);
  CHECK(shapes[1].n_max == 8);
  CHECK(shapes[1].fraction->value == 0.5);
}

TEST_CASE("what is wrong with a profile is pointed at", "[hardware][diagnostics]") {
  const std::string nested = std::string(40, '[') + std::string(40, ']');
  struct Case {
    std::string yaml, code, marked;
  };
  const auto [yaml, code, marked] = GENERATE_COPY(values<Case>({
      {replaced("gmem:", "gmem: ]"), "E0401", "]"},
      {replaced("core: smem", "core: " + nested), "E0402", "["},
      {replaced("core: smem", "core: &here smem"), "E0403", "&"},
      {replaced("core: smem", "core: !!str smem"), "E0403", "!"},
      {good + "---\nname: other\n", "E0403", "-"},
      {replaced("    count: 4  vendor HERE", "    count: 4  vendor HERE\n    count: 8  vendor HERE"), "E0404", "count"},
      {replaced("capacity: 64", "capacty: 64"), "E0405", "capacty"},
      {replaced("core: smem", "cores: smem\ncore: smem"), "E0405", "cores"},
      {replaced("    unit: block\n", ""), "E0406", "smem"},
      {replaced("core: smem\n", ""), "E0406", "compute"},
      {replaced("    clock: 2 GHz  vendor HERE\n", ""), "E0406", "fma"},
      {replaced("unit: gpu", "unit: {}"), "E0407", "unit"},
      {replaced("unit: gpu", "shared: maybe\n    unit: gpu"), "E0407", "maybe"},
      {replaced("64 KiB", "010 KiB"), "E0408", "010"},
      {replaced("64 KiB", "0x40 KiB"), "E0408", "0x40"},
      {replaced("64 KiB", "inf KiB"), "E0408", "inf"},
      {replaced("64 KiB", "64KiB"), "E0408", "64KiB"},
      {replaced("64 KiB", "1e999 KiB"), "E0408", "1e999"},
      {replaced("64 KiB", "64"), "E0409", "64"},
      {replaced("64 KiB", "64 KB"), "E0409", "KB"},
      {replaced("64 KiB", "64 GB/s"), "E0409", "GB/s"},
      {replaced("64 KiB", "64 Kib"), "E0409", "Kib"},
      {replaced("count: 4", "count: 4 B"), "E0409", "B"},
      {replaced("64 KiB  vendor HERE", "64 KiB"), "E0410", "64 KiB"},
      {replaced("64 KiB  vendor HERE", "64 KiB  vendor"), "E0410", "64 KiB  vendor"},
      {replaced("64 KiB  vendor HERE", "64 KiB  guessed HERE"), "E0410", "guessed"},
      {replaced("64 KiB  vendor HERE", "64 KiB  derived HERE"), "E0410", "derived"},
      {replaced("64 KiB  vendor HERE", "64 KiB  derived HERE (32 x 2"), "E0410", "("},
      {replaced("64 KiB  vendor HERE", "64 KiB  vendor THERE"), "E0411", "THERE"},
      {replaced("64 KiB  vendor HERE", "'64 KiB  vendor THERE'"), "E0411", "THERE"},
      {replaced("64 KiB", "-64 KiB"), "E0412", "-64 KiB"},
      {replaced("1 GB/s", "0 GB/s"), "E0412", "0 GB/s"},
      {replaced("count: 4", "count: 4.5"), "E0412", "4.5"},
      {replaced("capacity: 64 KiB", "usable: 128 KiB vendor HERE\n    capacity: 64 KiB"), "E0412", "128 KiB"},
      {replaced("unit: gpu", "unit: gpu\n    bandwidth: 1 GB/s vendor HERE"), "E0412", "1 GB/s"},
      {replaced("unit: gpu", "unit: gpu\n    count: 2 vendor HERE"), "E0412", "2"},
      {replaced("64 KiB", "64 GiB"), "E0413", "64 GiB"},
      {replaced("core: smem", "core: smen"), "E0416", "smen"},
      {replaced("f32: 16", "f33: 16"), "E0416", "f33"},
      {replaced("    per_clock:", "    datasheet:\n      f32: 256 GFLOP/s vendor HERE\n    per_clock:"), "E0415",
       "256 GFLOP/s"},
      {replaced("compute:", "compute:\n  fpu: {}"), "E0405", "fpu"},
  }));
  check_refused(yaml, code, marked);
}

TEST_CASE("a level that is fed more slowly than the one above is a warning", "[hardware][diagnostics]") {
  const std::string yaml = replaced("compute:", "  reg:\n    unit: warp\n    bandwidth: 1 MB/s vendor HERE\ncompute:");
  check_refused(yaml, "W0414", "1 MB/s");
  CHECK_FALSE(load_text(yaml).diagnostics.has_errors());
}

TEST_CASE("independent mistakes are all reported", "[hardware]") {
  std::string yaml = replaced("64 KiB", "64 KB");
  yaml.replace(yaml.find("1 GB/s"), 6, "0 GB/s");
  yaml.replace(yaml.find("unit: gpu"), 4, "unti");
  const auto all = load_text(yaml).diagnostics.sorted();
  REQUIRE(all.size() == 4);
  CHECK(all[0].code == "E0406");
  CHECK(all[1].code == "E0405");
  CHECK(all[1].help == "did you mean `unit`?");
  CHECK(all[2].code == "E0409");
  CHECK(all[3].code == "E0412");
}

TEST_CASE("a file that is no profile at all", "[hardware]") {
  CHECK(load_text("").diagnostics.sorted().at(0).code == "E0407");
  CHECK(load_text("").diagnostics.sorted().at(0).span.begin == 0);
  CHECK(load_text("").diagnostics.sorted().at(0).span.end == 0);
  CHECK(load_text("# nothing\n").diagnostics.sorted().at(0).code == "E0407");
  CHECK(load_text("- a\n- b\n").diagnostics.sorted().at(0).code == "E0407");
  CHECK(load_text(std::string("name: \0", 7)).diagnostics.sorted().at(0).code == "E0101");
  CHECK(load_text("name: \xFF\n").diagnostics.sorted().at(0).code == "E0101");
  CHECK(load_text(std::string(300'000, ' ')).diagnostics.sorted().at(0).code == "E0602");
}

TEST_CASE("a byte order mark and CRLF change nothing", "[hardware]") {
  std::string yaml = "\xEF\xBB\xBF" + replaced("64 KiB", "64 KB");
  for (std::size_t at = 0; (at = yaml.find('\n', at)) != std::string::npos; at += 2) yaml.replace(at, 1, "\r\n");
  check_refused(yaml, "E0409", "KB");
}

TEST_CASE("what is not valid YAML is pointed at, whatever stands before it", "[hardware]") {
  const auto place = [](const std::string& before) {
    const auto all = load_text(before + "name: small\ncore: ]\n").diagnostics.sorted();
    REQUIRE(all.size() == 1);
    CHECK(all[0].code == "E0401");
    CHECK(all[0].span.end == all[0].span.begin + 1);
    return all[0].span.begin - before.size();
  };
  const auto plain = place("");
  CHECK(plain == std::string("name: small\ncore: ").size());
  for (const std::string before : {"\xEF\xBB\xBF", "# caf\xC3\xA9\n", "\xEF\xBB\xBF# \xE2\x82\xAC\r\n"})
    CHECK(place(before) == plain);
}

TEST_CASE("any number can be set by its dotted path", "[hardware]") {
  CHECK(load_text(good, {{"levels.smem.capacity", "32 KiB"}}).hardware.levels[1].capacity->value == 32768);
  CHECK(load_text(good, {{"levels.smem.latency", "30 clk"}}).hardware.levels[1].latency_clocks->value == 30);
  const Loaded sourced = load_text(good, {{"levels.smem.capacity", "32 KiB measured HERE"}});
  CHECK(sourced.text == "");
  CHECK(sourced.hardware.levels[1].capacity->origin == Origin::measured);
}

TEST_CASE("a capacity set below what one group may use lowers that too", "[hardware]") {
  const Hardware machine = read_machine("h100-sxm5", {{"levels.smem.capacity", "100 KiB"}});
  CHECK(machine.levels[1].room() == 100 * 1024);
}

TEST_CASE("a clock that is set moves the rates that follow from it", "[hardware]") {
  const Hardware machine = read_machine("a100-sxm4-40", {{"compute.tensor.clock", "1.11 GHz"}});
  CHECK(machine.find(Unit::tensor)->rates.at(Datatype::f16).peak() == Approx(245.5e12).epsilon(0.001));
  CHECK(machine.find(Unit::tensor)->rates.at(Datatype::bf16).reached() == Approx(0.87 * 245.5e12).epsilon(0.001));
  CHECK(machine.find(Unit::fma)->rates.at(Datatype::f32).peak() == 19.5e12);
}

TEST_CASE("a setting that is wrong is pointed at where it was typed", "[hardware][diagnostics]") {
  const auto only = [](const Settings& settings) {
    const auto all = load_text(good, settings).diagnostics.sorted();
    REQUIRE(all.size() == 1);
    return all[0];
  };
  CHECK(only({{"levels.smen.capacity", "1 KiB"}}).code == "E0417");
  CHECK(only({{"levels.smen.capacity", "1 KiB"}}).help == "did you mean `levels.smem`?");
  CHECK(only({{"M", "100"}}).code == "E0417");
  CHECK(only({{"levels.smem.capacty", "1 KiB"}}).code == "E0405");
  CHECK(only({{"levels.smem.capacity", "100"}}).code == "E0409");
  CHECK(only({{"levels.smem.capacity", "100"}}).span == Span{1, 21, 24});
  CHECK(only({{"levels.smem.capacity", ""}}).code == "E0408");
  CHECK(only({{"", "3"}}).code == "E0417");
}

TEST_CASE("targets are found by name, unique beginning or path", "[hardware]") {
  Diagnostics diagnostics;
  const auto found = [&](const std::string& name) { return find_profile(name, nowhere, diagnostics).value(); };
  CHECK(found("h100-sxm5") == profile_path("h100-sxm5"));
  CHECK(found("v100") == profile_path("v100-sxm2"));
  CHECK(found("V100") == profile_path("v100-sxm2"));
  CHECK(found("H100-SXM5") == profile_path("h100-sxm5"));
  CHECK(found("H100") == profile_path("h100-sxm5"));  // its alias
  CHECK(found("h100") == profile_path("h100-sxm5"));
  CHECK(found("A100") == profile_path("a100-sxm4-80"));
  CHECK(found("./mine.yaml") == "./mine.yaml");
  CHECK(found("mine.yaml") == "mine.yaml");
  CHECK(diagnostics.size() == 0);
}

TEST_CASE("a machine's fingerprint is of its numbers, in any order, and of no word about them", "[hardware]") {
  const auto hash = [](const std::string& text, const Settings& settings = {}) {
    const auto loaded = load_text(text, settings);
    REQUIRE(loaded.text == "");
    return fingerprint(loaded.hardware);
  };
  auto words = good;
  words.replace(words.find("a machine for these tests"), 25, "another description of it");
  CHECK(hash(words + "\n# a comment\n") == hash(good));
  CHECK(hash(good, {{"levels.smem.capacity", "1 KiB"}}) != hash(good));
  const auto shipped = read_machine("h100-sxm5");
  CHECK(fingerprint(shipped) == fingerprint(read_machine("h100-sxm5")));
  CHECK(fingerprint(shipped) != fingerprint(read_machine("h200-sxm")));
  auto moved = shipped;
  std::reverse(moved.figures.begin(), moved.figures.end());
  CHECK(fingerprint(moved) == fingerprint(shipped));
  moved.figures[3].value += 1;
  CHECK(fingerprint(moved) != fingerprint(shipped));
}

TEST_CASE("an unknown target gets the nearest name, an ambiguous one all that it could be", "[hardware][diagnostics]") {
  const auto refused = [](const std::string& name) {
    Diagnostics diagnostics;
    CHECK_FALSE(find_profile(name, nowhere, diagnostics));
    REQUIRE(diagnostics.size() == 1);
    return diagnostics.sorted()[0];
  };
  CHECK(refused("h10").code == "E0419");
  CHECK(refused("H10").message == "target `H10` could be any of h100-pcie, h100-sxm5, h100-sxm5-x8");
  CHECK(refused("rtx5090").code == "E0418");
  CHECK(refused("rtx5090").help == "did you mean `rtx3090`?");
  CHECK(refused("").code == "E0418");
}

TEST_CASE("a profile prints every number once, with origin and source", "[hardware]") {
  const Hardware machine = read_machine("rtx4090");
  const std::string text = to_text(machine), json = to_json(machine);
  for (const Figure& figure : machine.figures) {
    CAPTURE(figure.path);
    CHECK(text.find("  " + figure.path + " ") != std::string::npos);
    CHECK(json.find("\"" + figure.path + "\"") != std::string::npos);
  }
  CHECK(text.find("NVIDIA Ada GPU Architecture") != std::string::npos);
  CHECK(to_text(read_machine("rtx4090")) == text);
}

TEST_CASE("JSON has plain SI numbers", "[hardware]") {
  const auto json = nlohmann::json::parse(to_json(read_machine("h100-sxm5")));
  CHECK(json["schema"] == "napkin.target/1");
  CHECK(json["target"] == "h100-sxm5");
  CHECK(json["levels"][1]["count"] == 132);
  const auto number = [&](const std::string& path) {
    for (const auto& one : json["numbers"])
      if (one["path"] == path) return one;
    return nlohmann::json();
  };
  const auto bandwidth = number("levels.smem.bandwidth.datasheet");
  CHECK(bandwidth["value"] == 3.352e12);
  CHECK(bandwidth["unit"] == "B/s");
  CHECK(bandwidth["origin"] == "vendor");
  CHECK(bandwidth["sources"] == nlohmann::json{"XLA"});
  CHECK_FALSE(number("compute.tensor.instructions.wgmma.f16").contains("value"));
  CHECK(nlohmann::json::parse(list_json({read_machine("toy")}))["targets"][0]["target"] == "toy");
}

TEST_CASE("a list has one line for each machine", "[hardware]") {
  const std::string text = list_text({read_machine("h100-sxm5"), read_machine("two-level")});
  CHECK(text ==
        "h100-sxm5  gmem > smem > reg  3.352 TB/s  989.4 TFLOP/s f16  NVIDIA H100 SXM5 80 GB\n"
        "two-level  high > low         -           -                  two levels, one memory of M values below "
        "another\n");
}

TEST_CASE("a folder of one's own comes before the shipped profiles", "[hardware]") {
  const auto folder = std::filesystem::temp_directory_path() / "napkin-own-profiles";
  std::filesystem::create_directories(folder);
  for (const char* name : {"abacus.yaml", "toy.yaml", "notes.txt"}) std::ofstream(folder / name) << good;
  setenv("NAPKIN_PROFILES", folder.c_str(), 1);
  Diagnostics diagnostics;
  const auto own = find_profile("abacus", nowhere, diagnostics),
             replaced_one = find_profile("toy", nowhere, diagnostics);
  const auto shipped = find_profile("h100-sxm5", nowhere, diagnostics);
  const auto names = profile_names();
  unsetenv("NAPKIN_PROFILES");
  std::filesystem::remove_all(folder);
  CHECK(own == (folder / "abacus.yaml").string());
  CHECK(replaced_one == (folder / "toy.yaml").string());
  CHECK(shipped == profile_path("h100-sxm5"));
  CHECK(std::count(names.begin(), names.end(), "toy") == 1);
  CHECK(std::count(names.begin(), names.end(), "notes") == 0);
  CHECK_FALSE(find_profile("abacus", nowhere, diagnostics));
}

TEST_CASE("an alias is the profile's own, goes before a beginning, and of two profiles is ambiguous", "[hardware]") {
  const auto folder = std::filesystem::temp_directory_path() / "napkin-own-aliases";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "abacus.yaml") << "aliases: beads H200\n" << good;
  std::ofstream(folder / "broken.yaml") << "aliases: [beads\n";
  setenv("NAPKIN_PROFILES", folder.c_str(), 1);
  Diagnostics diagnostics;
  const auto beads = find_profile("Beads", nowhere, diagnostics), taken = find_profile("h200", nowhere, diagnostics);
  CHECK(diagnostics.size() == 0);
  std::ofstream(folder / "slide-rule.yaml") << "aliases: beads\n" << good;
  const auto two = find_profile("beads", nowhere, diagnostics);
  unsetenv("NAPKIN_PROFILES");
  std::filesystem::remove_all(folder);
  CHECK(beads == (folder / "abacus.yaml").string());
  CHECK(taken == beads);
  CHECK_FALSE(two);
  CHECK(diagnostics.sorted().at(0).message == "target `beads` could be any of abacus, slide-rule");
}
