// What a report says, before it is text or markdown: headings, paragraphs and tables.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "napkin/scene.hpp"

namespace napkin::report {

struct Heading {
  int depth = 1;  // 1: the report, 2: a kernel, 3: a section
  std::string text;
  std::string aside;  // at the right margin
};

// Broken at spaces where it is too long for a line.
struct Paragraph {
  std::string text;
};

// Printed as it stands.
struct Verbatim {
  std::string text;
};

struct Picture {
  Scene scene;
};

struct TableColumn {
  std::string title;
  bool right = false;  // numbers stand at the right
  bool wraps = false;  // may take several lines; the others never break
};
struct Table {
  std::vector<TableColumn> columns;
  std::vector<std::vector<std::string>> rows;
};

using Block = std::variant<Heading, Paragraph, Verbatim, Picture, Table>;
struct Document {
  std::vector<Block> blocks;
};

// At most 100 columns wide wherever the words allow it.
std::string to_text(const Document&, bool color);
std::string to_markdown(const Document&);

}  // namespace napkin::report
