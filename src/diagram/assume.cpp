// Conditions on sizes, stored among the expressions of a diagram; see assume.hpp.
#include "diagram/assume.hpp"

#include <algorithm>
#include <set>

#include "diagram/in_memory.hpp"
#include "diagram/index.hpp"
#include "diagram/match.hpp"

namespace napkin {
namespace {

ExprId apply(Diagram& diagram, std::string_view function, std::vector<ExprId> arguments) {
  return diagram.intern(Apply{find_pointwise(function), std::move(arguments)});
}
ExprId number(Diagram& diagram, std::int64_t value) { return diagram.intern(Constant{static_cast<double>(value)}); }

bool of_sizes(const Diagram& diagram, ExprId id) {
  const auto& node = diagram.at(id).node;
  const auto* apply = std::get_if<Apply>(&node);
  if (!apply) return std::holds_alternative<Constant>(node) || std::holds_alternative<Size>(node);
  return std::ranges::all_of(apply->arguments, [&](ExprId argument) { return of_sizes(diagram, argument); });
}

std::set<ExprId> read_by_others(const Diagram& diagram) {
  std::set<ExprId> all;
  for (const auto& statement : diagram.statements) all.insert(statement.value);
  for (const auto& expr : diagram.exprs)
    match(
        expr.node, [&](const Apply& apply) { all.insert(apply.arguments.begin(), apply.arguments.end()); },
        [&](const Cast& cast) { all.insert(cast.value); }, [&](const Reduce& reduce) { all.insert(reduce.body); },
        [](const auto&) {});
  return all;
}

}  // namespace

void assume_size(Diagram& diagram, AxisId axis) {
  const ExprId here = number(diagram, diagram.at(axis).size.value_or(1));
  apply(diagram, "==", {here, diagram.intern(Size{axis})});
}

void assume_same_size(Diagram& diagram, AxisId a, AxisId b) {
  apply(diagram, "==", {diagram.intern(Size{a}), diagram.intern(Size{b})});
}

std::vector<std::pair<AxisId, AxisId>> axes_of_one_size(const Diagram& diagram) {
  std::vector<std::pair<AxisId, AxisId>> all;
  for (const auto condition : assumptions(diagram)) {
    const auto& equal = std::get<Apply>(diagram.at(condition).node);
    if (equal.function->name != "==") continue;
    const auto* a = std::get_if<Size>(&diagram.at(equal.arguments[0]).node);
    const auto* b = std::get_if<Size>(&diagram.at(equal.arguments[1]).node);
    if (a && b) all.emplace_back(a->axis, b->axis);
  }
  return all;
}

void assume_parts(Diagram& diagram, AxisId whole, AxisId part, AxisId inside, std::int64_t length) {
  const auto size = [&](AxisId axis) { return diagram.intern(Size{axis}); };
  const ExprId parts = size(part), each = size(inside);
  apply(diagram, "==", {apply(diagram, "*", {parts, each}), size(whole)});
  const ExprId single = apply(diagram, "==", {parts, number(diagram, 1)});
  apply(diagram, "or", {single, apply(diagram, "==", {each, number(diagram, length)})});
}

void assume_blocks(Diagram& diagram, AxisId whole, AxisId block, AxisId inside, std::int64_t length) {
  assume_parts(diagram, whole, block, inside, length);
  assume_at_most(diagram, inside, length);
}

void assume_at_most(Diagram& diagram, AxisId axis, std::int64_t length) {
  apply(diagram, "<=", {diagram.intern(Size{axis}), number(diagram, length)});
}

void assume_ragged_blocks(Diagram& diagram, const RaggedBlocks& blocks) {
  const auto size = [&](AxisId axis) { return diagram.intern(Size{axis}); };
  const ExprId full = apply(diagram, "*", {size(blocks.block), size(blocks.inside)});
  apply(diagram, "==", {apply(diagram, "+", {full, size(blocks.last)}), size(blocks.whole)});
  assume_size(diagram, blocks.block), assume_size(diagram, blocks.inside);
  assume_at_most(diagram, blocks.last, *diagram.at(blocks.inside).size);
}

// Finds assumptions `size(block) * size(inside) + size(last) == size(whole)`.
std::vector<RaggedBlocks> ragged_blocks(const Diagram& diagram) {
  std::vector<RaggedBlocks> all;
  const auto applied = [&](ExprId id, std::string_view function) {
    const auto* apply = std::get_if<Apply>(&diagram.at(id).node);
    return apply && apply->function == find_pointwise(function) ? apply : nullptr;
  };
  const auto axis = [&](ExprId id) { return std::get<Size>(diagram.at(id).node).axis; };
  for (const auto id : assumptions(diagram)) {
    const auto* equal = applied(id, "==");
    const auto* sum = equal ? applied(equal->arguments[0], "+") : nullptr;
    const auto* full = sum ? applied(sum->arguments[0], "*") : nullptr;
    if (full)
      all.push_back(
          {axis(equal->arguments[1]), axis(full->arguments[0]), axis(full->arguments[1]), axis(sum->arguments[1])});
  }
  return all;
}

// Recognizes the assumption `size(part) * size(inside) == size(whole)`.
std::optional<Parts> parts_of(const Diagram& diagram, ExprId assumption) {
  const auto applied = [&](ExprId id, std::string_view function) {
    const auto* apply = std::get_if<Apply>(&diagram.at(id).node);
    return apply && apply->function == find_pointwise(function) ? apply : nullptr;
  };
  const auto* equal = applied(assumption, "==");
  const auto* product = equal ? applied(equal->arguments[0], "*") : nullptr;
  if (!product) return std::nullopt;
  std::vector<AxisId> axes;
  for (const auto id : {equal->arguments[1], product->arguments[0], product->arguments[1]})
    if (const auto* size = std::get_if<Size>(&diagram.at(id).node)) axes.push_back(size->axis);
  return axes.size() == 3 ? std::optional(Parts{axes[0], axes[1], axes[2]}) : std::nullopt;
}

std::vector<Parts> divided_axes(const Diagram& diagram) {
  std::vector<Parts> all;
  for (const auto id : assumptions(diagram))
    if (const auto parts = parts_of(diagram, id)) all.push_back(*parts);
  return all;
}

std::vector<AxisId> whole_shape(const Diagram& diagram, ArrayId array) {
  std::vector<AxisId> all;
  if (diagram.at(array).part_of) {
    for (const auto& dimension : in_memory(diagram, array)) all.push_back(dimension.axis);
    return all;
  }
  const auto divided = divided_axes(diagram);
  for (const auto wire : diagram.at(array).wires) {
    const auto axis = diagram.at(wire).axis;
    const auto made_up = std::ranges::find_if(
        divided, [&](const Parts& parts) { return parts.inside == axis && !all.empty() && parts.part == all.back(); });
    if (made_up == divided.end())
      all.push_back(axis);
    else
      all.back() = made_up->whole;
  }
  return all;
}

bool has_given_length(const Diagram& diagram, AxisId inside) {
  return std::ranges::any_of(assumptions(diagram), [&](ExprId id) {
    const auto& condition = std::get<Apply>(diagram.at(id).node);
    const auto* size = std::get_if<Size>(&diagram.at(condition.arguments[0]).node);
    return condition.function == find_pointwise("<=") && size && size->axis == inside;
  });
}

std::vector<Parts> axes_in_blocks(const Diagram& diagram) {
  auto all = divided_axes(diagram);
  std::erase_if(all, [&](const Parts& parts) { return !has_given_length(diagram, parts.inside); });
  return all;
}

namespace {

// Rebuilds the expressions of a diagram with some constants replaced. The new constants come first, then all others.
class Renumbering {
 public:
  Renumbering(const Diagram& diagram, std::vector<std::int64_t> numbers)
      : diagram_(diagram), numbers_(std::move(numbers)), divided_(divided_axes(diagram)) {}
  virtual ~Renumbering() = default;

  void run(Diagram& changed) const {
    Expressions made;
    for (const auto number : numbers_) made.push_back({Constant{static_cast<double>(number)}, {}});
    for (const auto& expr : diagram_.exprs) {
      auto node = expr.node;
      match(
          node, [&](Access& access) { set(access); }, [&](Apply& apply) { set(apply); },
          [&](Cast& cast) { cast.value = moved(cast.value); },
          [&](Reduce& reduce) { reduce.body = moved(reduce.body); }, [](auto&) {});
      made.push_back({std::move(node), expr.span});
    }
    for (auto& statement : changed.statements) statement.value = moved(statement.value);
    changed.exprs = std::move(made);
  }

 protected:
  // Rewrites an index along a dimension of its array.
  virtual void set(Index&, AxisId dimension) const = 0;
  // The number of the new constant that replaces the constant operand next to `argument`, if one does.
  virtual std::optional<std::uint32_t> beside(ExprId argument, Role by) const = 0;

  AxisId axis(WireId wire) const { return diagram_.at(wire).axis; }
  auto along(Index& index, AxisId axis) const {
    return std::ranges::find_if(index.terms, [&](const auto& term) { return this->axis(term.first) == axis; });
  }
  // Sets the length in `c * length * part + c * inside`. If the part is divided into parts itself, its terms are these.
  void set_length(Index& index, AxisId part, AxisId inside, std::int64_t length) const {
    const auto outer = along(index, part), inner = along(index, inside);
    if (inner == index.terms.end()) return;
    const auto factor = inner->second * length;
    if (outer != index.terms.end()) outer->second = factor;
    for (const auto& parts : divided_) {
      if (parts.whole != part) continue;
      const auto place = along(index, parts.inside);
      if (place == index.terms.end()) continue;
      place->second = factor;
      set_length(index, parts.part, parts.inside, *diagram_.at(parts.inside).size);
    }
  }
  bool is_position(ExprId id, AxisId axis) const {
    const auto* position = std::get_if<Position>(&diagram_.at(id).node);
    if (position) return this->axis(position->wire) == axis;
    const auto* sum = std::get_if<Apply>(&diagram_.at(id).node);
    if (!sum || sum->function->role != Role::add) return false;
    return std::ranges::any_of(divided_, [&](const Parts& parts) {
      return parts.whole == axis && is_position(sum->arguments[1], parts.inside);
    });
  }
  bool is_size(ExprId id, AxisId axis) const {
    const auto* size = std::get_if<Size>(&diagram_.at(id).node);
    return size && size->axis == axis;
  }

 private:
  ExprId moved(ExprId id) const { return {id.index + static_cast<std::uint32_t>(numbers_.size())}; }
  bool is_number(ExprId id) const { return std::holds_alternative<Constant>(diagram_.at(id).node); }
  void set(Access& access) const {
    const auto& wires = diagram_.at(access.array).wires;
    for (std::size_t i = 0; i < wires.size(); ++i) set(access.at[i], axis(wires[i]));
  }
  void set(Apply& apply) const {
    const auto old = apply.arguments;
    for (std::size_t i = 0; i < old.size(); ++i) {
      const auto number =
          old.size() == 2 && is_number(old[i]) ? beside(old[1 - i], apply.function->role) : std::nullopt;
      apply.arguments[i] = number ? ExprId{*number} : moved(old[i]);
    }
  }

  const Diagram& diagram_;
  std::vector<std::int64_t> numbers_;
  std::vector<Parts> divided_;
};

// Sets `length` in positions `length * part` and in the assumption `size(inside) == length`.
class Lengthening : public Renumbering {
 public:
  Lengthening(const Diagram& diagram, const Parts& parts, std::int64_t length)
      : Renumbering(diagram, {length}), parts_(parts), length_(length) {}

 protected:
  void set(Index& index, AxisId) const override { set_length(index, parts_.part, parts_.inside, length_); }
  std::optional<std::uint32_t> beside(ExprId argument, Role by) const override {
    const bool is_length = (by == Role::multiply && is_position(argument, parts_.part)) ||
                           (by == Role::compare && is_size(argument, parts_.inside));
    return is_length ? std::optional(0U) : std::nullopt;
  }

 private:
  Parts parts_;
  std::int64_t length_;
};

// For blocks with a shorter last one. Also sets their number, and where the last one begins: `begin + last` in
// positions.
class Resizing : public Renumbering {
 public:
  Resizing(const Diagram& diagram, const RaggedBlocks& blocks, std::int64_t begun)
      : Renumbering(diagram, {size(diagram, blocks.inside), size(diagram, blocks.block), begin(diagram, blocks)}),
        blocks_(blocks),
        length_(size(diagram, blocks.inside)),
        further_(begin(diagram, blocks) - begun) {}

 protected:
  void set(Index& index, AxisId dimension) const override {
    set_length(index, blocks_.block, blocks_.inside, length_);
    const auto last = along(index, blocks_.last);
    if (last != index.terms.end() && dimension != blocks_.last) index.offset += last->second * further_;
  }
  std::optional<std::uint32_t> beside(ExprId argument, Role by) const override {
    if (by == Role::multiply && is_position(argument, blocks_.block)) return 0;
    if (by == Role::add && is_position(argument, blocks_.last)) return 2;
    if (by != Role::compare) return std::nullopt;
    if (is_size(argument, blocks_.block)) return 1;
    return is_size(argument, blocks_.inside) || is_size(argument, blocks_.last) ? std::optional(0U) : std::nullopt;
  }

 private:
  static std::int64_t size(const Diagram& diagram, AxisId axis) { return *diagram.at(axis).size; }
  static std::int64_t begin(const Diagram& diagram, const RaggedBlocks& blocks) {
    return size(diagram, blocks.block) * size(diagram, blocks.inside);
  }

  RaggedBlocks blocks_;
  std::int64_t length_, further_;
};

}  // namespace

void set_length(Diagram& diagram, const Parts& parts, std::int64_t length) {
  Lengthening(Diagram(diagram), parts, length).run(diagram);
  diagram.axes[parts.inside.index].size = length;
  diagram.axes[parts.whole.index].size = length * *diagram.at(parts.part).size;
}

void set_blocks(Diagram& diagram, const RaggedBlocks& blocks, std::int64_t begun) {
  Resizing(Diagram(diagram), blocks, begun).run(diagram);
}

std::vector<ExprId> assumptions(const Diagram& diagram) {
  const auto read = read_by_others(diagram);
  std::vector<ExprId> all;
  for (std::uint32_t i = 0; i < diagram.exprs.size(); ++i) {
    const auto* apply = std::get_if<Apply>(&diagram.exprs[i].node);
    const bool condition = apply && (apply->function->role == Role::compare || apply->function->role == Role::logic);
    if (condition && !read.contains({i}) && of_sizes(diagram, {i})) all.push_back({i});
  }
  return all;
}

std::set<AxisId> tied_axes(const Diagram& diagram) {
  std::set<AxisId> tied;
  for (const auto& expr : diagram.exprs) {
    const auto* read = std::get_if<Access>(&expr.node);
    for (std::size_t i = 0; read && i < read->at.size(); ++i) {
      const auto wire = diagram.at(read->array).wires[i];
      if (plain_wire(read->at[i]) == wire) continue;
      tied.insert(diagram.at(wire).axis);
      for (const auto& term : read->at[i].terms) tied.insert(diagram.at(term.first).axis);
    }
  }
  return tied;
}

}  // namespace napkin
