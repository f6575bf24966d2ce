// The numbers behind a chart -> CSV. Numbers are written with as many digits as give them back.
#include <fmt/format.h>

#include "napkin/pictures.hpp"
#include "text/escape.hpp"

namespace napkin {
namespace {

std::string quoted(std::string text) {
  text = on_one_line(text);
  if (text.find_first_of(",\"") == std::string::npos) return text;
  std::string all = "\"";
  for (const char c : text) all += c == '"' ? std::string("\"\"") : std::string(1, c);
  return all + "\"";
}

std::string cell_text(const Cell& cell) {
  const auto* text = std::get_if<std::string>(&cell);
  return text ? quoted(*text) : fmt::format("{}", std::get<double>(cell));
}

template <class Cells>
std::string row_text(const Cells& cells) {
  std::string all;
  for (const auto& cell : cells) all += (&cell == &cells.front() ? "" : ",") + cell_text(cell);
  return all + "\n";
}

}  // namespace

std::string emit_csv(const Data& data) {
  auto text = row_text(std::vector<Cell>(data.columns.begin(), data.columns.end()));
  for (const auto& row : data.rows) text += row_text(row);
  return text;
}

}  // namespace napkin
