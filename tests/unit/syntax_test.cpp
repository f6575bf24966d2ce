// Text to tree: what binds to what, where lines end, and where things stand.
#include "napkin/syntax.hpp"

#include "napkin/functions.hpp"
#include "support/catch.hpp"
#include "support/read.hpp"
#include "support/structure.hpp"
#include "syntax/operators.hpp"
#include "syntax/print_expression.hpp"

using namespace napkin;

namespace {

ast::File parsed(const std::string& text) {
  Sources sources;
  Diagnostics diagnostics;
  auto file = parse(sources, sources.add("a.nap", text), diagnostics);
  INFO(render_text(sources, diagnostics, false));
  REQUIRE_FALSE(diagnostics.has_errors());
  return file;
}

ast::Expr expression(const std::string& text) {
  return std::get<ast::Statement>(parsed("diagram d\nA[] = " + text).declarations.at(0).node).value;
}

// With a bracket around every operator.
std::string bracketed(const ast::Expr& expr) {
  if (expr.kind == ast::ExprKind::unary) return "(" + expr.name.text + " " + bracketed(expr.arguments[0]) + ")";
  if (expr.kind != ast::ExprKind::binary) return print_expression(expr);
  return "(" + bracketed(expr.arguments[0]) + " " + expr.name.text + " " + bracketed(expr.arguments[1]) + ")";
}

std::string formatted(const std::string& text) {
  Sources sources;
  Diagnostics diagnostics;
  return print(sources, parse(sources, sources.add("a.nap", text), diagnostics));
}

}  // namespace

TEST_CASE("operators bind as in the table of functions") {
  for (const auto& row : binary_operators) {
    CAPTURE(row.sign);
    const auto* function = find_pointwise(row.sign);
    REQUIRE(function != nullptr);
    CHECK(function->precedence == row.precedence);
    CHECK(function->arity == 2);
  }
  CHECK(find_pointwise("not")->precedence == precedence(prefix_operators, "not"));
  CHECK(find_pointwise("neg")->precedence == precedence(prefix_operators, "-"));
}

TEST_CASE("operators bind as in mathematics") {
  CHECK(bracketed(expression("a + b * c")) == "(a + (b * c))");
  CHECK(bracketed(expression("a - b - c")) == "((a - b) - c)");
  CHECK(bracketed(expression("a / b * c")) == "((a / b) * c)");
  CHECK(bracketed(expression("a ^ b ^ c")) == "(a ^ (b ^ c))");
  CHECK(bracketed(expression("-a ^ 2")) == "(- (a ^ 2))");
  CHECK(bracketed(expression("2 ^ -a * b")) == "((2 ^ (- a)) * b)");
  CHECK(bracketed(expression("-a * b")) == "((- a) * b)");
  CHECK(bracketed(expression("a < b and not c == d or e > f")) == "(((a < b) and (not (c == d))) or (e > f))");
  CHECK(bracketed(expression("a + b <= c * d")) == "((a + b) <= (c * d))");
}

TEST_CASE("brackets are written only where they matter") {
  CHECK(print_expression(expression("((a) + ((b * c)))")) == "a + b * c");
  CHECK(print_expression(expression("(a + b) * c")) == "(a + b) * c");
  CHECK(print_expression(expression("a - (b - c)")) == "a - (b - c)");
  CHECK(print_expression(expression("(a ^ b) ^ c")) == "(a^b)^c");
  CHECK(print_expression(expression("(-a) ^ 2")) == "(-a)^2");
  CHECK(print_expression(expression("not (a and b)")) == "not (a and b)");
  CHECK(print_expression(expression("S[2 * u + i, q/64]")) == "S[2*u + i, q / 64]");
}

TEST_CASE("lines end at newlines and semicolons, and go on inside brackets") {
  const auto text = "diagram d\r\n\taxis a = 4 ; ;axis b=4;\n\n\nA[a,\r\n  b] = sum[ # over\n c ](\n\n a)\n;output A";
  const auto file = parsed(text);
  REQUIRE(file.declarations.size() == 4);
  CHECK(structure(file) ==
        structure(parsed("diagram d\naxis a = 4\naxis b = 4\nA[a, b] = sum[c](a)  # over\noutput A\n")));
}

TEST_CASE("a mistake at the end of a line stands where its letters end, however lines end") {
  for (const std::string end : {"\n", "\r\n"}) {
    Sources sources;
    Diagnostics diagnostics;
    parse(sources, sources.add("test.nap", "diagram d" + end + "O[q]" + end + "output O" + end), diagnostics);
    const auto text = render_text(sources, diagnostics, false);
    INFO(text);
    CHECK(text.find("test.nap:2:5") != std::string::npos);
  }
}

TEST_CASE("a byte order mark is no part of the text") {
  CHECK(parsed("\xEF\xBB\xBF"
               "diagram d")
            .diagram.text == "d");
}

TEST_CASE("places are exact") {
  const std::string text = "diagram d\nO[q] = sum[x](P[q, x]) + 1.5";
  const auto file = parsed(text);
  const auto& statement = std::get<ast::Statement>(file.declarations[0].node);
  const auto at = [&](Span span) { return text.substr(span.begin, span.end - span.begin); };
  CHECK(at(file.declarations[0].span) == "O[q] = sum[x](P[q, x]) + 1.5");
  CHECK(at(statement.value.arguments[0].span) == "sum[x](P[q, x])");
  CHECK(at(statement.value.arguments[0].axes[0].span) == "x");
  CHECK(at(statement.value.arguments[0].arguments[0].span) == "P[q, x]");
  CHECK(at(statement.value.arguments[1].span) == "1.5");
}

TEST_CASE("partitions are read, in files and alone") {
  const auto file = parsed(
      "diagram d\npartition by_hand on h100-sxm5 {\n  group b 1, h 1, q 128 at smem # c\n  stream x 64 at smem; group "
      "d' 8 at reg\n}");
  const auto& partition = std::get<ast::Partition>(file.declarations[0].node);
  CHECK(partition.target->text == "h100-sxm5");
  REQUIRE(partition.splits.size() == 5);
  CHECK(partition.splits[3].stream);
  CHECK(partition.splits[4].axis.text == "d'");

  Sources sources;
  Diagnostics diagnostics;
  const auto words = sources.add("<command line>", "group q 128, stream x 64, k 8 at smem; group q 16 at reg");
  const auto alone = parse_partition(sources, words, diagnostics);
  CHECK_FALSE(diagnostics.has_errors());
  REQUIRE(alone.splits.size() == 4);
  CHECK(alone.name.text.empty());
  CHECK(alone.splits[1].size == 64);
  CHECK(alone.splits[2].stream);
  CHECK(alone.splits[2].level.text == "smem");
  CHECK(alone.splits[3].level.text == "reg");
}

TEST_CASE("an unclosed bracket hides no other mistake") {
  Sources sources;
  Diagnostics diagnostics;
  const auto file =
      sources.add("a.nap",
                  "diagram d\naxis q = 4\nA[q] = exp(q\nB[q] = C[q]\naxis = 3\npartition p {\n group q at smem\n"
                  " grup q 1 at smem\n}\noutput A\noutput D");
  read_diagram(sources, file, {}, diagnostics);
  std::vector<std::string> found;
  for (const auto& d : diagnostics.sorted()) found.push_back(std::string(d.code) + " " + d.message);
  CHECK(found == std::vector<std::string>{
                     "E0106 `(` is never closed", "E0203 unknown array `C`",
                     "E0105 expected the name of an axis, found `=`", "E0105 expected the size of a piece, found `at`",
                     "E0105 expected `group` or `stream`, found `grup`", "E0203 unknown array `D`"});
}

TEST_CASE("the canonical form of a careless file") {
  CHECK(formatted(
            "# top\n\n\n\ndiagram   d # name\n axis  q=4;axis x= 2*q   # sizes\naxis long_name=3#c\n\n\n"
            "input S:f16[q,x]\nA[q,x]=S[q,\n # inside\n x]*( 2+1 )\nB : f16[q]=A[q,0]#end\n"
            "partition p on h100-sxm5{group q 1,stream x 2 at smem;stream q 1 at reg # r\n# own\n}#after\noutput B") ==
        "# top\n\n"
        "diagram d  # name\n"
        "axis q = 4; axis x = 2 * q  # sizes\n"
        "axis long_name = 3          #c\n\n"
        "input S: f16[q, x]\n"
        "# inside\n"
        "A[q, x]   = S[q, x] * (2 + 1)\n"
        "B: f16[q] = A[q, 0]  #end\n"
        "partition p on h100-sxm5 {\n"
        "  group  q 1 at smem\n"
        "  stream x 2 at smem\n"
        "  stream q 1 at reg  # r\n"
        "  # own\n"
        "}  #after\n"
        "output B\n");
}

TEST_CASE("a long statement is broken inside its brackets") {
  const auto text = formatted(
      "diagram d\nY[n, o, u, v] = sum[c, i, j](where(u + i >= 1 and v + j >= 1, X[n, c, u + i, v + j], 0) * W[o, c, i, "
      "j] * "
      "scale[o])");
  CHECK(text ==
        "diagram d\n"
        "Y[n, o, u, v] = sum[c, i, j](where(u + i >= 1 and v + j >= 1, X[n, c, u + i, v + j], 0) *\n"
        "    W[o, c, i, j] * scale[o])\n");
  CHECK(formatted(text) == text);
}

TEST_CASE("a file with a syntax error is printed as it is") {
  CHECK(formatted("diagram   d\naxis = 3") == "diagram   d\naxis = 3");
}

TEST_CASE("the prelude is in canonical form") { CHECK(formatted(std::string(prelude_text())) == prelude_text()); }
