// Whatever text a user brings, it stays text in everything that is printed: no control character comes through, and
// nothing that is written for a compiler or a browser holds more than what napkin says.
#include <filesystem>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/run_cli.hpp"

using namespace napkin;
using namespace napkin::test;

namespace {

const std::string hostile = "x\n#error injected\r\x1b[31m\x7f*/ \" ' \\ <script>$(id)`id` %s {0}\u202e\u009b\\";
const std::string printable_hostile = "*/ \" ' <script>alert(1)</script> $(id) `id` %s {0} \\";

// What a terminal would act on instead of showing it.
bool is_clean(const std::string& text) {
  for (const unsigned char c : text)
    if ((c < 0x20 && c != '\n') || c == 0x7f) return false;
  for (const char* bad : {"\u202e", "\u009b", "\n#error"})
    if (text.find(bad) != std::string::npos) return false;
  return true;
}

// A scalar of YAML that holds the text exactly.
std::string yaml(const std::string& text) {
  std::string all = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') all += '\\';
    all += c == '\n' ? "\\n" : c == '\r' ? "\\r" : c == '\x1b' ? "\\e" : c == '\x7f' ? "\\x7f" : std::string(1, c);
  }
  return all + "\"";
}

struct Texts {
  std::string name = "mine", description = "two levels", level = "smem", unit = "block", cache = "l2", source = "sheet",
              how = "by hand", architecture = "sm_80", parameter = "M";
};
std::string profile(const Texts& texts) {
  return "name: " + yaml(texts.name) + "\ndescription: " + yaml(texts.description) +
         "\ncuda_architecture: " + yaml(texts.architecture) + "\nlevels:\n  gmem:\n    unit: gpu\n" +
         "    capacity: 1 GiB vendor SHEET\n  " + yaml(texts.level) + ":\n    unit: " + yaml(texts.unit) +
         "\n    count: 4 vendor SHEET\n    capacity: " + yaml("64 KiB vendor SHEET (" + texts.how + ")") +
         "\n    bandwidth: 1 GB/s vendor SHEET\ncaches:\n  " + yaml(texts.cache) +
         ":\n    below: gmem\n    capacity: 1 MiB vendor SHEET\nparameters:\n  " + yaml(texts.parameter) +
         ": levels.gmem.capacity\nsources:\n  SHEET: " + yaml(texts.source) + "\n";
}

const std::string matmul =
    "diagram matmul\naxis a = 64; axis b = 64; axis c = 64\ninput A: f32[a, b]\ninput B: f32[b, c]\n"
    "C[a, c] = sum[b](A[a, b] * B[b, c])\noutput C\n";

// Every file below a folder, one after another.
std::string all_files(const std::string& folder) {
  std::string text;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    if (entry.is_regular_file()) text += text_of(entry.path());
  return text;
}

std::vector<std::vector<std::string>> commands(const std::string& diagram, const std::string& target) {
  return {{"analyze", diagram, "--target", target},
          {"analyze", diagram, "--target", target, "--format", "markdown"},
          {"analyze", diagram, "--target", target, "--format", "html"},
          {"analyze", diagram, "--target", target, "--format", "json"},
          {"draw", diagram, "--target", target, "--format", "text"},
          {"draw", diagram, "--target", target, "--format", "svg"},
          {"draw", diagram, "--target", target, "--format", "tikz"},
          {"pseudocode", diagram, "--target", target},
          {"verify", diagram, "--target", target},
          {"targets", target}};
}

}  // namespace

TEST_CASE("names and texts of a profile are refused where they hold more than words", "[escape][hardware]") {
  const Folder folder;
  const auto diagram = folder.write("matmul.nap", matmul);
  std::vector<Texts> all(9);
  all[0].name = all[1].description = all[2].level = all[3].unit = all[4].cache = hostile;
  all[5].source = all[6].how = all[7].architecture = all[8].parameter = hostile;
  for (const auto& texts : all) {
    const auto target = folder.write("mine.yaml", profile(texts));
    CAPTURE(text_of(target));
    for (const auto& command : commands(diagram, target)) {
      const auto ran = run_cli(command);
      CHECK(ran.code != 0);
      CHECK((ran.err + ran.out).find("E04") != std::string::npos);
      CHECK(is_clean(ran.err));
    }
    CHECK(run_cli({"emit", "cpp", diagram, "--target", target, "-o", folder / "out"}).code != 0);
    CHECK_FALSE(std::filesystem::exists(folder / "out"));
  }
}

TEST_CASE("names of a profile are plain words", "[escape][hardware]") {
  const Folder folder;
  const auto diagram = folder.write("matmul.nap", matmul);
  for (const std::string name : {"a b", "../up", "a*/", "%s", "", "-a", "a\"b"}) {
    CAPTURE(name);
    Texts texts;
    texts.name = name;
    const auto ran = run_cli({"analyze", diagram, "--target", folder.write("mine.yaml", profile(texts))});
    CHECK(ran.code == 1);
    CHECK(ran.err.find("E0420") != std::string::npos);
  }
  const auto fine = run_cli({"analyze", diagram, "--target", folder.write("mine.yaml", profile({}))});
  CHECK(fine.code == 0);
}

TEST_CASE("a description is text in every output", "[escape]") {
  const Folder folder;
  const auto diagram = folder.write("matmul.nap", matmul);
  Texts texts;
  texts.description = texts.source = printable_hostile;
  texts.how = "*/ \" ' <script> $\\";
  const auto target = folder.write("mine.yaml", profile(texts));
  for (const auto& command : commands(diagram, target)) {
    CAPTURE(command);
    const auto ran = run_cli(command);
    CHECK(ran.code == 0);
    CHECK(is_clean(ran.out));
    const bool markup = command.back() == "html" || command.back() == "svg";
    if (markup) CHECK(ran.out.find("<script>alert") == std::string::npos);
  }
  for (const char* language : {"cpp", "cuda"}) {
    const auto out = folder / language;
    CHECK(run_cli({"emit", language, diagram, "--target", target, "-o", out}).code == 0);
    CHECK(all_files(out).find("alert(1)") == std::string::npos);
  }
}

TEST_CASE("paths, words and partitions of a command line are shown on the lines they belong to", "[escape]") {
  const Folder folder;
  const auto strange = folder / "a\n#error injected\x1b[31m";
  std::filesystem::create_directories(strange);
  const auto diagram = strange + "/matmul\x1b[0m.nap";
  std::ofstream(diagram) << matmul;
  const auto wrong = strange + "/wrong.nap";
  std::ofstream(wrong) << "diagram x\x1b[31m\naxis \u202e = 4 # \x1b[31m\n";
  const std::vector<std::vector<std::string>> lines = {
      {"analyze", strange + "/none.nap", "--target", "toy"},
      {"analyze", wrong, "--target", "toy"},
      {"analyze", diagram, "--target", hostile},
      {"analyze", diagram, "--target", "toy", "--set", hostile},
      {"analyze", diagram, "--target", "toy", "--set", hostile + "=4"},
      {"analyze", diagram, "--target", "toy", "--set-target", hostile + "=4"},
      {"analyze", diagram, "--target", "toy", "--set-target", "description=" + hostile},
      {"analyze", diagram, "--target", "toy", "--dtype", hostile},
      {"analyze", diagram, "--target", "toy", "--partition", hostile},
      {"analyze", diagram, "--target", "toy", "--partition", "group a 4 at " + hostile},
      {"analyze", diagram, "--target", "toy", hostile},
      {"analyze", diagram, "--target", "toy", "--format", hostile},
      {hostile},
      {"explain", hostile},
      {"fmt", "--check", diagram},
      {"emit", "cpp", diagram, "--target", "toy", "-o", strange + "/out"},
      {"emit", "cpp", diagram, "--target", "toy", "-o", strange + "/none/out"},
      {"compare", diagram, "--target", "toy", "--baseline", strange + "/none.json"}};
  for (const auto& words : lines) {
    CAPTURE(words);
    const auto ran = run_cli(words);
    CHECK(is_clean(ran.out));
    CHECK(is_clean(ran.err));
    CHECK(ran.code != 70);
  }
}

TEST_CASE("a baseline of strangers is shown as text", "[escape]") {
  const Folder folder;
  const auto diagram = folder.write("matmul.nap", matmul);
  const auto saved = folder / "base.json";
  REQUIRE(run_cli({"compare", diagram, "--target", "toy", "--save-baseline", saved}).code == 0);
  for (const std::string word : {"\"matmul\"", "\"toy\"", "\"partition\": \"", "\"A\""}) {
    auto text = text_of(saved);
    const auto at = text.find(word);
    if (at == std::string::npos) continue;
    text.insert(at + word.size() - (word.ends_with(": \"") ? 0 : 1), "\\n#error injected\\u001b[31m<script>alert(1)");
    const auto changed = folder.write("changed.json", text);
    for (const char* format : {"text", "markdown", "html"}) {
      CAPTURE(word, format);
      const auto ran = run_cli({"compare", diagram, "--target", "toy", "--baseline", changed, "--format", format});
      CHECK(is_clean(ran.out));
      CHECK(is_clean(ran.err));
      if (format == std::string("html")) CHECK(ran.out.find("<script>alert") == std::string::npos);
    }
  }
}
