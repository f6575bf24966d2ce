// Texts that the programs which check a plan's kernels share, in any language.
#include "emit/shared/check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "diagram/assume.hpp"
#include "diagram/contains.hpp"
#include "diagram/operands.hpp"
#include "loops/pieces.hpp"

namespace napkin {

const std::string_view random_text = R"(
// The same numbers for everybody: splitmix64.
static double random_unit() {
  static unsigned long long state = 1;
  unsigned long long z = (state += 0x9E3779B97F4A7C15ULL);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
  return (double)((z ^ (z >> 31)) >> 11) / 9007199254740992.0;
}
)";

const std::string_view error_text = R"(
// Relative error by norm. No number where none is expected counts as right, elsewhere as wrong.
static double relative_error(const Array& got, const Array& expected) {
  double difference = 0, norm = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    if (got[i] == expected[i] || (std::isnan(got[i]) && std::isnan(expected[i]))) continue;
    difference += (got[i] - expected[i]) * (got[i] - expected[i]);
    if (!std::isfinite(difference)) return INFINITY;
  }
  for (const double value : expected)
    if (std::isfinite(value)) norm += value * value;
  return std::sqrt(difference / (norm > 0 ? norm : 1));
}

)";

const std::string_view options_text = R"(
static bool option(const char* text) {
@OPTIONS@  return false;
}

int main(int count, char** words) {
  bool times = false, given = false;
@FURTHER@  n = {@CHECKED@};
  for (int i = 1; i < count; ++i)
    if (std::strcmp(words[i], "--time") == 0)
      times = true;
@READ_FURTHER@    else if (option(words[i]))
      given = true;
    else
      return std::fprintf(stderr, "usage: %s @USAGE@, axes: @GIVEN@\n", words[0]), 2;
)";

namespace {

constexpr double most_checked = 1e9;  // operations of the plain evaluation, unless the user gives sizes

// Counts the operations of the plain evaluation: those of an expression and of its reductions, at every position.
struct Work {
  const Diagram& diagram;
  std::vector<std::pair<std::set<WireId>, double>> terms{};  // operations at each position of the wires

  void add(std::vector<WireId> wires, double operations) {
    if (operations > 0) terms.emplace_back(std::set<WireId>(wires.begin(), wires.end()), operations);
  }
  // Operations at one position of `id`; reductions below it become terms of their own.
  double visit(ExprId id) {
    const auto& node = diagram.at(id).node;
    if (const auto* reduce = std::get_if<Reduce>(&node)) {
      auto wires = free_wires(diagram, id);
      wires.insert(wires.end(), reduce->over.begin(), reduce->over.end());
      if (seen.insert(id).second) add(wires, visit(reduce->body) + 1);
      return 0;
    }
    const auto* apply = std::get_if<Apply>(&node);
    double all = apply ? apply->function->operations : 0;
    each_operand(diagram, id, [&](ExprId operand) { all += visit(operand); });
    return all;
  }
  std::set<ExprId> seen{};
};
Work work_of(const Diagram& diagram) {
  Work work{diagram};
  for (const auto& statement : diagram.statements)
    work.add(diagram.at(statement.output).wires, work.visit(statement.value));
  return work;
}

// Sizes small enough for the plain evaluation: the longest axes are halved, except those that occur together in one
// index.
std::vector<std::int64_t> checked_sizes(const Diagram& diagram) {
  std::vector<std::int64_t> sizes;
  for (const auto& axis : diagram.axes) sizes.push_back(axis.size.value_or(1));
  auto tied = tied_axes(diagram);
  for (const auto& blocks : ragged_blocks(diagram))
    for (const auto axis : blocks.axes()) tied.insert(axis);
  for (const auto condition : assumptions(diagram))
    for (std::uint32_t a = 0; a < sizes.size(); ++a)
      if (reads_size(diagram, condition, AxisId{a})) tied.insert({a});
  const auto work = work_of(diagram);
  const auto operations = [&] {
    double all = 0;
    for (const auto& [wires, each] : work.terms) {
      double product = each;
      for (const auto wire : wires) product *= static_cast<double>(sizes[diagram.at(wire).axis.index]);
      all += product;
    }
    return all;
  };
  while (operations() > most_checked) {
    std::uint32_t longest = 0;
    std::int64_t length = 1;
    for (std::uint32_t a = 0; a < sizes.size(); ++a)
      if (!tied.contains({a}) && sizes[a] > length) longest = a, length = sizes[a];
    if (length == 1) break;
    sizes[longest] = (length + 1) / 2;
  }
  return sizes;
}

std::string sizes(const CodePlan& plan, const auto& wires) {
  return listed(wires, "", [&](WireId wire) { return " * " + code_size(plan.diagram, plan.names, wire); });
}

// Statements that draw a value in double and give it its `host` and its `stored` form.
std::string draw(const CodePlan& plan, ArrayId id) {
  const auto& array = plan.diagram.at(id);
  const auto& type = code_type(plan.language, array.type);
  if (array.packed)  // any code of 4 bits
    return fmt::format("stored = unsigned(16 * random_unit()); host = {};",
                       filled(type.read, fmt::format("napkin_number<{}>(stored)", storage(plan, id))));
  if (array.type == Datatype::f8e8m0)  // from 1 / 8 to 8
    return fmt::format("stored.power = (unsigned char)(124 + 7 * random_unit()); host = {};",
                       filled(type.read, "stored"));
  std::string drawn = "2 * random_unit() - 1";
  if (array.type == Datatype::boolean) drawn = fmt::format("random_unit() < {}", array.density.value_or(0.5));
  if (array.type == Datatype::i8 || array.type == Datatype::i32) drawn = "std::floor(9 * random_unit()) - 4";
  const auto own = array.type == Datatype::boolean ? "bool" : type.own;
  return fmt::format("const {} drawn = {}({}); stored = {}; host = {};", own, own, drawn, filled(type.write, "drawn"),
                     filled(type.read, "stored"));
}

// Relative rounding error, by norm, of results with intermediate values rounded to a format. Others add nothing.
constexpr std::pair<Datatype, double> lost[] = {
    {Datatype::f16, 4e-3},    {Datatype::tf32, 4e-3},  {Datatype::bf16, 3e-2},
    {Datatype::f8e4m3, 0.2},  {Datatype::f8e5m2, 0.4}, {Datatype::f8e8m0, 1e-2},
    {Datatype::f4e2m1, 1e-2}, {Datatype::i4, 1e-2},    {Datatype::i8, 1e-2}};
double lost_by(Datatype type) {
  const auto* found = std::ranges::find(lost, type, &std::pair<Datatype, double>::first);
  return found == std::end(lost) ? 0 : found->second;
}

}  // namespace

// Inputs are exact. Only sums of products of 8-bit operands add an error, because matrix units keep fewer bits of them.
double rounding_share(const Diagram& diagram) {
  double all = 2e-5;
  for (std::uint32_t id = 0; id < diagram.arrays.size(); ++id) {
    const bool given = contains(diagram.inputs, ArrayId{id});
    const auto type = diagram.arrays[id].type;
    if (!given || row(type).bytes == 1) all = std::max(all, lost_by(type));
  }
  for (const auto& expression : diagram.exprs)
    if (const auto* cast = std::get_if<Cast>(&expression.node)) all = std::max(all, lost_by(cast->type));
  return all;
}

void declare_arrays(const CodePlan& plan, Lines& out) {
  for (const auto id : given_arrays(plan)) {
    const auto& name = plan.names.arrays[id.index];
    const auto share = row(plan.diagram.at(id).stored()).share;
    out.line("Both<{}> {}({}{});", storage(plan, id), name, value_count(plan, id),
             share > 1 ? fmt::format(", {}", share) : "");
    if (contains(plan.diagram.outputs, id))
      out.line("{}.poison();", name);
    else
      out.line("{}.{}([](double& host, {}& stored) {{ {} }});", name, share > 1 ? "fill_pairs" : "fill",
               share > 1 ? "unsigned" : storage(plan, id), draw(plan, id));
  }
}

void compare_output(const CodePlan& plan, ArrayId id, Lines& out) {
  const auto& name = plan.names.arrays[id.index];
  const auto read = filled(code_type(plan.language, plan.diagram.at(id).type).read, "stored");
  const auto allowed = rounding_share(plan.diagram);
  out.open("");
  out.line("const auto got = {}.fetch([](const {}& stored) {{ return double({}); }});", name, storage(plan, id), read);
  out.line("const double error = relative_error(got, {}.host);", name);
  out.line("std::printf(\"{}: relative error %.2e, %s\\n\", error, error <= {} ? \"good\" : \"WRONG\");", name,
           allowed);
  out.line("good = good && error <= {};", allowed);
  out.close();
}

void define_divide_axes(const CodePlan& plan, Lines& out) {
  if (!plan.has_parts()) return;
  out.line("// The sizes of parts, as they are computed where the kernels are called.");
  out.open("static void divide_axes()");
  compute_parts(plan, out);
  out.close();
}

std::string plain_bytes(const CodePlan& plan) {
  const auto& diagram = plan.diagram;
  return listed(given_arrays(plan), " + ", [&](ArrayId id) {
    return fmt::format("{:.1f}{}", diagram.at(id).width(), sizes(plan, diagram.at(id).wires));
  });
}

std::string plain_operations(const CodePlan& plan) {
  const auto text = listed(work_of(plan.diagram).terms, " + ", [&](const auto& term) {
    return fmt::format("{:.1f}{}", term.second, sizes(plan, term.first));
  });
  return text.empty() ? "0.0" : text;
}

std::vector<std::pair<std::string, std::string>> check_words(const CodePlan& plan) {
  std::string options;
  for (const auto id : given_axes(plan)) {
    const auto& axis = plan.diagram.at(id);
    options += fmt::format("  if (std::sscanf(text, \"{}=%d\", &n.{}) == 1) return true;\n", axis.name,
                           plan.names.axes[id.index]);
  }
  const auto planned = [](const Axis& axis) { return fmt::format("{}", axis.size.value_or(1)); };
  return {{"@NAME@", plan.names.diagram},
          {"@AXES@", joined(plan.names.axes, ", ")},
          {"@GIVEN@", joined(given_names(plan), ", ")},
          {"@OPTIONS@", options},
          {"@DIVIDE@", plan.has_parts() ? "  divide_axes();\n" : ""},
          {"@CHECKED@", fmt::format("{}", fmt::join(checked_sizes(plan.diagram), ", "))},
          {"@PLANNED@", listed(plan.diagram.axes, ", ", planned)}};
}

std::string code_harness(const CodePlan& plan, std::string_view opening, const std::string& body, std::string_view main,
                         const std::vector<std::pair<std::string, std::string>>& more) {
  auto words = check_words(plan);
  words.insert(words.end(), more.begin(), more.end());
  words.emplace_back("@DEFINITIONS@", code_definitions(plan.language, body));
  return replaced(std::string(opening), words) + body + replaced(std::string(options_text) + std::string(main), words);
}

}  // namespace napkin
