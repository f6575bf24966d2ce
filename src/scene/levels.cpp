// Reads the levels of arrays from the loop nest and the cost; nothing is decided here.
#include "scene/levels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "diagram/contains.hpp"
#include "diagram/match.hpp"
#include "loops/work.hpp"
#include "text/quantity.hpp"

namespace napkin::scene {
namespace {

// The levels at which columns store what they compute, by array.
void find_computed(const LoopNest& nest, const LoopBody& block, std::map<ArrayId, std::size_t>& levels) {
  for (const auto& step : block.steps)
    match(
        step.node, [](const Load&) {}, [](const Save&) {}, [](const MaskTest&) {},
        [&](const Compute& compute) { levels[nest.at(compute.to).array] = nest.at(compute.to).level; },
        [&](const For& loop) { find_computed(nest, loop.body, levels); });
}

// The outermost and the deepest level at which a buffer holds a piece of the array.
std::optional<std::pair<std::size_t, std::size_t>> held_at(const LoopNest& nest, ArrayId array) {
  std::optional<std::pair<std::size_t, std::size_t>> found;
  for (const auto& buffer : nest.buffers) {
    if (buffer.array != array) continue;
    if (!found) found.emplace(buffer.level, buffer.level);
    found->first = std::min(found->first, buffer.level);
    found->second = std::max(found->second, buffer.level);
  }
  return found;
}

// The wires over which columns on matrix units sum.
void find_contracted(const LoopNest& nest, const LoopBody& block, const Hardware& hardware,
                     std::set<std::vector<WireId>>& contracted) {
  for (const auto& step : block.steps)
    match(
        step.node, [](const Load&) {}, [](const Save&) {}, [](const MaskTest&) {},
        [&](const Compute& compute) {
          const auto work = work_of(nest.scratch, compute.column, hardware);
          if (!work.empty() && work.front().unit == Unit::tensor) contracted.insert(compute.column.over);
        },
        [&](const For& loop) { find_contracted(nest, loop.body, hardware, contracted); });
}

bool is_contraction(const Function& function, const std::set<std::vector<WireId>>& contracted) {
  auto over = function.acts;
  std::sort(over.begin(), over.end());
  return function.kind == MarkKind::cup && function.reads.size() == 2 && contracted.contains(over);
}

std::string quantity(std::int64_t number, bool in_values, std::string (*words)(double)) {
  return in_values ? counted(static_cast<double>(number)) : words(static_cast<double>(number));
}

std::string room(const Level& level, const LevelCost& cost) {
  if (!cost.capacity) return "";
  return " of " + (level.in_values ? counted(*cost.capacity) : held(*cost.capacity));
}

}  // namespace

std::string Levels::piece(const Diagram& diagram, WireId wire, std::size_t level) const {
  std::string text;
  for (const auto& split : partition.splits)
    if (split.wire == wire && split.level <= level)
      text = fmt::format("{}_{} {}", split.kind == SplitKind::group ? "g" : "s", short_name(diagram.at(wire).name),
                         split.size);
  const auto divisor = divisors.find(wire);
  if (level != shared_level || divisor == divisors.end()) return text;
  return fmt::format("{}{}÷{}", text, text.empty() ? "" : " ", divisor->second);
}

Levels levels(const Circuit& circuit, const Kernel& kernel, const Hardware& hardware) {
  const auto nest = lower(kernel, hardware);
  std::map<ArrayId, std::size_t> computed;
  find_computed(nest, nest.body, computed);
  std::size_t deepest = 0;
  for (const auto& [array, level] : computed) deepest = std::max(deepest, level);
  Levels all;
  all.partition = kernel.partition;
  all.fragment_level = hardware.levels.size();
  const auto inks = inked(hardware);
  all.shared_level =
      static_cast<std::size_t>(std::ranges::find(inks, Ink::innermost_shared, &InkedLevel::ink) - inks.begin());
  for (std::size_t i = 0; i < circuit.values.size(); ++i) {
    const auto& array = circuit.values[i].array;
    const auto held = array ? held_at(nest, *array) : std::nullopt;
    const bool loaded = contains(circuit.inputs, i), kept = array && computed.contains(*array);
    all.loaded.push_back(loaded);
    all.saved.push_back(contains(circuit.outputs, i));
    all.home.push_back(loaded && held ? held->first : kept ? computed.at(*array) : deepest);
    all.read.push_back(loaded && held ? held->second : all.home.back());
  }
  std::set<std::vector<WireId>> contracted;
  find_contracted(nest, nest.body, hardware, contracted);
  for (const auto& function : circuit.functions) all.fragments.push_back(is_contraction(function, contracted));
  return all;
}

std::map<WireId, std::int64_t> divisors(const Diagram& diagram, const Configuration& configuration) {
  std::map<WireId, std::int64_t> all;
  for (std::uint32_t i = 0; i < diagram.wires.size(); ++i)
    for (const auto& divisor : configuration.divisors)
      if (divisor.axis == diagram.wires[i].name && divisor.size > 1) all[{i}] = divisor.size;
  return all;
}

std::vector<InkedLevel> inked(const Hardware& hardware) {
  std::vector<InkedLevel> all;
  for (const auto& level : hardware.levels) all.push_back({level.name, level.shared ? Ink::registers : Ink::between});
  const auto last = std::find_if(all.rbegin(), all.rend(), [](const auto& l) { return l.ink == Ink::between; });
  if (last != all.rend()) last->ink = Ink::innermost_shared;
  all.front().ink = Ink::outermost;
  all.push_back({"tensor fragments", Ink::fragments});
  return all;
}

std::string Figures::moves_all(bool saved) const {
  std::vector<std::string> all;
  for (const auto& array : arrays) all.push_back(array.array);
  return moves(all, saved);
}

std::string Figures::moves(const std::vector<std::string>& some, bool saved) const {
  std::int64_t sum = 0;
  for (const auto& array : arrays)
    if (array.saved == saved && contains(some, array.array))
      sum += in_values ? array.transfer_values : array.transfer_bytes;
  return quantity(sum, in_values, moved);
}

std::vector<Figures> figures(const KernelCost& cost, const Hardware& hardware, Model model) {
  std::vector<Figures> all;
  for (const auto& at : cost.levels) {
    const auto& level = hardware.levels.at(at.level);
    const auto values = model == Model::ideal ? at.ideal_memory_values : at.memory_values;
    const auto bytes = model == Model::ideal ? at.ideal_memory_bytes : at.memory_bytes;
    const auto memory = quantity(level.in_values ? values : bytes, level.in_values, held);
    all.push_back({level.name, level.in_values, at.arrays, "M " + memory + room(level, at)});
  }
  return all;
}

}  // namespace napkin::scene
