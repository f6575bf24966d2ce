// The tree keeps its shape: stages include only what stands before them, no file holds more than one idea's worth of
// lines, nothing is left half-written, and nothing below the front end knows an algorithm by name.
#include <algorithm>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "tree/files.hpp"

namespace {

using namespace tree;

struct Stage {
  std::string name;
  std::set<std::string> may_include;  // besides itself
};
// In the order of the data's flow. `cli` and the files directly in src/ may include all.
const std::vector<Stage> stages = {
    {"text", {}},
    {"functions", {}},
    {"syntax", {"text", "functions"}},
    {"diagram", {"text", "functions", "syntax"}},
    {"derive", {"text", "functions", "diagram"}},
    {"grad", {"text", "functions", "syntax", "diagram"}},
    {"hardware", {"text", "functions"}},
    {"layout", {}},
    {"instructions", {"functions", "layout"}},
    {"partition", {"text", "functions", "syntax", "diagram", "derive", "hardware"}},
    {"loops", {"text", "functions", "diagram", "derive", "hardware", "partition"}},
    {"cost", {"text", "functions", "diagram", "derive", "hardware", "partition", "loops"}},
    {"timing", {"text", "functions", "diagram", "derive", "hardware", "partition", "loops", "instructions", "cost"}},
    {"configure", {"text", "functions", "diagram", "derive", "hardware", "partition", "loops", "cost", "timing"}},
    {"device",
     {"text", "functions", "diagram", "derive", "hardware", "partition", "loops", "layout", "instructions", "cost",
      "timing"}},
    {"search", {"text", "functions", "diagram", "derive", "hardware", "partition", "loops", "cost", "timing"}},
    {"summary",
     {"text", "functions", "diagram", "derive", "hardware", "partition", "loops", "cost", "timing", "configure",
      "layout", "instructions"}},
    {"explore",
     {"text", "functions", "diagram", "derive", "hardware", "partition", "loops", "cost", "timing", "search"}},
    {"verify", {"text", "functions", "diagram", "derive", "hardware", "partition", "loops", "cost"}},
    {"scene", {"text", "functions", "diagram", "derive", "hardware", "partition", "loops", "cost", "configure"}},
    {"chart",
     {"text", "functions", "diagram", "derive", "hardware", "partition", "loops", "cost", "configure", "search",
      "explore", "scene", "summary"}},
    {"pictures", {"text", "functions", "diagram", "scene", "chart"}},
    {"emit",
     {"text", "functions", "diagram", "derive", "hardware", "partition", "loops", "cost", "search", "layout",
      "instructions", "device"}},
    {"analyze",
     {"text", "functions", "syntax", "diagram", "derive", "hardware", "partition", "loops", "cost", "configure",
      "search", "explore", "device"}},
    {"report",
     {"text", "functions", "diagram", "derive", "hardware", "partition", "loops", "cost", "configure", "search",
      "explore", "verify", "summary", "analyze", "device", "scene", "chart", "pictures", "emit"}},
    {"lsp",
     {"text", "functions", "syntax", "diagram", "derive", "hardware", "partition", "loops", "cost", "search",
      "summary"}},
};

// include/napkin/cost.hpp and src/cost/*.cpp are of stage `cost`; src/main.cpp is of none.
std::string stage_of(const fs::path& path) {
  std::vector<std::string> parts(path.begin(), path.end());
  if (parts[0] == "include") return path.stem().string();
  return parts.size() > 2 ? parts[1] : "";
}

const Stage* find_stage(const std::string& name) {
  const auto found = std::find_if(stages.begin(), stages.end(), [&](const Stage& stage) { return stage.name == name; });
  return found == stages.end() ? nullptr : &*found;
}

// Stages named in `#include "napkin/cost.hpp"` and `#include "cost/pieces.hpp"`.
std::set<std::string> stages_included(const std::string& text) {
  static const std::regex include("#include [\"<](napkin/)?([a-z_]+)(\\.hpp|/[a-z_/]+\\.hpp)[\">]");
  std::set<std::string> found;
  for (std::sregex_iterator it(text.begin(), text.end(), include), end; it != end; ++it)
    if (find_stage((*it)[2])) found.insert((*it)[2]);
  return found;
}

std::string without_comments(const std::string& text) {
  static const std::regex comment("//[^\n]*");
  return std::regex_replace(text, comment, "");
}

// Every match of `words` below `folders`, as "file: word".
std::vector<std::string> uses(const std::vector<fs::path>& files, const std::regex& words, bool in_comments) {
  std::vector<std::string> found;
  for (const auto& path : files) {
    const auto text = in_comments ? text_of(path) : without_comments(text_of(path));
    for (std::sregex_iterator it(text.begin(), text.end(), words), end; it != end; ++it)
      found.push_back(path.string() + ": " + it->str());
  }
  return found;
}

std::vector<fs::path> below_the_front_end() {
  return files_below({"src/derive", "src/grad", "src/partition", "src/cost", "src/search", "src/loops", "src/timing",
                      "src/configure", "src/device", "src/explore", "src/verify", "src/summary", "src/scene",
                      "src/chart", "src/pictures", "src/analyze", "src/report", "src/emit"},
                     {".hpp", ".cpp", ".cuh"});
}

}  // namespace

TEST_CASE("stages include only what they may", "[tree]") {
  const auto files = files_below({"include", "src"}, {".hpp", ".cpp"});
  REQUIRE(!files.empty());
  for (const auto& path : files) {
    const auto* stage = find_stage(stage_of(path));
    if (!stage) continue;
    for (const auto& other : stages_included(text_of(path))) {
      CAPTURE(path, other);
      CHECK((other == stage->name || stage->may_include.contains(other)));
    }
  }
}

// Types with their namespaces, and the files that define them or functions of theirs. `opening` is a line that opens a
// namespace, the first group, or such a definition, the second one.
std::vector<std::pair<std::string, fs::path>> definitions(const std::vector<fs::path>& files,
                                                          const std::regex& opening) {
  std::vector<std::pair<std::string, fs::path>> all;
  for (const auto& path : files) {
    std::istringstream lines(text_of(path));
    std::string space;
    for (std::string line; std::getline(lines, line);) {
      std::smatch found;
      if (!std::regex_search(line, found, opening)) continue;
      if (found[1].matched)
        space = found[1];
      else
        all.emplace_back(space + "::" + found[2].str(), path);
    }
  }
  return all;
}

// Two classes of one name are one to the linker, which keeps whichever it meets first of their functions.
TEST_CASE("no two headers define a type of the same name", "[tree]") {
  static const std::regex opening(
      "^(?:namespace (napkin[a-z:]*) \\{|(?:struct|class|enum class|enum) (\\w+)(?: [^;{]*)?\\{)");
  std::map<std::string, fs::path> defined;
  for (const auto& [name, path] : definitions(files_below({"include", "src"}, {".hpp"}), opening)) {
    const auto [other, fresh] = defined.emplace(name, path);
    CAPTURE(path, other->second, other->first);
    CHECK(fresh);
  }
  CHECK(defined.size() > 200);
}

// Whoever reads one file of a class that several files define has to know the others.
TEST_CASE("no class is defined over several files", "[tree]") {
  static const std::regex opening("^namespace (napkin[a-z:]*) \\{|^\\w[^=({]*\\b([A-Z]\\w*)::~?\\w+\\(");
  std::map<std::string, fs::path> defined;
  for (const auto& [name, path] : definitions(files_below({"src"}, {".cpp"}), opening)) {
    const auto& first = defined.emplace(name, path).first->second;
    CAPTURE(path, first, name);
    CHECK(first == path);
  }
  CHECK(defined.size() > 50);
}

TEST_CASE("a stage may include only stages that stand before it", "[tree]") {
  std::set<std::string> before;
  for (const auto& stage : stages) {
    CAPTURE(stage.name);
    CHECK(std::includes(before.begin(), before.end(), stage.may_include.begin(), stage.may_include.end()));
    before.insert(stage.name);
  }
}

TEST_CASE("no source file is longer than 400 lines", "[tree]") {
  for (const auto& path : files_below({"include", "src", "tests", "bench"}, {".hpp", ".cpp", ".cuh", ".cu"})) {
    const auto text = text_of(path);
    CAPTURE(path);
    CHECK(std::count(text.begin(), text.end(), '\n') <= 400);
  }
}

TEST_CASE("no folder of sources has more than thirty files", "[tree]") {
  std::map<fs::path, int> files;
  for (const auto& path : files_below({"src"}, {".hpp", ".cpp", ".cuh"})) ++files[path.parent_path()];
  for (const auto& [folder, count] : files) {
    CAPTURE(folder, count);
    CHECK(count <= 30);
  }
}

TEST_CASE("no stage below the front end knows an algorithm by name", "[tree]") {
  const std::regex names("softmax|attention|logsumexp|(rms|layer|l2)_?norm|gelu|silu|swiglu|matmul|flash",
                         std::regex::icase);
  CHECK(uses(below_the_front_end(), names, false) == std::vector<std::string>{});
}

TEST_CASE("no stage below the front end tells functions by their names", "[tree]") {
  const std::regex compared("(==|!=) find_(pointwise|reduction)\\(|(->|\\.)name (==|!=) \"");
  CHECK(uses(below_the_front_end(), compared, false) == std::vector<std::string>{});
}

TEST_CASE("nothing is left half-written", "[tree]") {
  const std::regex marks("\\b(TODO|FIXME|XXX|not implemented|unimplemented|placeholder)\\b");
  const auto files =
      files_below({"include", "src", "scripts", "cmake"}, {".hpp", ".cpp", ".cuh", ".nap", ".sh", ".cmake"});
  CHECK(uses(files, marks, true) == std::vector<std::string>{});
}

TEST_CASE("no C++ file below cli prints to the standard streams", "[tree]") {
  const std::regex streams("std::(cout|cerr|clog)|\\bfmt::print\\(");
  auto files = files_below({"src"}, {".hpp", ".cpp"});
  std::erase_if(files, [](const fs::path& path) { return stage_of(path).empty() || stage_of(path) == "cli"; });
  CHECK(uses(files, streams, false) == std::vector<std::string>{});
}
