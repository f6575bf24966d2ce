// What the documents point at is there.
#include <regex>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "tree/files.hpp"

namespace {

using namespace tree;

std::vector<fs::path> documents() {
  auto files = files_below({"docs", "examples", "hardware_profiles"}, {".md"});
  files.emplace_back("README.md");
  return files;
}

std::string without_code(const std::string& text) {
  static const std::regex code("```[\\s\\S]*?```|`[^`\n]*`");
  return std::regex_replace(text, code, "");
}

// The first group of every match, in order.
std::vector<std::string> matches(const std::string& text, const std::regex& pattern) {
  std::vector<std::string> found;
  for (std::sregex_iterator it(text.begin(), text.end(), pattern), end; it != end; ++it) found.push_back((*it)[1]);
  return found;
}

}  // namespace

TEST_CASE("links between documents lead somewhere", "[tree]") {
  const std::regex link("\\]\\(([^)#:]+)(?:#[^)]*)?\\)");
  for (const auto& document : documents())
    for (const auto& target : matches(without_code(text_of(document)), link)) {
      CAPTURE(document, target);
      CHECK(fs::exists(root / document.parent_path() / target));
    }
}

TEST_CASE("files and folders that documents name exist", "[tree]") {
  const std::regex path("`((?:src|include|tests|docs|examples|scripts|cmake|bench|hardware_profiles)/[a-z0-9_./-]*)`");
  for (const auto& document : documents())
    for (const auto& named : matches(text_of(document), path)) {
      CAPTURE(document, named);
      CHECK(fs::exists(root / named));
    }
}

TEST_CASE("sources that the theory names beside a rule exist", "[tree]") {
  const std::regex source("\\[`([a-z]+/[a-z_/]+)`|, `([a-z]+/[a-z_/]+)`\\]");
  const auto text = text_of("docs/theory.md");
  int found = 0;
  for (std::sregex_iterator it(text.begin(), text.end(), source), end; it != end; ++it, ++found) {
    const auto named = (*it)[1].matched ? (*it)[1].str() : (*it)[2].str();
    CAPTURE(named);
    CHECK((fs::exists(root / "src" / (named + ".cpp")) || fs::exists(root / "src" / (named + ".hpp")) ||
           fs::exists(root / "src" / named)));
  }
  CHECK(found > 20);
}
