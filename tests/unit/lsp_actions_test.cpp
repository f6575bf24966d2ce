// The language server where it changes and explains what is typed: quick fixes, hints, snippets, signatures, costs.
#include <fmt/format.h>

#include <algorithm>

#include "support/catch.hpp"
#include "support/editor.hpp"
#include "support/machine.hpp"
#include "support/read.hpp"

using namespace napkin;
using namespace napkin::test;

namespace {

const std::string uri = "file:///a.nap";
const std::string head =
    "diagram d\naxis q = 64; axis x = 64; axis d = 32\ninput Q: f16[q, d]\ninput K: f16[x, d]\ninput V: f16[x, d]\n";
const std::string scores = "S[q, x] = sum[d](Q[q, d] * K[x, d])\n";

Json whole(Editor& editor) {
  const auto& text = *editor.session.text(uri);
  return {{"start", {{"line", 0}, {"character", 0}}},
          {"end", {{"line", std::count(text.begin(), text.end(), '\n')}, {"character", 0}}}};
}

Json actions(Editor& editor, const Json& context = {{"diagnostics", Json::array()}}) {
  return editor.ask("textDocument/codeAction",
                    {{"textDocument", {{"uri", uri}}}, {"range", whole(editor)}, {"context", context}})["result"];
}

std::string codes(const Editor& editor) {
  std::string all;
  for (const auto& one : editor.diagnostics.at(uri)) all += one["code"].get<std::string>() + " ";
  return all;
}

std::string applied(Editor& editor, const Json& action) {
  auto edits = action["edit"]["changes"][uri];
  std::sort(edits.begin(), edits.end(), [](const Json& a, const Json& b) {
    const auto place = [](const Json& e) {
      return std::pair(e["range"]["start"]["line"].get<int>(), e["range"]["start"]["character"].get<int>());
    };
    return place(a) < place(b);
  });
  editor.apply(edits);
  return *editor.session.text(uri);
}

// An editor that inserts snippets.
struct Able : Editor {
  explicit Able(const Json& options = Json::object())
      : Editor([](const std::string& target) -> std::variant<Hardware, std::string> { return read_machine(target); }) {
    const Json able = {{"completion", {{"completionItem", {{"snippetSupport", true}}}}}};
    ask("initialize", {{"initializationOptions", options}, {"capabilities", {{"textDocument", able}}}});
  }
};

Json item(Editor& editor, const std::string& label, const std::string& before) {
  const auto answer = editor.ask_at("completion", before, 1, before.size());
  for (const auto& one : answer["result"])
    if (one["label"] == label) return one;
  return {};
}

Json signature(Editor& editor, const std::string& before) {
  return editor.ask_at("signatureHelp", before, 1, before.size())["result"];
}

}  // namespace

TEST_CASE("a misspelt word has a quick fix", "[lsp]") {
  Editor editor;
  editor.start().open(head + "S[q, x] = smu[d](Q[q, d] * K[x, d])\noutput S\n");
  const auto all = actions(editor);
  REQUIRE(all.size() == 1);
  CHECK(all[0]["title"] == "write `sum`");
  CHECK(all[0]["kind"] == "quickfix");
  CHECK(all[0]["isPreferred"] == true);
  CHECK(all[0]["diagnostics"] == editor.diagnostics[uri]);
  CHECK(applied(editor, all[0]) == head + scores + "output S\n");
  CHECK(codes(editor) == "W0221 ");  // nothing reads V
  CHECK(actions(editor).empty());
}

TEST_CASE("one mistake may be mended in two ways", "[lsp]") {
  Editor editor;
  editor.start().open(head + "S[q] = sum[x](Q[q, d] * K[x, d])\noutput S\n");
  const auto all = actions(editor);
  REQUIRE(all.size() == 2);  // d is read twice
  CHECK(all[0]["title"] == "write `S[q, d]`");
  applied(editor, all[0]);
  CHECK(codes(editor) == "W0221 ");
  editor.open("diagram d\naxis q = 4; axis d = 2\ninput Q: f32[q]\nS[q] = Q[q] * d\noutput S\n");
  const auto two = actions(editor);
  REQUIRE(two.size() == 2);
  CHECK(two[0]["title"] == "write `size(d)`");
  CHECK(two[1]["title"] == "write `S[q, d]`");
  CHECK(two[1]["isPreferred"] == false);
}

TEST_CASE("quick fixes are given where they are asked for, and no others", "[lsp]") {
  Editor editor;
  editor.start().open(head + "S[q, x] = smu[d](Q[q, d] * K[x, d])\noutput S\n");
  CHECK(actions(editor, {{"only", {"refactor"}}}).empty());
  CHECK(actions(editor, {{"only", {"quickfix"}}}).size() == 1);
  const Json elsewhere = {{"start", {{"line", 0}, {"character", 0}}}, {"end", {{"line", 1}, {"character", 3}}}};
  CHECK(editor.ask("textDocument/codeAction", {{"textDocument", {{"uri", uri}}}, {"range", elsewhere}})["result"] ==
        Json::array());
}

TEST_CASE("a product that loses matrix units is a hint with its edit", "[lsp]") {
  Editor editor;
  editor.start().open(head + scores + "P[q, x] = softmax[x](S[q, x])\nO[q, d] = sum[x](P[q, x] * V[x, d])\noutput O\n");
  REQUIRE(editor.hints[uri].size() == 1);
  const auto hint = editor.hints[uri][0];
  CHECK(hint["severity"] == 4);
  CHECK(hint["message"] == "O = P*V takes two products of tf32: P is f32 and V f16\nhelp: write P: f16");
  const auto all = actions(editor);
  REQUIRE(all.size() == 1);
  CHECK(all[0]["title"] == "write P: f16");
  const auto text = applied(editor, all[0]);
  CHECK(text.find("P: f16[q, x] = softmax") != std::string::npos);
  CHECK(editor.hints[uri].empty());
}

TEST_CASE("on a target the hint is of its matrix units", "[lsp]") {
  const Json options = {{"target", "v100-sxm2"}};
  Able editor(options);
  const std::string wide =
      "diagram d\naxis a = 64; axis b = 64; axis c = 64\ninput A: bf16[a, b]\ninput B: bf16[b, c]\n"
      "C[a, c] = sum[b](A[a, b] * B[b, c])\noutput C\n";
  editor.open(wide);
  REQUIRE(editor.hints[uri].size() == 1);
  CHECK(editor.hints[uri][0]["message"] ==
        "C = A*B runs on fma lanes of `v100-sxm2`: A and B are bf16, and the matrix units multiply f16\n"
        "help: write A: f16 and write B: f16");
  const auto text = applied(editor, actions(editor)[0]);
  CHECK(text.find("input A: f16[a, b]\ninput B: f16[b, c]") != std::string::npos);
  CHECK(editor.hints[uri].empty());
  Editor without;
  without.start().open(wide);
  CHECK(without.hints[uri].empty());
}

TEST_CASE("whole numbers become narrower whole numbers, if they fit", "[lsp]") {
  const auto hint_on = [](const std::string& target) {
    const Json options = {{"target", target}};
    Able editor(options);
    editor.open(
        "diagram d\naxis a = 64; axis b = 64; axis c = 64\ninput A: i32[a, b]\ninput B: i32[b, c]\n"
        "C: i32[a, c] = sum[b](A[a, b] * B[b, c])\noutput C\n");
    REQUIRE(editor.hints[uri].size() == 1);
    const auto message = editor.hints[uri][0]["message"].get<std::string>();
    const auto help = message.find("\nhelp: ");
    return help == std::string::npos ? "" : message.substr(help + 7);
  };
  CHECK(hint_on("h100-sxm5") == "write A: i8 and write B: i8, if the numbers fit");
  CHECK(hint_on("v100-sxm2").empty());  // its matrix units multiply f16 alone
}

TEST_CASE("what a sum multiplies becomes a statement of its own", "[lsp]") {
  Editor editor;
  editor.start().open(head + scores + "O[q, d] = sum[x](softmax[x](S[q, x]) * V[x, d])\noutput O\n");
  REQUIRE(editor.hints[uri].size() == 1);
  CHECK(editor.hints[uri][0]["severity"] == 4);
  const auto all = actions(editor);
  REQUIRE(all.size() == 1);
  const auto text = applied(editor, all[0]);
  CAPTURE(text);
  CHECK(text.find("O_factor: f16[q, x] = softmax[x](S[q, x])\nO[q, d] = sum[x](O_factor[q, x] * V[x, d])\n") !=
        std::string::npos);
  CHECK(editor.hints[uri].empty());
}

TEST_CASE("a sum of more than two arrays runs on matrix units behind a statement of its own", "[lsp]") {
  const auto product =
      GENERATE("A[m, k] * s[m, k] * B[k, j]", "A[m, k] * B[k, j] * t[k, j]", "s[m, k] * (A[m, k] * B[k, j])",
               "A[m, k] * w[k] * B[k, j]", "A[m, k] * B[k, j] * w[k]", "A[m, k] * s[m, k] * B[k, j] * t[k, j]",
               "B[k, j] * exp(A[m, k]) * w[k]", "A[m, k] * B[k, j] / s[m, k]", "(A[m, k] + s[m, k]) * B[k, j]",
               "A[m, k] / w[k] * B[k, j]", "2 * B[k, j] / (w[k] + 1) * A[m, k]", "exp(A[m, k]) * exp(B[k, j])");
  const auto type = GENERATE("bf16", "f16", "f32", "f8e4m3");
  CAPTURE(product, type);
  std::string text = "diagram t\naxis m = 64; axis k = 64; axis j = 64\n";
  for (const std::string array : {"A[m, k]", "s[m, k]", "w[k]", "B[k, j]", "t[k, j]"})
    text += fmt::format("input {}: {}{}\n", array.substr(0, 1), type, array.substr(1));
  Editor editor;
  editor.start().open(text + fmt::format("C[m, j] = relu(sum[k]({})) + 1\noutput C\n", product));
  REQUIRE(editor.hints[uri].size() == 1);
  const auto mended = applied(editor, actions(editor).at(0));
  CAPTURE(mended);
  CHECK(mended.find("\nC_factor: ") != std::string::npos);
  CHECK(editor.hints[uri].empty());
}

TEST_CASE("a rounding that forbids a stream is a hint that says which", "[lsp]") {
  Editor editor;
  editor.start().open(
      "diagram t\naxis t = 3; axis x = 13\ninput A: f32[t, x]\nM[t] = max[x](abs(A[t, x]))\n"
      "R: f16[t, x] = A[t, x] * M[t]\nY[t] = sum[x](R[t, x])\noutput Y\n");
  REQUIRE(editor.hints[uri].size() == 1);
  const auto message = editor.hints[uri][0]["message"].get<std::string>();
  CAPTURE(message);
  CHECK(message.find("a rounding prevents a stream of `x`: ") == 0);
  CHECK(message.find("rounds to f16") != std::string::npos);
  CHECK(message.find("\nhelp: ") != std::string::npos);
}

TEST_CASE("completion inserts a call with its places, and no second brackets", "[lsp]") {
  Able editor;
  editor.open(head + "def scaled(s, by) = s * by\nS[q, x] = sof\nT[q, x] = so[x](Q[q, x])\n");
  const auto softmax = item(editor, "softmax", "= sof");
  CHECK(softmax["insertText"] == "softmax[${1:a}](${2:s})");
  CHECK(softmax["insertTextFormat"] == 2);
  CHECK(softmax["detail"] == "Exponentials that add up to one along an axis.");
  CHECK(item(editor, "sum", "= sof")["insertText"] == "sum[${1:axis}](${2:e})");
  CHECK(item(editor, "where", "= sof")["insertText"] == "where(${1:condition}, ${2:a}, ${3:b})");
  CHECK(item(editor, "scaled", "= sof")["insertText"] == "scaled(${1:s}, ${2:by})");
  CHECK(!item(editor, "f16", "= sof").contains("insertText"));
  CHECK(!item(editor, "softmax", "T[q, x] = so").contains("insertText"));
  Editor plain;
  plain.start().open(head + "S[q, x] = sof\n");
  CHECK(!item(plain, "softmax", "= sof").contains("insertText"));
}

TEST_CASE("signatures follow the place in a call", "[lsp]") {
  Editor editor;
  editor.start().open(head + scores + "def scaled(s, by) = s * by\nO[q] = sum[x](scaled(S[q, x], exp(2)) + 1)\n");
  const auto sum = signature(editor, "O[q] = sum[x](");
  CHECK(sum["signatures"][0]["label"] == "sum[axis](e)");
  CHECK(sum["activeParameter"] == 1);
  CHECK(signature(editor, "O[q] = sum[")["activeParameter"] == 0);
  const auto scaled = signature(editor, "scaled(S[q, x],");
  CHECK(scaled["signatures"][0]["label"] == "scaled(s, by)");
  CHECK(scaled["activeParameter"] == 1);
  CHECK(scaled["signatures"][0]["parameters"][1]["label"] == Json{10, 12});
  const auto read = signature(editor, "scaled(S[q,");
  CHECK(read["signatures"][0]["label"] == "S[q, x]");
  CHECK(read["activeParameter"] == 1);
  CHECK(signature(editor, "exp(")["signatures"][0]["label"] == "exp(e)");
  CHECK(signature(editor, "O[q] = ").is_null());
  CHECK(signature(editor, "exp(2)) + 1)").is_null());
}

TEST_CASE("the plan's time stands beside statements where it was asked for", "[lsp]") {
  const auto hints = [](const Json& options) {
    Able editor(options);
    editor.open(read_file(NAPKIN_SOURCE_DIR "/examples/attention.nap"));
    Json found;
    for (int i = 0; i < 1200 && (i == 0 || (found.empty() && options.contains("costs"))); ++i)
      found =
          editor.ask("textDocument/inlayHint", {{"textDocument", {{"uri", uri}}}, {"range", whole(editor)}})["result"];
    return found;
  };
  CHECK(hints({{"target", "h100-sxm5"}}) == Json::array());
  const auto found = hints({{"target", "h100-sxm5"}, {"costs", true}});
  REQUIRE(found.size() == 3);
  CHECK(found[0]["label"] == "in the kernel of O");
  CHECK(found[2]["label"].get<std::string>().find("kernel 1: ") == 0);
  CHECK(found[2]["label"].get<std::string>().find(" us of ") != std::string::npos);
}
