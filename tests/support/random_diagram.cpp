#include "support/random_diagram.hpp"

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "support/read.hpp"

namespace napkin::testing {
namespace {

class Generator {
 public:
  explicit Generator(std::uint32_t seed) : random_(seed) {}

  Diagram make() {
    diagram_.name = "random";
    const int wires = between(2, 5);
    for (int i = 0; i < wires; ++i) add_wire(std::string(1, static_cast<char>('a' + i)), between(1, 6));
    const int inputs = between(1, 3);
    for (int i = 0; i < inputs; ++i) add_input(std::string(1, static_cast<char>('P' + i)));
    if (chance(25)) add_halo();
    if (chance(25)) add_mask();
    const int statements = between(1, 6);
    for (int i = 0; i < statements; ++i) add_statement(std::string(1, static_cast<char>('A' + i)));
    mark_outputs();
    return std::move(diagram_);
  }

 private:
  int between(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }
  bool chance(int percent) { return between(1, 100) <= percent; }
  template <class T>
  const T& one_of(const std::vector<T>& all) {
    return all[static_cast<std::size_t>(between(0, static_cast<int>(all.size()) - 1))];
  }

  void add_wire(std::string name, std::int64_t size) {
    diagram_.axes.push_back({name, size, {}});
    diagram_.wires.push_back({AxisId{static_cast<std::uint32_t>(diagram_.axes.size() - 1)}, name});
  }
  std::vector<WireId> some_wires(int least) {
    std::vector<WireId> all;
    for (std::uint32_t i = 0; i < diagram_.wires.size(); ++i) all.push_back({i});
    std::shuffle(all.begin(), all.end(), random_);
    all.resize(static_cast<std::size_t>(between(least, static_cast<int>(std::min<std::size_t>(all.size(), 3)))));
    std::ranges::sort(all);
    return all;
  }
  ArrayId add_array(std::string name, std::vector<WireId> wires, Datatype type) {
    diagram_.arrays.push_back({std::move(name), type, std::move(wires), {}, {}});
    readable_.push_back({static_cast<std::uint32_t>(diagram_.arrays.size() - 1)});
    return readable_.back();
  }
  void add_input(std::string name) {
    diagram_.inputs.push_back(add_array(std::move(name), some_wires(1), chance(50) ? Datatype::f16 : Datatype::f32));
  }

  // An input that is read at a + b.
  void add_halo() {
    const auto a = diagram_.axes[0].size.value(), b = diagram_.axes[1].size.value();
    add_wire("h", a + b - 1);
    halo_ = ArrayId{static_cast<std::uint32_t>(diagram_.arrays.size())};
    diagram_.arrays.push_back(
        {"H", Datatype::f32, {WireId{static_cast<std::uint32_t>(diagram_.wires.size() - 1)}}, {}, {}});
    diagram_.inputs.push_back(*halo_);
  }
  void add_mask() {
    mask_ = ArrayId{static_cast<std::uint32_t>(diagram_.arrays.size())};
    diagram_.arrays.push_back({"M", Datatype::boolean, some_wires(1), {}, {}});
    diagram_.inputs.push_back(*mask_);
  }

  ExprId constant(double value) { return diagram_.intern(Constant{value}); }
  ExprId apply(const char* name, std::vector<ExprId> arguments) {
    return diagram_.intern(Apply{find_pointwise(name), std::move(arguments)});
  }
  ExprId reduce(const char* name, std::vector<WireId> over, ExprId body) {
    return diagram_.intern(Reduce{find_reduction(name), std::move(over), body});
  }
  ExprId read() {
    // The newest arrays are read most, so that statements form chains.
    if (halo_ && chance(10)) return diagram_.intern(Access{*halo_, {Index{{{WireId{0}, 1}, {WireId{1}, 1}}, 0, 1}}});
    const auto array = chance(60) ? readable_.back() : one_of(readable_);
    return whole(array);
  }
  ExprId whole(ArrayId array) {
    Access access{array, {}};
    for (const auto wire : diagram_.at(array).wires) access.at.push_back({{{wire, 1}}, 0, 1});
    return diagram_.intern(access);
  }
  ExprId masked(ExprId e, double otherwise) {
    const auto free = free_wires(diagram_, e);
    if (free.empty()) return e;
    if (mask_ && chance(40) && std::ranges::includes(free, diagram_.at(*mask_).wires)) {
      const ExprId read = whole(*mask_);
      return apply("where", {chance(30) ? apply("not", {read}) : read, e, constant(otherwise)});
    }
    const auto position = [&] {
      const ExprId at = diagram_.intern(Position{one_of(free)});
      return chance(30) ? apply(chance(50) ? "+" : "-", {at, constant(between(1, 3))}) : at;
    };
    const auto side = [&] { return chance(70) ? position() : constant(between(0, 4)); };
    const char* sign = chance(50) ? "<=" : ">";
    const ExprId left = side(), right = side();
    return apply("where", {apply(sign, {left, right}), e, constant(otherwise)});
  }
  // A normalisation of `e` along one of its wires, written out by hand.
  ExprId normalised(ExprId e) {
    const int kind = between(0, 7);
    // Minus infinity is what masks an exponent; anywhere else even the plain meaning is not a number.
    if (kind < 3 && chance(30)) e = masked(e, -std::numeric_limits<double>::infinity());
    const auto free = free_wires(diagram_, e);
    if (free.empty()) return e;
    std::vector<WireId> over = {one_of(free)};
    if (const auto also = one_of(free); chance(20) && also != over[0]) over.push_back(also);
    std::ranges::sort(over);
    ExprId size = diagram_.intern(Size{diagram_.at(over[0]).axis});
    if (over.size() > 1) size = apply("*", {size, diagram_.intern(Size{diagram_.at(over[1]).axis})});
    switch (kind) {
      case 0: {
        const ExprId weight = apply("exp", {apply("-", {e, reduce("max", over, e)})});
        return apply("/", {weight, reduce("sum", over, weight)});
      }
      case 1:
        return apply("/", {apply("exp", {e}), reduce("sum", over, apply("exp", {e}))});
      case 3:
        return apply("/", {e, apply("sqrt", {apply("+", {reduce("sum", over, apply("*", {e, e})), constant(0.5)})})});
      case 4:
        return apply("-", {e, apply("/", {reduce("sum", over, e), size})});
      case 6: {
        // The distance from the mean, and over the standard deviation.
        const ExprId away = apply("-", {e, apply("/", {reduce("sum", over, e), size})});
        const ExprId squares = reduce("sum", over, apply("^", {away, constant(between(2, 3))}));
        return chance(50) ? squares
                          : apply("*", {away, apply("rsqrt", {apply("+", {apply("abs", {squares}), constant(0.5)})})});
      }
      case 7:
        return apply("/", {e, apply("+", {constant(1.5), reduce("prod", over, e)})});
      case 5:
        return apply("-", {e, reduce(chance(50) ? "max" : "min", over, e)});
      default:
        return apply("-", {e, apply("log", {reduce("sum", over, apply("exp", {e}))})});
    }
  }
  ExprId expression(int depth) {
    if (depth == 0) return read();
    switch (between(0, 11)) {
      case 0:
      case 1:
      case 2:
        return apply("*", {expression(depth - 1), read()});
      case 3:
        return apply("+", {expression(depth - 1), read()});
      case 4:
        return apply("-", {expression(depth - 1), constant(between(1, 3) * 0.25)});
      case 5:
        return apply("sigmoid", {expression(depth - 1)});
      case 6:
        return apply("exp", {expression(depth - 1)});
      case 7: {
        // A mask over a fully masked normalisation would hide something that is not a number.
        const ExprId e = expression(depth - 1);
        return to_text(diagram_, e).find("inf") == std::string::npos ? masked(e, 0) : e;
      }
      case 8:
        return apply("*", {constant(0.5), expression(depth - 1)});
      case 9:
      case 10:
        return normalised(read());
      default:
        return diagram_.intern(Cast{chance(70) ? Datatype::f16 : Datatype::bf16, expression(depth - 1)});
    }
  }
  void add_statement(std::string name) {
    ExprId value = expression(between(0, 2));
    auto kept = free_wires(diagram_, value);
    std::vector<WireId> over;
    while (!kept.empty() && chance(60) && over.size() < 3) {
      const auto at = static_cast<std::ptrdiff_t>(between(0, static_cast<int>(kept.size()) - 1));
      over.push_back(kept[static_cast<std::size_t>(at)]);
      kept.erase(kept.begin() + at);
    }
    std::ranges::sort(over);
    // Extremes pass over what is not a number, sums show it.
    const bool masked_out = to_text(diagram_, value).find("inf") != std::string::npos;
    const char* extreme = chance(55) ? "max" : chance(60) ? "min" : "prod";
    if (!over.empty()) value = reduce(masked_out || chance(70) ? "sum" : extreme, over, value);
    const auto output = add_array(std::move(name), kept, chance(30) ? Datatype::f16 : Datatype::f32);
    diagram_.statements.push_back({output, value, {}});
  }
  void mark_outputs() {
    std::set<ArrayId> read;
    for (const auto& statement : diagram_.statements)
      for (const auto array : arrays_read(diagram_, statement.value)) read.insert(array);
    for (const auto& statement : diagram_.statements)
      if (!read.contains(statement.output) || chance(10)) diagram_.outputs.push_back(statement.output);
  }

  std::mt19937 random_;
  Diagram diagram_;
  std::vector<ArrayId> readable_;
  std::optional<ArrayId> halo_, mask_;
};

std::string array_text(const Diagram& diagram, ArrayId id) {
  const auto& array = diagram.at(id);
  std::string text = array.name + ": " + std::string(row(array.type).name) + "[";
  for (std::size_t i = 0; i < array.wires.size(); ++i) text += (i == 0 ? "" : ", ") + diagram.at(array.wires[i]).name;
  return text + "]";
}

}  // namespace

Diagram drawn_diagram(std::uint32_t seed) { return Generator(seed).make(); }
Diagram random_diagram(std::uint32_t seed) { return read_text(file_text(drawn_diagram(seed))); }

std::string file_text(const Diagram& diagram) {
  Diagram named = diagram;  // a file knows axes only
  for (auto& wire : named.wires) wire.name = named.at(wire.axis).name;
  std::string text = "diagram " + named.name + "\n";
  for (const auto& axis : named.axes)
    text += "axis " + axis.name + (axis.size ? " = " + std::to_string(*axis.size) : "") + "\n";
  for (const auto input : named.inputs) text += "input " + array_text(named, input) + "\n";
  for (const auto& statement : named.statements)
    text += array_text(named, statement.output) + " = " + to_text(named, statement.value) + "\n";
  for (const auto output : named.outputs) text += "output " + named.at(output).name + "\n";
  return text;
}

Values random_inputs(const Diagram& diagram, std::uint32_t seed) {
  std::mt19937 random(seed);
  Values values;
  values.arrays.resize(diagram.arrays.size());
  for (const auto input : diagram.inputs) {
    std::int64_t size = 1;
    for (const auto wire : diagram.at(input).wires) size *= diagram.size(wire).value();
    const bool truth = diagram.at(input).type == Datatype::boolean;
    for (std::int64_t i = 0; i < size; ++i)
      values.arrays[input.index].push_back(
          truth ? static_cast<double>(random() % 2)
                : row(diagram.at(input).type).round(std::uniform_real_distribution<double>(-1, 1)(random)));
  }
  return values;
}

}  // namespace napkin::testing
