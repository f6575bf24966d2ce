// The canonical text of a file. Declarations keep their order, what shared a line shares it still, one blank line is
// kept where there were some, and every comment: one at the end of a line stays there, one inside an expression moves
// above its declaration.
#include <fmt/format.h>

#include <algorithm>

#include "napkin/syntax.hpp"
#include "syntax/page.hpp"
#include "syntax/print_expression.hpp"

namespace napkin {

namespace {

std::string typed(const std::string& name, const ast::Name* type, const std::vector<ast::Name>& axes) {
  return name + (type != nullptr ? ": " + type->text : "") + print_names(axes, '[', ']');
}

PageLine to_line(const ast::Axis& axis) {
  return {LineShape::axis, "axis " + axis.name.text, axis.size ? " = " + print_expression(*axis.size) : "", "", false};
}
PageLine to_line(const ast::Input& input) {
  auto text = "input " + typed(input.name.text, &input.type, input.axes);
  if (input.density) text += " density " + print_expression(*input.density);
  return {LineShape::plain, std::move(text), "", "", false};
}
PageLine to_line(const ast::Output& output) { return {LineShape::plain, "output " + output.name.text, "", "", false}; }
PageLine to_line(const ast::Statement& statement) {
  const auto* type = statement.type ? &*statement.type : nullptr;
  return {LineShape::statement, typed(statement.name.text, type, statement.axes),
          " = " + print_expression(statement.value), "", false};
}
PageLine to_line(const ast::Def& def) {
  auto text = "def " + def.name.text + (def.axes.empty() ? "" : print_names(def.axes, '[', ']')) +
              print_names(def.parameters, '(', ')') + " = " + print_expression(def.value);
  return {LineShape::plain, std::move(text), "", "", false};
}
PageLine to_line(const ast::Partition& partition) {
  auto text = "partition " + partition.name.text + (partition.target ? " on " + partition.target->text : "") + " {";
  return {LineShape::alone, std::move(text), "", "", false};
}
PageLine to_line(const ast::Broken&) { return {}; }

class Printer {
 public:
  Printer(const std::string& source, const ast::File& file) : source_(source), file_(file) {
    for (std::size_t i = 0; i < source.size(); ++i)
      if (source[i] == '\n') newlines_.push_back(i);
  }

  std::string run() {
    if (!file_.diagram.text.empty()) diagram_line();
    for (const auto& declaration : file_.declarations) print(declaration);
    comments_before(source_.size());
    return to_text(std::move(lines_));
  }

 private:
  std::size_t line_of(std::size_t offset) const {
    return static_cast<std::size_t>(std::lower_bound(newlines_.begin(), newlines_.end(), offset) - newlines_.begin());
  }

  // Adds a line for what stands at `span`. `last_` is the source line that the page has come to.
  void add(PageLine line, std::size_t begin, std::size_t end) {
    line.blank_before = !lines_.empty() && line_of(begin) > last_ + 1;
    lines_.push_back(std::move(line));
    last_ = line_of(end);
  }

  void diagram_line() {
    const auto& name = file_.diagram;
    comments_before(name.span.begin);
    add({LineShape::alone, "diagram " + name.text, "", "", false}, name.span.begin, name.span.end);
  }

  // The comments up to there: at the end of the last line, or on lines of their own.
  void comments_before(std::size_t offset, const std::string& indent = "") {
    for (; comment_ < file_.comments.size() && file_.comments[comment_].span.begin < offset; ++comment_) {
      const auto& comment = file_.comments[comment_];
      const bool trails = !lines_.empty() && line_of(comment.span.begin) == last_ && lines_.back().comment.empty() &&
                          lines_.back().shape != LineShape::comment;
      if (trails)
        lines_.back().comment = comment.text;
      else
        add({LineShape::comment, indent + comment.text, "", "", false}, comment.span.begin, comment.span.begin);
    }
  }

  void print(const ast::Declaration& declaration) {
    const auto* partition = std::get_if<ast::Partition>(&declaration.node);
    const std::size_t begin = declaration.span.begin, end = declaration.span.end;
    comments_before(begin);
    const auto from = lines_.size();
    if (partition == nullptr) comments_inside(declaration.span);
    auto line = std::visit([](const auto& node) { return to_line(node); }, declaration.node);
    if (from == lines_.size() && joins_last(declaration, line)) {
      auto& before = lines_.back();
      before = {LineShape::plain, before.head + before.tail + "; " + line.head + line.tail, "", "",
                before.blank_before};
      last_ = line_of(end);
    } else if (from == lines_.size()) {
      add(std::move(line), begin, partition != nullptr ? header_end(*partition) : end);
    } else {
      lines_.push_back(std::move(line));
      last_ = line_of(end);
    }
    if (partition != nullptr) body(*partition, end);
    may_join_ = partition == nullptr;
  }

  // Comments inside an expression; they move above it.
  void comments_inside(Span span) {
    bool first = true;
    for (; comment_ < file_.comments.size() && file_.comments[comment_].span.begin < span.end; ++comment_) {
      PageLine line{LineShape::comment, file_.comments[comment_].text, "", "", false};
      line.blank_before = first && !lines_.empty() && line_of(span.begin) > last_ + 1;
      first = false;
      lines_.push_back(std::move(line));
    }
  }

  // Whether a declaration shared its line with the last one, and may go on doing so.
  bool joins_last(const ast::Declaration& declaration, const PageLine& line) const {
    constexpr std::size_t longest = 100;
    if (lines_.empty() || !may_join_ || std::holds_alternative<ast::Partition>(declaration.node)) return false;
    const auto& before = lines_.back();
    const auto length = before.head.size() + before.tail.size() + line.head.size() + line.tail.size() + 2;
    return before.shape != LineShape::comment && before.comment.empty() && line_of(declaration.span.begin) == last_ &&
           length <= longest;
  }

  std::size_t header_end(const ast::Partition& partition) const { return source_.find('{', partition.name.span.end); }

  // The splits of a partition: those that shared a line, a kind and a level share a line.
  void body(const ast::Partition& partition, std::size_t end) {
    const auto& splits = partition.splits;
    const bool streams = std::any_of(splits.begin(), splits.end(), [](const ast::Split& s) { return s.stream; });
    for (std::size_t i = 0; i < splits.size();) {
      const auto& first = splits[i];
      comments_before(first.span.begin, "  ");
      PageLine line{LineShape::split,
                    first.stream ? "  stream "
                    : streams    ? "  group  "
                                 : "  group ",
                    " at " + first.level.text, "", false};
      const auto begin = i;
      for (; i < splits.size() && together(first, splits[i]); ++i)
        line.head += fmt::format("{}{} {}", i == begin ? "" : ", ", splits[i].axis.text, splits[i].size);
      add(std::move(line), first.span.begin, splits[i - 1].level.span.end);
    }
    comments_before(end, "  ");
    add({LineShape::alone, "}", "", "", false}, end, end);
    lines_.back().blank_before = false;
  }
  bool together(const ast::Split& a, const ast::Split& b) const {
    return a.stream == b.stream && a.level.text == b.level.text && line_of(a.span.begin) == line_of(b.span.begin);
  }

  const std::string& source_;
  const ast::File& file_;
  std::vector<std::size_t> newlines_;
  std::vector<PageLine> lines_;
  std::size_t comment_ = 0, last_ = 0;
  bool may_join_ = false;
};

}  // namespace

std::string print(const Sources& sources, const ast::File& file) {
  const auto& source = sources.at(file.file).text;
  const auto broken = [](const auto& d) { return std::holds_alternative<ast::Broken>(d.node); };
  if (std::any_of(file.declarations.begin(), file.declarations.end(), broken)) return source;
  return Printer(source, file).run();
}

}  // namespace napkin
