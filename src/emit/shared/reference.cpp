// Prints the plain evaluation of a diagram as simple loops in double, on the host. The harness compares kernels with
// it.
//
// Every reduction becomes an array over the wires that it varies along, and every statement one loop nest. Numbers are
// rounded where the diagram says so: at casts, and when they are stored in an array with a type.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "diagram/contains.hpp"
#include "diagram/operands.hpp"
#include "emit/shared/check.hpp"
#include "emit/shared/expression.hpp"
#include "emit/shared/text.hpp"
#include "emit/shared/types.hpp"

namespace napkin {
namespace {

class Reference {
 public:
  explicit Reference(const CodePlan& plan) : plan_(plan), diagram_(plan.diagram) {
    for (const auto& name : plan.names.arrays) pool_.fresh(name);
    for (const auto& wire : diagram_.wires) wires_.push_back(pool_.fresh(wire.name));
  }

  std::string run() {
    const auto parameter = [&](ArrayId id) {
      return fmt::format("{}Array& {}", contains(diagram_.inputs, id) ? "const " : "", name(id));
    };
    out_.line("// The statements of the diagram, one after another.");
    out_.open("static void reference({})", listed(given_arrays(plan_), ", ", parameter));
    for (const auto& statement : diagram_.statements) print(statement);
    out_.close();
    return out_.text();
  }

 private:
  const std::string& name(ArrayId id) const { return plan_.names.arrays[id.index]; }
  std::string size(WireId wire) const { return code_size(diagram_, plan_.names, wire); }

  std::string count(const std::vector<WireId>& wires) const {
    return wires.empty() ? "1" : listed(wires, " * ", [&](WireId wire) { return "(size_t)" + size(wire); });
  }
  // A part of a result is stored in the array of the whole result.
  std::string element(ArrayId id, const std::vector<std::string>& at) const {
    const auto whole = diagram_.at(id).part_of.value_or(id);
    return fmt::format("{}[{}]", name(whole), code_place(diagram_, plan_.names, id, at));
  }
  // An element of the array that holds the values of a reduction.
  std::string element(const std::string& array, const std::vector<WireId>& wires) const {
    const auto sizes = texts_of(wires, [&](WireId wire) { return size(wire); });
    return fmt::format("{}[{}]", array, code_offset(positions(wires), sizes));
  }
  std::vector<std::string> positions(const std::vector<WireId>& wires) const {
    return texts_of(wires, [&](WireId wire) { return wires_[wire.index]; });
  }

  void open_loops(const std::vector<WireId>& wires) {
    for (const auto wire : wires) {
      out_.loop(wires_[wire.index], "0", end(wire));
      open_.push_back(wire);
    }
  }
  // The last part of a divided axis may be shorter, so the loop inside a part also ends where the axis ends.
  std::string end(WireId wire) const {
    const auto* parts = plan_.ends_early(diagram_.at(wire).axis);
    const auto part =
        std::ranges::find_if(open_, [&](WireId outer) { return parts && diagram_.at(outer).axis == parts->part; });
    if (part == open_.end()) return size(wire);
    return fmt::format("{0} && {0} * {1} + {2} < n.{3}", size(wire), wires_[part->index], wires_[wire.index],
                       plan_.names.axes[parts->whole.index]);
  }
  void close(std::size_t opened) {
    open_.resize(open_.size() - opened);
    while (opened-- > 0) out_.close();
  }

  // Collects the reductions below an expression, inner ones first.
  void reductions(ExprId id, std::vector<ExprId>& found) const {
    each_operand(diagram_, id, [&](ExprId operand) { reductions(operand, found); });
    if (std::holds_alternative<Reduce>(diagram_.at(id).node) && !contains(found, id)) found.push_back(id);
  }

  std::string value(ExprId id) {
    const Surroundings around{
        .language = plan_.language,
        .position = [&](WireId wire) { return wires_[wire.index]; },
        .size = {},
        .read = [&](ExprId access) { return read(std::get<Access>(diagram_.at(access).node)); },
        .reduction = [&](ExprId reduce) { return element(reduced_.at(reduce), free_wires(diagram_, reduce)); },
        .wide = true};
    return code_value(diagram_, plan_.names, id, around, out_, pool_);
  }
  Typed read(const Access& access) const {
    const auto position = [&](WireId wire) { return wires_[wire.index]; };
    const auto at = texts_of(access.at, [&](const Index& index) { return code_index(index, position); });
    return {element(access.array, at), NumberKind::real};
  }

  void print(const Statement& statement) {
    std::vector<ExprId> inner;
    reductions(statement.value, inner);
    for (const auto id : inner)
      if (!reduced_.contains(id)) reduce(id);
    const auto& array = diagram_.at(statement.output);
    out_.line("// {}", to_text(diagram_, statement.value));
    const bool given = array.part_of || contains(diagram_.outputs, statement.output);
    if (!given) out_.line("Array {}({});", name(statement.output), count(array.wires));
    open_loops(array.wires);
    const auto text = without_brackets(value(statement.value));
    out_.line("{} = {};", element(statement.output, positions(array.wires)), rounded(array.type, text));
    close(array.wires.size());
  }
  std::string rounded(Datatype type, const std::string& text) const {
    if (type == Datatype::f32) return fmt::format("float({})", text);
    const bool narrow = !is_wide(type) && type != Datatype::boolean;
    return filled(code_type(plan_.language, type).round, narrow ? fmt::format("float({})", text) : "(" + text + ")");
  }

  void reduce(ExprId id) {
    const auto& node = std::get<Reduce>(diagram_.at(id).node);
    const auto wires = free_wires(diagram_, id);
    const auto array = pool_.fresh(std::string(node.reduction->name) + "_of");
    reduced_[id] = array;
    const auto to = element(array, wires);
    const auto& combine = *node.reduction->combine;
    out_.line("Array {}({}, {});", array, count(wires), code_number(node.reduction->identity, true));
    open_loops(wires);
    open_loops(node.over);
    const auto text = value(node.body);
    out_.line("{} = {};", to, without_brackets(fmt::format(fmt::runtime(code_of(plan_.language, combine)), to, text)));
    close(wires.size() + node.over.size());
  }

  const CodePlan& plan_;
  const Diagram& diagram_;
  Lines out_;
  Identifiers pool_;
  std::vector<std::string> wires_;
  std::vector<WireId> open_;  // wires whose loops are open
  std::map<ExprId, std::string> reduced_;
};

}  // namespace

std::string code_reference(const CodePlan& plan) { return Reference(plan).run(); }

}  // namespace napkin
