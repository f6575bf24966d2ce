// The identifiers that the files of one plan share.
#include "emit/shared/names.hpp"

#include <fmt/format.h>

#include "diagram/in_memory.hpp"
#include "emit/shared/expression.hpp"
#include "emit/shared/text.hpp"

namespace napkin {
namespace {

// "128 * t_chunk + t_in_chunk"
std::string along(const MemoryDimension& dimension, const std::vector<std::string>& at) {
  std::string text;
  for (const auto& [place, factor] : dimension.terms) {
    const bool simple = at[place].find(' ') == std::string::npos;
    const auto term =
        factor == 1 ? at[place] : fmt::format("{} * {}", factor, simple ? at[place] : "(" + at[place] + ")");
    text += text.empty() ? term : " + " + term;
  }
  return dimension.offset == 0 ? text : fmt::format("{} + {}", dimension.offset, text);
}

}  // namespace

CodeNames code_names(const Diagram& diagram) {
  Identifiers pool;
  CodeNames names;
  names.diagram = pool.fresh(diagram.name);
  for (const auto& axis : diagram.axes) names.axes.push_back(pool.fresh(axis.name));
  for (const auto& array : diagram.arrays) names.arrays.push_back(pool.fresh(array.name));
  return names;
}

std::string code_size(const Diagram& diagram, const CodeNames& names, WireId wire) {
  return names.size(diagram.at(wire).axis);
}

std::string code_place(const Diagram& diagram, const CodeNames& names, ArrayId array,
                       const std::vector<std::string>& at) {
  std::vector<std::string> places, sizes;
  for (const auto& dimension : in_memory(diagram, array)) {
    sizes.push_back(names.size(dimension.axis));
    places.push_back(along(dimension, at));
  }
  return code_offset(places, sizes);
}

std::vector<std::string> code_step(const Diagram& diagram, const CodeNames& names, ArrayId array,
                                   std::size_t dimension) {
  std::vector<std::string> all;
  bool behind = false;
  for (const auto& each : in_memory(diagram, array)) {
    if (behind) all.push_back(names.size(each.axis));
    for (const auto& [at, factor] : each.terms) {
      if (at != dimension) continue;
      behind = true;
      if (factor > 1) all.push_back(fmt::format("{}", factor));
    }
  }
  return all;
}

}  // namespace napkin
