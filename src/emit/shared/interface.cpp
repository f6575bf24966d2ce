// The interface of a plan's files for callers, in any language.
#include "emit/shared/interface.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <tuple>

#include "diagram/assume.hpp"
#include "diagram/contains.hpp"
#include "diagram/operands.hpp"
#include "emit/shared/expression.hpp"
#include "loops/pieces.hpp"
#include "text/escape.hpp"

namespace napkin {
namespace {

// Arrays that one kernel writes for another and that are not results.
std::vector<ArrayId> arrays_between(const Diagram& diagram, const Plan& plan) {
  std::vector<ArrayId> between;
  for (const auto& kernel : plan.kernels)
    for (const auto id : kernel.program.outputs)
      if (!contains(diagram.outputs, diagram.at(id).part_of.value_or(id))) between.push_back(id);
  return between;
}

std::string labels(const Diagram& diagram, const Plan& plan, const Hardware& hardware) {
  const auto words = [&](const Kernel& kernel) {
    const auto text = to_text(kernel.partition, diagram, hardware);
    return text.empty() ? "one group" : text;
  };
  return fmt::format("{}, for {}", listed(plan.kernels, " | ", words), in_comment(hardware.name));
}

// "f16[q, d]".
std::string shape(const Diagram& diagram, ArrayId id) {
  const auto axes = listed(whole_shape(diagram, id), ", ", [&](AxisId axis) { return diagram.at(axis).name; });
  return fmt::format("{}[{}]", row(diagram.at(id).stored()).name, axes);
}

// The greatest or least value of an index, with every position at its end or at 0. Positions in parts end where the
// whole axis ends.
std::string extreme(const CodePlan& plan, const Index& index, bool greatest) {
  const auto& diagram = plan.diagram;
  return code_end(index, greatest, [&](WireId wire, bool last) {
    const auto axis = diagram.at(wire).axis;
    if (!last || std::ranges::count(plan.shorter, axis, &Parts::part) > 0) return std::string("0");
    const auto* parts = plan.ends_early(axis);
    return plan.names.size(parts ? parts->whole : axis) + " - 1";
  });
}

// A condition such as "n.x == 10" on which the text relies.
std::string assumed(const Diagram& diagram, const CodeNames& names, Language language, ExprId condition) {
  const Surroundings around{
      .language = language, .position = {}, .size = [&](AxisId axis) { return names.size(axis); }, .read = {}};
  return without_brackets(code_expression(diagram, condition, around).text);
}

// The axes along parts and inside of them, whose sizes follow from those that callers pass.
std::vector<AxisId> axes_of_parts(const CodePlan& plan) {
  std::vector<AxisId> all;
  for (const auto& parts : plan.divided) all.insert(all.end(), {parts.part, parts.inside});
  for (const auto& blocks : plan.ragged) all.insert(all.end(), {blocks.block, blocks.inside, blocks.last});
  return all;
}
bool is_of_parts(const CodePlan& plan, ExprId condition) {
  return std::ranges::any_of(axes_of_parts(plan),
                             [&](AxisId axis) { return reads_size(plan.diagram, condition, axis); });
}

std::int64_t planned_length(const CodePlan& plan, const Parts& parts) {
  return plan.diagram.at(parts.inside).size.value_or(1);
}
std::string divided_in_words(const CodePlan& plan, const Parts& parts) {
  const auto most = [&](AxisId axis, const std::string& words) {
    const auto limit = plan.limits.find(axis);
    return limit == plan.limits.end() ? "" : fmt::format(fmt::runtime(words), limit->second);
  };
  return fmt::format("{} is computed in {}parts of {}{}, or else in one{}", plan.names.axes[parts.whole.index],
                     most(parts.part, "up to {} "), planned_length(plan, parts),
                     plan.ends_early(parts.inside) ? ", of which the last may be shorter" : " that share it out",
                     most(parts.inside, ", then at most {}"));
}

// Adds the conditions that the parts reach the end of the axis, and that no part begins after it.
void add_shorter(const CodeNames& names, const Parts& parts, std::set<std::string>& found) {
  const auto whole = names.size(parts.whole), part = names.size(parts.part), inside = names.size(parts.inside);
  found.insert(fmt::format("{} <= {} * {}", whole, part, inside));
  found.insert(fmt::format("{} > ({} - 1) * {}", whole, part, inside));
  found.insert(fmt::format("{} <= {}", inside, whole));
}

// C++ conditions under which every read stays inside its array and the code is valid.
std::vector<std::string> conditions(const CodePlan& plan) {
  const auto& diagram = plan.diagram;
  const auto& names = plan.names;
  std::set<std::string> found;
  for (const auto condition : assumptions(diagram)) {
    const auto parts = parts_of(diagram, condition);
    if (parts && plan.ends_early(parts->inside))
      add_shorter(names, *parts, found);
    else
      found.insert(assumed(diagram, names, plan.language, condition));
  }
  for (const auto id : diagram.inputs)
    if (const auto share = row(diagram.at(id).stored()).share; share > 1)
      found.insert(fmt::format("{} % {} == 0", code_size(diagram, names, diagram.at(id).wires.back()), share));
  for (const auto& expr : diagram.exprs) {
    const auto* read = std::get_if<Access>(&expr.node);
    if (!read) continue;
    const auto& wires = diagram.at(read->array).wires;
    for (std::size_t i = 0; i < wires.size(); ++i) {
      const auto& index = read->at[i];
      if (const auto along = plain_wire(index); along && diagram.at(*along).axis == diagram.at(wires[i]).axis) continue;
      found.insert(fmt::format("{} < {}", extreme(plan, index, true), code_size(diagram, names, wires[i])));
      const auto falls = [](const auto& term) { return term.second < 0; };
      if (index.offset < 0 || std::ranges::any_of(index.terms, falls))
        found.insert(fmt::format("{} >= 0", extreme(plan, index, false)));
    }
  }
  return {found.begin(), found.end()};
}

std::string bytes(const CodePlan& plan, ArrayId id) {
  return fmt::format("({} * sizeof({}) + 255) / 256 * 256", value_count(plan, id), storage(plan, id));
}

}  // namespace

bool reads_size(const Diagram& diagram, ExprId id, AxisId axis) {
  return any_part(diagram, id, [&](ExprId part) {
    const auto* size = std::get_if<Size>(&diagram.at(part).node);
    return size && size->axis == axis;
  });
}

CodePlan code_plan(Language language, const Diagram& diagram, const Plan& plan, const Hardware& hardware) {
  return {language,
          diagram,
          code_names(diagram),
          arrays_between(diagram, plan),
          labels(diagram, plan, hardware),
          {},
          divided_axes(diagram),
          ragged_blocks(diagram)};
}

void add_limits(CodePlan& plan, const std::map<AxisId, std::int64_t>& limits) {
  for (const auto& [axis, limit] : limits) {
    auto& least = plan.limits.try_emplace(axis, limit).first->second;
    least = std::min(least, limit);
  }
}

const Parts* CodePlan::ends_early(AxisId inside) const {
  const auto found = std::ranges::find(shorter, inside, &Parts::inside);
  return found == shorter.end() ? nullptr : &*found;
}

std::vector<ArrayId> given_arrays(const CodePlan& plan) {
  auto all = plan.diagram.inputs;
  all.insert(all.end(), plan.diagram.outputs.begin(), plan.diagram.outputs.end());
  return all;
}
bool is_between(const CodePlan& plan, ArrayId id) { return contains(plan.between, id); }

std::vector<AxisId> given_axes(const CodePlan& plan) {
  std::vector<AxisId> all;
  for (std::uint32_t a = 0; a < plan.diagram.axes.size(); ++a)
    if (!contains(axes_of_parts(plan), AxisId{a})) all.push_back({a});
  return all;
}
std::vector<std::string> given_names(const CodePlan& plan, const std::string& prefix) {
  return texts_of(given_axes(plan), [&](AxisId axis) { return prefix + plan.names.axes[axis.index]; });
}
std::string size_parameters(const CodePlan& plan) { return joined(given_names(plan, "int "), ", "); }
std::string array_parameters(const CodePlan& plan) {
  const auto name = [&](ArrayId id) { return plan.names.arrays[id.index]; };
  return listed(plan.diagram.inputs, "", [&](ArrayId id) { return ", const void* " + name(id); }) +
         listed(plan.diagram.outputs, "", [&](ArrayId id) { return ", void* " + name(id); });
}
std::string workspace_head(const CodePlan& plan) {
  return fmt::format("size_t {}_workspace_size({})", plan.names.diagram, size_parameters(plan));
}

std::string value_count(const CodePlan& plan, ArrayId id) {
  std::string text = "(size_t)1";
  if (is_between(plan, id))
    for (const auto wire : plan.diagram.at(id).wires) text += " * " + code_size(plan.diagram, plan.names, wire);
  else
    for (const auto axis : whole_shape(plan.diagram, id)) text += " * " + plan.names.size(axis);
  return text;
}

std::string_view storage(const CodePlan& plan, ArrayId id) {
  return code_storage(plan.language, plan.diagram.at(id).stored());
}

std::string arguments(const CodePlan& plan, const std::vector<ArrayId>& inputs, const std::vector<ArrayId>& outputs) {
  return listed(inputs, "", [&](ArrayId id) { return ", " + argument(plan, id, true); }) +
         listed(outputs, "", [&](ArrayId id) { return ", " + argument(plan, id, false); });
}

std::string argument(const CodePlan& plan, ArrayId id, bool reads) {
  const auto& name = plan.names.arrays[plan.diagram.at(id).part_of.value_or(id).index];
  const auto type = fmt::format("{}{}*", reads ? "const " : "", storage(plan, id));
  return is_between(plan, id) ? (reads ? fmt::format("({}){}", type, name) : name)
                              : fmt::format("static_cast<{}>({})", type, name);
}

void open_header(const CodePlan& plan, const std::string& kernels, const std::string& arrays, Lines& out) {
  std::string guard = plan.names.diagram + "_H";
  std::ranges::transform(guard, guard.begin(), [](unsigned char c) { return std::toupper(c); });
  out.line("/* {}: {} for this plan:", plan.diagram.name, kernels);
  out.line(" *   {}", plan.labels);
  out.line(" *");
  out.line(" * {}", arrays);
  describe_packed(plan, out);
  out.line("#ifndef {}\n#define {}\n", guard, guard);
  out.line("#include <stddef.h>\n");
  out.line("#ifdef __cplusplus\nextern \"C\" {\n#endif\n");
}
void close_header(Lines& out) {
  out.line("#ifdef __cplusplus\n}\n#endif\n");
  out.line("#endif");
}

void describe_parameters(const CodePlan& plan, Lines& out) {
  const auto& diagram = plan.diagram;
  for (const auto axis : given_axes(plan)) {
    const auto limit = plan.limits.find(axis);
    out.line(" *   {:<10} size of axis {}{}", plan.names.axes[axis.index], diagram.at(axis).name,
             limit == plan.limits.end() ? "" : fmt::format(", at most {}", limit->second));
  }
  for (const auto condition : assumptions(diagram))
    if (!is_of_parts(plan, condition)) out.line(" *   where {}", to_text(diagram, condition));
  for (const auto& parts : plan.divided) out.line(" *   {}", divided_in_words(plan, parts));
  for (const auto& blocks : plan.ragged) {
    const auto length = *diagram.at(blocks.inside).size, full = *diagram.at(blocks.block).size * length;
    const auto limit = plan.limits.find(blocks.last);
    const auto most = limit == plan.limits.end() ? length : std::min(length, limit->second);
    out.line(" *   {} is from {} to {}, for its last block begins at {}", plan.names.axes[blocks.whole.index], full + 1,
             full + most, full);
  }
  for (const auto id : diagram.inputs)
    out.line(" *   {:<10} input {}", plan.names.arrays[id.index], shape(diagram, id));
  for (const auto id : diagram.outputs)
    out.line(" *   {:<10} output {}", plan.names.arrays[id.index], shape(diagram, id));
}

void describe_packed(const CodePlan& plan, Lines& out) {
  if (std::ranges::any_of(plan.diagram.inputs, [&](ArrayId id) { return plan.diagram.at(id).packed.has_value(); }))
    out.line(" * Numbers of 4 bits are two to a byte along the last axis, the first in the low half.");
  out.line(" */");
}

void compute_parts(const CodePlan& plan, Lines& out) {
  for (const auto& blocks : plan.ragged) {
    const auto planned = [&](AxisId axis) { return plan.diagram.at(axis).size.value_or(1); };
    out.line("{} = {}, {} = {};", plan.names.size(blocks.block), planned(blocks.block), plan.names.size(blocks.inside),
             planned(blocks.inside));
    out.line("{} = {} - {};", plan.names.size(blocks.last), plan.names.size(blocks.whole),
             planned(blocks.block) * planned(blocks.inside));
  }
  for (const auto& parts : plan.divided) {
    const auto& [whole, part, inside] =
        std::tuple(plan.names.size(parts.whole), plan.names.size(parts.part), plan.names.size(parts.inside));
    const auto length = planned_length(plan, parts);
    out.line("{0} = {1} <= {2} ? 1 : ({1} - 1) / {2} + 1;", part, whole, length);
    if (const auto most = plan.limits.find(parts.part); most != plan.limits.end())
      out.line("if ({0} > {1}) {0} = 1;", part, most->second);
    if (!plan.ends_early(parts.inside)) out.line("if ({} % {} != 0) {} = 1;", whole, length, part);
    out.line("{} = {} == 1 ? {} : {};", inside, part, whole, length);
  }
}

void declare_all_sizes(const CodePlan& plan, Lines& out) {
  const auto given = joined(given_names(plan), ", ");
  out.line("const {}_sizes n = {};", plan.names.diagram,
           !plan.has_parts() ? "{" + given + "}" : "all_sizes(" + given + ")");
}

namespace {

void define_all_sizes(const CodePlan& plan, Lines& out) {
  if (!plan.has_parts()) return;
  out.line("// The sizes of all axes: parts of those that are divided reach their end, and are as long as planned if");
  out.line("// there are several.");
  out.open("static {}_sizes all_sizes({})", plan.names.diagram, size_parameters(plan));
  out.line("{}_sizes n = {{}};", plan.names.diagram);
  for (const auto& axis : given_names(plan)) out.line("n.{0} = {0};", axis);
  compute_parts(plan, out);
  out.line("return n;");
  out.close();
  out.line();
}

void define_possible(const CodePlan& plan, Lines& out) {
  out.line("// Whether the kernels hold for these sizes. Sums of them may be longer than an int.");
  out.open("static bool possible(const {}_sizes& sizes)", plan.names.diagram);
  const auto all = conditions(plan);
  if (plan.names.axes.empty()) out.line("(void)sizes;");
  const auto given = texts_of(plan.names.axes, [](const std::string& axis) { return "sizes." + axis; });
  if (!given.empty()) {
    out.line("const auto fits = [](int size) { return size >= 1 && size <= 1 << 30; };");
    out.line("if (!(fits({}))) return false;", joined(given, ") && fits("));
  }
  for (const auto& [axis, limit] : plan.limits)
    out.line("if (sizes.{} > {}) return false;  // the longest that kernels hold for", plan.names.axes[axis.index],
             limit);
  if (!all.empty()) {
    out.open("const struct");
    out.line("long long {};", joined(plan.names.axes, ", "));
    out.close(fmt::format("}} n = {{{}}};", joined(given, ", ")));
  }
  for (const auto& condition : all) out.line("if (!({})) return false;", condition);
  out.line("return true;");
  out.close();
  out.line();
}

void define_workspace_size(const CodePlan& plan, Lines& out) {
  out.open("extern \"C\" {}", workspace_head(plan));
  if (!plan.between.empty()) declare_all_sizes(plan, out);
  for (const auto& axis : given_names(plan))
    if (plan.between.empty()) out.line("(void){};", axis);
  const auto parts = listed(plan.between, " + ", [&](ArrayId id) { return bytes(plan, id); });
  out.line("return {};", parts.empty() ? "0" : parts);
  out.close();
  out.line();
}

}  // namespace

void define_size_functions(const CodePlan& plan, Lines& out) {
  define_all_sizes(plan, out);
  define_possible(plan, out);
  define_workspace_size(plan, out);
}

void divide_workspace(const CodePlan& plan, Lines& out) {
  if (plan.between.empty()) out.line("(void)workspace;");
  for (std::size_t i = 0; i < plan.between.size(); ++i) {
    const auto id = plan.between[i];
    const auto type = storage(plan, id);
    if (i == 0) out.line("char* space = static_cast<char*>(workspace);");
    out.line("{}* const {} = reinterpret_cast<{}*>(space);", type, plan.names.arrays[id.index], type);
    if (i + 1 < plan.between.size()) out.line("space += {};", bytes(plan, id));
  }
}

EmittedText code_source(const CodePlan& plan, const EmittedText& kernels, const std::string& rest,
                        const std::function<std::string(const std::string& code)>& head) {
  Lines sizes;
  sizes.open("struct {}_sizes", plan.names.diagram);
  if (!plan.names.axes.empty()) sizes.line("int {};", joined(plan.names.axes, ", "));
  sizes.close("};");
  sizes.line();
  EmittedText whole{fmt::format("// {}: {}\n//\n// Printed by napkin from its loop nest; see {}.h for the interface.\n",
                                plan.diagram.name, plan.labels, plan.names.diagram)};
  append(whole, head(sizes.text() + kernels.text + rest) + sizes.text());
  append(whole, kernels.text, kernels.origins);
  append(whole, rest);
  return whole;
}

}  // namespace napkin
