// The contents of a report before it is printed as text, markdown or a page: headings, paragraphs, tables and pictures.
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
  std::string aside;                                                        // text at the right margin
  enum class Fold : std::uint8_t { none, closed, open } fold = Fold::none;  // of the text below, on a page
};

// A paragraph, broken at spaces if it is too long for a line.
struct Paragraph {
  std::string text;
  bool general = false;  // the same for every diagram: no word in it is an array
};

// Text that is printed unchanged.
struct Verbatim {
  std::string text;
};

struct Picture {
  Scene scene;
};
// Several pictures to compare, side by side if there is room.
struct Pictures {
  std::vector<Scene> scenes;
};
struct Film {
  std::vector<Scene> scenes;
  bool ends_with_picture = false;  // whether the document's first picture is its last scene
};

// The beginning of a report: facts, sentences, and sections of rows, whose cells are aligned in columns.
struct Summary {
  std::vector<std::pair<std::string, std::string>> facts;
  std::vector<std::string> sentences;
  struct Section {
    std::string title;
    std::vector<std::vector<std::string>> rows;
  };
  std::vector<Section> sections;
};

// The declarations of the file, line by line, and the arrays that are a part of each. The programs that follow consist
// of them.
struct Statements {
  struct One {
    std::string name, text;
    std::vector<std::string> arrays;
  };
  std::vector<One> all;
};

// Lines of a program. The text before `own` is the beginning that all programs of this kind share: no word there is an
// array.
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

// A chart with its title and an explanation of how to read it.
struct Plotted {
  std::string title, shows;
  Chart chart;
};

struct TableColumn {
  std::string title;
  bool right = false;  // aligned right, for numbers
  bool wraps = false;  // may be broken into several lines; other columns never are
  bool axes = false;   // letters are axes, not arrays
};
struct Table {
  std::vector<TableColumn> columns;
  std::vector<std::vector<std::string>> rows;
  bool formulas = false;  // whether letters are axes and quantities, not arrays
};

using Block = std::variant<Heading, Paragraph, Verbatim, Picture, Pictures, Film, Chart, Plotted, Summary, Statements,
                           Code, Table>;
struct Document {
  std::vector<Block> blocks;
  std::map<std::string, std::string> arrays{};  // by names used for them: "K_smem" for "K"
  std::vector<std::string> written{};           // arrays of the file; empty if unknown
};

// The numbers of a chart.
Table numbers(const Chart&);

// At most 100 columns wide if the words allow it.
std::string to_text(const Document&, bool color);
std::string to_markdown(const Document&);
// An HTML page: the first heading is its title, and the headings below it are its table of contents.
std::string to_html(const Document&);

}  // namespace napkin::report
