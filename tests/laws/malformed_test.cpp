// Whatever the bytes, reading a diagram ends with diagnostics or a sound diagram: cut off, flipped, shuffled, binary,
// huge and deeply nested files, all drawn from fixed seeds. Run under sanitizers this is where crashes show.
#include <algorithm>
#include <filesystem>

#include "napkin/syntax.hpp"
#include "support/catch.hpp"
#include "support/read.hpp"
#include "support/values.hpp"

using namespace napkin;

namespace {

// Reads, renders and prints; true if there were no errors. Every span must lie in its file.
bool survives(const std::string& text) {
  Sources sources;
  Diagnostics diagnostics;
  const auto file = sources.add("malformed.nap", text);
  const auto diagram = read_diagram(sources, file, {}, diagnostics);
  for (const auto& diagnostic : diagnostics.sorted()) {
    if (diagnostic.span == nowhere) continue;
    REQUIRE(diagnostic.span.begin <= diagnostic.span.end);
    REQUIRE(diagnostic.span.end <= sources.at(diagnostic.span.file).text.size());
    REQUIRE_FALSE(diagnostic.message.empty());
  }
  REQUIRE(render_text(sources, diagnostics, true).size() < 1'000'000);
  render_json(sources, diagnostics);
  Diagnostics again;
  print(sources, parse(sources, file, again));
  parse_partition(sources, file, again);
  if (!diagnostics.has_errors()) REQUIRE(verify(diagram).empty());
  return !diagnostics.has_errors();
}

std::vector<std::string> examples() {
  std::vector<std::string> texts;
  for (const auto& entry : std::filesystem::directory_iterator(NAPKIN_SOURCE_DIR "/examples"))
    if (entry.path().extension() == ".nap") texts.push_back(read_file(entry.path().string()));
  std::sort(texts.begin(), texts.end());
  return texts;
}

std::string repeated(const std::string& text, std::size_t times) {
  std::string all;
  all.reserve(text.size() * times);
  for (std::size_t i = 0; i < times; ++i) all += text;
  return all;
}

std::string numbered(const std::string& before, const std::string& after, int count) {
  std::string all;
  for (int i = 0; i < count; ++i) all += before + std::to_string(i) + after;
  return all;
}

std::string statement(const std::string& value) { return "diagram d\naxis q = 4\nA[q] = " + value + "\noutput A\n"; }

}  // namespace

TEST_CASE("a file cut off at any byte is answered") {
  const auto text = read_file(NAPKIN_SOURCE_DIR "/examples/multi_head.nap");
  std::size_t read = 0;
  for (std::size_t size = 0; size <= text.size(); ++size) read += survives(text.substr(0, size)) ? 1 : 0;
  CHECK(read >= 1);
  CHECK(read < text.size());
}

TEST_CASE("flipped, lost and doubled bytes are answered") {
  const auto texts = examples();
  Random random(3);
  for (int i = 0; i < 400; ++i) {
    auto text = texts[random.below(texts.size())];
    const auto edits = 1 + random.below(4);
    for (std::uint64_t edit = 0; edit < edits; ++edit) {
      const auto at = random.below(text.size()), length = 1 + random.below(12);
      if (random.below(3) == 0)
        text[at] = static_cast<char>(random.below(256));
      else if (random.below(2) == 0)
        text.erase(at, length);
      else
        text.insert(random.below(text.size()), text.substr(at, length));
    }
    CAPTURE(text);
    survives(text);
  }
}

TEST_CASE("words in any order are answered") {
  const std::vector<std::string> words = {
      "axis",   "input", "output", "def",  "partition", "diagram", "d", "q",   "x",   "S",  "f16",  "=",
      ":",      ",",     ";",      "\n",   "[",         "]",       "(", ")",   "{",   "}",  "sum",  "softmax",
      "^",      "-",     "not",    "and",  "<",         "==",      "4", "0.5", "inf", "at", "smem", "group",
      "stream", "on",    "where",  "size", "# note\n",  "'",       "+", "*",   "/"};
  Random random(4);
  for (int i = 0; i < 400; ++i) {
    std::string text = "diagram d\naxis q = 4; axis x = 4\ninput S: f16[q, x]\n";
    const auto count = random.below(60);
    for (std::uint64_t word = 0; word < count; ++word) text += words[random.below(words.size())] + " ";
    CAPTURE(text);
    survives(text);
  }
}

TEST_CASE("binary files are answered") {
  Random random(5);
  for (int i = 0; i < 100; ++i) {
    std::string bytes;
    const auto size = random.below(2000);
    const bool ascii = i % 2 == 0;
    for (std::uint64_t at = 0; at < size; ++at) bytes += static_cast<char>(random.below(ascii ? 128 : 256));
    survives(bytes);
  }
  CHECK_FALSE(survives(std::string("diagram d\0axis q", 16)));
  CHECK_FALSE(
      survives("\xFF\xFE"
               "d\0i\0a\0"));
  CHECK_FALSE(survives("diagram \xC0\xAF"));
  CHECK_FALSE(survives("diagram \xED\xA0\x80"));
  CHECK_FALSE(survives("diagram \xF4\x90\x80\x80"));
}

TEST_CASE("deep nesting is answered") {
  for (const std::size_t depth : {250UL, 20'000UL}) {
    for (const std::string open : {"(", "[", "{", "-", "not ", "exp(", "sum[q](", "q[", "f(", "2^", "q + ",
                                   "where(q < q, ", "(q + ", "max(q, "}) {
      CAPTURE(depth, open);
      CHECK_FALSE(survives(statement(repeated(open, depth))));
      CHECK_FALSE(survives(repeated(open, depth)));
    }
  }
  CHECK_FALSE(survives(statement(repeated("(", 1'000'000))));
  CHECK(survives(statement(repeated("(", 150) + "q" + repeated(")", 150))));
}

TEST_CASE("unclosed beginnings of every kind are answered") {
  for (const std::string text : {"",
                                 "\n",
                                 ";",
                                 "#",
                                 "# only a comment",
                                 "diagram",
                                 "diagram d",
                                 "diagram d;",
                                 "axis",
                                 "axis q =",
                                 "input",
                                 "input S",
                                 "input S:",
                                 "input S: f16",
                                 "input S: f16[",
                                 "input S: f16[q",
                                 "output",
                                 "def",
                                 "def f",
                                 "def f(",
                                 "def f(s",
                                 "def f(s)",
                                 "def f(s) =",
                                 "def f[",
                                 "partition",
                                 "partition p",
                                 "partition p on",
                                 "partition p {",
                                 "partition p { group",
                                 "partition p { group q",
                                 "partition p { group q 1",
                                 "partition p { group q 1 at",
                                 "partition p on h100 { group q 1 at s",
                                 "S",
                                 "S[",
                                 "S[q",
                                 "S[q]",
                                 "S[q] =",
                                 "S:",
                                 "S: f16",
                                 "S: f16[q]",
                                 "}",
                                 ")",
                                 "]",
                                 "=",
                                 "'",
                                 "q'",
                                 "1",
                                 "1.",
                                 "1e",
                                 "1e+",
                                 ".",
                                 "\"",
                                 "\\",
                                 "\r",
                                 "\t",
                                 "\r\n",
                                 "\xEF\xBB\xBF",
                                 "S[q] = sum[",
                                 "S[q] = sum[x]",
                                 "S[q] = sum[x](",
                                 "S[q] = f16("}) {
    CAPTURE(text);
    CHECK_FALSE(survives(text));
    CHECK_FALSE(survives("diagram d\naxis q = 4\n" + text));
  }
}

TEST_CASE("huge files, names, lines and lists are answered") {
  CHECK_FALSE(survives(repeated("x", 10'000'000)));
  CHECK_FALSE(survives("diagram " + repeated("x", 200'000)));
  CHECK_FALSE(survives(statement(repeated("9", 200'000))));
  CHECK_FALSE(survives(statement("1e" + repeated("9", 200'000))));
  CHECK_FALSE(survives(statement("exp(" + repeated("q, ", 80'000) + "q)")));
  CHECK_FALSE(survives("diagram d\n" + repeated("a\n", 100'000)));
  CHECK_FALSE(survives("diagram d\n" + repeated("axis q;", 10'000)));
  CHECK_FALSE(survives("diagram d\n" + numbered("axis a", "\n", 5'000)));
  CHECK_FALSE(survives("diagram d\naxis q = 4\n" + numbered("A", "[q]=q\n", 5'000)));
  CHECK_FALSE(survives("diagram d\naxis q = 4\n" + numbered("def f", "(s)=s\n", 5'000)));
  CHECK_FALSE(survives("diagram d\n" + repeated("?", 200'000)));
  CHECK_FALSE(survives("diagram d\n" + repeated("? ", 20'000)));
  CHECK_FALSE(survives("diagram d\npartition p {" + repeated("group q 1 at smem\n", 10'000) + "}"));
  CHECK_FALSE(survives(repeated("#\n", 50'000)));
  CHECK(survives(repeated("\n", 100'000) + statement("q") + repeated("# comment\n", 10'000)));
}

TEST_CASE("defs that grow without end are answered") {
  const auto doubling = [](int count) {
    std::string text = "def g0(s) = s + s\n";
    for (int i = 1; i < count; ++i) {
      const auto before = "g" + std::to_string(i - 1);
      text += "def g" + std::to_string(i) + "(s) = " + before + "(" + before + "(s))\n";
    }
    return text;
  };
  CHECK_FALSE(survives("diagram d\naxis q = 4\n" + doubling(50) + "A[q] = g49(q)\noutput A\n"));
  CHECK_FALSE(survives("diagram d\naxis q = 4\n" + doubling(1900) + "A[q] = g1899(q)\noutput A\n"));
  CHECK_FALSE(
      survives("diagram d\naxis q = 4\ndef f[a](s) = softmax[a](softmax[a](softmax[a](softmax[a](s))))\n"
               "A[q] = f[q](f[q](f[q](q)))\noutput A\n"));
}
