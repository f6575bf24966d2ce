// Diagnostics as text for people:
//
//   error[E0204]: axis `e` is neither kept nor reduced
//    --> attention.nap:9:33
//     |
//   9 | O[q, d] = sum[x](P[q, x] * V[x, e])
//     |      -                          ^ read here
//     |      |
//     |      kept here: `d`, which the right side never uses
//     = help: write `O[q, e]`
//
// A line stands exactly as typed, with a window cut out of very long ones and control characters made visible.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "napkin/text.hpp"
#include "text/escape.hpp"
#include "text/utf8.hpp"

namespace napkin {

namespace {

constexpr std::size_t window = 160;  // code points shown of a long line
constexpr std::size_t lead_in = 60;  // of them before the first mark

struct Mark {
  std::size_t column = 0, width = 1;  // on the screen
  bool primary = false;
  std::string text;
};

// One source line as shown, and where each of its bytes stands on the screen.
struct ShownLine {
  std::string text;
  std::size_t first;                 // byte of the source line that is shown first
  std::vector<std::size_t> columns;  // by byte from there on, and one more for the end

  std::size_t column(std::size_t byte) const {
    return byte < first ? 0 : columns[std::min(byte - first, columns.size() - 1)];
  }
};

class Renderer {
 public:
  Renderer(const Sources& sources, bool color) : sources_(sources), color_(color) {}

  std::string run(const Diagnostic& diagnostic) {
    const Code* code = find_code(diagnostic.code);
    const bool warning = code != nullptr && code->severity == Severity::warning;
    out_ = paint(warning ? yellow : red, fmt::format("{}[{}]", warning ? "warning" : "error", diagnostic.code)) +
           paint(bold, ": " + on_one_line(diagnostic.message)) + "\n";
    mark_color_ = warning ? yellow : red;
    show_places(diagnostic);
    for (const auto& note : diagnostic.notes) out_ += footer("note", note);
    if (!diagnostic.help.empty()) out_ += footer("help", diagnostic.help);
    return out_;
  }

 private:
  static constexpr std::string_view red = "1;31", yellow = "1;33", blue = "1;34", bold = "1";

  std::string paint(std::string_view style, const std::string& text) const {
    return color_ ? fmt::format("\x1b[{}m{}\x1b[0m", style, text) : text;
  }

  std::string footer(std::string_view kind, const std::string& text) const {
    return fmt::format("{} {} {}\n", std::string(gutter_, ' '), paint(blue, "="),
                       paint(bold, fmt::format("{}:", kind)) + " " + on_one_line(text));
  }

  std::string margin(const std::string& number = "") const {
    return paint(blue, fmt::format("{:>{}} |", number, gutter_));
  }

  void show_places(const Diagnostic& diagnostic) {
    if (diagnostic.span.file >= sources_.size()) return;
    std::vector<Label> labels = {{diagnostic.span, diagnostic.label}};
    labels.insert(labels.end(), diagnostic.others.begin(), diagnostic.others.end());
    gutter_ = 1;
    for (const auto& label : labels)
      if (label.span.file < sources_.size()) gutter_ = std::max(gutter_, fmt::format("{}", line_of(label.span)).size());
    std::vector<std::uint32_t> files;
    for (const auto& label : labels)
      if (label.span.file < sources_.size() && std::find(files.begin(), files.end(), label.span.file) == files.end())
        files.push_back(label.span.file);
    for (const auto file : files) show_file(file, labels, file == files.front());
  }

  void show_file(std::uint32_t file, const std::vector<Label>& labels, bool primary) {
    std::map<std::uint32_t, std::vector<const Label*>> lines;
    const Label* first = nullptr;
    for (const auto& label : labels) {
      if (label.span.file != file) continue;
      if (first == nullptr) first = &label;
      lines[line_of(label.span)].push_back(&label);
    }
    const auto at = sources_.locate(file, first->span.begin);
    out_ += fmt::format("{}{} {}:{}:{}\n{}\n", std::string(gutter_, ' '), paint(blue, primary ? "-->" : ":::"),
                        on_one_line(sources_.at(file).name), at.line, at.column, margin());
    std::uint32_t last = 0;
    for (const auto& [line, marked] : lines) {
      if (last != 0 && line > last + 1) out_ += paint(blue, std::string(gutter_, '.')) + "\n";
      show_line(line, marked, &labels.front());
      last = line;
    }
  }

  std::uint32_t line_of(Span span) const { return sources_.locate(span.file, span.begin).line; }

  void show_line(std::uint32_t number, const std::vector<const Label*>& labels, const Label* primary) {
    const std::string_view text = sources_.at(labels.front()->span.file).text;
    const auto any = std::min<std::size_t>(labels.front()->span.begin, text.size());
    const auto newline = any == 0 ? std::string_view::npos : text.rfind('\n', any - 1);
    const std::size_t begin = newline == std::string_view::npos ? 0 : newline + 1;
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    std::size_t first = end;
    for (const auto* label : labels) first = std::min<std::size_t>(first, label->span.begin);
    const auto shown = show(text.substr(begin, end - begin), first - begin);
    out_ += fmt::format("{} {}\n", margin(fmt::format("{}", number)), shown.text);
    std::vector<Mark> marks;
    for (const auto* label : labels) {
      const auto from = shown.column(label->span.begin - begin);
      const auto to = shown.column(std::min<std::size_t>(label->span.end, end) - begin);
      marks.push_back({from, std::max<std::size_t>(1, to - from), label == primary, on_one_line(label->text)});
    }
    show_marks(std::move(marks));
  }

  // The part of a line around byte `first`, tabs as four spaces, what cannot be shown as U+FFFD.
  static ShownLine show(std::string_view line, std::size_t first) {
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    const bool cut = line.size() > window;
    auto at = cut && first > lead_in ? std::min(first, line.size()) - lead_in : 0;
    while (at > 0 && (static_cast<unsigned char>(line[at]) & 0xC0U) == 0x80U) --at;
    const auto end = cut ? std::min(line.size(), at + window) : line.size();
    ShownLine shown{at > 0 ? "..." : "", at, {}};
    std::size_t column = shown.text.size();
    while (at < end) {
      const auto point = decode_utf8(line.substr(at)).value_or(CodePoint{0xFFFD, 1});
      shown.columns.insert(shown.columns.end(), point.bytes, column);
      const auto text = visible(point, line.substr(at, point.bytes));
      shown.text += text;
      column += point.value == '\t' ? text.size() : static_cast<std::size_t>(columns(point.value));
      at += point.bytes;
    }
    shown.columns.push_back(column);
    if (end < line.size()) shown.text += "...";
    return shown;
  }

  static std::string visible(const CodePoint& point, std::string_view bytes) {
    return point.value == '\t' ? std::string(4, ' ') : on_one_line(bytes);
  }

  // The line of carets, the text of its last mark beside it, the other texts hung below from right to left.
  void show_marks(std::vector<Mark> marks) {
    std::stable_sort(marks.begin(), marks.end(), [](const Mark& a, const Mark& b) { return a.column < b.column; });
    std::string carets;
    for (const bool primary : {false, true})  // the primary mark wins where two overlap
      for (const auto& mark : marks)
        if (mark.primary == primary) draw(carets, mark.column, std::string(mark.width, primary ? '^' : '-'));
    const auto& last = marks.back();
    const bool beside = carets.size() == last.column + last.width;
    out_ += margin() + " " + paint_marks(carets, marks) + (beside && !last.text.empty() ? " " + last.text : "") + "\n";
    if (beside) marks.pop_back();
    std::erase_if(marks, [](const Mark& mark) { return mark.text.empty(); });
    if (marks.empty()) return;
    out_ += margin() + " " + hooks(marks) + "\n";
    while (!marks.empty()) {
      const auto mark = marks.back();
      marks.pop_back();
      auto line = marks.empty() ? std::string() : hooks(marks);
      if (line.size() > mark.column) line.resize(mark.column);
      line.resize(mark.column, ' ');
      out_ += margin() + " " + line + mark.text + "\n";
    }
  }

  static std::string hooks(const std::vector<Mark>& marks) {
    std::string line;
    for (const auto& mark : marks) draw(line, mark.column, "|");
    return line;
  }

  static void draw(std::string& line, std::size_t column, const std::string& text) {
    line.resize(std::max(line.size(), column + text.size()), ' ');
    line.replace(column, text.size(), text);
  }

  std::string paint_marks(const std::string& carets, const std::vector<Mark>& marks) const {
    const bool primary = std::any_of(marks.begin(), marks.end(), [](const Mark& mark) { return mark.primary; });
    return paint(primary ? mark_color_ : blue, carets);
  }

  const Sources& sources_;
  bool color_;
  std::string_view mark_color_ = red;
  std::size_t gutter_ = 1;
  std::string out_;
};

}  // namespace

std::string render_text(const Sources& sources, const Diagnostics& diagnostics, bool color) {
  std::string result;
  for (const auto& diagnostic : diagnostics.sorted()) {
    if (!result.empty()) result += "\n";
    result += Renderer(sources, color).run(diagnostic);
  }
  return result;
}

}  // namespace napkin
