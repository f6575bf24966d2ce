// Prints a document as an HTML page. Names of arrays are marked everywhere, so that the page's script can highlight an
// array in all places. In programs they are links to the drawing of the array.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "pictures/page.hpp"
#include "report/document.hpp"
#include "text/escape.hpp"

namespace napkin::report {
namespace {

bool in_word(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte >= 0x80 || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         c == '\'';
}
bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Splits a text into words and the separators between them.
std::vector<std::string> pieces(const std::string& text) {
  std::vector<std::string> all;
  for (const char c : text) {
    if (all.empty() || in_word(all.back().back()) != in_word(c)) all.emplace_back();
    all.back() += c;
  }
  return all;
}

constexpr std::string_view contents_place = "<!--contents-->";
constexpr const char* first_picture = "diagram-";  // prefix of its ids, which links refer to

class Html {
 public:
  explicit Html(const Document& document) : document_(document) {
    for (const auto& block : document.blocks) {
      if (const auto* picture = std::get_if<Picture>(&block)) add_drawn(picture->scene);
      if (const auto* pictures = std::get_if<Pictures>(&block))
        for (const auto& scene : pictures->scenes) add_drawn(scene);
    }
  }

  std::string run() {
    const auto summarizes = [](const Block& block) { return std::holds_alternative<Summary>(block); };
    const bool summarized = std::ranges::any_of(document_.blocks, summarizes);
    std::string title;
    for (const auto& block : document_.blocks) {
      if (const auto* heading = std::get_if<Heading>(&block); heading && heading->depth == 1 && title.empty())
        title = heading->text;
      std::visit(*this, block);
      const auto* heading = std::get_if<Heading>(&block);
      if (heading && heading->depth == 1 && !summarized) text_ += contents_place;
    }
    close_to(0);
    const auto at = text_.find(contents_place);
    if (at != std::string::npos) text_.replace(at, contents_place.size(), contents_of() + buttons());
    return html_page(title, text_);
  }

  void operator()(const Heading& heading) {
    close_to(heading.depth);
    const auto aside = heading.aside.empty() ? "" : fmt::format(" <span class=\"aside\">{}</span>", xml(heading.aside));
    std::string id;
    if (heading.depth == 2) {
      contents_.push_back(heading.text);
      id = fmt::format(" id=\"section-{}\"", contents_.size());
    }
    const auto line = fmt::format("<h{0}{1}>{2}{3}</h{0}>", heading.depth, id, marked(heading.text), aside);
    if (heading.fold != Heading::Fold::none) {
      open(2,
           fmt::format("<details class=\"kernel\"{}><summary>{}</summary>\n<div class=\"cards\">\n",
                       heading.fold == Heading::Fold::open ? " open" : "", line),
           "</div></details>\n");
      return;
    }
    if (heading.depth == 3 && !opened_.empty()) open(3, "<section>\n", "</section>\n");
    text_ += line + "\n";
  }
  void operator()(const Paragraph& paragraph) {
    if (charts_) close_to(3);
    text_ += fmt::format("<p>{}</p>\n", paragraph.general ? xml(paragraph.text) : marked(paragraph.text));
  }
  void operator()(const Verbatim& verbatim) {
    std::string lines;
    for (std::size_t begin = 0; begin < verbatim.text.size();) {
      const auto end = std::min(verbatim.text.find('\n', begin), verbatim.text.size());
      lines += (begin == 0 ? "" : "\n") + marked(verbatim.text.substr(begin, end - begin));
      begin = end + 1;
    }
    text_ += fmt::format("<pre class=\"scroll\" tabindex=\"0\">{}</pre>\n", lines);
  }
  void operator()(const Picture& picture) {
    text_ += html_figure(picture.scene, pictures_++ == 0 ? first_picture : fresh_id(), SvgDetail::grouped);
  }
  void operator()(const Pictures& pictures) {
    text_ += "<div class=\"beside\">\n";
    for (const auto& scene : pictures.scenes) text_ += html_figure(scene, fresh_id(), SvgDetail::grouped);
    text_ += "</div>\n";
  }
  void operator()(const Film& film) {
    text_ += html_film(film.scenes, fresh_id(), film.ends_with_picture ? first_picture : "");
  }
  void operator()(const Plotted& plotted) {
    constexpr double half = 720;  // of a page; a wider picture gets a row of its own
    if (!charts_) open(3, "<div class=\"charts\">\n", "</div>\n");
    charts_ = true;
    text_ +=
        fmt::format("<section{}>\n<h3>{}</h3>\n<p>{}</p>\n", plotted.chart.scene.width > half ? " class=\"wide\"" : "",
                    xml(plotted.title), xml(plotted.shows));
    (*this)(plotted.chart);
    text_ += "</section>\n";
  }
  void operator()(const Summary& summary) {
    text_ += "<dl class=\"facts\">\n";
    for (const auto& [what, words] : summary.facts)
      text_ += fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", xml(what), xml(words));
    text_ += fmt::format("</dl>\n{}<div class=\"summary\">\n", contents_place);
    for (const auto& sentence : summary.sentences) text_ += fmt::format("<p class=\"lead\">{}</p>\n", xml(sentence));
    text_ += "<div class=\"cards\">\n";
    for (const auto& section : summary.sections) card(section);
    text_ += "</div></div>\n";
  }
  void operator()(const Statements& statements) {
    open(3, "<div class=\"side\">\n", "</div></div>\n");
    text_ +=
        "<div class=\"statements\"><p>Point at a statement or at a line of a program to highlight both. A click "
        "keeps the highlight and opens the programs.</p>\n<ul>\n";
    for (const auto& one : statements.all)
      text_ += fmt::format(
          "<li><button type=\"button\" data-of=\"{}\" data-arrays=\"{}\" aria-pressed=\"false\">{}</button>\n",
          xml(one.name), xml(fmt::format("{}", fmt::join(one.arrays, " "))), xml(one.text));
    text_ += "</ul></div>\n<div class=\"programs\">\n";
  }
  void operator()(const Chart& chart) {
    auto scene = chart.scene;
    scene.description = "The table below has its numbers.";
    text_ += html_figure(scene, fresh_id(), SvgDetail::grouped) + "<details><summary>The numbers</summary>\n";
    print(numbers(chart), true);
    text_ += "</details>\n";
  }

  void operator()(const Code& code) {
    std::string lines;
    std::size_t count = 0, begin = 0;
    auto part = code.parts.begin();
    for (; begin < code.text.size(); ++count) {
      const auto end = std::min(code.text.find('\n', begin), code.text.size());
      const auto line = code.text.substr(begin, end - begin);
      if (part != code.parts.end() && part->begin == begin)
        lines += fmt::format("<span data-of=\"{}\">", xml(part->of));
      lines += (begin < code.own ? xml(line) : linked(line)) + "\n";
      begin = end + 1;
      if (part != code.parts.end() && part->end <= begin) lines += "</span>", ++part;
    }
    text_ += fmt::format(
        "<details{}><summary>{}</summary>\n<div class=\"code scroll\" tabindex=\"0\"><pre aria-hidden=\"true\" "
        "data-lines=\"{}\"></pre>"
        "<pre>{}</pre></div></details>\n",
        code.open ? " open" : "", xml(code.name), count, lines);
  }

  void operator()(const Table& table) { print(table, false); }

 private:
  // An open HTML element. A heading closes all open elements of its own depth or deeper.
  struct Opened {
    int depth;
    std::string end;
  };
  void open(int depth, const std::string& begin, std::string end) {
    text_ += begin;
    opened_.push_back({depth, std::move(end)});
  }
  void close_to(int depth) {
    charts_ = false;
    for (; !opened_.empty() && opened_.back().depth >= depth; opened_.pop_back()) text_ += opened_.back().end;
  }

  // A section such as "TIME" with its rows. A share of the time is also drawn as a bar.
  void card(const Summary::Section& section) {
    std::size_t columns = 1;
    for (const auto& row : section.rows) columns = std::max(columns, row.size());
    text_ += fmt::format("<section data-title=\"{0}\"><h2>{0}</h2>\n<table>\n", xml(section.title));
    for (const auto& row : section.rows) {
      text_ += "<tr>";
      for (std::size_t c = 0; c < row.size(); ++c) {
        const auto further = c + 1 == row.size() && row.size() < columns ? columns - row.size() + 1 : 1;
        const bool copied = row[c].starts_with("--partition \"");
        text_ += fmt::format("<td{}>{}{}{}", further > 1 ? fmt::format(" colspan=\"{}\"", further) : "",
                             copied ? "<code>" : "", xml(row[c]), copied ? "</code>" : "");
      }
      if (section.title == "TIME" && row.back().ends_with(" %"))
        text_ += fmt::format("<td class=\"share\"><i style=\"width:{}%\"></i>",
                             row.back().starts_with('<') ? "0.5" : row.back().substr(0, row.back().size() - 2));
      text_ += "\n";
    }
    text_ += "</table></section>\n";
  }

  // With `merged`, equal words in consecutive rows are printed once, from the left. Closing tags of cells and rows are
  // omitted, as HTML allows, because tables are a large part of a page.
  void print(const Table& table, bool merged) {
    text_ += fmt::format("<div class=\"scroll\" tabindex=\"0\"><table{}>\n",
                         merged ? " class=\"data\"" : right_of(table.columns));
    const bool titled = std::ranges::any_of(table.columns, [](const TableColumn& c) { return !c.title.empty(); });
    if (titled) {
      text_ += "<thead><tr>";
      for (const auto& column : table.columns) text_ += title_cell(column);
      text_ += "</tr></thead>\n";
    }
    text_ += "<tbody>\n";
    for (std::size_t r = 0; r < table.rows.size(); ++r) {
      const auto& row = table.rows[r];
      text_ += "<tr>";
      for (std::size_t c = merged && r > 0 ? in_common(table, r - 1) : 0; c < row.size(); ++c)
        text_ += fmt::format("<td{}{}>{}", looks(table.columns[c]), merged ? span_of(table, r, c) : "",
                             table.formulas || table.columns[c].axes ? xml(row[c]) : marked(row[c]));
      text_ += "\n";
    }
    text_ += "</tbody></table></div>\n";
  }
  // The number of leading text columns in which a row equals the next one.
  static std::size_t in_common(const Table& table, std::size_t row) {
    std::size_t c = 0;
    while (c + 1 < table.columns.size() && !table.columns[c].right && table.rows[row][c] == table.rows[row + 1][c]) ++c;
    return c;
  }
  static std::string span_of(const Table& table, std::size_t row, std::size_t column) {
    std::size_t rows = 1;
    while (row + rows < table.rows.size() && in_common(table, row + rows - 1) > column) ++rows;
    return rows > 1 ? fmt::format(" rowspan=\"{}\"", rows) : "";
  }
  void add_drawn(const Scene& scene) {
    for (const auto& mark : scene.marks)
      if (mark.kind == MarkKind::array_name) drawn_.emplace(mark.array, mark.id);
  }

  // The class of right-aligned columns; the page's style has `n1` for the first column, and so on.
  static std::string right_of(const std::vector<TableColumn>& columns) {
    std::string all;
    for (std::size_t c = 0; c < columns.size(); ++c)
      if (columns[c].right) all += fmt::format("{}n{}", all.empty() ? "" : " ", c + 1);
    return all.empty() ? "" : fmt::format(" class=\"{}\"", all);
  }
  static const char* looks(const TableColumn& column) { return column.wraps && !column.right ? " class=\"w\"" : ""; }
  static std::string title_cell(const TableColumn& column) {
    return column.title.empty() ? fmt::format("<td{}></td>", looks(column))
                                : fmt::format("<th{}>{}</th>", looks(column), xml(column.title));
  }

  std::string fresh_id() { return fmt::format("p{}-", ++ids_); }

  // The array that a word names. A letter after a number is a unit instead.
  const std::string* array_of(const std::vector<std::string>& words, std::size_t i) const {
    const auto found = document_.arrays.find(words[i]);
    if (found == document_.arrays.end()) return nullptr;
    const bool unit =
        i >= 2 && words[i - 1] == " " && is_digit(words[i - 2].back()) && std::ranges::all_of(words[i - 2], is_digit);
    return unit ? nullptr : &found->second;
  }

  // The array that a name in a program belongs to: "K_smem_tile" belongs to K_smem. A name with members belongs to
  // none.
  const std::string* array_in_program(const std::vector<std::string>& words, std::size_t i) const {
    if (i + 1 < words.size() && words[i + 1].starts_with('.')) return nullptr;
    if (const auto* array = array_of(words, i)) return array;
    auto name = words[i];
    for (auto at = name.rfind('_'); at != std::string::npos && at > 0 && at + 1 < name.size(); at = name.rfind('_')) {
      name.erase(at);
      if (const auto found = document_.arrays.find(name); found != document_.arrays.end()) return &found->second;
    }
    return nullptr;
  }

  std::string marked(const std::string& text) const {
    std::string all;
    const auto words = pieces(text);
    for (std::size_t i = 0; i < words.size(); ++i) {
      const auto* array = array_of(words, i);
      all += array ? named(*array, words[i]) : xml(words[i]);
    }
    return all;
  }

  // If the word is the array's own name, the page's script reads it from the text.
  static std::string named(const std::string& array, const std::string& word) {
    return array == word ? fmt::format("<var>{}</var>", xml(word))
                         : fmt::format("<span data-array=\"{}\">{}</span>", xml(array), xml(word));
  }

  // The first name in a line that is also drawn becomes a link; the page's script finds its array from the link's
  // target.
  std::string linked(const std::string& line) const {
    std::string all;
    bool done = false;
    const auto words = pieces(line);
    for (std::size_t i = 0; i < words.size(); ++i) {
      const auto* array = array_in_program(words, i);
      if (array && !done && drawn_.contains(*array)) {
        done = true;
        all += fmt::format("<a href=\"#{}{}\">{}</a>", first_picture, drawn_.at(*array), xml(words[i]));
      } else {
        all += array ? named(*array, words[i]) : xml(words[i]);
      }
    }
    return all;
  }

  std::string contents_of() const {
    std::string all = "<nav class=\"contents\" aria-label=\"Contents\"><ul>\n";
    for (std::size_t i = 0; i < contents_.size(); ++i)
      all += fmt::format("<li><a href=\"#section-{}\">{}</a></li>\n", i + 1, xml(contents_[i]));
    return all + "</ul></nav>\n";
  }

  bool is_written(const std::string& array) const {
    return document_.written.empty() || std::ranges::find(document_.written, array) != document_.written.end();
  }

  // Buttons that highlight an array of the file without a pointing device.
  std::string buttons() const {
    std::string all = "<div class=\"arrays\" role=\"group\" aria-label=\"Show an array everywhere\">Arrays:\n";
    for (const auto& [array, id] : drawn_)
      if (is_written(array))
        all +=
            fmt::format("<button type=\"button\" data-array=\"{0}\" aria-pressed=\"false\">{0}</button>\n", xml(array));
    return drawn_.empty() ? "" : all + "</div>\n";
  }

  const Document& document_;
  std::map<std::string, std::string> drawn_;  // arrays in pictures, with the id of their name there
  std::vector<std::string> contents_;
  std::size_t ids_ = 0, pictures_ = 0;
  std::vector<Opened> opened_;
  bool charts_ = false;  // whether the last opened element contains charts
  std::string text_;
};

}  // namespace

std::string to_html(const Document& document) { return Html(document).run(); }

}  // namespace napkin::report
