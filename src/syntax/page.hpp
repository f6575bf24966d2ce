// A page: printed lines before they are aligned, wrapped and joined.
#pragma once

#include <string>
#include <vector>

namespace napkin {

// Lines of one shape that follow each other are aligned: what stands after `head`. Comments at
// the end of neighbours are aligned whatever their shape, but not those of lines that stand alone, such as a brace.
enum class Shape { comment, plain, alone, axis, statement, split };

struct Line {
  Shape shape = Shape::plain;
  std::string head, tail;
  std::string comment;
  bool blank_before = false;
};

std::string to_text(std::vector<Line> lines);

}  // namespace napkin
