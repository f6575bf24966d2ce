// Declarations: text to ast::File. One function per declaration; an error ends its declaration, and the next one is
// read as if nothing had happened.
#include <fmt/format.h>

#include <array>
#include <charconv>

#include "napkin/syntax.hpp"
#include "syntax/cursor.hpp"
#include "syntax/expression.hpp"
#include "syntax/words.hpp"
#include "text/limits.hpp"

namespace napkin {

namespace {

class Parser {
 public:
  Parser(const Sources& sources, std::uint32_t file, Diagnostics& diagnostics, std::size_t begin = 0,
         std::size_t end = std::string_view::npos)
      : cursor_(tokenize(sources, file, diagnostics, begin, end), diagnostics), expressions_(cursor_) {
    file_.file = file;
  }

  ast::File file() {
    while (skip_separators() && room()) declaration();
    check_diagram_line();
    file_.comments = std::move(cursor_.comments());
    return std::move(file_);
  }

  ast::Partition partition_words() {
    ast::Partition partition;
    partition.span = cursor_.peek().span;
    while (skip_separators()) {
      split_line(partition);
      if (!cursor_.failed() && !cursor_.ends_declaration()) cursor_.fail_expected("`;` or the end");
      if (cursor_.failed()) cursor_.recover_line();
    }
    partition.span = cursor_.from(partition.span);
    return partition;
  }

 private:
  // To the next declaration; false at the end of the file.
  bool skip_separators() {
    while (cursor_.ends_declaration() && cursor_.peek().kind != TokenKind::end) cursor_.next();
    return cursor_.peek().kind != TokenKind::end;
  }

  bool room() {
    if (file_.declarations.size() < limits::declarations) return true;
    cursor_.fail({.code = "E0606",
                  .message = fmt::format("more than {} declarations", limits::declarations),
                  .span = cursor_.peek().span});
    return false;
  }

  void declaration() {
    cursor_.begin_declaration();
    declared_.reset();
    const Span begin = cursor_.peek().span;
    auto node = declaration_node();
    if (!cursor_.failed() && !cursor_.ends_declaration()) cursor_.fail_expected("the end of the declaration");
    if (cursor_.failed()) {
      cursor_.recover();
      node = ast::Broken{declared_};
    }
    if (node) file_.declarations.push_back({std::move(*node), cursor_.from(begin)});
  }

  std::optional<ast::DeclarationNode> declaration_node() {
    using Rule = ast::DeclarationNode (Parser::*)();
    struct Row {
      std::string_view keyword;
      Rule rule;
    };
    static constexpr std::array<Row, 5> rows = {{{"axis", &Parser::axis},
                                                 {"input", &Parser::input},
                                                 {"output", &Parser::output},
                                                 {"def", &Parser::def},
                                                 {"partition", &Parser::partition}}};
    if (cursor_.accept("diagram")) return diagram_line(), std::nullopt;
    for (const auto& [keyword, rule] : rows)
      if (cursor_.accept(keyword)) return (this->*rule)();
    return statement();
  }

  void diagram_line() {
    const auto name = cursor_.expect_name("the name of the diagram");
    if (cursor_.failed()) return;
    if (!file_.diagram.text.empty())
      cursor_.fail({.code = "E0109",
                    .message = "a second diagram line",
                    .span = name.span,
                    .others = {{file_.diagram.span, "the first one"}},
                    .notes = {"a file holds one diagram"}});
    else if (!file_.declarations.empty())
      cursor_.fail({.code = "E0109",
                    .message = "the diagram line does not come first",
                    .span = name.span,
                    .help = fmt::format("move `diagram {}` to the top of the file", name.text)});
    if (file_.diagram.text.empty()) file_.diagram = name;
  }

  // A file of `def`s alone is a prelude, and has no diagram line.
  void check_diagram_line() {
    if (!file_.diagram.text.empty()) return;
    for (const auto& declaration : file_.declarations) {
      if (std::holds_alternative<ast::Def>(declaration.node) || std::holds_alternative<ast::Broken>(declaration.node))
        continue;
      cursor_.fail({.code = "E0109",
                    .message = "the diagram has no name",
                    .span = declaration.span,
                    .label = "the first declaration",
                    .help = "begin the file with a line such as `diagram attention`",
                    .fixes = {{"write `diagram untitled`", {{before(declaration.span), "diagram untitled\n"}}}}});
      return;
    }
  }

  ast::Name declared_name(std::string_view what) {
    auto name = cursor_.expect_name(what);
    if (!cursor_.failed()) declared_ = name;
    return name;
  }

  ast::DeclarationNode axis() {
    ast::Axis axis{declared_name("the name of an axis"), std::nullopt};
    if (cursor_.accept("=")) axis.size = expressions_.parse();
    return axis;
  }

  ast::DeclarationNode input() {
    ast::Input input;
    input.name = declared_name("the name of an input");
    cursor_.expect(":", "and a type, as in `input Q: f16[q, d]`");
    input.type = cursor_.expect_name("a type");
    input.axes = expressions_.names("[", "the name of an axis");
    if (cursor_.accept("density")) input.density = expressions_.parse();
    return input;
  }

  ast::DeclarationNode output() { return ast::Output{cursor_.expect_name("the name of an array")}; }

  ast::DeclarationNode def() {
    ast::Def def;
    def.name = declared_name("the name of a def");
    if (cursor_.at("[")) def.axes = expressions_.names("[", "the name of an axis");
    def.parameters = expressions_.names("(", "the name of a parameter");
    cursor_.expect("=", "and the meaning of the def");
    def.value = expressions_.parse();
    return def;
  }

  ast::DeclarationNode statement() {
    if (!begins_statement()) return fail_not_a_declaration(), ast::Broken{};
    ast::Statement statement;
    statement.name = declared_name("a declaration");
    if (cursor_.accept(":")) statement.type = cursor_.expect_name("a type");
    statement.axes = expressions_.names("[", "the name of an axis");
    if (cursor_.at(":"))
      cursor_.fail({.code = "E0105",
                    .message = "expected `=`, found `:`",
                    .span = cursor_.peek().span,
                    .help = fmt::format("a type stands before the axes: `{}: f16[..]`", statement.name.text)});
    cursor_.expect("=", "and the value of the statement");
    statement.value = expressions_.parse();
    return statement;
  }

  bool begins_statement() {
    if (cursor_.peek().kind != TokenKind::name) return false;
    const auto after = cursor_.after_next().text;
    return after == ":" || after == "[";
  }

  // Says what is wrong with a line that begins like no declaration; `axes q = 4` still tells of a `q`.
  void fail_not_a_declaration() {
    const Token first = cursor_.peek(), second = cursor_.after_next();
    if (first.kind != TokenKind::name) return cursor_.fail_expected("a declaration");
    if (second.text == "=") {
      declared_ = ast::Name{std::string(first.text), first.span};
      return cursor_.fail(
          {.code = "E0107",
           .message = fmt::format("`{}` has no axes", first.text),
           .span = first.span,
           .help = fmt::format("name the axes that it keeps, as in `{}[q, x] = ..`, or none: `{}[] = ..`", first.text,
                               first.text)});
    }
    if (second.kind == TokenKind::name) declared_ = ast::Name{std::string(second.text), second.span};
    Diagnostic diagnostic{
        .code = "E0107",
        .message = fmt::format("`{}` begins no declaration", first.text),
        .span = first.span,
        .help = "a declaration is `axis`, `input`, `output`, `def`, `partition` or `NAME[axes] = ..`"};
    suggest(diagnostic, first.text, {keywords.begin(), keywords.end()});
    cursor_.fail(std::move(diagnostic));
  }

  ast::DeclarationNode partition() {
    ast::Partition partition;
    partition.span = cursor_.peek().span;
    partition.name = declared_name("the name of a partition");
    if (cursor_.accept("on")) {
      const auto target = cursor_.peek();
      if (target.kind != TokenKind::name) cursor_.fail_expected("the name of a target");
      cursor_.next();
      partition.target = ast::Name{std::string(target.text), target.span};
    }
    cursor_.open("{");
    bool broken = cursor_.failed();
    while (!cursor_.failed() && skip_separators() && !cursor_.at("}")) {
      split_line(partition);
      if (!cursor_.failed() && !cursor_.ends_declaration() && !cursor_.at("}"))
        cursor_.fail_expected("`;` or a new line");
      if (!cursor_.failed()) continue;
      broken = true;
      cursor_.recover_line();
    }
    cursor_.close();
    partition.span = cursor_.from(partition.span);
    if (broken) return ast::Broken{declared_};
    return partition;
  }

  // `group b 1, h 1, stream q 128 at smem`: a kind holds until the next one, the level for the whole line.
  void split_line(ast::Partition& partition) {
    const auto first = partition.splits.size();
    std::optional<bool> stream;
    do {
      if (partition.splits.size() - first == limits::list_items)
        cursor_.fail({.code = "E0605",
                      .message = fmt::format("a list of more than {} items", limits::list_items),
                      .span = cursor_.peek().span});
      const bool axis = cursor_.after_next().kind == TokenKind::number;  // one may be named `group`
      if (!axis && (cursor_.at("group") || cursor_.at("stream"))) stream = cursor_.next().text == "stream";
      if (!stream) return fail_split_kind();
      partition.splits.push_back(split(*stream));
    } while (cursor_.accept(","));
    cursor_.expect("at", "and the name of a level, as in `at smem`");
    const auto level = cursor_.expect_name("the name of a level");
    for (auto i = first; i < partition.splits.size(); ++i) partition.splits[i].level = level;
  }

  void fail_split_kind() {
    const Token found = cursor_.peek();
    Diagnostic diagnostic{.code = "E0105",
                          .message = fmt::format("expected `group` or `stream`, found `{}`", found.text),
                          .span = found.span};
    if (found.kind != TokenKind::name || !suggest(diagnostic, found.text, {"group", "stream"}))
      return cursor_.fail_expected("`group` or `stream`");
    cursor_.fail(std::move(diagnostic));
  }

  ast::Split split(bool stream) {
    ast::Split split;
    split.stream = stream;
    const Token axis = cursor_.peek();
    if (axis.kind != TokenKind::name || is_reserved(axis.text)) cursor_.fail_expected("the name of an axis");
    cursor_.next();
    split.axis = {std::string(axis.text), axis.span};
    const Token size = cursor_.peek();
    if (size.kind != TokenKind::number) cursor_.fail_expected("the size of a piece");
    cursor_.next();
    const auto end = size.text.data() + size.text.size();
    const auto read = std::from_chars(size.text.data(), end, split.size);
    if (read.ec != std::errc() || read.ptr != end || split.size < 1)
      cursor_.fail(
          {.code = "E0104",
           .message = fmt::format("`{}` cannot be the size of a piece", size.text.substr(0, limits::name_bytes)),
           .span = size.span,
           .help = "write a whole number from 1 on"});
    split.size_span = size.span;
    split.span = cursor_.from(axis.span);
    return split;
  }

  Cursor cursor_;
  ExpressionParser expressions_;
  ast::File file_;
  std::optional<ast::Name> declared_;  // by the declaration at hand, as far as it was read
};

// What stands between commas, without the spaces around it.
std::vector<ast::Name> names_between(std::string_view text, std::uint32_t file, std::size_t begin, std::size_t end) {
  constexpr std::string_view blanks = " \t\r\n";
  std::vector<ast::Name> names;
  while (begin <= end) {
    const auto comma = std::min(text.substr(0, end).find(',', begin), end);
    const auto first = std::min(text.find_first_not_of(blanks, begin), comma);
    const auto last = text.substr(first, comma - first).find_last_not_of(blanks);
    const auto length = last == text.npos ? 0 : last + 1;
    names.push_back({std::string(text.substr(first, length)),
                     {file, static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(first + length)}});
    begin = comma + 1;
  }
  return names;
}

}  // namespace

ast::File parse(const Sources& sources, std::uint32_t file, Diagnostics& diagnostics) {
  return Parser(sources, file, diagnostics).file();
}

ast::Partition parse_partition(const Sources& sources, std::uint32_t file, Diagnostics& diagnostics) {
  return Parser(sources, file, diagnostics).partition_words();
}

std::vector<ast::KernelLabels> parse_plan(const Sources& sources, std::uint32_t file, Diagnostics& diagnostics) {
  const std::string_view text = sources.at(file).text;
  std::vector<ast::KernelLabels> kernels;
  for (std::size_t begin = 0; begin <= text.size();) {
    const auto end = std::min(text.find('|', begin), text.size());
    const auto colon = text.substr(0, end).find(':', begin);
    const bool named = colon != text.npos;
    ast::KernelLabels kernel;
    if (named) kernel.statements = names_between(text, file, begin, colon);
    kernel.labels = Parser(sources, file, diagnostics, named ? colon + 1 : begin, end).partition_words();
    kernel.span = {file, static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end)};
    kernels.push_back(std::move(kernel));
    begin = end + 1;
  }
  return kernels;
}

}  // namespace napkin
