// Places in texts, suggestions, and how diagnostics look.
#include "napkin/text.hpp"

#include <nlohmann/json.hpp>

#include "support/catch.hpp"
#include "text/escape.hpp"

using namespace napkin;

namespace {

std::string rendered(const std::string& text, std::vector<Diagnostic> diagnostics, bool color = false) {
  Sources sources;
  sources.add("a.nap", text);
  sources.add("<prelude>", "first\nsecond line\n");
  Diagnostics all;
  for (auto& diagnostic : diagnostics) all.add(std::move(diagnostic));
  return render_text(sources, all, color);
}

Diagnostic at(Span span, std::string label = "") { return {"E0204", "wrong", span, std::move(label), {}, {}, ""}; }

}  // namespace

TEST_CASE("a place is a line and a column, counted in characters") {
  Sources sources;
  const auto file = sources.add("a.nap", "one\nt\xC3\xA4st x\n");
  const auto place = [&](std::uint32_t offset) {
    const auto at = sources.locate(file, offset);
    return std::pair(at.line, at.column);
  };
  CHECK(place(0) == std::pair(1U, 1U));
  CHECK(place(3) == std::pair(1U, 4U));
  CHECK(place(4) == std::pair(2U, 1U));
  CHECK(place(10) == std::pair(2U, 6U));
  CHECK(place(12) == std::pair(3U, 1U));
  CHECK(place(99) == std::pair(3U, 1U));
}

TEST_CASE("a near miss is found, a far one is not") {
  const std::vector<std::string> names = {"softmax", "logsumexp", "sum", "max", "query", "key", "d"};
  CHECK(nearest("sofmax", names) == "softmax");
  CHECK(nearest("Softmax", names) == "softmax");
  CHECK(nearest("usm", names) == "sum");
  CHECK(nearest("qeury", names) == "query");
  CHECK(nearest("banana", names).empty());
  CHECK(nearest("D", names) == "d");
  CHECK(nearest("e", names).empty());
  CHECK(nearest("key", names).empty());  // it is not misspelt
  CHECK(nearest("", names).empty());
  CHECK(did_you_mean("sofmax", names) == "did you mean `softmax`?");
  CHECK(did_you_mean("banana", names).empty());
}

TEST_CASE("marks on one line hang below each other") {
  auto diagnostic = at({0, 10, 13}, "here");
  diagnostic.others = {{{0, 0, 3}, "left"}, {{0, 4, 5}, "middle"}};
  diagnostic.notes = {"known"};
  diagnostic.help = "mend it";
  CHECK(rendered("abc d efgh ijk\n", {diagnostic}) ==
        "error[E0204]: wrong\n"
        " --> a.nap:1:11\n"
        "  |\n"
        "1 | abc d efgh ijk\n"
        "  | --- -     ^^^ here\n"
        "  | |   |\n"
        "  | |   middle\n"
        "  | left\n"
        "  = note: known\n"
        "  = help: mend it\n");
}

TEST_CASE("lines apart are joined by dots, other files by their names") {
  auto diagnostic = at({0, 6, 7}, "here");
  diagnostic.others = {{{0, 0, 1}, "before"}, {{1, 6, 12}, "in the prelude"}};
  CHECK(rendered("a\n\nb\n c d\n", {at({0, 8, 9}), diagnostic}) ==
        "error[E0204]: wrong\n"
        " --> a.nap:4:2\n"
        "  |\n"
        "1 | a\n"
        "  | - before\n"
        ".\n"
        "4 |  c d\n"
        "  |  ^ here\n"
        " ::: <prelude>:2:1\n"
        "  |\n"
        "2 | second line\n"
        "  | ------ in the prelude\n"
        "\n"
        "error[E0204]: wrong\n"
        " --> a.nap:4:4\n"
        "  |\n"
        "4 |  c d\n"
        "  |    ^\n");
}

TEST_CASE("what cannot be shown is made visible") {
  CHECK(rendered("\tx\x1B[31m y\r\n", {at({0, 1, 2})}) ==
        "error[E0204]: wrong\n --> a.nap:1:2\n  |\n1 |     x\xEF\xBF\xBD[31m y\n  |     ^\n");
  CHECK(rendered("\xE6\xBC\xA2 x", {at({0, 4, 5})}) ==
        "error[E0204]: wrong\n --> a.nap:1:3\n  |\n1 | \xE6\xBC\xA2 x\n  |    ^\n");
  CHECK(on_one_line("a\xFF"
                    "b\xE2\x82") ==
        "a\xEF\xBF\xBD"
        "b\xEF\xBF\xBD\xEF\xBF\xBD");  // which is no UTF-8
}

TEST_CASE("a very long line is shown around its mark") {
  const auto text = rendered(std::string(5000, 'x'), {at({0, 3000, 3001})});
  CHECK(text.size() < 500);
  CHECK(text.find("1 | ...xxx") != std::string::npos);
  CHECK(text.find("xxx...\n") != std::string::npos);
  CHECK(text.find("  |" + std::string(64, ' ') + "^\n") != std::string::npos);
}

TEST_CASE("the end of a file can be pointed at") {
  CHECK(rendered("a\n", {at({0, 2, 2})}) == "error[E0204]: wrong\n --> a.nap:2:1\n  |\n2 | \n  | ^\n");
  CHECK(rendered("", {at({0, 0, 0})}) == "error[E0204]: wrong\n --> a.nap:1:1\n  |\n1 | \n  | ^\n");
}

TEST_CASE("what stands in no file is said without a line") {
  CHECK(rendered("a", {at(nowhere)}) == "error[E0204]: wrong\n");
}

TEST_CASE("color is asked for") {
  CHECK(rendered("a", {at({0, 0, 1})}).find('\x1B') == std::string::npos);
  CHECK(rendered("a", {at({0, 0, 1})}, true).find("\x1B[1;31m") != std::string::npos);
}

TEST_CASE("diagnostics are sorted by place, and equal ones are kept once") {
  Diagnostics all;
  all.add(at({0, 5, 6}));
  all.add(at({0, 2, 3}));
  all.add(at({0, 5, 6}));
  REQUIRE(all.size() == 2);
  CHECK(all.sorted().front().span.begin == 2);
  CHECK(all.has_errors());
}

TEST_CASE("warnings are no errors") {
  Diagnostics all;
  all.add({"W0221", "unused", {0, 0, 1}, "", {}, {}, ""});
  CHECK_FALSE(all.has_errors());
  CHECK(all.size() == 1);
}

TEST_CASE("JSON says the same") {
  Sources sources;
  sources.add("a.nap", "axis\nq \"x\"\n");
  Diagnostics all;
  all.add({"E0204", "a \"b\"", {0, 5, 10}, "here", {{{0, 0, 4}, "there"}}, {"note"}, "help"});
  all.add({"W0221", "unused", nowhere, "", {}, {}, ""});
  const auto json = nlohmann::json::parse(render_json(sources, all));
  CHECK(json["schema"] == "napkin.diagnostics/1");
  const auto& first = json["diagnostics"][0];
  CHECK(first["code"] == "E0204");
  CHECK(first["severity"] == "error");
  CHECK(first["message"] == "a \"b\"");
  CHECK(first["file"] == "a.nap");
  CHECK(first["line"] == 2);
  CHECK(first["column"] == 1);
  CHECK(first["end_line"] == 2);
  CHECK(first["end_column"] == 6);
  CHECK(first["help"] == "help");
  CHECK(first["others"][0]["text"] == "there");
  CHECK(json["diagnostics"][1]["severity"] == "warning");
  CHECK(json["diagnostics"][1]["line"].is_null());
}
