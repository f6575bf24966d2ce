// Moves factors that are constant on blocks of a sum out of the sum over a block: rule S10.
//
//   sum[k](A[k] * B[k] * s[k / n])  =  sum[k_block](s[k_block] * sum[k_in_block](A[n * k_block + k_in_block] * ..))
//
// The inner sum is a product for matrix units, and the factors are applied once per block. A shorter last block is a
// separate sum that is added.
#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <utility>

#include "derive/algebra/ranges.hpp"
#include "derive/split_wire.hpp"
#include "diagram/assume.hpp"
#include "diagram/contains.hpp"
#include "diagram/index.hpp"
#include "diagram/operands.hpp"
#include "napkin/derive.hpp"

namespace napkin {
namespace {

std::vector<Index> indices_along(const Diagram& diagram, ExprId e, WireId wire) {
  std::vector<Index> all;
  any_part(diagram, e, [&](ExprId part) {
    if (const auto* read = std::get_if<Access>(&diagram.at(part).node))
      for (const auto& index : read->at)
        if (moves(index, wire)) all.push_back(index);
    return false;
  });
  return all;
}

bool reads_position(const Diagram& diagram, ExprId e, WireId wire) {
  return any_part(diagram, e, [&](ExprId part) {
    const auto* at = std::get_if<Position>(&diagram.at(part).node);
    return at && at->wire == wire;
  });
}

// The length of the blocks on which an expression is constant along a wire: the greatest common divisor of the divisors
// of its indices. 1 if there are no such blocks.
std::int64_t block_of(const Diagram& diagram, ExprId e, WireId wire) {
  if (reads_position(diagram, e, wire)) return 1;
  std::int64_t length = 0;
  for (const auto& index : indices_along(diagram, e, wire)) {
    const bool alone = index.terms.size() == 1 && index.terms[0].second == 1 && index.offset == 0;
    if (!alone) return 1;
    length = std::gcd(length, index.divisor);
  }
  return length == 0 ? 1 : length;
}

// The block length of each axis; all sums along an axis use the same one.
using BlockLengths = std::map<AxisId, std::int64_t>;

class Blocking {
 public:
  explicit Blocking(const Diagram& diagram) : made_{diagram, {}} {}

  // The block length that the sums would use, by axis.
  BlockLengths measure() {
    measuring_ = true;
    for (const auto& statement : made_.diagram.statements) blocked(statement.value);
    return std::move(lengths_);
  }
  SumsInBlocks run(BlockLengths lengths) {
    lengths_ = std::move(lengths);
    const auto before = std::make_shared<const Diagram>(made_.diagram);
    for (auto& statement : made_.diagram.statements) {
      statement_ = statement.output;
      const ExprId value = blocked(statement.value);
      if (value != statement.value) made_.diagram.before_blocks = before;
      statement.value = value;
    }
    return std::move(made_);
  }

 private:
  Diagram& diagram() { return made_.diagram; }

  ExprId blocked(ExprId e) {
    const ExprId plain = with_operands(diagram(), e, [&](ExprId operand) { return blocked(operand); });
    const Expr made = diagram().at(plain);
    const auto* reduce = std::get_if<Reduce>(&made.node);
    if (!reduce || reduce->reduction->combine->role != Role::add) return plain;
    for (const auto wire : reduce->over)
      if (const auto better = in_blocks(*reduce, wire, made.span)) return *better;
    return plain;
  }

  struct Factors {
    std::vector<ExprId> over, under;        // factors and divisors that vary within blocks
    std::vector<ExprId> waiting, divisors;  // factors and divisors that are constant on blocks
    std::int64_t length = 0;
  };
  struct Sum {
    const Reduce& reduce;
    WireId wire;
    const Factors& factors;
    Span span;
  };
  // The positions after all whole blocks, if a wire of their own counts them.
  struct LastBlock {
    WireId whole, inside;
    std::int64_t begin, length;
  };
  using Rewrite = std::function<ExprId(ExprId)>;

  void collect(ExprId e, WireId wire, bool over, Factors& factors) {
    const auto* apply = std::get_if<Apply>(&diagram().at(e).node);
    const auto role = apply ? apply->function->role : Role::other;
    if (role == Role::multiply || role == Role::divide) {
      const auto arguments = apply->arguments;
      collect(arguments[0], wire, over, factors);
      collect(arguments[1], wire, role == Role::multiply ? over : !over, factors);
      return;
    }
    const auto length = block_of(diagram(), e, wire);
    if (length == 1) return (over ? factors.over : factors.under).push_back(e);
    factors.length = std::gcd(factors.length, length);
    (over ? factors.waiting : factors.divisors).push_back(e);
  }

  // Whether two factors remain of which each varies along a wire that the other lacks: a contraction.
  bool contracts(const std::vector<ExprId>& factors, const Reduce& reduce) {
    if (factors.size() != 2) return false;
    const auto a = free_wires(diagram(), factors[0]), b = free_wires(diagram(), factors[1]);
    const auto lacks = [&](const std::vector<WireId>& one, const std::vector<WireId>& other) {
      return std::ranges::any_of(other, [&](WireId w) { return !contains(one, w) && !contains(reduce.over, w); });
    };
    return lacks(a, b) && lacks(b, a);
  }
  // Whether only inputs vary along the wire. Arrays that statements make must be read at their own place, so that they
  // can be fused.
  bool of_inputs(ExprId e, WireId wire) {
    for (const auto array : arrays_read(diagram(), e))
      if (contains(diagram().at(array).wires, wire) && !contains(diagram().inputs, array)) return false;
    return true;
  }

  // Whether the product of these factors stays within f32: the file multiplies them itself, or both are exact in f16.
  bool keeps_range(ExprId body, const std::vector<ExprId>& factors) {
    const auto multiplies = [&](ExprId part) {
      const auto* apply = std::get_if<Apply>(&diagram().at(part).node);
      return apply && apply->function->role == Role::multiply && std::ranges::is_permutation(apply->arguments, factors);
    };
    const Ranges ranges(diagram(), [](ArrayId) { return std::nullopt; });
    return any_part(diagram(), body, multiplies) ||
           std::ranges::all_of(factors, [&](ExprId e) { return ranges.of(e).magnitude() <= greatest(Datatype::f16); });
  }

  std::optional<ExprId> in_blocks(const Reduce& reduce, WireId wire, Span span) {
    Factors factors;
    collect(reduce.body, wire, true, factors);
    const auto size = diagram().size(wire);
    if (factors.length <= 1 || !factors.under.empty() || !size || !contracts(factors.over, reduce) ||
        !std::ranges::all_of(factors.over, [&](ExprId e) { return of_inputs(e, wire); }) ||
        !keeps_range(reduce.body, factors.over))
      return std::nullopt;
    auto& length = lengths_[diagram().at(wire).axis];
    if (measuring_) length = std::gcd(length, factors.length);
    if (measuring_ || length <= 1) return std::nullopt;
    const Sum sum{reduce, wire, factors, span};
    if (*size < length) return in_one_block(sum, length);
    const auto split = split_wire(wire, length);
    const ExprId whole = over_blocks(sum, split.inside, {split.outer}, rewriter(split));
    const auto rest = *size % length;
    if (rest == 0) return whole;
    const LastBlock last{wire, last_wire(split, rest), *size - rest, length};
    return apply("+", whole, over_blocks(sum, last.inside, {}, rewriter(last)));
  }
  // The wire is shorter than a block, so the factors are constant on all of it.
  ExprId in_one_block(const Sum& sum, std::int64_t length) {
    assume_at_most(diagram(), diagram().at(sum.wire).axis, length);
    return over_blocks(sum, sum.wire, {}, rewriter(LastBlock{sum.wire, sum.wire, 0, length}));
  }
  // The sum over `in_block`, then the constant factors, then the sum over the `outside` wires.
  ExprId over_blocks(const Sum& sum, WireId in_block, std::vector<WireId> outside, const Rewrite& rewritten) {
    auto inside = sum.reduce.over;
    std::erase_if(inside, [&](WireId w) { return w == sum.wire || waits_for(sum.factors, w); });
    for (const auto w : sum.reduce.over)
      if (w != sum.wire && !contains(inside, w)) outside.push_back(w);
    inside.push_back(in_block);
    std::ranges::sort(inside), std::ranges::sort(outside);
    const auto product_of = [&](std::vector<ExprId> all) {
      for (auto& e : all) e = rewritten(e);
      return product(all);
    };
    const auto* reduction = sum.reduce.reduction;
    ExprId value = diagram().intern(Reduce{reduction, inside, product_of(sum.factors.over)}, sum.span);
    for (const auto factor : sum.factors.waiting) value = apply("*", value, rewritten(factor));
    if (!sum.factors.divisors.empty()) value = apply("/", value, product_of(sum.factors.divisors));
    return outside.empty() ? value : diagram().intern(Reduce{reduction, outside, value}, sum.span);
  }
  bool waits_for(const Factors& factors, WireId wire) {
    const auto varies = [&](ExprId e) { return contains(free_wires(diagram(), e), wire); };
    return std::ranges::any_of(factors.waiting, varies) || std::ranges::any_of(factors.divisors, varies);
  }

  // A wire has the same block wires in all statements, and all wires of an axis have the same block axes.
  SplitWire split_wire(WireId wire, std::int64_t length) {
    const auto known = std::ranges::find(splits_, wire, &SplitWire::whole);
    const auto split = known != splits_.end() ? *known : splits_.emplace_back(new_split(wire, length));
    const auto name = [&](WireId id) { return diagram().at(id).name; };
    made_.made.push_back({diagram().at(statement_).name, name(wire), name(split.outer), name(split.inside), length,
                          *diagram().size(wire) % length});
    return split;
  }
  SplitWire new_split(WireId wire, std::int64_t length) {
    const auto axis = [&](WireId id) { return diagram().at(id).axis; };
    const auto name = diagram().at(wire).name;
    const auto like = std::ranges::find(splits_, axis(wire), [&](const SplitWire& one) { return axis(one.whole); });
    if (like != splits_.end())
      return {wire, add_wire(diagram(), name + "_block", axis(like->outer)),
              add_wire(diagram(), name + "_in_block", axis(like->inside)), length};
    const auto outer = add_wire(diagram(), name + "_block", *diagram().size(wire) / length);
    const auto inside = add_wire(diagram(), name + "_in_block", length);
    if (*diagram().size(wire) % length == 0) assume_blocks(diagram(), axis(wire), axis(outer), axis(inside), length);
    return {wire, outer, inside, length};
  }
  // The wire of the last block of a split wire; the last blocks of an axis share one axis.
  WireId last_wire(const SplitWire& split, std::int64_t rest) {
    const auto known = lasts_.find(split.whole);
    if (known != lasts_.end()) return known->second;
    const auto axis = [&](WireId id) { return diagram().at(id).axis; };
    const auto name = diagram().at(split.whole).name + "_in_last";
    const auto like =
        std::ranges::find_if(lasts_, [&](const auto& one) { return axis(one.first) == axis(split.whole); });
    const auto made =
        like != lasts_.end() ? add_wire(diagram(), name, axis(like->second)) : add_wire(diagram(), name, rest);
    if (like == lasts_.end()) {
      assume_ragged_blocks(diagram(), {axis(split.whole), axis(split.outer), axis(split.inside), axis(made)});
      assume_at_most(diagram(), axis(split.inside), split.length);
    }
    return lasts_[split.whole] = made;
  }

  // The expression with `position` in place of the wire's position, and with each index rewritten by `index`.
  ExprId rewritten(ExprId e, WireId whole, const std::function<ExprId()>& position,
                   const std::function<Index(const Index&)>& index) {
    const auto node = diagram().at(e).node;
    if (const auto* at = std::get_if<Position>(&node)) return at->wire == whole ? position() : e;
    if (const auto* access = std::get_if<Access>(&node)) {
      Access made{access->array, {}};
      for (const auto& one : access->at) made.at.push_back(index(one));
      return diagram().intern(std::move(made), diagram().at(e).span);
    }
    return with_operands(diagram(), e, [&](ExprId operand) { return rewritten(operand, whole, position, index); });
  }
  Rewrite rewriter(const SplitWire& split) {
    return [this, split](ExprId e) {
      return rewritten(
          e, split.whole, [&] { return position(diagram(), split); },
          [&](const Index& index) { return in_blocks(index, split); });
    };
  }
  Rewrite rewriter(const LastBlock& last) {
    return [this, last](ExprId e) {
      const auto position = [&] {
        const ExprId inside = diagram().intern(Position{last.inside});
        return last.begin == 0 ? inside
                               : apply("+", inside, diagram().intern(Constant{static_cast<double>(last.begin)}));
      };
      return rewritten(e, last.whole, position, [&](const Index& index) { return in_last(index, last); });
    };
  }
  // An expression that is constant on blocks is read at the number of the last block.
  static Index in_last(const Index& index, const LastBlock& last) {
    if (index.divisor % last.length == 0 && index == Index{{{last.whole, 1}}, 0, index.divisor})
      return {{}, last.begin / index.divisor, 1};
    auto made = index;
    for (auto& [wire, coefficient] : made.terms)
      if (wire == last.whole) wire = last.inside, made.offset += coefficient * last.begin;
    std::ranges::sort(made.terms);
    return made;
  }
  // An expression that is constant on blocks is read at the number of the block.
  static Index in_blocks(const Index& index, const SplitWire& split) {
    const bool alone = index == Index{{{split.whole, 1}}, 0, index.divisor};
    if (!alone || index.divisor == 1 || index.divisor % split.length != 0) return divided(index, split);
    return {{{split.outer, 1}}, 0, index.divisor / split.length};
  }
  ExprId product(const std::vector<ExprId>& factors) {
    ExprId value = factors[0];
    for (std::size_t i = 1; i < factors.size(); ++i) value = apply("*", value, factors[i]);
    return value;
  }
  ExprId apply(std::string_view function, ExprId a, ExprId b) {
    return diagram().intern(Apply{find_pointwise(function), {a, b}});
  }

  SumsInBlocks made_;
  BlockLengths lengths_;
  bool measuring_ = false;
  ArrayId statement_{};
  std::vector<SplitWire> splits_;
  std::map<WireId, WireId> lasts_;  // the wire of the last block, by split wire
};

}  // namespace

SumsInBlocks sums_in_blocks(const Diagram& diagram) { return Blocking(diagram).run(Blocking(diagram).measure()); }

}  // namespace napkin
