// docs/editors/vscode: what it says of the language is what the language's tables say, its problem matcher reads what
// the program prints, and its snippets are diagrams.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>

#include "napkin/syntax.hpp"
#include "support/catch.hpp"
#include "support/read.hpp"
#include "support/run_cli.hpp"
#include "syntax/words.hpp"
#include "tree/files.hpp"

using namespace napkin;
using nlohmann::json;

namespace {

const std::string folder = NAPKIN_SOURCE_DIR "/docs/editors/vscode/";

json read_json(const std::string& name) { return json::parse(read_file(folder + name)); }

// The words of a rule of the grammar: `\b(?:sum|max)...`.
std::vector<std::string> words_of(const std::string& rule) {
  const auto grammar = read_json("syntaxes/nap.tmLanguage.json");
  const std::string match = grammar.at("repository").at(rule).at("match");
  const auto begin = match.find("(?:") + 3;
  std::istringstream list(match.substr(begin, match.find(')') - begin));
  std::vector<std::string> words;
  for (std::string word; std::getline(list, word, '|');) words.push_back(word);
  return words;
}

void check_same(const std::string& rule, std::vector<std::string> expected) {
  auto words = words_of(rule);
  std::sort(words.begin(), words.end());
  std::sort(expected.begin(), expected.end());
  CAPTURE(rule);
  CHECK(words == expected);
}

template <class Rows>
std::vector<std::string> names_of(const Rows& rows) {
  std::vector<std::string> names;
  for (const auto& row : rows) names.emplace_back(row.name);
  return names;
}

std::vector<std::string> prelude_names() {
  Sources sources;
  Diagnostics diagnostics;
  std::vector<std::string> names;
  const auto prelude = parse(sources, sources.add("-", std::string(prelude_text())), diagnostics);
  for (const auto& declared : prelude.declarations) names.push_back(std::get<ast::Def>(declared.node).name.text);
  return names;
}

// A snippet as it is when nothing is typed: `${1:q}` is q, and so is every `$1` after it.
std::string typed(const json& body) {
  const auto lines = body.is_array() ? body.get<std::vector<std::string>>() : std::vector<std::string>{body};
  auto text = fmt::format("{}", fmt::join(lines, "\n"));
  const std::regex stop("\\$\\{(\\d+):([^{}]*)\\}");
  for (std::smatch match; std::regex_search(text, match, stop);) {
    const std::string number = match[1], value = match[2];
    text = match.prefix().str() + value + match.suffix().str();
    text = std::regex_replace(text, std::regex("\\$" + number + "(?!\\d)"), value);
  }
  return std::regex_replace(text, std::regex("\\$0"), "1");
}

// What the two lines of the problem matcher make of a text: file:line:column severity code message.
std::vector<std::string> matched(const std::string& text) {
  const auto manifest = read_json("package.json");
  const auto& pattern = manifest.at("contributes").at("problemMatchers").at(0).at("pattern");
  REQUIRE(pattern.size() == 2);
  const std::regex head(pattern[0]["regexp"].get<std::string>()), place(pattern[1]["regexp"].get<std::string>());
  std::vector<std::string> found;
  std::istringstream lines(text);
  std::smatch a, b;
  std::string last;
  for (std::string line; std::getline(lines, line); last = line) {
    if (!std::regex_search(line, b, place) || !std::regex_search(last, a, head)) continue;
    const auto of = [&](const std::smatch& match, int i, const char* what) {
      return match[pattern[i][what].get<std::size_t>()].str();
    };
    found.push_back(fmt::format("{}:{}:{} {} {} {}", of(b, 1, "file"), of(b, 1, "line"), of(b, 1, "column"),
                                of(a, 0, "severity"), of(a, 0, "code"), of(a, 0, "message")));
  }
  return found;
}

}  // namespace

TEST_CASE("the grammar's words are those of the language's tables", "[tree][editors]") {
  std::vector<std::string> functions = {"size"};
  for (const auto& row : pointwise_functions())
    if (row.callable && row.precedence == 0) functions.emplace_back(row.name);
  check_same("function", functions);
  check_same("reduction", names_of(reductions()));
  check_same("type", names_of(datatypes()));
  check_same("prelude", prelude_names());
  check_same("declaration", {keywords.begin(), keywords.end()});
  std::vector<std::string> words = words_of("word");
  for (const auto& word : words_of("infinity")) words.push_back(word);
  std::sort(words.begin(), words.end());
  std::vector<std::string> expected(operator_words.begin(), operator_words.end());
  std::sort(expected.begin(), expected.end());
  CHECK(words == expected);
}

TEST_CASE("the problem matcher reads what the program prints", "[tree][editors]") {
  const auto wrong = std::string(NAPKIN_SOURCE_DIR "/tests/golden/errors/");
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(wrong)) {
    if (entry.path().extension() != ".nap") continue;
    Sources sources;
    Diagnostics diagnostics;
    const auto path = entry.path().string();
    const auto file = sources.add(path, read_file(path));
    read_diagram(sources, file, {}, diagnostics);
    std::vector<std::string> expected;
    for (const auto& each : diagnostics.sorted()) {
      if (each.span.file != file) continue;
      const auto at = sources.locate(file, each.span.begin);
      expected.push_back(fmt::format("{}:{}:{} {} {} {}", path, at.line, at.column,
                                     find_code(each.code)->severity == Severity::error ? "error" : "warning", each.code,
                                     each.message));
    }
    CAPTURE(path);
    CHECK(matched(test::run_cli({"derive", path, "--print", "diagram"}).err) == expected);
    files += !expected.empty();
  }
  CHECK(files > 30);
}

TEST_CASE("every snippet is what its name says", "[tree][editors]") {
  const std::map<std::string, std::string> around = {
      {"axis", "diagram d\n{}A[q] = 1\noutput A\n"},
      {"input", "diagram d\naxis q = 8; axis d = 4\n{}A[q] = sum[d](Q[q, d])\noutput A\n"},
      {"mask", "diagram d\naxis q = 8; axis x = 4\n{}A[q, x] = where(M[q, x], 1, 0)\noutput A\n"},
      {"statement", "diagram d\naxis q = 8; axis x = 4\n{}output S\n"},
      {"contraction",
       "diagram d\naxis a = 8; axis b = 8; axis c = 8\ninput A: f16[a, b]\ninput B: f16[b, c]\n{}output C\n"},
      {"def", "diagram d\naxis q = 8\n{}A[] = sum[q](scaled[q](q))\noutput A\n"},
      {"partition", "diagram d\naxis q = 8; axis x = 8\nA[q] = sum[x](x)\noutput A\n{}"},
      {"diagram", "{}"}};
  const auto snippets = read_json("snippets/nap.json");
  CHECK(snippets.size() == around.size());
  for (const auto& [name, snippet] : snippets.items()) {
    REQUIRE(around.contains(name));
    const auto text = fmt::format(fmt::runtime(around.at(name)), typed(snippet["body"]) + "\n");
    CAPTURE(text);
    CHECK_NOTHROW(read_text(text));
    const auto formatted = test::run_cli({"fmt", "-"}, typed(snippet["body"]));
    CHECK((name != "diagram" || formatted.out == typed(snippet["body"])));
  }
}

TEST_CASE("the files that the folder's manifest names are there", "[tree][editors]") {
  const auto manifest = read_json("package.json");
  std::vector<std::string> named = {manifest["main"], manifest["contributes"]["languages"][0]["configuration"],
                                    manifest["contributes"]["grammars"][0]["path"],
                                    manifest["contributes"]["snippets"][0]["path"]};
  for (const auto& name : named) {
    CAPTURE(name);
    CHECK(std::filesystem::exists(folder + name));
  }
  CHECK(read_json("language-configuration.json")["comments"]["lineComment"] == "#");
}
