// Where a plan holds an array: the kernels, levels and amounts, read from the loop nests.
#include <fmt/format.h>

#include <algorithm>

#include "lsp/session.hpp"
#include "napkin/loops.hpp"
#include "text/quantity.hpp"

namespace napkin::lsp {
namespace {

// how long an editor waits for a search that may take seconds
constexpr std::chrono::milliseconds patience{200};

std::string outputs(const LoopNest& nest) {
  std::vector<std::string> names;
  for (const auto array : nest.outputs) names.push_back(fmt::format("`{}`", nest.scratch.at(array).name));
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string line(const std::string& level, const std::string& variable, const std::vector<std::int64_t>& extent,
                 Datatype type) {
  auto bytes = static_cast<double>(row(type).bytes) / row(type).share;
  for (const auto size : extent) bytes *= static_cast<double>(size);
  return fmt::format("| {} | {} | {} | {} |\n", level, variable, fmt::join(extent, " x "), held(bytes));
}

// The whole array at the level from which the kernel reads it, or to which it saves it.
std::string whole(const LoopNest& nest, const Hardware& hardware, const std::string& name) {
  for (const auto& list : {nest.inputs, nest.outputs})
    for (const auto id : list) {
      const auto& array = nest.scratch.at(id);
      if (array.name != name) continue;
      std::vector<std::int64_t> extent;
      for (const auto wire : array.wires) extent.push_back(nest.scratch.size(wire).value_or(0));
      return line(hardware.levels.front().name, "all of it", extent, array.stored());
    }
  return "";
}

std::string in_kernel(const LoopNest& nest, const Hardware& hardware, const std::string& name) {
  auto text = whole(nest, hardware, name);
  for (std::size_t level = 1; level < hardware.levels.size(); ++level)
    for (const auto& buffer : nest.buffers)
      if (buffer.level == level && nest.scratch.at(buffer.array).name == name)
        text += line(hardware.levels[level].name, fmt::format("`{}`", buffer.name), buffer.extent, buffer.type);
  if (text.empty()) return "";
  return fmt::format("on `{}`, in the kernel of {}\n\n| level | variable | shape | bytes |\n|---|---|---|---|\n{}\n",
                     hardware.name, outputs(nest), text);
}

}  // namespace

std::string on_plan(Planning& planning, const std::string& array) {
  const auto& hardware = planning.hardware();
  const auto* found = planning.wait(patience);
  if (!found) return fmt::format("the plan on `{}` is being searched: ask again in a moment", hardware.name);
  if (found->plan.kernels.size() < found->kernels.size()) return fmt::format("nothing fits on `{}`", hardware.name);
  std::string text;
  for (const auto& kernel : found->plan.kernels) text += in_kernel(lower(kernel, hardware), hardware, array);
  return text;
}

}  // namespace napkin::lsp
