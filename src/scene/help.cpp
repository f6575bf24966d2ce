// Explains a drawing to a newcomer: one line for each kind of sign that it contains.
#include <fmt/format.h>

#include <algorithm>

#include "scene/page.hpp"

namespace napkin::scene {
namespace {

struct Sign {
  MarkKind kind;
  const char* words;
};
constexpr Sign signs[] = {
    {MarkKind::cup, "two lines that a cup joins are multiplied and summed, as in a product of matrices"},
    {MarkKind::pointwise, "a box is a function of single values; \u00b7 stands for an input without a name"},
    {MarkKind::normalisation,
     "a triangle that widens is a normalisation: every value depends on the whole line, and the line goes on"},
    {MarkKind::reduction,
     "a triangle that narrows is a reduction: the whole line becomes one value, and the line ends"},
    {MarkKind::mask, "a hexagon is a mask: values pass where the condition holds"},
    {MarkKind::reindexing, "a slanted box reads other positions, which its words give"},
};

bool woven(const Circuit& circuit, const Function& function) {
  return std::ranges::any_of(function.reads, [&](std::size_t value) {
    return std::ranges::any_of(circuit.values[value].wires, [&](WireId wire) {
      return std::ranges::find(function.acts, wire) == function.acts.end();
    });
  });
}

const Split* first(const Plan& plan, SplitKind kind) {
  for (const auto& kernel : plan.kernels)
    for (const auto& split : kernel.partition.splits)
      if (split.kind == kind) return &split;
  return nullptr;
}

}  // namespace

std::vector<std::string> reading_help(const Circuit& circuit) {
  std::vector<std::string> lines = {"a line is an axis of the array named above it, with its size where it begins"};
  for (const auto& sign : signs)
    if (std::ranges::find(circuit.functions, sign.kind, &Function::kind) != circuit.functions.end())
      lines.emplace_back(sign.words);
  if (std::ranges::any_of(circuit.functions, [&](const Function& one) { return woven(circuit, one); }))
    lines.emplace_back("a bar over a name means that the next function is repeated at every position of that line");
  const auto single = [](const Value& value) { return value.wires.empty() && !value.name.empty(); };
  if (std::ranges::any_of(circuit.values, single)) lines.emplace_back("a line called 1 is an array of a single value");
  return lines;
}

std::vector<std::string> reading_help(const Diagram& diagram, const Plan& plan, std::optional<std::int64_t> divisor) {
  std::vector<std::string> lines;
  const auto add = [&](SplitKind kind, char letter, const char* what, const char* how) {
    const auto* split = first(plan, kind);
    if (split == nullptr) return;
    const auto name = short_name(diagram.at(split->wire).name);
    lines.push_back(fmt::format("{0}_{1} {2}: {3} of {2} position{4} of {1}, {5}", letter, name, split->size, what,
                                split->size == 1 ? "" : "s", how));
  };
  add(SplitKind::group, 'g', "groups", "in parallel");
  add(SplitKind::stream, 's', "tiles", "one after another");
  if (divisor)
    lines.push_back(fmt::format("÷{0} means that instructions or memory lines take {0} positions at a time", *divisor));
  lines.emplace_back("H is what the whole launch moves into or out of the level");
  lines.emplace_back("M is what the level holds at most for one group");
  return lines;
}

}  // namespace napkin::scene
