// A page: printed lines before they are aligned, wrapped and joined.
#pragma once

#include <string>
#include <vector>

namespace napkin {

// Lines of one shape that follow each other are aligned: what stands after `head`. Comments at
// the end of neighbours are aligned whatever their shape, but not those of lines that stand alone, such as a brace.
enum class LineShape { comment, plain, alone, axis, statement, split };

struct PageLine {
  LineShape shape = LineShape::plain;
  std::string head, tail;
  std::string comment;
  bool blank_before = false;
};

std::string to_text(std::vector<PageLine> lines);

}  // namespace napkin
