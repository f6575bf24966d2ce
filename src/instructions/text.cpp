// Operands of PTX in C++.
#include "instructions/text.hpp"

#include <fmt/format.h>

namespace napkin::instruction_text {

std::string operands(int first, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += fmt::format("{}%{}", i == 0 ? "" : ", ", first + i);
  return "{" + text + "}";
}
std::string bound(std::string_view constraint, std::string_view name, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += fmt::format("{}\"{}\"({}[{}])", i == 0 ? "" : ", ", constraint, name, i);
  return text;
}

}  // namespace napkin::instruction_text
