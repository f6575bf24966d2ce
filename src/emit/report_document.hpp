// What a report says, before it is text, markdown or a page: headings, paragraphs, tables and pictures.
#pragma once

#include <map>
#include <string>
#include <variant>
#include <vector>

#include "napkin/chart.hpp"

namespace napkin::report {

struct Heading {
  int depth = 1;  // 1: the report, 2: a kernel, 3: a section
  std::string text;
  std::string aside;  // at the right margin
};

// Broken at spaces where it is too long for a line.
struct Paragraph {
  std::string text;
  bool general = false;  // the same of every diagram: no word in it is an array
};

// Printed as it stands.
struct Verbatim {
  std::string text;
};

struct Picture {
  Scene scene;
};
// Several that are compared, side by side where there is room.
struct Pictures {
  std::vector<Scene> scenes;
};
struct Film {
  std::vector<Scene> scenes;
  bool ends_with_picture = false;  // with the first of the document
};

// Lines of a program. Before `own` stands what every program of its kind begins with: no word there is an array.
struct Code {
  std::string name, text;
  std::size_t own = 0;
};

struct TableColumn {
  std::string title;
  bool right = false;  // numbers stand at the right
  bool wraps = false;  // may take several lines; the others never break
  bool axes = false;   // letters are axes, not arrays
};
struct Table {
  std::vector<TableColumn> columns;
  std::vector<std::vector<std::string>> rows;
  bool formulas = false;  // in which letters are axes and quantities, not arrays
};

using Block = std::variant<Heading, Paragraph, Verbatim, Picture, Pictures, Film, Chart, Code, Table>;
struct Document {
  std::vector<Block> blocks;
  std::map<std::string, std::string> arrays{};  // by the names that stand for them: "K_smem" for "K"
};

// What stands behind a chart.
Table numbers(const Chart&);

// At most 100 columns wide wherever the words allow it.
std::string to_text(const Document&, bool color);
std::string to_markdown(const Document&);
// A page: the first heading is its title, those below it its contents.
std::string to_html(const Document&);

}  // namespace napkin::report
