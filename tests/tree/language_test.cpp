// docs/language.md: its diagrams are read, its tables name all there is, and
// its limits are those of the code.
#include <fmt/format.h>

#include "napkin/syntax.hpp"
#include "support/catch.hpp"
#include "support/documents.hpp"
#include "support/read.hpp"
#include "syntax/words.hpp"
#include "text/limits.hpp"

using namespace napkin;

namespace {

const std::string& document() {
  static const std::string text = read_file(NAPKIN_SOURCE_DIR "/docs/language.md");
  return text;
}

void check_named(std::string_view name, const std::string& after = "`") {
  CAPTURE(name);
  CHECK(document().find("`" + std::string(name) + after) != std::string::npos);
}

void check_limit(const std::string& what, std::initializer_list<std::size_t> limits) {
  CAPTURE(what);
  const auto row = fmt::format("| {} | {} |", what, fmt::join(limits, "; "));
  CHECK(document().find(row) != std::string::npos);
}

}  // namespace

TEST_CASE("the diagrams of the reference are read") {
  const auto diagrams = code_blocks(document(), "nap");
  CHECK(diagrams.size() >= 7);
  for (const auto& text : diagrams) {
    CAPTURE(text);
    CHECK_NOTHROW(read_text(text));
  }
}

TEST_CASE("the reference names every type, function, reduction, word and def") {
  for (const auto& row : datatypes()) check_named(row.name);
  for (const auto& row : pointwise_functions())
    if (row.callable && row.precedence == 0 && row.name != "where") check_named(row.name);
  for (const auto& row : reductions()) check_named(row.name);
  for (const auto word : keywords) check_named(word);
  for (const auto word : operator_words) check_named(word);
  Sources sources;
  Diagnostics diagnostics;
  const auto prelude = parse(sources, sources.add("<prelude>", std::string(prelude_text())), diagnostics);
  for (const auto& declaration : prelude.declarations) {
    const auto& def = std::get<ast::Def>(declaration.node);
    check_named(def.name.text, def.axes.empty() ? "(" : "[");
  }
}

TEST_CASE("the reference states the limits") {
  check_limit("bytes of a file", {limits::file_bytes});
  check_limit("characters of a name", {limits::name_bytes});
  check_limit("declarations; axes; statements", {limits::declarations, limits::axes, limits::statements});
  check_limit("axes of an array", {limits::array_axes});
  check_limit("items of a list between brackets", {limits::list_items});
  check_limit("levels of an expression as written; with its `def`s expanded",
              {std::size_t{limits::nesting}, std::size_t{limits::expanded_nesting}});
  check_limit("`def`s that call each other in a chain", {std::size_t{limits::def_depth}});
  check_limit("terms of all expressions, `def`s expanded", {limits::expanded_terms});
  check_limit("errors reported in one run", {limits::errors});
  CHECK(limits::array_values == std::int64_t{1} << 60U);
}
