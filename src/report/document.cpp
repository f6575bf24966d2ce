// Prints a document as text for a terminal, and as markdown.
//
// The columns of a table are as wide as their widest cell; the columns that wrap share the rest of the line.
#include "report/document.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <string_view>

#include "napkin/pictures.hpp"
#include "text/escape.hpp"

namespace napkin::report {
namespace {

constexpr std::size_t line_width = 100;
constexpr std::string_view gap = "  ";

// Counts characters, not bytes: continuation bytes of UTF-8 do not count.
std::size_t width(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

std::string bold(const std::string& text, bool color) {
  return color && !text.empty() ? "\033[1m" + text + "\033[0m" : text;
}

std::vector<std::string> split(std::string_view text, char at) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == at) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

// Breaks a text at spaces into lines of at most `limit` characters; a longer word gets a line of its own.
std::vector<std::string> wrap(const std::string& text, std::size_t limit) {
  std::vector<std::string> lines;
  for (const auto& paragraph : split(text, '\n')) {
    lines.emplace_back();
    for (const auto& word : split(paragraph, ' ')) {
      auto& line = lines.back();
      if (line.empty()) {
        line = word;
      } else if (width(line) + 1 + width(word) <= limit) {
        line += " " + word;
      } else {
        lines.push_back(word);
      }
    }
  }
  return lines;
}

std::string pad(const std::string& text, std::size_t to, bool right) {
  const std::string space(to > width(text) ? to - width(text) : 0, ' ');
  return right ? space + text : text + space;
}

std::string trimmed(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

std::size_t widest_line(const std::string& cell) {
  std::size_t widest = 0;
  for (const auto& line : split(cell, '\n')) widest = std::max(widest, width(line));
  return widest;
}

std::vector<std::size_t> natural_widths(const Table& table) {
  std::vector<std::size_t> widths;
  for (const auto& column : table.columns) widths.push_back(width(column.title));
  for (const auto& row : table.rows) {
    for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], widest_line(row[c]));
  }
  return widths;
}

// Narrows the widest column that wraps until the line is short enough.
std::vector<std::size_t> column_widths(const Table& table, std::size_t available) {
  constexpr std::size_t least = 16;
  auto widths = natural_widths(table);
  auto total = std::accumulate(widths.begin(), widths.end(), gap.size() * (widths.size() - 1));
  while (total > available) {
    std::size_t* widest = nullptr;
    for (std::size_t c = 0; c < widths.size(); ++c) {
      if (table.columns[c].wraps && widths[c] > least && (!widest || widths[c] > *widest)) widest = &widths[c];
    }
    if (!widest) break;
    --*widest;
    --total;
  }
  return widths;
}

std::string row_text(const Table& table, const std::vector<std::string>& row, const std::vector<std::size_t>& widths,
                     const std::string& indent) {
  std::vector<std::vector<std::string>> cells;
  std::size_t height = 1;
  for (std::size_t c = 0; c < row.size(); ++c) {
    cells.push_back(table.columns[c].wraps ? wrap(row[c], widths[c]) : split(row[c], '\n'));
    height = std::max(height, cells.back().size());
  }
  std::string text;
  for (std::size_t y = 0; y < height; ++y) {
    std::string line = indent;
    for (std::size_t c = 0; c < cells.size(); ++c) {
      if (c) line += gap;
      line += pad(y < cells[c].size() ? cells[c][y] : "", widths[c], table.columns[c].right);
    }
    text += trimmed(line) + "\n";
  }
  return text;
}

bool has_titles(const Table& table) {
  return std::any_of(table.columns.begin(), table.columns.end(), [](const TableColumn& c) { return !c.title.empty(); });
}

std::string table_text(const Table& table, const std::string& indent) {
  const auto widths = column_widths(table, line_width - indent.size());
  std::string text;
  if (has_titles(table)) {
    std::vector<std::string> titles;
    for (const auto& column : table.columns) titles.push_back(column.title);
    text += row_text(table, titles, widths, indent);
  }
  for (const auto& row : table.rows) text += row_text(table, row, widths, indent);
  return text;
}

// A picture as text without its title, which the report prints above it, and without repeated empty lines.
std::string drawn(const Picture& picture) {
  auto untitled = picture.scene;
  std::erase_if(untitled.marks, [](const Mark& mark) { return mark.kind == MarkKind::title; });
  std::string text;
  for (const char c : emit_text_drawing(untitled))
    if (c != '\n' || !text.ends_with("\n\n")) text += c;
  text.erase(text.find_last_not_of('\n') + 1);
  return text;
}

std::string in_one_line(const std::vector<std::vector<std::string>>& rows) {
  std::string text;
  for (const auto& row : rows) text += fmt::format("{}{}", text.empty() ? "" : "; ", fmt::join(row, " "));
  return text;
}

// Removes control characters that a terminal would interpret. Pictures do this for their own words.
struct Showing {
  void operator()(Heading& heading) const {
    heading.text = on_one_line(heading.text);
    heading.aside = on_one_line(heading.aside);
  }
  void operator()(Paragraph& paragraph) const { paragraph.text = printable(paragraph.text); }
  void operator()(Verbatim& verbatim) const { verbatim.text = printable(verbatim.text); }
  void operator()(Code& code) const { code.text = printable(code.text); }
  void operator()(Table& table) const {
    for (auto& row : table.rows)
      for (auto& cell : row) cell = printable(cell);
  }
  template <class Other>
  void operator()(Other&) const {}
};
Block shown(Block block) {
  std::visit(Showing{}, block);
  return block;
}

// Text printers print these blocks by reducing them to simpler ones.
template <class Printer>
struct InParts {
  void operator()(const Pictures& pictures) {
    for (const auto& scene : pictures.scenes) printer()(Picture{scene});
  }
  void operator()(const Film& film) { printer()(Pictures{film.scenes}); }
  void operator()(const Chart& chart) { printer()(numbers(chart)); }
  void operator()(const Plotted& plotted) {
    printer()(Heading{3, plotted.title, ""});
    printer()(Paragraph{plotted.shows});
    printer()(plotted.chart);
  }
  void operator()(const Summary& summary) {
    for (const auto& sentence : summary.sentences) printer()(Paragraph{sentence});
    for (const auto& section : summary.sections) printer()(Paragraph{section.title + ": " + in_one_line(section.rows)});
  }
  void operator()(const Statements& statements) {
    std::string lines;
    for (const auto& one : statements.all) lines += (lines.empty() ? "" : "\n") + one.text;
    printer()(Verbatim{lines});
  }
  void operator()(const Code& code) { printer()(Verbatim{code.text}); }

 private:
  Printer& printer() { return static_cast<Printer&>(*this); }
};

// Prints text, indented like the section that it belongs to.
struct TextPrinter : InParts<TextPrinter> {
  bool color;
  std::string text;
  std::string indent = "  ";

  void operator()(const Heading& heading) {
    if (!text.empty()) text += "\n";
    const std::string before(heading.depth == 3 ? 2 : 0, ' ');
    indent = heading.depth == 3 ? "    " : "  ";
    text += before + bold(heading.text, color);
    const auto used = before.size() + width(heading.text) + width(heading.aside);
    if (!heading.aside.empty()) text += std::string(std::max(line_width, used + 2) - used, ' ') + heading.aside;
    text += "\n";
  }
  void operator()(const Paragraph& paragraph) {
    for (const auto& line : wrap(paragraph.text, line_width - indent.size())) text += trimmed(indent + line) + "\n";
  }
  void operator()(const Verbatim& verbatim) {
    for (const auto& line : split(verbatim.text, '\n')) text += trimmed(indent + line) + "\n";
  }
  void operator()(const Picture& picture) {
    for (const auto& line : split(drawn(picture), '\n')) text += trimmed(indent + line) + "\n";
  }
  using InParts::operator();
  void operator()(const Table& table) { text += table_text(table, indent); }
};

std::string cell_markdown(const std::string& cell) {
  std::string text;
  for (const char c : cell) {
    if (c == '|' || c == '*' || c == '_' || c == '<') text += '\\';
    text += c == '\n' ? std::string("<br>") : std::string(1, c);
  }
  return text;
}

std::string row_markdown(const std::vector<std::string>& cells) {
  std::string text = "|";
  for (const auto& cell : cells) text += " " + cell_markdown(cell) + " |";
  return text + "\n";
}

struct MarkdownPrinter : InParts<MarkdownPrinter> {
  std::string text;

  void separate() {
    if (!text.empty()) text += "\n";
  }
  void operator()(const Heading& heading) {
    separate();
    text += std::string(static_cast<std::size_t>(heading.depth), '#') + " " + heading.text + "\n";
    if (!heading.aside.empty()) text += "\n" + heading.aside + "\n";
  }
  void operator()(const Paragraph& paragraph) {
    separate();
    text += paragraph.text + "\n";
  }
  void operator()(const Verbatim& verbatim) {
    separate();
    text += "```\n" + verbatim.text + "\n```\n";
  }
  void operator()(const Picture& picture) {
    separate();
    text += "```\n" + drawn(picture) + "\n```\n";
  }
  using InParts::operator();
  void operator()(const Table& table) {
    separate();
    std::vector<std::string> titles;
    std::string rule = "|";
    for (const auto& column : table.columns) {
      titles.push_back(column.title);
      rule += column.right ? " ---: |" : " --- |";
    }
    text += row_markdown(titles) + rule + "\n";
    for (const auto& row : table.rows) text += row_markdown(row);
  }
};

}  // namespace

Table numbers(const Chart& chart) {
  constexpr std::string_view of_axes[] = {"partition", "loops", "axis", "across", "up"};
  Table table;
  for (std::size_t i = 0; i < chart.data.columns.size(); ++i) {
    const bool words = !chart.data.rows.empty() && std::holds_alternative<std::string>(chart.data.rows.front()[i]);
    const auto& name = chart.data.columns[i];
    table.columns.push_back({name, !words, words, std::ranges::find(of_axes, name) != std::end(of_axes)});
  }
  for (const auto& row : chart.data.rows) {
    table.rows.emplace_back();
    for (const auto& cell : row) {
      const auto* words = std::get_if<std::string>(&cell);
      table.rows.back().push_back(words ? *words : fmt::format("{:.6g}", std::get<double>(cell)));
    }
  }
  return table;
}

std::string to_text(const Document& document, bool color) {
  TextPrinter printer{{}, color, {}};
  for (const auto& block : document.blocks) std::visit(printer, shown(block));
  return printer.text;
}

std::string to_markdown(const Document& document) {
  MarkdownPrinter printer;
  for (const auto& block : document.blocks) std::visit(printer, shown(block));
  return printer.text;
}

}  // namespace napkin::report
