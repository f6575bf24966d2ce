// Where every product of an operand and its scale is a number of a format of matrix units, the scale may be multiplied
// into the operand (rule S8), and the sum needs no blocks:
//
//   sum[k](A[m, k] * B[j, k] * s[m, k / n])  =  sum[k](As[m, k] * B[j, k]),   As[m, k] = A[m, k] * s[m, k / n]
#include "derive/orders/scaled.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "derive/columns.hpp"
#include "derive/orders/names.hpp"
#include "diagram/compact.hpp"
#include "diagram/contains.hpp"
#include "diagram/index.hpp"
#include "diagram/operands.hpp"
#include "napkin/derive.hpp"

namespace napkin::orders {
namespace {

// Narrow formats first, because matrix units multiply them faster.
constexpr std::array matrix_formats = {Datatype::f8e4m3, Datatype::f8e5m2, Datatype::f16, Datatype::bf16};

bool is_small(Datatype type) { return row(type).bytes == 1 && type != Datatype::boolean; }

// All finite values of a format of at most 8 bits, found by what it rounds to itself.
std::vector<double> values_of(Datatype type) {
  constexpr int most_digits = 256, least_exponent = -149, greatest_exponent = 128;
  std::vector<double> all{0};
  const auto add = [&](double value) {
    if (row(type).round(value) == value) all.push_back(value);
  };
  for (int odd = 1; odd < most_digits; odd += 2)
    for (int exponent = least_exponent; exponent < greatest_exponent; ++exponent)
      add(std::ldexp(odd, exponent)), add(-std::ldexp(odd, exponent));
  return all;
}

std::vector<double> products_of(const std::vector<double>& some, const std::vector<double>& others) {
  std::vector<double> all;
  for (const double a : some)
    for (const double b : others) all.push_back(a * b);
  std::ranges::sort(all);
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

bool is_normal_in_f32(double value) {
  return std::abs(value) >= std::numeric_limits<float>::min() && std::abs(value) <= std::numeric_limits<float>::max();
}

bool holds(Datatype type, const std::vector<double>& values) {
  return std::ranges::all_of(values,
                             [&](double value) { return !is_normal_in_f32(value) || row(type).round(value) == value; });
}

// An operand of a product of matrices, with the scales that multiply it.
struct Operand {
  ExprId value{};
  std::vector<ExprId> scales{};
};

class Scaling {
 public:
  Scaling(const Diagram& diagram, std::size_t statement) : diagram_(diagram), at_(statement) {}

  std::optional<ScaledOperands> run() {
    const auto statement = diagram_.statements[at_];
    const ExprId value = scaled(statement.value);
    if (before_.empty()) return std::nullopt;
    auto& all = diagram_.statements;
    all[at_].value = value;
    all.insert(all.begin() + static_cast<std::ptrdiff_t>(at_), before_.begin(), before_.end());
    drop_unused_expressions(diagram_);
    return ScaledOperands{sums_in_blocks(diagram_).diagram, std::move(made_), operations_, values_};
  }

 private:
  ExprId scaled(ExprId e) {
    const ExprId plain = with_operands(diagram_, e, [&](ExprId operand) { return scaled(operand); });
    const Expr made = diagram_.at(plain);
    const auto* reduce = std::get_if<Reduce>(&made.node);
    if (!reduce || reduce->reduction->combine->role != Role::add) return plain;
    const auto body = product(reduce->body, reduce->over);
    return body ? diagram_.intern(Reduce{reduce->reduction, reduce->over, *body}, made.span) : plain;
  }

  // The product of two operands that have their scales. None unless all other factors are exact scales of one of them.
  std::optional<ExprId> product(ExprId body, const std::vector<WireId>& over) {
    std::vector<ExprId> factors;
    if (!collect(body, factors)) return std::nullopt;
    const auto scales =
        std::stable_partition(factors.begin(), factors.end(), [&](ExprId e) { return !is_scale(e, over); });
    std::vector<Operand> operands;
    for (auto at = factors.begin(); at != scales; ++at) operands.push_back({*at});
    if (operands.size() != 2 || scales == factors.end()) return std::nullopt;
    for (auto at = scales; at != factors.end(); ++at)
      if (!take(operands, *at)) return std::nullopt;
    const auto types = types_of(operands);
    if (!types) return std::nullopt;
    operations_ += 2 * positions(free_wires(diagram_, body));
    const ExprId left = put(operands[0], (*types)[0]), right = put(operands[1], (*types)[1]);
    return diagram_.intern(Apply{find_pointwise("*"), {left, right}});
  }
  bool collect(ExprId e, std::vector<ExprId>& factors) const {
    const auto& node = diagram_.at(e).node;
    if (const auto* apply = std::get_if<Apply>(&node); apply && apply->function->role == Role::multiply)
      return collect(apply->arguments[0], factors) && collect(apply->arguments[1], factors);
    factors.push_back(e);
    const auto* access = std::get_if<Access>(&node);
    return access && contains(diagram_.inputs, access->array);
  }
  Datatype stored(ExprId read) const { return diagram_.at(std::get<Access>(diagram_.at(read).node).array).stored(); }
  // Whether an input of few bits is read once for several positions of a summed wire.
  bool is_scale(ExprId e, const std::vector<WireId>& over) const {
    const auto& at = std::get<Access>(diagram_.at(e).node).at;
    return is_small(stored(e)) && std::ranges::any_of(at, [&](const Index& index) {
             return index.divisor > 1 && std::ranges::any_of(over, [&](WireId wire) { return moves(index, wire); });
           });
  }
  bool take(std::vector<Operand>& operands, ExprId scale) const {
    for (auto& operand : operands) {
      if (!is_small(stored(operand.value)) || !renaming(diagram_, std::get<Access>(diagram_.at(operand.value).node)) ||
          !std::ranges::includes(free_wires(diagram_, operand.value), free_wires(diagram_, scale)))
        continue;
      return operand.scales.push_back(scale), true;
    }
    return false;
  }

  // One format for both operands if there is one, so that matrix units need not widen either.
  std::optional<std::array<Datatype, 2>> types_of(const std::vector<Operand>& operands) const {
    const auto formats = [&](const Operand& operand) {
      std::vector<Datatype> all{stored(operand.value)};
      for (const auto scale : operand.scales) all.push_back(stored(scale));
      return all;
    };
    const auto a = formats(operands[0]), b = formats(operands[1]);
    if (a.size() == 1 || b.size() == 1) {
      const auto& scaled = a.size() == 1 ? b : a;
      const auto plain = diagram_.at(std::get<Access>(diagram_.at(operands[a.size() == 1 ? 0 : 1].value).node).array);
      const auto type = holds_products(scaled, plain.type);
      if (!type) return std::nullopt;
      return a.size() == 1 ? std::array{plain.type, *type} : std::array{*type, plain.type};
    }
    const auto first = holds_products(a, std::nullopt), second = holds_products(b, first);
    if (!first || !second) return std::nullopt;
    return std::array{holds_products(a, second).value(), *second};
  }

  // Adds the statement of an operand that has scales, and reads it.
  ExprId put(const Operand& operand, Datatype type) {
    if (operand.scales.empty()) return operand.value;
    ExprId value = operand.value;
    for (const auto scale : operand.scales) value = diagram_.intern(Apply{find_pointwise("*"), {value, scale}});
    std::vector<WireId> wires;
    for (const auto& index : std::get<Access>(diagram_.at(operand.value).node).at) wires.push_back(*plain_wire(index));
    const auto known = std::ranges::find(before_, value, &Statement::value);
    if (known != before_.end()) return read_whole(diagram_, known->output);
    const auto& of = diagram_.statements[at_];
    const auto& result = diagram_.at(of.output);
    diagram_.arrays.push_back({free_name(diagram_, names_of(operand), result.name), type, wires, {}, result.span});
    const ArrayId array{static_cast<std::uint32_t>(diagram_.arrays.size() - 1)};
    before_.push_back({array, value, of.span});
    made_.push_back(diagram_.at(array).name);
    operations_ += static_cast<double>(operand.scales.size()) * positions(wires), values_ += positions(wires);
    return read_whole(diagram_, array);
  }
  std::vector<std::string> names_of(const Operand& operand) const {
    const auto name = [&](ExprId read) { return diagram_.at(std::get<Access>(diagram_.at(read).node).array).name; };
    std::vector<std::string> all{name(operand.value)};
    std::ranges::transform(operand.scales, std::back_inserter(all), name);
    return all;
  }
  double positions(const std::vector<WireId>& wires) const {
    double all = 1;
    for (const auto wire : wires) all *= static_cast<double>(diagram_.size(wire).value());
    return all;
  }

  Diagram diagram_;
  std::size_t at_;
  std::vector<Statement> before_;
  std::vector<std::string> made_;
  double operations_ = 0, values_ = 0;
};

}  // namespace

std::optional<Datatype> holds_products(const std::vector<Datatype>& factors, std::optional<Datatype> preferred) {
  if (factors.empty() || !std::ranges::all_of(factors, is_small)) return std::nullopt;
  std::vector<double> products{1};
  for (const auto type : factors) products = products_of(products, values_of(type));
  if (preferred && !row(*preferred).of_inputs && holds(*preferred, products)) return preferred;
  const auto found = std::ranges::find_if(matrix_formats, [&](Datatype type) { return holds(type, products); });
  return found == matrix_formats.end() ? std::nullopt : std::optional(*found);
}

std::optional<ScaledOperands> scaled_operands(const Diagram& in_blocks, const std::string& statement) {
  if (!in_blocks.before_blocks) return std::nullopt;
  const auto& before = *in_blocks.before_blocks;
  const auto name = [&](const Statement& one) { return before.at(one.output).name; };
  const auto found = std::ranges::find(before.statements, statement, name);
  if (found == before.statements.end()) return std::nullopt;
  return Scaling(before, static_cast<std::size_t>(found - before.statements.begin())).run();
}

}  // namespace napkin::orders
