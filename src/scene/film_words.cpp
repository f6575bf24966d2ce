// Sentences of the film; see film_words.hpp. They are made from the expressions of a step and the sizes of arrays.
#include "scene/film_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "diagram/operands.hpp"
#include "text/quantity.hpp"

namespace napkin::scene {
namespace {

using Texts = std::vector<std::string>;

void add_once(Texts& all, const std::string& name) {
  if (std::ranges::find(all, name) == all.end()) all.push_back(name);
}

// Arrays that are read under a reduction.
Texts inside(const Diagram& scratch, ExprId value) {
  Texts all;
  any_part(scratch, value, [&](ExprId part) {
    if (!std::holds_alternative<Reduce>(scratch.at(part).node)) return false;
    for (const auto id : arrays_read(scratch, part)) add_once(all, scratch.at(id).name);
    return false;
  });
  return all;
}
Texts read(const Diagram& scratch, ExprId value) {
  Texts all;
  for (const auto id : arrays_read(scratch, value)) add_once(all, scratch.at(id).name);
  return all;
}
Texts without(Texts all, const Texts& others) {
  std::erase_if(all, [&](const std::string& name) { return std::ranges::find(others, name) != others.end(); });
  return all;
}
std::string and_words(const Texts& all) {
  std::string text;
  for (std::size_t i = 0; i < all.size(); ++i)
    text += fmt::format("{}{}", i == 0 ? "" : i + 1 == all.size() ? " and " : ", ", all[i]);
  return text;
}

// Whether a step keeps its expression and joins it with the carried state.
bool joins(const Diagram& scratch, const Rewriting& step) {
  return step.after != step.before && any_part(scratch, step.after, [&](ExprId part) { return part == step.before; });
}
// The arrays that moved out of the reductions, and those that moved in.
Texts left(const Diagram& scratch, const Rewriting& step) {
  return without(inside(scratch, step.before), inside(scratch, step.after));
}
Texts entered(const Diagram& scratch, const Rewriting& step) {
  return without(inside(scratch, step.after), inside(scratch, step.before));
}

double values(const Diagram& diagram, ArrayId id) {
  double all = 1;
  for (const auto wire : diagram.at(id).wires) all *= static_cast<double>(diagram.size(wire).value_or(0));
  return all;
}
double values(const Diagram& diagram, const std::vector<ArrayId>& all) {
  double sum = 0;
  for (const auto id : all) sum += values(diagram, id);
  return sum;
}
double bytes(const Diagram& diagram, const std::vector<ArrayId>& all) {
  double sum = 0;
  for (const auto id : all) sum += values(diagram, id) * diagram.at(id).width();
  return sum;
}

// For example "16.8 M values"; empty if sizes are symbolic.
std::string amount(const Diagram& diagram, const std::vector<ArrayId>& all) {
  for (const auto id : all)
    if (values(diagram, id) == 0) return "";
  const double count = values(diagram, all);
  return counted(count) + (count == 1 ? " value" : " values");
}

// The number of passes over the wire if each reduction waits for those that it reads.
int passes(const Derivation& derivation, WireId wire) {
  std::map<ArrayId, int> depth;
  int most = 0;
  for (const auto& column : derivation.columns) {
    int here = 0;
    for (const auto id : arrays_read(derivation.scratch, column.value)) here = std::max(here, depth[id]);
    here += std::ranges::find(column.over, wire) != column.over.end();
    most = std::max(most, depth[column.output] = here);
  }
  return most;
}

std::string of_array(const Diagram& scratch, const Rewriting& step) { return scratch.at(step.array).name; }

std::string joined_words(const Diagram& scratch, const Rewriting& step) {
  const double count = values(scratch, step.array);
  const auto name = of_array(scratch, step);
  if (step.rule != Rule::cascade)
    return count > 1 ? fmt::format("so only {} values of {} are kept, for any number of tiles", counted(count), name)
                     : fmt::format("so only {} is kept, for any number of tiles", name);
  return count > 1 ? fmt::format("so {} products per tile replace reading every earlier tile again", counted(count))
                   : "so no earlier tile is read again";
}

}  // namespace

std::string title(const Diagram& scratch, const Rewriting& step) {
  const auto name = of_array(scratch, step);
  if (step.rule == Rule::composition) return name + " written out";
  if (step.rule == Rule::finish) return name + " after the last tile";
  if (joins(scratch, step)) return "a tile joins " + name;
  if (step.rule == Rule::prefix) return name + " is what the tiles before have left";
  if (step.rule == Rule::moments) return name + " about the running mean";
  if (const auto gone = left(scratch, step); !gone.empty())
    return fmt::format("{} {} the sum of {}", and_words(gone), gone.size() == 1 ? "leaves" : "leave", name);
  if (const auto now = entered(scratch, step); !now.empty())
    return fmt::format("{} relative to {}", name, and_words(now));
  return name + " rewritten";
}

std::string allowed(const Diagram& scratch, const Rewriting& step) {
  const auto why = [&] {
    switch (step.rule) {
      case Rule::weave:
        return "a value that depends on its own position only can be computed tile by tile";
      case Rule::reduction:
        return "a + b + c + d = (a + b) + (c + d), and the same holds for maxima";
      case Rule::composition:
        return "a name may be replaced by its definition";
      case Rule::finish:
        return "an operation on finished results can wait for them";
      case Rule::cascade:
        return joins(scratch, step)             ? "a sum of terms a * x, multiplied by b / a, is the sum of terms b * x"
               : entered(scratch, step).empty() ? "a * x + a * y = a * (x + y)"
                                                : "a * x + a * y = a * (x + y), and x = a * (x / a)";
      case Rule::invariant:
        return "a * x + a * y = a * (x + y)";
      case Rule::prefix:
        return "positions that are taken in order have taken all those before";
      case Rule::cast:
        return "a tile is rounded as the whole array would be";
      case Rule::moments:
        return "squares about one mean follow from squares about another";
    }
    return "";
  }();
  return fmt::format("allowed by rule {}: {}", code(step.rule), why);
}

std::string gained(const Diagram& scratch, const Rewriting& step, const std::set<std::string>& ends,
                   const std::string& axis) {
  if (step.rule == Rule::finish) {
    const double count = values(scratch, step.array);
    return count > 1 ? fmt::format("so it is done once for {} values, not for every tile", counted(count)) : "";
  }
  if (joins(scratch, step)) return joined_words(scratch, step);
  if (step.rule == Rule::composition) {
    auto needs = read(scratch, step.after);
    std::erase_if(needs, [&](const std::string& name) { return !ends.contains(name); });
    return needs.empty() ? ""
                         : fmt::format("so every term needs {}, known only after all of {}", and_words(needs), axis);
  }
  const auto gone = left(scratch, step);
  return gone.empty() || inside(scratch, step.after).empty()
             ? ""
             : fmt::format("so a term of the sum needs only its own tile of {}",
                           and_words(inside(scratch, step.after)));
}

std::vector<ArrayId> carried(const Streamable& stream) {
  std::vector<ArrayId> all;
  for (const auto& one : stream.state) all.push_back(one.array);
  return all;
}

std::string names(const Diagram& diagram, const std::vector<ArrayId>& all) {
  Texts made;
  for (const auto id : all) made.push_back(diagram.at(id).name);
  return fmt::format("{}", fmt::join(made, ", "));
}

std::string inside_words(const Diagram& diagram, const Derivation& derivation) {
  std::vector<ArrayId> all;
  for (const auto id : derivation.statements)
    if (const auto made = diagram.at(id).output;
        std::ranges::find(derivation.outputs, made) == derivation.outputs.end())
      all.push_back(made);
  if (all.empty()) return "all of them share one read of their inputs";
  const auto stay = fmt::format("{} {} inside", names(diagram, all), all.size() == 1 ? "stays" : "stay");
  const auto count = amount(diagram, all);
  return count.empty() ? stay
                       : fmt::format("{}: {} ({}) are never written to that memory or read again", stay, count,
                                     moved(bytes(diagram, all)));
}

std::string held_words(const Derivation& derivation, WireId wire) {
  const auto& scratch = derivation.scratch;
  std::optional<ArrayId> largest;
  for (const auto& column : derivation.columns) {
    const auto& wires = scratch.at(column.output).wires;
    if (std::ranges::find(wires, wire) == wires.end()) continue;
    if (!largest || values(scratch, column.output) > values(scratch, *largest)) largest = column.output;
  }
  if (!largest || values(scratch, *largest) == 0) return "";
  const double all = values(scratch, *largest), each = all / static_cast<double>(*scratch.size(wire));
  return fmt::format(": {1} values of {0} per position of {2}, not {3}", scratch.at(*largest).name, counted(each),
                     scratch.at(wire).name, counted(all));
}

std::string stream_words(const Derivation& derivation, const Streamable& stream, WireId wire) {
  if (stream.state.empty()) return "";
  const auto& axis = derivation.scratch.at(wire).name;
  const auto state = carried(stream);
  const auto count = amount(stream.scratch, state);
  const int before = passes(derivation, wire);
  return fmt::format("carried: {}{}{}", names(stream.scratch, state),
                     count.empty() ? "" : fmt::format(", {}, however long {} is", count, axis),
                     before > 1 ? fmt::format("; one pass over {} instead of {}", axis, before) : "");
}

std::vector<std::string> room_words(const Kernel& kernel, const Hardware& hardware, Model model) {
  Partition whole;
  for (const auto& split : kernel.partition.splits)
    if (split.kind == SplitKind::group) whole.splits.push_back(split);
  std::vector<std::string> lines;
  if (whole.splits.size() == kernel.partition.splits.size()) return lines;
  const auto cost = estimate(make_kernel(kernel.derivation, whole), hardware, model);
  for (const auto& level : cost.levels) {
    const auto& at = hardware.levels.at(level.level);
    const auto held_there = static_cast<double>(level.memory_bytes);
    if (!at.in_values && level.capacity && held_there > *level.capacity)
      lines.push_back(fmt::format("without the stream a group would hold {} in {}, which has a capacity of {}",
                                  held(held_there), at.name, held(*level.capacity)));
  }
  return lines;
}

}  // namespace napkin::scene
