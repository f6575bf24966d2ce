// The printer of statements that all languages and kinds of kernels share: what a column computes at one place, and how
// a fold begins, adds a value and ends.
#pragma once

#include <string>
#include <vector>

#include "emit/shared/expression.hpp"
#include "emit/shared/page.hpp"
#include "napkin/loops.hpp"

namespace napkin {

// Whether a column is computed in double. If inputs are compared in their stored type, values that are only compared in
// int do not make it wide.
bool is_wide(const LoopNest&, const Compute&, bool compares);

// Whether the result of a fold has its initial value already: that which it carries.
bool begins_in_place(const Compute&);
// The statement that combines a value into the result of a fold.
std::string code_joined(Language, const Pointwise& combine, const std::string& to, const std::string& value);

struct StatementStyle {
  bool fast = false;      // uses the machine's approximate functions
  bool compares = false;  // compares whole numbers of inputs in their stored type
};

// The names of positions and counters inside the open loops.
struct OpenLoops {
  std::map<WireId, std::string> position, counter;
};

// `Page` is the page of the language. `Here` describes the open loops; it has the `position` of every wire.
template <class Page, class Here>
class StatementPrinter {
 public:
  StatementPrinter(Page& page, StatementStyle style) : page_(page), out_(page.out), style_(style) {}
  // Opens loops over the cells of a column's result and returns their number.
  virtual int open_cells(const Compute&, Here&) = 0;
  // A cell of a computed buffer, and the value that an access reads.
  virtual std::string slot(BufferId, const Here&) const = 0;
  virtual Typed read(const Compute&, ExprId access, const Here&) = 0;
  virtual std::string stored(const Compute&, ExprId, const Here&) const { return {}; }
  virtual ExprId value_of(const Compute& compute) const { return compute.column.value; }
  // A value rounded to the format of a buffer, and whether rounding changes values.
  virtual std::string rounded(BufferId id, const std::string& text) const {
    return without_brackets(filled(page_.type(id).round, without_brackets(text)));
  }
  virtual bool is_rounded(BufferId id) const { return page_.type(id).round != "{0}"; }

  bool is_wide(const Compute& compute) const { return napkin::is_wide(page_.nest, compute, style_.compares); }
  std::string value(const Compute& compute, ExprId id, const Here& here) {
    Surroundings around{.language = page_.language,
                        .position = [&](WireId wire) { return here.position.at(wire); },
                        .size = {},
                        .read = [&](ExprId access) { return read(compute, access, here); },
                        .wide = is_wide(compute),
                        .fast = style_.fast};
    if (style_.compares) around.inputs = page_.nest.inputs;
    around.stored = [&](ExprId access) { return stored(compute, access, here); };
    return code_value(page_.diagram, page_.names, id, around, out_, page_.pool);
  }
  std::string value(const Compute& compute, const Here& here) { return value(compute, value_of(compute), here); }

  // The positions of wires, and the places of an array from its indices.
  std::vector<std::string> places(const std::vector<WireId>& wires, const Here& here) const {
    return texts_of(wires, [&](WireId wire) { return here.position.at(wire); });
  }
  std::vector<std::string> places(const std::vector<Index>& at, const Here& here) const {
    const auto position = [&](WireId wire) { return here.position.at(wire); };
    return texts_of(at, [&](const Index& index) { return code_index(index, position); });
  }

  // The wires of a column's result, and how many cells the current pieces of wires have.
  const std::vector<WireId>& wires(const Compute& compute) const {
    return page_.diagram.at(compute.column.output).wires;
  }
  std::int64_t cells(const std::vector<WireId>& wires) const {
    std::int64_t all = 1;
    for (const auto wire : wires) all *= page_.own[wire.index].extent;
    return all;
  }
  // "    q 13, d 8", the wires of the result and those that it folds; empty if there are none.
  std::string extents(const Compute& compute) const {
    const auto extent = [&](WireId wire) {
      return fmt::format("{} {}", page_.diagram.at(wire).name, page_.own[wire.index].extent);
    };
    auto all = texts_of(wires(compute), extent);
    for (const auto wire : compute.column.over) all.push_back(extent(wire));
    return all.empty() ? "" : "    " + joined(all, ", ");
  }
  // Writes a number into an array.
  void store(ArrayId id, const std::string& text, const Here& here) {
    const auto& array = page_.diagram.at(id);
    const auto written = filled(code_type(page_.language, array.type).write, without_brackets(text));
    assign(fmt::format("{}[{}]", page_.array(id), page_.offset(id, places(array.wires, here))),
           without_brackets(written));
  }

  // Columns, at all cells

  template <class Print>
  void at_cells(const Compute& compute, const Print& print) {
    Here here;
    const int opened = open_cells(compute, here);
    print(here);
    out_.close(opened);
  }
  void pointwise(const Compute& compute) {
    at_cells(compute, [&](const Here& here) {
      const auto text = value(compute, here);
      assign(slot(compute.to, here), rounded(compute.to, text));
    });
  }
  void begin(const Compute& compute) {
    if (!begins_in_place(compute)) at_cells(compute, [&](const Here& here) { begin(compute, here); });
  }
  void round(const Compute& compute) {
    if (is_rounded(compute.to)) at_cells(compute, [&](const Here& here) { round(compute, here); });
  }

  // Columns, at one cell

  void assign(const std::string& to, const std::string& text) { out_.line(to + " = " + text + ";"); }
  // Initializes the result of a fold: the identity, or the rescaled old value.
  void begin(const Compute& compute, const Here& here) {
    if (begins_in_place(compute)) return;
    const auto to = slot(compute.to, here);
    if (!compute.column.carried) return assign(to, identity(compute));
    const auto repair = compute.column.repair ? value(compute, *compute.column.repair, here) : "";
    if (*compute.carried == compute.to) return out_.line("{} *= {};", to, without_brackets(repair));
    const auto old = slot(*compute.carried, here);
    assign(to, repair.empty() ? old : fmt::format("{} * {}", repair, old));
  }
  void join(const Compute& compute, const std::string& to, const std::string& text) {
    out_.line(code_joined(page_.language, *compute.column.fold->combine, to, text));
  }
  void absorb(const Compute& compute, const std::string& to, const Here& here) {
    join(compute, to, without_brackets(value(compute, here)));
  }
  void round(const Compute& compute, const Here& here) {
    const auto to = slot(compute.to, here);
    if (is_rounded(compute.to)) assign(to, rounded(compute.to, to));
  }
  // A partial result of a fold in a local variable, and how it is combined into the result.
  std::string identity(const Compute& compute) const {
    return code_number(compute.column.fold->identity, is_wide(compute));
  }
  std::string begin_part(const Compute& compute) {
    auto part = page_.pool.fresh("t");
    assign(std::string(page_.type(compute.to).own) + " " + part, identity(compute));
    return part;
  }
  void finish(const Compute& compute, const std::string& part, const Here& here) {
    begin(compute, here);
    join(compute, slot(compute.to, here), part);
    round(compute, here);
  }

  Page& page() { return page_; }

 protected:
  ~StatementPrinter() = default;

  Page& page_;
  Lines& out_;

 private:
  StatementStyle style_;
};

}  // namespace napkin
