// Whatever bytes a profile has, loading ends at once, with a diagnostic or with a machine.
#include <random>

#include "support/catch.hpp"
#include "support/machine.hpp"

using namespace napkin;

namespace {

std::string repeat(const std::string& text, int times) {
  std::string out;
  for (int i = 0; i < times; ++i) out += text;
  return out;
}

void check_ends(const std::string& yaml) {
  const Loaded loaded = load_text(yaml);
  if (!loaded.diagnostics.has_errors()) CHECK_FALSE(loaded.hardware.levels.empty());
  CHECK(to_text(loaded.hardware).size() < 1'000'000);
}

}  // namespace

TEST_CASE("a profile cut off anywhere", "[hardware]") {
  const std::string whole = read_file(profile_path("toy"));
  for (std::size_t length = 0; length < whole.size(); length += 17) check_ends(whole.substr(0, length));
}

TEST_CASE("a profile with bytes overwritten", "[hardware]") {
  const std::string whole = read_file(profile_path("toy"));
  const std::string spiteful("\0\n\t\r :-?[]{}#&*!|>'\"%@`,\x7F\xFF\xC3", 28);
  std::mt19937 random(1);
  for (int i = 0; i < 200; ++i) {
    std::string text = whole;
    for (int flips = 0; flips < 3; ++flips) text[random() % text.size()] = spiteful[random() % spiteful.size()];
    check_ends(text);
  }
}

TEST_CASE("a profile with lines doubled and misplaced", "[hardware]") {
  std::vector<std::string> lines;
  std::istringstream in(read_file(profile_path("toy")));
  for (std::string line; std::getline(in, line);) lines.push_back(line + "\n");
  std::mt19937 random(2);
  for (int i = 0; i < 60; ++i) {
    std::string text;
    for (const std::string& line : lines) {
      text += random() % 9 == 0 ? lines[random() % lines.size()] : line;
      if (random() % 9 == 0) text += line;
    }
    check_ends(text);
  }
}

TEST_CASE("random bytes are no profile", "[hardware]") {
  std::mt19937 random(3);
  for (int i = 0; i < 100; ++i) {
    std::string text(random() % 500, ' ');
    for (char& byte : text) byte = static_cast<char>(random() % (i % 2 == 0 ? 256 : 128));
    CHECK(load_text(text).diagnostics.has_errors());
  }
}

TEST_CASE("profiles made to be slow or deep", "[hardware]") {
  const std::string text = GENERATE(
      repeat("[", 100'000), repeat("{", 100'000), repeat("- ", 100'000), repeat("? ", 100'000), repeat("{a: ", 50'000),
      repeat("[a, ", 50'000), repeat("!", 200'000), repeat("a: ", 80'000), repeat("\"", 200'001),
      repeat("a:\n", 80'000), repeat("&a ", 80'000), repeat("|\n", 80'000), repeat("---\n", 60'000),
      repeat("%\n", 100'000), repeat("#", 250'000), "a: " + repeat("x", 250'000), repeat("x", 250'000) + ": b",
      "levels: {" + repeat("a: {}, ", 30'000) + "}", "name: " + repeat("(", 200'000), repeat(" ", 200'000) + "a: b",
      repeat("'", 200'001), repeat("\t", 200'000));
  check_ends(text);
}

TEST_CASE("thousands of unknown keys and hundreds of settings", "[hardware]") {
  std::string text = "levels:\n";
  Settings settings;
  for (int i = 0; i < 4000; ++i) text += "  level" + std::to_string(i) + ": { unit: x, cuont: 1 B vendor X }\n";
  for (int i = 0; i < 300; ++i) settings.emplace_back("levels.level" + std::to_string(i) + ".capacity", "1000000 GiB");
  CHECK(load_text(text, settings).diagnostics.has_errors());
}

TEST_CASE("counts beyond any machine", "[hardware]") {
  std::string text = "name: a\ndescription: b\nsources: {S: s}\nlevels:\n  top: {unit: x}\n";
  for (int i = 0; i < 40; ++i) text += "  l" + std::to_string(i) + ": {unit: x, count: 1000000000 vendor S}\n";
  CHECK(load_text(text).diagnostics.sorted().at(0).code == "E0412");
}
