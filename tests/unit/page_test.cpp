// Pages of reports: what stands on them, what names look like there, and the commands. What they do in a browser is
// tested in tests/browser.
#include <fmt/format.h>

#include <set>

#include "report/document.hpp"
#include "support/catch.hpp"
#include "support/run_cli.hpp"

using namespace napkin;

namespace {

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::string page_of(const std::string& example, const std::string& partition) {
  const auto ran = test::run_cli(
      {"analyze", test::example(example), "--target", "h100-sxm5", "--partition", partition, "--format", "html"});
  CHECK(ran.code == exit_done);
  return ran.out;
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

}  // namespace

TEST_CASE("a report is one page with diagram, film, charts, tables and programs", "[page][cli]") {
  const auto page = page_of("attention", "flash2");
  CHECK(page.starts_with("<!DOCTYPE html>"));
  CHECK(page == page_of("attention", "flash2"));
  CHECK(page.size() < 1'000'000);
  for (const auto* section : {"the diagram", "how it is derived", "charts", "kernel ", "programs"})
    CHECK(has(page, section));
  CHECK(has(page, "<dl class=\"facts\">\n<div><dt>time</dt>"));
  CHECK(has(page, "data-of=\"P\" data-arrays=\"P "));
  CHECK(has(page, ">P: f16[q, x] = softmax[x](S[q, x])</button>"));
  CHECK(has(page, "<span data-of=\"S\">"));
  CHECK(has(page, "id=\"diagram-array-K\""));
  CHECK(has(page, "<a href=\"#diagram-array-K\">K_smem</a>"));
  CHECK(has(page, "<summary>attention.cu</summary>"));
  CHECK(count(page, "<summary>The numbers</summary>") >= 5);
  CHECK(!has(page, "src="));
  CHECK(!has(page, "@import"));
  CHECK(!has(page, "url("));
}

// Seventeen kernels over four levels, and the example with the most to tell, on the machine whose pages are longest.
TEST_CASE("the page of twenty statements is under 1 MB, with charts of the kernels that take longest",
          "[page][cli][long]") {
  const auto ran =
      test::run_cli({"analyze", NAPKIN_SOURCE_DIR "/bench/twenty.nap", "--target", "h100-sxm5-x8", "--format", "html"});
  CHECK(ran.code == exit_done);
  CHECK(ran.out.size() < 1'000'000);
  CHECK(has(ran.out, "The charts show the 6 of "));
  const auto block =
      test::run_cli({"analyze", test::example("transformer_block"), "--target", "h100-sxm5", "--format", "html"});
  CHECK(block.out.size() < 1'000'000);
  const auto loops = ran.out.find("<h3>The loops</h3>"), next = ran.out.find("<h3>", loops + 1);
  CHECK(count(ran.out.substr(loops, next - loops), ">kernel ") == 6);
  CHECK(count(ran.out, "<summary>pseudocode of ") > 6);
  CHECK(count(ran.out, "<details class=\"kernel\" open>") == 1);
  CHECK(count(ran.out, "<details class=\"kernel\">") > 6);
}

TEST_CASE("a page shows what lies around the plan, at a glance unless more is asked for", "[page][cli][explore]") {
  const auto page = page_of("causal", "group q 64, stream x 64 at smem");
  for (const auto* chart : {"Trade-offs", "Transfers by capacity", "Time by tile sizes", "Other machines"})
    CHECK(has(page, fmt::format("<h3>{}</h3>", chart)));
  CHECK(has(page, "at a glance"));
  CHECK(has(page, "with tiles that instructions fill"));
  CHECK(!has(page, "because of the masks"));
  const auto longer =
      test::run_cli({"analyze", test::example("softmax"), "--target", "h100-sxm5", "--explore", "--format", "html"});
  CHECK(has(longer.out, "<h3>Trade-offs</h3>"));
  CHECK(!has(longer.out, "at a glance"));
}

TEST_CASE("a page has the kernel that is emitted, or why it is another", "[page][cli][long]") {
  const auto page = page_of("attention", "flash2");
  CHECK(has(page, "attention_kernel_warpgroups"));
  CHECK(has(page, "<a href=\"#diagram-array-K\">K_smem_tile</a>"));
  const auto plain =
      test::run_cli({"analyze", test::example("depthwise_convolution"), "--target", "h100-sxm5", "--format", "html"});
  CHECK(has(plain.out, "depthwise_convolution_kernel runs without matrix units: it has no sum of products"));
}

TEST_CASE("in a program a name with a tail is the array's, and what has members is none", "[page]") {
  report::Document document;
  document.arrays = {{"K", "K"}, {"K_smem", "K"}, {"n", "n"}};
  document.blocks = {report::Heading{1, "title", ""}, report::Code{"code", "K begins\nK_smem_tile[n.x] = n_", 9}};
  const auto page = report::to_html(document);
  CHECK(has(page, "<pre>K begins\n<span data-array=\"K\">K_smem_tile</span>[n.x] = n_\n</pre>"));
}

TEST_CASE("a film says once of which array marks are that follow each other", "[page]") {
  Scene scene;
  const auto write = [&](const std::string& words, const std::string& array) {
    scene.marks.push_back({MarkKind::wire_name, Words{{0, 0}, Anchor::start, words, 8}});
    scene.marks.back().array = array;
  };
  write("a", "X"), write("b", "X"), write("c", "<Y>"), write("d", "");
  report::Document document;
  document.blocks = {report::Heading{1, "title", ""}, report::Film{{scene}, false}};
  const auto page = report::to_html(document);
  CHECK(has(page,
            "<g data-array=\"X\"><text x=0 y=4>a</text>"
            "<text x=0 y=4>b</text></g>"
            "<text data-array=\"&lt;Y&gt;\" x=0 y=4>c</text>"
            "<text x=0 y=4>d</text>"));
}

TEST_CASE("on a page what marks have in common is said once, and only arrays that links lead to have ids", "[page]") {
  Scene scene;
  const auto draw = [&](MarkKind kind, double x, const std::string& about) {
    scene.marks.push_back({kind, Line{{{x, 0}, {x, 9}}}, fmt::format("{}-{}", napkin::name(kind), x)});
    scene.marks.back().array = "X", scene.marks.back().axis = "t", scene.marks.back().about = about;
  };
  draw(MarkKind::limit, 1, "both"), draw(MarkKind::limit, 2, "both"), draw(MarkKind::limit, 3, "one");
  scene.marks.push_back({MarkKind::array_name, Words{{0, 0}, Anchor::start, "X", 8}, "array-X"});
  report::Document document;
  document.blocks = {report::Heading{1, "title", ""}, report::Picture{scene}};
  const auto page = report::to_html(document);
  CHECK(has(page,
            "<g data-array=\"X\"><g><title>both</title><path class=\"limit\" d=\"M1 0V9M2 0V9\"/></g>"
            "<path class=\"limit\" d=\"M3 0V9\"><title>one</title></path></g>"
            "<text id=\"diagram-array-X\" class=\"array\" x=0 y=4>X</text>"));
}

TEST_CASE("in a film wires of one array are one path, wherever its names stand between them", "[page]") {
  Scene scene;
  const auto add = [&](Mark mark) { mark.array = "X", scene.marks.push_back(std::move(mark)); };
  add({MarkKind::wire, Line{{{0, 0}, {9, 0}}}}), add({MarkKind::wire_name, Words{{9, 0}, Anchor::start, "a", 8}});
  add({MarkKind::wire, Line{{{0, 5}, {9, 5}}}});
  report::Document document;
  document.blocks = {report::Heading{1, "title", ""}, report::Film{{scene}, false}};
  CHECK(has(report::to_html(document), "<path class=\"wire\" d=\"M0 0H9M0 5H9\"/><text"));
}

TEST_CASE("a sentence about every diagram names no array", "[page]") {
  report::Document document;
  document.arrays = {{"A", "A"}};
  document.blocks = {report::Heading{1, "title", ""}, report::Paragraph{"A bar is long", true}};
  CHECK(has(report::to_html(document), "<p>A bar is long</p>"));
}

TEST_CASE("a table says once which of its columns stand at the right", "[page]") {
  report::Document document;
  document.blocks = {report::Heading{1, "title", ""},
                     report::Table{{{"what"}, {"n", true}, {"m", true}}, {{"a", "1", "2"}}}};
  CHECK(has(report::to_html(document),
            "<table class=\"n2 n3\">\n<thead><tr><th>what</th><th>n</th><th>m</th></tr></thead>\n"
            "<tbody>\n<tr><td>a<td>1<td>2\n"));
}

TEST_CASE("in numbers of axes a letter is no array", "[page]") {
  report::Document document;
  document.arrays = {{"t", "t"}};
  document.blocks = {report::Heading{1, "title", ""},
                     Chart{"c", {}, {{"array", "partition"}, {{std::string("t"), std::string("group t 64 at smem")}}}}};
  const auto page = report::to_html(document);
  CHECK(has(page, "<var>t</var>"));
  CHECK(has(page, "group t 64 at smem"));
}

TEST_CASE("numbers of a chart say once what rows below each other have in common", "[page]") {
  report::Document document;
  Chart chart{"c",
              {},
              {{"kernel", "axis", "time"},
               {{std::string("S"), std::string("q"), 1.0},
                {std::string("S"), std::string("q"), 1.0},
                {std::string("S"), std::string("x"), 1.0},
                {std::string("P"), std::string("x"), 1.0}}}};
  document.blocks = {report::Heading{1, "title", ""}, chart};
  const auto page = report::to_html(document);
  CHECK(has(page,
            "<tr><td class=\"w\" rowspan=\"3\">S<td class=\"w\" rowspan=\"2\">q<td>1\n"
            "<tr><td>1\n"
            "<tr><td class=\"w\">x<td>1\n"
            "<tr><td class=\"w\">P<td class=\"w\">x<td>1\n"));
}

TEST_CASE("a page of a plan that does not fit has no kernel, and one without sizes no numbers", "[page][cli]") {
  const auto attention = test::example("attention");
  const auto large = test::run_cli(
      {"analyze", attention, "--target", "h100-sxm5", "--partition", "group q 4096 at smem", "--format", "html"});
  CHECK(large.code == exit_input);
  CHECK(has(large.out, "What does not fit"));
  CHECK(!has(large.out, "attention.cu"));
}

TEST_CASE("an array is marked where it is meant, not where a unit or a quantity is", "[page]") {
  report::Document document;
  document.arrays = {{"B", "B"}, {"K_smem", "K"}, {"d'", "d'"}};
  document.blocks = {report::Heading{1, "title", ""}, report::Paragraph{"B holds 96 B, K_smem 2 KiB; Bx and d'"},
                     report::Table{{{""}}, {{"B = 1"}}, true}};
  const auto page = report::to_html(document);
  CHECK(has(page,
            "<p><var>B</var> holds 96 B, <span data-array=\"K\">K_smem</span> 2 KiB; Bx and "
            "<var>d&#39;</var></p>"));
  CHECK(has(page, "<td>B = 1\n"));
}

TEST_CASE("hostile words are escaped wherever they stand on a page", "[page]") {
  const std::string hostile = "</script><script>alert('\"&')</script>\u202E";
  report::Document document;
  Chart chart{"c", {}, {{hostile}, {{hostile}}}};
  chart.scene.title = chart.scene.description = hostile;
  document.arrays = {{"alert", hostile}};
  document.blocks = {report::Heading{1, hostile, hostile}, report::Heading{2, hostile, hostile},
                     report::Paragraph{hostile},           report::Verbatim{hostile},
                     report::Picture{chart.scene},         report::Pictures{{chart.scene}},
                     report::Film{{chart.scene}, true},    chart,
                     report::Code{hostile, hostile},       report::Table{{{hostile}}, {{hostile}}}};
  const auto page = report::to_html(document);
  CHECK(count(page, "<script>") == 1);
  CHECK(count(page, "</script>") == 1);
  CHECK(!has(page, "\u202E"));
  CHECK(has(page, "&lt;/script&gt;&lt;script&gt;"));
}

TEST_CASE("a comparison has its rows beside each other, with scales in common", "[page][cli]") {
  const auto ran = test::run_cli({"compare", test::example("attention"), "--target", "h100-sxm5", "--partition",
                                  "flash2", "--partition", "group q 64, stream x 64 at smem", "--format", "html"});
  CHECK(ran.code == exit_done);
  CHECK(count(ran.out, "<div class=\"beside\">") >= 5);
  CHECK(has(ran.out, "1: on h100-sxm5, flash2"));
  CHECK(has(ran.out, "2: on h100-sxm5, group q 64, stream x 64 at smem</text>"));
  CHECK(has(ran.out, "2: on h100-sxm5, group q 64, stream x 64 at smem"));
}

TEST_CASE("pictures beside each other are as wide as each other", "[page][cli]") {
  const auto ran = test::run_cli({"compare", test::example("attention"), "--target", "h100-sxm5", "--partition",
                                  "flash2", "--partition", "group q 64, stream x 64 at smem", "--format", "html"});
  int compared = 0;
  for (auto at = ran.out.find("<div class=\"beside\">"); at != std::string::npos;
       at = ran.out.find("<div class=\"beside\">", at + 1)) {
    std::set<std::string> boxes;
    const auto end = ran.out.find("</div>", at);
    for (auto box = ran.out.find("viewBox=\"0 0 ", at); box < end; box = ran.out.find("viewBox=\"0 0 ", box + 1))
      boxes.insert(ran.out.substr(box, ran.out.find(' ', box + 13) - box));
    CHECK(boxes.size() == 1);
    ++compared;
  }
  CHECK(compared >= 5);
}

TEST_CASE("only analyze and compare make pages", "[page][cli]") {
  const auto ran = test::run_cli({"derive", test::example("attention"), "--format", "html"});
  CHECK(ran.code == exit_command_line);
  CHECK(has(ran.err, "one of text, json, markdown"));
}
