// The language server, method by method.
#include "napkin/lsp.hpp"

#include <algorithm>

#include "napkin/search.hpp"
#include "support/catch.hpp"
#include "support/editor.hpp"
#include "support/machine.hpp"
#include "support/read.hpp"

using namespace napkin;
using namespace napkin::test;

namespace {

const std::string attention = read_file(NAPKIN_SOURCE_DIR "/examples/attention.nap");

const std::string small = R"(diagram small
axis q = 8  # rows
axis x = 4
input A: f16[q, x]
# Doubles.
def twice(s) = s + s
S[q] = sum[x](twice(A[q, x]))
output S
partition mine { group q 2, stream x 2 at smem }
)";

Json range_of(int line, int from, int to) {
  return {{"start", {{"line", line}, {"character", from}}}, {"end", {{"line", line}, {"character", to}}}};
}

std::string hover(Editor& editor, const std::string& word, int nth = 1, std::size_t more = 0) {
  const auto result = editor.ask_at("hover", word, nth, more)["result"];
  return result.is_null() ? "" : result["contents"]["value"].get<std::string>();
}

bool has(const std::string& text, const std::string& part) {
  CAPTURE(text, part);
  CHECK(text.find(part) != std::string::npos);
  return text.find(part) != std::string::npos;
}

std::string refusal(Editor& editor, const std::string& word, const std::string& name, int nth = 1) {
  const auto answer = editor.ask_at("rename", word, nth, 0, {{"newName", name}});
  CAPTURE(word, name, answer.dump());
  REQUIRE(answer.contains("error"));
  CHECK(answer["error"]["code"] == -32803);
  return answer["error"]["message"];
}

std::vector<std::string> labels(Editor& editor, const std::string& word, int nth = 1, std::size_t more = 0) {
  std::vector<std::string> found;
  const auto items = editor.ask_at("completion", word, nth, more)["result"];
  for (const auto& item : items) found.push_back(item["label"]);
  return found;
}

bool holds(const std::vector<std::string>& all, const std::string& one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

}  // namespace

TEST_CASE("initialize tells what there is", "[lsp]") {
  Editor editor;
  const auto result = editor.ask("initialize", {{"capabilities", Json::object()}})["result"];
  CHECK(result["serverInfo"]["name"] == "napkin");
  CHECK(result["capabilities"]["positionEncoding"] == "utf-16");
  CHECK(result["capabilities"]["textDocumentSync"]["change"] == 2);
  for (const auto* provider : {"hoverProvider", "definitionProvider", "documentFormattingProvider",
                               "documentSymbolProvider", "referencesProvider"})
    CHECK(result["capabilities"][provider] == true);
  CHECK(result["capabilities"]["renameProvider"]["prepareProvider"] == true);
}

TEST_CASE("the conversation has an order", "[lsp]") {
  Editor editor;
  CHECK(editor.ask("textDocument/hover")["error"]["code"] == -32002);
  CHECK(editor.ask("shutdown")["error"]["code"] == -32002);
  editor.open(small);  // a notification before initialize is dropped
  CHECK(editor.session.text("file:///a.nap") == nullptr);
  editor.start();
  CHECK(editor.ask("initialize")["error"]["code"] == -32600);
  CHECK(editor.ask("textDocument/nothing")["error"]["code"] == -32601);
  CHECK(editor.ask("$/nothing")["error"]["code"] == -32601);
  editor.tell("$/nothing");
  editor.tell("textDocument/nothing");
  CHECK(editor.ask("shutdown")["result"].is_null());
  CHECK(editor.ask("textDocument/hover")["error"]["code"] == -32600);
  CHECK(!editor.session.exit_code());
  editor.tell("exit");
  CHECK(editor.session.exit_code() == 0);
}

TEST_CASE("exit without shutdown is 1", "[lsp]") {
  Editor fresh, running;
  fresh.tell("exit");
  CHECK(fresh.session.exit_code() == 1);
  running.start().tell("exit");
  CHECK(running.session.exit_code() == 1);
}

TEST_CASE("a text without mistakes has no diagnostics", "[lsp]") {
  Editor editor;
  editor.start().open(attention);
  CHECK(editor.diagnostics.at("file:///a.nap") == Json::array());
}

TEST_CASE("diagnostics follow what is typed, and go when the text is closed", "[lsp]") {
  Editor editor;
  editor.start().open(small);
  CHECK(editor.diagnostics.at("file:///a.nap").empty());
  editor.change(Json::array({edit(6, 7, 6, 10, "smu")}));  // S[q] = smu[x](..)
  const auto& all = editor.diagnostics.at("file:///a.nap");
  REQUIRE(all.size() == 1);
  CHECK(all[0]["code"] == "E0206");
  CHECK(all[0]["severity"] == 1);
  CHECK(all[0]["source"] == "napkin");
  CHECK(all[0]["range"] == range_of(6, 7, 10));
  CHECK(all[0]["message"] == "unknown function `smu`\nhelp: did you mean `sum`?");
  editor.change(Json::array({edit(6, 7, 6, 10, "sum")}));
  CHECK(editor.diagnostics.at("file:///a.nap").empty());
  editor.change(Json::array({{{"text", "diagram d\naxis q = 1\nA[] = 1\noutput A\n"}}}));
  REQUIRE(editor.diagnostics.at("file:///a.nap").size() == 1);
  CHECK(editor.diagnostics.at("file:///a.nap")[0]["code"] == "W0221");
  CHECK(editor.diagnostics.at("file:///a.nap")[0]["severity"] == 2);
  editor.tell("textDocument/didClose", {{"textDocument", {{"uri", "file:///a.nap"}}}});
  CHECK(editor.diagnostics.at("file:///a.nap").empty());
  CHECK(editor.session.text("file:///a.nap") == nullptr);
}

TEST_CASE("labels, other places, notes and helps are all told", "[lsp]") {
  const std::string twice = "diagram d\naxis q = 2\naxis q = 3\nA[q] = 1\noutput A\n";
  Editor plain;
  plain.start().open(twice);
  CHECK(plain.diagnostics.at("file:///a.nap")[0]["message"] ==
        "`q` is declared twice\ndeclared again\nnote: first declared here (line 2)\nhelp: choose another name");
  Editor able;
  able.ask("initialize",
           {{"capabilities", {{"textDocument", {{"publishDiagnostics", {{"relatedInformation", true}}}}}}}});
  able.open(twice);
  const auto told = able.diagnostics.at("file:///a.nap")[0];
  CHECK(told["message"] == "`q` is declared twice\ndeclared again\nhelp: choose another name");
  CHECK(told["relatedInformation"][0]["message"] == "first declared here");
  CHECK(told["relatedInformation"][0]["location"] == Json{{"uri", "file:///a.nap"}, {"range", range_of(1, 5, 6)}});
}

TEST_CASE("ranges count UTF-16", "[lsp]") {
  Editor editor;
  // Before the mistake: one code point of two code units, one of one in three bytes.
  editor.start().open(
      "diagram d # \xF0\x9F\x98\x80\xE2\x82\xAC\naxis q = 2\n\xF0\x9F\x98\x80 \xE2\x82\xAC\nA[q] = 1\noutput A\n");
  const auto& all = editor.diagnostics.at("file:///a.nap");
  REQUIRE(all.size() == 2);
  CHECK(all[0]["range"] == range_of(2, 0, 2));
  CHECK(all[1]["range"] == range_of(2, 3, 4));
}

TEST_CASE("hover tells shape, type, wires and bytes of an array", "[lsp]") {
  Editor editor;
  editor.start().open(attention);
  has(hover(editor, "Q[q, d] *"), "```nap\ninput Q: f16[q, d]\n```");
  has(hover(editor, "Q[q, d] *"), "shape 4096 x 128; type `f16`; wires `q`, `d`; 1 MiB");
  has(hover(editor, "V[x, d])"), "shape 4096 x 128; type `f16`; wires `x`, `d'`; 1 MiB");
  has(hover(editor, "S[q, x]"), "shape 4096 x 4096; type `f32`; wires `q`, `x`; 64 MiB");
}

TEST_CASE("hover tells of axes, defs, functions and types", "[lsp]") {
  Editor editor;
  editor.start().open(attention);
  CHECK(hover(editor, "d = 128") == "```nap\naxis d = 128   # head width\n```\n\n128 positions; wires `d`, `d'`");
  has(hover(editor, "d])", 2), "128 positions; wires `d`, `d'`; here `d'`");
  CHECK(hover(editor, "softmax[x](S") ==
        "```nap\n# Exponentials that add up to one along an axis.\n"
        "def softmax[a](s) = exp(s - max[a](s)) / sum[a](exp(s - max[a](s)))\n```");
  has(hover(editor, "sqrt("), "square root");
  has(hover(editor, "sum["), "sum of all along x");
  has(hover(editor, "f16"), "2 bytes");
  editor.change(Json::array({{{"text", small}}}));
  has(hover(editor, "twice(A"), "```nap\n# Doubles.\ndef twice(s) = s + s\n```");
  has(hover(editor, "s + s"), "parameter of");
  CHECK(editor.ask_at("hover", "# rows", 1, 3)["result"].is_null());
}

TEST_CASE("comments beside and right above a declaration are shown with it, as text and never as markup", "[lsp]") {
  Editor editor;
  editor.start().open(
      "diagram d # none\n# not this\n\n# first\n  # ```second``` ![](http://x/y.png)\naxis q = 2; axis x = 3 # both\n"
      "A[q] = # inside\n  x\noutput A\n");
  CHECK(hover(editor, "q = 2") ==
        "````nap\n# first\n  # ```second``` ![](http://x/y.png)\naxis q = 2\n````\n\n2 positions");
  CHECK(hover(editor, "x = 3") == "```nap\naxis x = 3 # both\n```\n\n3 positions");
}

TEST_CASE("a bug is answered and not the end", "[lsp]") {
  Editor editor([](const std::string&) -> std::variant<Hardware, std::string> { throw std::runtime_error("oh"); });
  const auto error = editor.ask("initialize", {{"initializationOptions", {{"target", "x"}}}})["error"];
  CHECK(error["code"] == -32603);
  CHECK(error["message"] == "a bug in napkin: oh");
  editor.start();
  CHECK(editor.ask("shutdown")["result"].is_null());
}

TEST_CASE("hover tells of a file with mistakes what its declarations say", "[lsp]") {
  Editor editor;
  editor.start().open(small + "T[q] = nothing(S[q])\n");
  CHECK(editor.diagnostics.at("file:///a.nap").size() == 1);
  has(hover(editor, "A[q, x]"), "shape 8 x 4; type `f16`; 64 B");
}

TEST_CASE("hover tells at which levels the plan holds an array", "[lsp]") {
  const auto told_on = [](const std::string& target, const std::string& word) {
    const auto machine = read_machine(target);
    Editor editor([&](const std::string&) { return machine; });
    editor.start({{"target", target}}).open(attention);
    std::string text;
    do {
      text = hover(editor, word);
    } while (text.find("is being searched") != std::string::npos);
    return text;
  };
  const auto told = [&](const std::string& word) { return told_on("h100-sxm5", word); };
  const auto keys = told("K[x, d])");
  has(keys, "on `h100-sxm5`, in the kernel of `n`, `l`, `O2`");  // of a part of the keys
  has(keys, "| gmem | all of it | 4096 x 128 | 1 MiB |");
  has(keys, "| smem | `K_smem` |");
  const auto scores = told("S[q, x]");
  CHECK(scores.find("gmem") == std::string::npos);
  has(scores, "| reg | ");
  // Two kernels: one leaves the scores, the other reads them.
  const auto apart = told_on("toy", "S[q, x]");
  has(apart, "\n\non `toy`, in the kernel of `S`\n\n| level |");
  has(apart, "|\n\non `toy`, in the kernel of `O`\n\n| level |");
}

TEST_CASE("a plan that is searched does not hold up what is typed", "[lsp]") {
  const auto machine = read_machine("h100-sxm5");
  const auto block = read_file(NAPKIN_SOURCE_DIR "/examples/transformer_block.nap");
  Editor editor([&](const std::string&) { return machine; });
  editor.start({{"target", "h100-sxm5"}}).open(block);
  for (int i = 0; i < 3; ++i) {
    has(hover(editor, "input ", 1, 6), "the plan on `h100-sxm5` is being searched: ask again in a moment");
    editor.change(Json::array({edit(0, 0, 0, 0, "#\n")}));
  }
  CHECK(*editor.session.text("file:///a.nap") == "#\n#\n#\n" + block);

  std::stop_source stop;
  stop.request_stop();
  Goal goal;
  goal.stop = stop.get_token();
  CHECK(search(read_text(block), machine, goal).evaluated < 50'000);  // of a million
}

TEST_CASE("a plan is told of only where there is one", "[lsp]") {
  const auto machine = read_machine("h100-sxm5");
  Editor editor([&](const std::string&) { return machine; });
  editor.start({{"target", "h100-sxm5"}}).open("diagram d\naxis q\nA[q] = q\noutput A\n");
  has(hover(editor, "A["), "shape ?; type `f32`; wires `q`; bytes depend on axes without a size");
  has(hover(editor, "A["), "a plan on `h100-sxm5` needs the sizes of all axes");
  has(hover(editor, "q\n"), "no size");
}

TEST_CASE("a target that is not known is said, and the rest goes on", "[lsp]") {
  Editor editor;
  editor.start({{"target", "h1000"}}).open(small);
  CHECK(editor.shown == std::vector<std::string>{"napkin: no target `h1000`"});
  has(hover(editor, "A[q, x]"), "64 B");
}

TEST_CASE("a name leads to its declaration", "[lsp]") {
  Editor editor;
  editor.start().open(small);
  const auto definition = [&](const std::string& word, int nth = 1, std::size_t more = 0) {
    const auto result = editor.ask_at("definition", word, nth, more)["result"];
    return result.is_null() ? Json() : result["range"];
  };
  CHECK(definition("A[q, x])") == range_of(3, 6, 7));
  CHECK(definition("A[q, x])", 1, 1) == range_of(3, 6, 7));  // behind its last letter
  CHECK(definition("q, x])") == range_of(1, 5, 6));
  CHECK(definition("twice(A") == range_of(5, 4, 9));
  CHECK(definition("s + s") == range_of(5, 10, 11));
  CHECK(definition("S\npart") == range_of(6, 0, 1));
  CHECK(definition("q 2,") == range_of(1, 5, 6));
  CHECK(definition("sum[").is_null());
  CHECK(definition("= 8").is_null());
  const auto uses = editor.ask_at("references", "A: f16")["result"];
  REQUIRE(uses.size() == 2);
  CHECK(uses[1]["range"] == range_of(6, 20, 21));
}

TEST_CASE("formatting writes what fmt writes", "[lsp]") {
  Editor editor;
  editor.start();
  const auto format = [&](const std::string& text) {
    editor.open(text);
    return editor.ask("textDocument/formatting", {{"textDocument", {{"uri", "file:///a.nap"}}}})["result"];
  };
  CHECK(format(attention) == Json::array());
  const auto edits = format("diagram d\r\naxis   q=2\nA[q]=1+q\noutput A");
  REQUIRE(edits.size() == 1);
  CHECK(edits[0]["newText"] == "diagram d\naxis q = 2\nA[q] = 1 + q\noutput A\n");
  CHECK(edits[0]["range"] ==
        Json{{"start", {{"line", 0}, {"character", 0}}}, {"end", {{"line", 3}, {"character", 8}}}});
  CHECK(format("diagram d\naxis = 2\n").is_null());
}

TEST_CASE("a rename changes every use and no other name", "[lsp]") {
  Editor editor;
  editor.start().open(attention);
  auto changed = [&](const std::string& word, const std::string& name) {
    const auto answer = editor.ask_at("rename", word, 1, 0, {{"newName", name}});
    CAPTURE(answer.dump());
    editor.apply(answer["result"]["changes"]["file:///a.nap"]);
    return *editor.session.text("file:///a.nap");
  };
  auto expected = attention;
  const auto replace = [&](const std::string& from, const std::string& to) {
    for (auto at = expected.find(from); at != std::string::npos; at = expected.find(from, at + to.size()))
      expected.replace(at, from.size(), to);
  };
  for (const auto* name : {"K:", "K["}) replace(name, "Keys" + std::string(1, name[1]));
  CHECK(changed("K: f16", "Keys") == expected);
  replace("axis x", "axis key"), replace("[x,", "[key,"), replace(", x]", ", key]"), replace("[x]", "[key]");
  replace("stream x", "stream key");
  CHECK(changed("x = 4096", "key") == expected);
  CHECK(editor.diagnostics.at("file:///a.nap").empty());
}

TEST_CASE("a rename keeps primes, and a def's own names to the def", "[lsp]") {
  Editor editor;
  editor.start().open(
      "diagram d\naxis q = 2\naxis s = 4\ninput A: f32[q, s]\ninput B: f32[s, q]\n"
      "def half(s) = s / 2\nC[q] = half(sum[s](A[q, s] * B[s, q]))\noutput C\n"
      "partition p { group q' 2 at smem }\n");
  const auto places = [&](const std::string& word, int nth) {
    std::vector<Json> all;
    auto answer = editor.ask_at("rename", word, nth, 0, {{"newName", "zz"}});
    for (const auto& each : answer["result"]["changes"]["file:///a.nap"]) all.push_back(each["range"]);
    return all;
  };
  CHECK(places("s / 2", 1) == std::vector<Json>{range_of(5, 9, 10), range_of(5, 14, 15)});
  CHECK(places("s = 4", 1).size() == 6);
  const auto queries = places("q' 2", 1);
  REQUIRE(queries.size() == 7);
  CHECK(queries.back() == range_of(8, 20, 21));
}

TEST_CASE("a rename is refused with a reason", "[lsp]") {
  Editor editor;
  editor.start().open(small);
  CHECK(refusal(editor, "A[", "q") == "`q` is declared already: choose another name");
  CHECK(refusal(editor, "A[", "twice") == "`twice` is declared already: choose another name");
  CHECK(refusal(editor, "A[", "sum") == "`sum` is built into the language");
  CHECK(refusal(editor, "A[", "f16") == "`f16` is built into the language");
  CHECK(refusal(editor, "A[", "softmax") == "`softmax` is a function of the prelude");
  CHECK(refusal(editor, "A[", "axis") == "`axis` is a word of the language");
  CHECK(refusal(editor, "A[", "inf") == "`inf` is a word of the language");
  CHECK(refusal(editor, "A[", "") == "`` is no name: names are ASCII letters, digits and `_`");
  CHECK(refusal(editor, "A[", "2d") == "`2d` is no name: names are ASCII letters, digits and `_`");
  CHECK(refusal(editor, "A[", "a b") == "`a b` is no name: names are ASCII letters, digits and `_`");
  CHECK(refusal(editor, "A[", "q'") == "`q'` is no name: names are ASCII letters, digits and `_`");
  CHECK(refusal(editor, "A[", std::string(65, 'a')) == "a name has at most 64 characters");
  CHECK(refusal(editor, "sum[", "total") == "`sum` is built into the language");
  CHECK(refusal(editor, "= 8", "total") == "there is no name here");
  CHECK(refusal(editor, "smem", "total") == "`smem` is a name of the machine");
  CHECK(editor.ask_at("rename", "A[", 1, 0, {{"newName", "A"}})["result"].is_null());
  CHECK(editor.ask_at("rename", "A[")["error"]["code"] == -32602);
  CHECK(editor.ask_at("prepareRename", "A[")["result"] == range_of(6, 20, 21));
  CHECK(editor.ask_at("prepareRename", "sum[")["error"]["code"] == -32803);
  editor.change(Json::array({edit(2, 0, 2, 0, "axis = 3\n")}));
  CHECK(refusal(editor, "A[", "B") == "some lines have errors and may contain the name: correct them first");
}

TEST_CASE("symbols are the declarations in order", "[lsp]") {
  Editor editor;
  editor.start().open(small);
  std::string names;
  const auto symbols =
      editor.ask("textDocument/documentSymbol", {{"textDocument", {{"uri", "file:///a.nap"}}}})["result"];
  for (const auto& symbol : symbols) names += symbol["name"].get<std::string>() + " ";
  CHECK(names == "small q x A twice S mine ");
}

TEST_CASE("completion offers what may stand there", "[lsp]") {
  const auto machine = read_machine("toy");
  Editor editor([&](const std::string&) { return machine; });
  editor.start({{"target", "toy"}}).open(small + "ax\nT: f[q] = \n");
  const auto line = labels(editor, "ax\n", 1, 2), type = labels(editor, "f[q] = ", 1, 1),
             value = labels(editor, "= \n", 1, 2), inside = labels(editor, "s + s", 1, 1),
             level = labels(editor, "smem", 1, 2);
  CHECK((holds(line, "axis") && holds(line, "S") && !holds(line, "softmax")));
  CHECK((holds(type, "bf16") && !holds(type, "axis") && !holds(type, "S")));
  for (const auto* name : {"q", "A", "S", "twice", "softmax", "sum", "exp", "where", "size", "f16", "inf"})
    CHECK(holds(value, name));
  CHECK((!holds(value, "axis") && !holds(value, "s")));
  CHECK((holds(inside, "s") && holds(inside, "exp") && !holds(inside, "A")));
  CHECK((holds(level, "smem") && holds(level, "reg") && !holds(level, "gmem") && !holds(level, "q")));
}
