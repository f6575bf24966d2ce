// Kernels of the parts of an axis, and the kernels that merge them, have axes and arrays that are not in the file. The
// page describes them by those of the file: "x 1024" for a part of x, "parts of O" for the results of the parts.
#include <fmt/format.h>

#include <algorithm>

#include "report/page/summary_page.hpp"

namespace napkin::page {
namespace {

const Array* find_array(const Diagram& diagram, const std::string& name) {
  const auto found = std::ranges::find(diagram.arrays, name, &Array::name);
  return found == diagram.arrays.end() ? nullptr : &*found;
}

// The name in the file: "O" for "O2". Empty if no statement has such a name.
std::string written_stem(const Diagram& written, std::string name) {
  while (!name.empty() && name.back() >= '0' && name.back() <= '9') name.pop_back();
  return find_array(written, name) ? name : "";
}

std::string array_words(const Diagram& written, const std::string& name, const AxisDivision& division) {
  if (find_array(written, name) || name.find(' ') != std::string::npos) return name;  // already renamed
  if (const auto stem = written_stem(written, name); !stem.empty()) return "parts of " + stem;
  return fmt::format("{} (state of {})", name, division.statements.back());
}

// The two axes that an axis is divided into, and the words for them.
struct Divided {
  std::string part, inside, axis;
  std::int64_t length = 1;  // of a part
};

Divided divided(const Diagram& diagram, const AxisDivision& division) {
  return {diagram.at(division.part).name, diagram.at(division.inside).name, division.axis,
          diagram.size(division.inside).value_or(1)};
}

// Turns "x_part 1" into "x 1024" and "x_in_part by 128" into "x by 128".
std::string item_words(const std::string& item, const Divided& of) {
  const auto space = item.find(' ');
  const auto name = item.substr(0, space);
  if (space == std::string::npos || (name != of.part && name != of.inside)) return item;
  if (name == of.inside) return of.axis + item.substr(space);
  const auto number = item.rfind(' ') + 1;
  const auto size = std::stoll(item.substr(number)) * of.length;
  return fmt::format("{}{}{}", of.axis, item.substr(space, number - space), size);
}

std::string list_words(const std::string& list, const Divided& of) {
  std::string all;
  for (std::size_t begin = 0; begin < list.size();) {
    const auto end = std::min(list.find(", ", begin), list.size());
    all += (all.empty() ? "" : ", ") + item_words(list.substr(begin, end - begin), of);
    begin = end + 2;
  }
  return all;
}

void name_pieces(KernelSummary& kernel, const Divided& of) {
  kernel.tile.groups = list_words(kernel.tile.groups, of);
  kernel.tile.streams = list_words(kernel.tile.streams, of);
  for (auto& piece : kernel.pieces) {
    if (piece.axis == of.part) piece.size *= of.length;
    if (piece.axis == of.part || piece.axis == of.inside) piece.axis = of.axis;
  }
}

// The products of the parts correspond to those of the statements, in order.
void name_products(KernelSummary& kernel, const std::vector<MatrixProduct>& written, const AxisDivision& division) {
  std::vector<const MatrixProduct*> of_these;
  for (const auto& product : written)
    if (std::ranges::find(division.statements, product.result) != division.statements.end())
      of_these.push_back(&product);
  if (of_these.size() != kernel.products.size()) return;
  for (std::size_t i = 0; i < of_these.size(); ++i) {
    const auto& one = *of_these[i];
    auto& made = kernel.products[i];
    if (made.second != one.second && made.first != one.first) continue;
    made.result = one.result, made.first = one.first, made.second = one.second;
  }
}

}  // namespace

void tell_as_written(KernelSummary& kernel, const Analysis& analysis, std::size_t k,
                     const std::vector<MatrixProduct>& written) {
  if (!analysis.plan) return;
  for (const auto& division : analysis.plan->divisions) {
    if (!division.has(k)) continue;
    name_pieces(kernel, divided(analysis.diagram, division));
    for (auto& crossing : kernel.traffic)
      for (auto& array : crossing.arrays) array.array = array_words(analysis.ordered, array.array, division);
    if (division.kernel == k) name_products(kernel, written, division);
  }
}

}  // namespace napkin::page
