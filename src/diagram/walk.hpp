// The plain meaning of a diagram: one loop over each statement's positions, which evaluates the expression at each. It
// is slow and simple on purpose; every optimized result is compared with it.
//
// `Numbers` defines what a number is, how functions are applied and how numbers are stored: doubles, or several doubles
// side by side that were rounded differently. Which element is read never depends on a number.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "diagram/checked.hpp"
#include "diagram/match.hpp"
#include "napkin/diagram.hpp"

namespace napkin {

// Numbers::Value is one number; `begin` is told the array whose numbers follow; `constant` makes a number from a
// double, `applied` calls a function, `rounded` stores as a type.
template <class Numbers>
class PlainWalk {
 public:
  using Value = typename Numbers::Value;
  using Arrays = std::vector<std::vector<Value>>;  // by ArrayId, row major

  PlainWalk(const Diagram& diagram, const Values& inputs, Numbers numbers)
      : diagram_(diagram),
        inputs_(inputs),
        numbers_(std::move(numbers)),
        computed_(diagram.arrays.size()),
        position_(diagram.wires.size(), 0) {
    for (std::uint32_t wire = 0; wire < diagram.wires.size(); ++wire) sizes_.push_back(diagram.size(WireId{wire}));
  }

  // The values of all statements; the entries of inputs stay empty.
  Arrays run() {
    for (const auto id : diagram_.inputs)
      if (inputs_.arrays.at(id.index).size() != count(diagram_.at(id).wires))
        throw std::invalid_argument("input " + diagram_.at(id).name + " has another size than its axes");
    for (const auto& statement : diagram_.statements) run(statement);
    return std::move(computed_);
  }

 private:
  void run(const Statement& statement) {
    const auto& array = diagram_.at(statement.output);
    std::vector<Value> result;
    result.reserve(count(array.wires));
    numbers_.begin(array);
    for_each(array.wires, [&] { result.push_back(numbers_.rounded(value(statement.value), array.type)); });
    computed_[statement.output.index] = std::move(result);
    taken_.clear();  // the next statement may compute in another format
  }

  std::int64_t size(WireId wire) const {
    if (const auto known = sizes_[wire.index]) return *known;
    throw std::invalid_argument("axis " + diagram_.at(wire).name + " has no size");
  }
  std::size_t count(const std::vector<WireId>& wires) const {
    std::size_t product = 1;
    for (const auto wire : wires) product *= static_cast<std::size_t>(size(wire));
    return product;
  }

  // Visits every position of the wires, the last wire fastest. A reduction inside may iterate over a wire again, so the
  // position before is restored.
  template <class Body>
  void for_each(const std::vector<WireId>& wires, const Body& body, std::size_t depth = 0) {
    if (depth == wires.size()) return body();
    auto& at = position_[wires[depth].index];
    const auto outer = at;
    const auto extent = size(wires[depth]);
    for (at = 0; at < extent; ++at) for_each(wires, body, depth + 1);
    at = outer;
  }

  Value value(ExprId id) {
    return match(
        diagram_.at(id).node, [&](const Constant& constant) { return numbers_.constant(constant.value); },
        [&](const Position& position) {
          return numbers_.constant(static_cast<double>(position_[position.wire.index]));
        },
        [&](const Size& size) { return numbers_.constant(static_cast<double>(diagram_.at(size.axis).size.value())); },
        [&](const Access& access) { return read(access); }, [&](const Apply& apply) { return applied(apply); },
        [&](const Cast& cast) { return numbers_.rounded(value(cast.value), cast.type); },
        [&](const Reduce& reduce) { return reduced(id, reduce); });
  }

  Value read(const Access& access) const {
    const auto& wires = diagram_.at(access.array).wires;
    std::size_t offset = 0;
    for (std::size_t i = 0; i < wires.size(); ++i) {
      const auto at = place(access.at[i]);
      if (at < 0 || at >= size(wires[i])) throw std::out_of_range("index outside " + diagram_.at(access.array).name);
      offset = offset * static_cast<std::size_t>(size(wires[i])) + static_cast<std::size_t>(at);
    }
    const auto& computed = computed_[access.array.index];
    return computed.empty() ? numbers_.constant(inputs_.arrays.at(access.array.index).at(offset)) : computed.at(offset);
  }
  std::int64_t place(const Index& index) const {
    auto sum = index.offset;
    for (const auto& [wire, coefficient] : index.terms) sum += coefficient * position_[wire.index];
    return index.divisor == 1 ? sum : floor_divide(sum, index.divisor);
  }

  Value applied(const Apply& apply) {
    const auto before = arguments_.size();
    for (const auto argument : apply.arguments) arguments_.push_back(value(argument));
    auto result = numbers_.applied(*apply.function, std::span<const Value>(arguments_).subspan(before));
    arguments_.erase(arguments_.begin() + static_cast<std::ptrdiff_t>(before), arguments_.end());
    return result;
  }

  // A reduction is computed only once while the positions that it depends on do not change. Otherwise, a value that is
  // the same all along an axis would be summed anew at each position.
  Value reduced(ExprId id, const Reduce& reduce) {
    const auto [found, first] = taken_.try_emplace(id);
    auto& taken = found->second;
    if (first) taken.wires = free_wires(diagram_, id);
    std::vector<std::int64_t> at;
    for (const auto wire : taken.wires) at.push_back(position_[wire.index]);
    if (!taken.value || taken.at != at) taken.value = reduced(reduce), taken.at = at;
    return *taken.value;
  }
  Value reduced(const Reduce& reduce) {
    auto total = numbers_.constant(reduce.reduction->identity);
    for_each(reduce.over, [&] {
      const Value arguments[] = {total, value(reduce.body)};
      total = numbers_.applied(*reduce.reduction->combine, std::span<const Value>(arguments));
    });
    return total;
  }

  struct Taken {
    std::vector<WireId> wires;
    std::vector<std::int64_t> at;
    std::optional<Value> value;
  };

  const Diagram& diagram_;
  const Values& inputs_;
  Numbers numbers_;
  Arrays computed_;
  std::vector<std::int64_t> position_;              // by wire
  std::vector<std::optional<std::int64_t>> sizes_;  // by wire
  std::vector<Value> arguments_;                    // arguments of the functions being applied, outermost first
  std::map<ExprId, Taken> taken_;                   // the last value of each reduction
};

}  // namespace napkin
