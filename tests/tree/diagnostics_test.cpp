// docs/diagnostics.md: a section for every code, in order; its whole diagrams and profiles are tried, the first of a
// section raises the code and the second raises nothing.
#include <algorithm>
#include <map>

#include "support/catch.hpp"
#include "support/documents.hpp"
#include "support/machine.hpp"
#include "support/read.hpp"

using namespace napkin;

namespace {

std::string path() { return NAPKIN_SOURCE_DIR "/docs/diagnostics.md"; }

std::vector<std::string> codes_of(const Diagnostics& diagnostics) {
  std::vector<std::string> raised;
  for (const auto& diagnostic : diagnostics.sorted()) raised.emplace_back(diagnostic.code);
  return raised;
}

std::vector<std::string> codes_of_diagram(const std::string& text) {
  Sources sources;
  Diagnostics diagnostics;
  read_diagram(sources, sources.add("example.nap", text), {}, diagnostics);
  return codes_of(diagnostics);
}

std::vector<std::string> codes_of_profile(const std::string& text) { return codes_of(load_text(text).diagnostics); }

// How the examples in a language are read.
using Read = std::vector<std::string> (*)(const std::string& text);
const std::map<std::string, Read> languages = {{"nap", codes_of_diagram}, {"yaml", codes_of_profile}};

// The first of a section's examples is wrong, those after it are right.
void check_examples(const Code& row, const std::vector<std::string>& examples, Read codes_raised) {
  for (std::size_t i = 0; i < examples.size(); ++i) {
    const auto raised = codes_raised(examples[i]);
    const bool wrong = i == 0;
    CAPTURE(row.code, examples[i], raised);
    CHECK(raised.empty() != wrong);
    CHECK(std::all_of(raised.begin(), raised.end(), [&](const auto& code) { return code == row.code; }));
  }
}

}  // namespace

TEST_CASE("every code has a section, titled as in the table") {
  const auto document = read_file(path());
  for (const auto& row : codes()) {
    CAPTURE(row.code);
    const auto section = explain(row.code);
    REQUIRE(section.has_value());
    CHECK(section->size() > 80);
    CHECK(std::count(section->begin(), section->end(), '`') >= 12);  // two examples
    CHECK(document.find("\n## " + std::string(row.code) + ": " + std::string(row.title) + "\n") != std::string::npos);
  }
}

TEST_CASE("every section is of a code, and they stand in order") {
  const auto document = read_file(path());
  std::vector<std::string> found;
  for (auto at = document.find("\n## "); at != std::string::npos; at = document.find("\n## ", at + 1))
    found.push_back(document.substr(at + 4, document.find(':', at) - at - 4));
  for (const auto& code : found) {
    CAPTURE(code);
    CHECK(find_code(code) != nullptr);
  }
  CHECK(std::is_sorted(found.begin(), found.end()));
}

TEST_CASE("a section's first example raises its code, and the second is right") {
  for (const auto& row : codes())
    for (const auto& [language, read] : languages)
      check_examples(row, code_blocks(explain(row.code).value_or(""), language), read);
}

TEST_CASE("an unknown code has no explanation") { CHECK_FALSE(explain("E9999").has_value()); }
