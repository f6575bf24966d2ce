// Laws of the language server: after any edits its text is that of a slow twin and its diagnostics are the command
// line's; a rename changes a name and nothing else; whatever the bytes, it answers and goes on.
#include <algorithm>
#include <filesystem>
#include <limits>
#include <regex>
#include <sstream>

#include "support/catch.hpp"
#include "support/editor.hpp"
#include "support/read.hpp"
#include "support/run_cli.hpp"
#include "support/values.hpp"
#include "syntax/token.hpp"
#include "text/utf8.hpp"

using namespace napkin;
using namespace napkin::test;

namespace {

// ---- the slow twin: a text as UTF-16 code units, places found by walking ----

std::u16string to_utf16(const std::string& text) {
  std::u16string units;
  for (std::size_t at = 0; at < text.size();) {
    const auto point = decode_utf8(std::string_view(text).substr(at)).value();
    at += point.bytes;
    if (point.value < 0x10000) {
      units += static_cast<char16_t>(point.value);
    } else {
      units += static_cast<char16_t>(0xD800 + ((point.value - 0x10000) >> 10U));
      units += static_cast<char16_t>(0xDC00 + ((point.value - 0x10000) & 0x3FFU));
    }
  }
  return units;
}

bool is_low(char16_t unit) { return unit >= 0xDC00 && unit < 0xE000; }

std::size_t walk(const std::u16string& text, std::size_t line, std::size_t character) {
  std::size_t at = 0;
  while (line > 0) {
    if (at == text.size()) return at;
    const char16_t unit = text[at++];
    if (unit == u'\r' && at < text.size() && text[at] == u'\n') ++at;
    if (unit == u'\r' || unit == u'\n') --line;
  }
  while (character > 0 && at < text.size() && text[at] != u'\r' && text[at] != u'\n') ++at, --character;
  return at < text.size() && is_low(text[at]) ? at - 1 : at;
}

struct Place {
  std::size_t line, character;
};

// ---- random texts and edits ----

const std::vector<std::string> pieces = {"\n",
                                         "\r\n",
                                         "\r",
                                         " ",
                                         "q",
                                         "x",
                                         "axis q = 4\n",
                                         "input A: f16[q, x]\n",
                                         "A[q, x]",
                                         "sum[x]",
                                         "(",
                                         ")",
                                         "#",
                                         "\xC3\xA9",
                                         "\xE2\x82\xAC",
                                         "\xF0\x9F\x98\x80",
                                         "output S",
                                         "\t",
                                         "S[q] = 1\n",
                                         "def f(s) = s",
                                         "softmax",
                                         "partition p { group q 2 at smem }",
                                         std::string(1, '\0')};

std::string random_text(Random& random) {
  std::string text;
  for (auto n = random.below(4); n > 0; --n) text += pieces[random.below(pieces.size())];
  return text;
}

const std::vector<std::string>& examples() {
  static const auto texts = [] {
    std::vector<std::string> all;
    for (const auto& entry : std::filesystem::directory_iterator(NAPKIN_SOURCE_DIR "/examples"))
      if (entry.path().extension() == ".nap") all.push_back(read_file(entry.path().string()));
    std::sort(all.begin(), all.end());
    return all;
  }();
  return texts;
}

// ---- what the command line says of a text ----

struct Said {
  std::string severity, code, message;
  std::size_t line = 0, column = 0;  // from one, in code points
  auto operator<=>(const Said&) const = default;
};

std::vector<Said> said_by_command_line(const std::string& text) {
  const auto ran = run_cli({"derive", "-", "--print", "diagram"}, text);
  static const std::regex head("(error|warning)\\[([EW]\\d{4})\\]: (.*)"), place(" *--> -:(\\d+):(\\d+)");
  std::vector<Said> all;
  std::istringstream lines(ran.err);
  std::smatch match;
  for (std::string line; std::getline(lines, line);) {
    if (std::regex_match(line, match, head)) all.push_back({match[1], match[2], match[3]});
    if (std::regex_match(line, match, place))
      all.back().line = std::stoul(match[1]), all.back().column = std::stoul(match[2]);
  }
  return all;
}

std::vector<Said> said_by_server(const Json& diagnostics, const std::u16string& text) {
  std::vector<Said> all;
  for (const auto& each : diagnostics) {
    const std::string message = each["message"];
    const auto start = each["range"]["start"];
    const auto at = walk(text, start["line"], start["character"]);
    Said said{each["severity"] == 1 ? "error" : "warning", each["code"], message.substr(0, message.find('\n')), 1, 1};
    // The command line counts lines by `\n` alone, and code points.
    for (std::size_t i = 0; i < at; ++i) {
      if (!is_low(text[i])) ++said.column;
      if (text[i] == u'\n') ++said.line, said.column = 1;
    }
    all.push_back(said);
  }
  return all;
}

// A place of the text by lines, for edits that an editor could send, and some that none would.
Place random_place(Random& random, const std::string& text) {
  const auto lines = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) + 3;
  return {random.below(lines), random.below(random.below(10) == 0 ? 5000 : 60)};
}

void check_document(Editor& editor, const std::u16string& twin) {
  const auto& text = *editor.session.text("file:///a.nap");
  REQUIRE(to_utf16(text) == twin);
  REQUIRE(said_by_server(editor.diagnostics.at("file:///a.nap"), twin) == said_by_command_line(text));
}

}  // namespace

TEST_CASE("after any edits the text is the twin's and the diagnostics are the command line's", "[lsp][law]") {
  for (unsigned seed = 0; seed < 60; ++seed) {
    Random random(seed);
    Editor editor;
    const auto& begin = examples()[random.below(examples().size())];
    editor.start().open(begin);
    auto twin = to_utf16(begin);
    for (int round = 0; round < 8; ++round) {
      auto changes = Json::array();
      for (auto n = 1 + random.below(3); n > 0; --n) {
        const auto written = random_text(random);
        if (random.below(12) == 0) {
          changes.push_back({{"text", written}});
          twin = to_utf16(written);
          continue;
        }
        const auto a = random_place(random, begin), b = random.below(2) ? a : random_place(random, begin);
        changes.push_back(edit(static_cast<int>(a.line), static_cast<int>(a.character), static_cast<int>(b.line),
                               static_cast<int>(b.character), written));
        const auto from = walk(twin, a.line, a.character), to = walk(twin, b.line, b.character);
        twin.replace(std::min(from, to), std::max(from, to) - std::min(from, to), to_utf16(written));
      }
      editor.change(changes);
      CAPTURE(seed, round, changes.dump());
      check_document(editor, twin);
    }
  }
}

TEST_CASE("the diagnostics of every wrong file are the command line's", "[lsp][law]") {
  Editor editor;
  editor.start();
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(NAPKIN_SOURCE_DIR "/tests/golden/errors")) {
    const auto text = entry.path().extension() == ".nap" ? read_file(entry.path().string()) : "";
    if (text.empty() || find_not_text(text)) continue;  // JSON carries no bytes that are no text
    CAPTURE(entry.path().string());
    editor.open(text);
    check_document(editor, to_utf16(text));
    ++files;
  }
  CHECK(files > 30);
}

// The slow twin of a rename: every word of that spelling. True where no def has a name of its own that is spelt so.
std::string every_word(const std::string& text, const std::string& from, const std::string& to) {
  Sources sources;
  Diagnostics diagnostics;
  auto changed = text;
  const auto tokens = tokenize(sources, sources.add("-", text), diagnostics).tokens;
  for (auto token = tokens.rbegin(); token != tokens.rend(); ++token) {
    const auto word = token->text.substr(0, token->text.find('\''));
    if (token->kind == TokenKind::name && word == from) changed.replace(token->span.begin, word.size(), to);
  }
  return changed;
}

TEST_CASE("a rename changes every use of a name, and back again", "[lsp][law][long]") {
  int renames = 0;
  for (const auto& text : examples()) {
    Editor editor;
    editor.start().open(text);
    const auto rename = [&](const Json& position, const std::string& name) {
      const auto answer =
          editor.ask("textDocument/rename",
                     {{"textDocument", {{"uri", "file:///a.nap"}}}, {"position", position}, {"newName", name}});
      CAPTURE(answer.dump());
      editor.apply(answer["result"]["changes"]["file:///a.nap"]);
      CHECK(editor.diagnostics.at("file:///a.nap").empty());
    };
    const auto symbols =
        editor.ask("textDocument/documentSymbol", {{"textDocument", {{"uri", "file:///a.nap"}}}})["result"];
    for (const auto& symbol : symbols) {
      const std::string name = symbol["name"];
      if (name == symbols[0]["name"] || symbol["kind"] == 19 || text.find("def ") != std::string::npos) continue;
      CAPTURE(text, name);
      const auto position = symbol["selectionRange"]["start"];
      rename(position, "fresh_name");
      CHECK(*editor.session.text("file:///a.nap") == every_word(text, name, "fresh_name"));
      rename(position, name);
      CHECK(*editor.session.text("file:///a.nap") == text);
      ++renames;
    }
  }
  CHECK(renames > 100);
}

TEST_CASE("formatting gives what fmt prints", "[lsp][law]") {
  Editor editor;
  editor.start();
  for (unsigned seed = 0; seed < 40; ++seed) {
    Random random(seed);
    auto text = examples()[random.below(examples().size())];
    for (int i = 0; i < 6; ++i) text.insert(text.find(' ', random.below(text.size() / 2)), seed % 4 ? "  " : " (");
    editor.open(text);
    const auto result = editor.ask("textDocument/formatting", {{"textDocument", {{"uri", "file:///a.nap"}}}})["result"];
    const auto ran = run_cli({"fmt", "-"}, text);
    CAPTURE(text, ran.err);
    if (ran.code != 0) {
      CHECK(result.is_null());
    } else {
      const std::string formatted = result.empty() ? text : result[0]["newText"].get<std::string>();
      CHECK(formatted == ran.out);
    }
  }
}

// ---- hostile input ----

TEST_CASE("messages that are none are answered by the protocol's errors", "[lsp]") {
  Editor editor;
  editor.start();
  const auto code = [&](const std::string& message) {
    const auto said = editor.say_text(message);
    return said.size() == 1 && said[0].contains("error") ? said[0]["error"]["code"].get<int>() : 0;
  };
  for (const auto* text : {"", "{", "nonsense", "\xFF\xFE", "{\"id\": \"\\ud800\"}", "{\"jsonrpc\": 1e}", "[", "\"a"})
    CHECK(code(text) == -32700);
  CHECK(code(std::string(1'000'000, '[') + std::string(1'000'000, ']')) == -32700);
  CHECK(code("{\"id\":1,\"method\":\"shutdown\",\"params\":" + std::string(100, '[') + std::string(100, ']') + "}") ==
        -32700);
  for (const auto* text : {"[]", "1", "null", "\"a\"", "[{\"id\":1}]", "{}", "{\"id\":1}", "{\"id\":1,\"method\":2}",
                           "{\"id\":{},\"method\":\"shutdown\"}", "{\"id\":null,\"method\":\"shutdown\"}",
                           "{\"id\":1.5,\"method\":\"shutdown\"}"})
    CHECK(code(text) == -32600);
  CHECK(editor.say_text("{\"id\":1,\"result\":null}").empty());  // an answer, to nothing that was asked
  CHECK(editor.ask("textDocument/nothing")["error"]["code"] == -32601);
}

TEST_CASE("parameters that are none are answered, and noted of notifications", "[lsp]") {
  Editor editor;
  editor.start().open("diagram d\n");
  const Json document = {{"uri", "file:///a.nap"}};
  const std::vector<Json> wrong = {
      nullptr,
      1,
      Json::array(),
      Json::object(),
      {{"textDocument", 1}},
      {{"textDocument", {{"uri", 1}}}},
      {{"textDocument", {{"uri", "file:///other.nap"}}}, {"position", {{"line", 0}, {"character", 0}}}}};
  for (const auto* method :
       {"hover", "completion", "definition", "references", "documentSymbol", "formatting", "prepareRename", "rename"})
    for (const auto& params : wrong) {
      CAPTURE(method, params.dump());
      CHECK(editor.ask("textDocument/" + std::string(method), params)["error"]["code"] == -32602);
    }
  for (const Json& position : {Json(), Json(3), Json{{"line", -1}, {"character", 0}}, Json{{"line", 0}},
                               Json{{"line", 1e300}, {"character", 0}}, Json{{"line", "0"}, {"character", 0}}}) {
    CAPTURE(position.dump());
    CHECK(editor.ask("textDocument/hover", {{"textDocument", document}, {"position", position}})["error"]["code"] ==
          -32602);
  }
  const auto most = std::numeric_limits<std::uint64_t>::max();
  CHECK(editor
            .ask("textDocument/hover",
                 {{"textDocument", document}, {"position", {{"line", most}, {"character", most}}}})["result"]
            .is_null());
  std::size_t noted = 0;
  for (const auto* method : {"didOpen", "didChange", "didClose"})
    for (const auto& params : wrong) {
      if (method == std::string("didOpen") && params == wrong.back()) continue;
      CAPTURE(method, params.dump());
      editor.tell("textDocument/" + std::string(method), params);
      CHECK(editor.log.size() == ++noted);
    }
  const Json negative = edit(0, -1, 0, 0, "x"), no_text = {{"range", edit(0, 0, 0, 0, "")["range"]}};
  for (const Json& changes : {Json(1), Json::array({1}), Json::array({negative}), Json::array({no_text}),
                              Json::array({edit(0, 0, 0, 0, "y"), negative})}) {
    editor.change(changes);
    CHECK(editor.log.size() == ++noted);
    CHECK(*editor.session.text("file:///a.nap") == "diagram d\n");  // whole or not at all
  }
}

TEST_CASE("every method answers at every place of broken texts", "[lsp]") {
  for (unsigned seed = 0; seed < 12; ++seed) {
    Random random(seed);
    auto text = examples()[random.below(examples().size())];
    for (int i = 0; i < 4; ++i) text.insert(random.below(text.size()), random_text(random));
    if (find_not_text(text)) text = "diagram d\naxis q = 2\nA[q] = sum[q](\n";
    Editor editor;
    editor.start().open(text);
    for (int i = 0; i < 30; ++i) {
      const auto place = random_place(random, text);
      const Json params = {{"textDocument", {{"uri", "file:///a.nap"}}},
                           {"position", {{"line", place.line}, {"character", place.character}}},
                           {"newName", "zz"}};
      for (const auto* method : {"hover", "completion", "definition", "references", "documentSymbol", "formatting",
                                 "prepareRename", "rename"}) {
        const auto answer = editor.ask("textDocument/" + std::string(method), params);
        CAPTURE(text, method, params.dump(), answer.dump());
        CHECK((answer.contains("result") || answer["error"]["code"] == -32803));
      }
    }
  }
}

TEST_CASE("a text beyond every limit is a diagnostic", "[lsp]") {
  Editor editor;
  editor.start().open(std::string(2'000'000, 'q'));
  CHECK(editor.diagnostics.at("file:///a.nap")[0]["code"] == "E0602");
  editor.open("diagram d\nA[] = " + std::string(100'000, '(') + "\n");
  CHECK(editor.diagnostics.at("file:///a.nap").size() == 1);
}
