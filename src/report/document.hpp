// What a report says, before it is text, markdown or a page: headings, paragraphs, tables and pictures.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "napkin/chart.hpp"

namespace napkin::report {

struct Heading {
  int depth = 1;  // 1: the report, 2: a kernel, 3: a section
  std::string text;
  std::string aside;                                                        // at the right margin
  enum class Fold : std::uint8_t { none, closed, open } fold = Fold::none;  // what stands below it, on a page
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

// What a report says first: facts, sentences, and sections of rows, whose cells stand in columns.
struct Summary {
  std::vector<std::pair<std::string, std::string>> facts;
  std::vector<std::string> sentences;
  struct Section {
    std::string title;
    std::vector<std::vector<std::string>> rows;
  };
  std::vector<Section> sections;
};

// What the file declares, line by line, and which arrays are a part of it. The programs that follow are made of them.
struct Statements {
  struct One {
    std::string name, text;
    std::vector<std::string> arrays;
  };
  std::vector<One> all;
};

// Lines of a program. Before `own` stands what every program of its kind begins with: no word there is an array.
struct Code {
  std::string name, text;
  std::size_t own = 0;
  bool open = false;
  struct Part {
    std::size_t begin = 0, end = 0;
    std::string of;  // the statement or the input that these lines come from
  };
  std::vector<Part> parts{};
};

// A chart with its title and how to read it.
struct Plotted {
  std::string title, shows;
  Chart chart;
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

using Block = std::variant<Heading, Paragraph, Verbatim, Picture, Pictures, Film, Chart, Plotted, Summary, Statements,
                           Code, Table>;
struct Document {
  std::vector<Block> blocks;
  std::map<std::string, std::string> arrays{};  // by the names that stand for them: "K_smem" for "K"
  std::vector<std::string> written{};           // of them, those of the file; empty where that is not known
};

// What stands behind a chart.
Table numbers(const Chart&);

// At most 100 columns wide wherever the words allow it.
std::string to_text(const Document&, bool color);
std::string to_markdown(const Document&);
// A page: the first heading is its title, those below it its contents.
std::string to_html(const Document&);

}  // namespace napkin::report
