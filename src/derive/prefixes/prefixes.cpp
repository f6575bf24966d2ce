// Reductions of what lies before a position, taken in chunks of the axis: rule S9.
//
//   y[t] = sum[x](where(x <= t, v(t) * u(x), 0)),   t = n * t_chunk + t_in_chunk and x cut alike:
//   S[t_chunk] = sum of u over a chunk,   U[t_chunk] = sum of S over the chunks before,
//   y[t] = v(t) * U[t_chunk] + sum over the chunk itself, as the file has it
//
// Statements are written again with both wires cut, so that every later stage treats them as any other.
#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "derive/columns.hpp"
#include "derive/prefixes/prefix.hpp"
#include "derive/prefixes/write_out.hpp"
#include "derive/split_wire.hpp"
#include "diagram/assume.hpp"
#include "diagram/compact.hpp"
#include "diagram/contains.hpp"
#include "diagram/index.hpp"
#include "diagram/operands.hpp"
#include "napkin/derive.hpp"

namespace napkin {
namespace {

constexpr std::int64_t longest_chunk = 4096;  // its own positions are compared with each other

// Axes that are cut in the same places, by the first of them.
using Alike = std::map<AxisId, AxisId>;

class Chunking {
 public:
  Chunking(const Diagram& diagram, std::int64_t length) : length_(length), made_{diagram, {}, {}} {}

  PrefixesInChunks run() {
    const auto before = made_.diagram;
    find_axes();
    if (!alike_.empty()) {
      split_wires();
      for (const auto& statement : std::exchange(diagram().statements, {})) write(statement);
      drop_unused_expressions(diagram());
    }
    if (!possible_ || made_.made.empty()) made_.diagram = before, made_.made.clear();
    return std::move(made_);
  }
  std::vector<std::int64_t> sizes() {
    find_axes();
    std::vector<std::int64_t> all;
    for (const auto& [axis, first] : alike_) all.push_back(*diagram().at(axis).size);
    return all;
  }

 private:
  Diagram& diagram() { return made_.diagram; }
  std::string name(WireId wire) { return diagram().at(wire).name; }

  // ---- which axes ----
  void find_axes() {
    write_out(diagram());
    auto seen = diagram();
    for (const auto& statement : diagram().statements)
      any_part(diagram(), statement.value, [&](ExprId part) { return look_at(seen, statement, part), false; });
  }
  void look_at(Diagram& seen, const Statement& statement, ExprId part) {
    const auto* reduce = std::get_if<Reduce>(&diagram().at(part).node);
    if (!reduce) return;
    const auto found = separate_prefix(seen, Reduce(*reduce));
    if (const auto* separated = std::get_if<Separated>(&found)) return cut_alike(separated->edge);
    if (const auto* no = std::get_if<Inseparable>(&found))
      made_.refused.push_back(
          {diagram().at(statement.output).name, name(no->edge.kept), no->reason, diagram().at(part).span});
  }
  void cut_alike(const PrefixEdge& edge) {
    const auto t = diagram().at(edge.kept).axis, x = diagram().at(edge.reduced).axis;
    if (*diagram().at(t).size % length_ != 0 || *diagram().at(t).size == length_) return;
    const auto first = [&](AxisId axis) { return alike_.try_emplace(axis, axis).first->second; };
    const auto a = first(t), b = first(x);
    for (auto& [axis, same] : alike_)
      if (same == b) same = a;
  }

  // ---- wires ----
  void split_wires() {
    const auto wires = diagram().wires;
    std::map<AxisId, std::pair<AxisId, AxisId>> cut;  // by the first of the axes that are cut alike
    for (std::uint32_t w = 0; w < wires.size(); ++w) {
      const auto found = alike_.find(wires[w].axis);
      if (found == alike_.end()) continue;
      if (!cut.contains(found->second)) cut[found->second] = new_axes(found->second);
      const auto [chunk, inside] = cut[found->second];
      splits_.emplace(WireId{w}, SplitWire{WireId{w}, add_wire(diagram(), wires[w].name + "_chunk", chunk),
                                           add_wire(diagram(), wires[w].name + "_in_chunk", inside), length_});
    }
    for (const bool named : {true, false})  // the axis that the chunks are named after comes first
      for (const auto& [axis, first] : alike_)
        if ((axis == first) == named) assume_parts(diagram(), axis, cut.at(first).first, cut.at(first).second, length_);
    for (const auto& [axis, first] : alike_)
      if (axis != first) assume_same_size(diagram(), first, axis);
    for (const auto& statement : diagram().statements) {
      auto& own = diagram().at(statement.output).wires;
      std::vector<WireId> all;
      for (const auto wire : own) append(all, wire);
      own = std::move(all);
    }
  }
  std::pair<AxisId, AxisId> new_axes(AxisId whole) {
    const auto axis = diagram().at(whole);
    const auto added = [&](const char* suffix, std::int64_t size) {
      diagram().axes.push_back({axis.name + suffix, size, axis.span});
      return AxisId{static_cast<std::uint32_t>(diagram().axes.size() - 1)};
    };
    const auto chunk = added("_chunk", *axis.size / length_);
    return {chunk, added("_in_chunk", length_)};
  }
  void append(std::vector<WireId>& all, WireId wire) const {
    const auto found = splits_.find(wire);
    if (found == splits_.end()) return all.push_back(wire);
    all.insert(all.end(), {found->second.outer, found->second.inside});
  }

  // ---- expressions ----
  void write(const Statement& statement) {
    statement_ = statement;
    known_.clear();
    const auto value = rewritten(statement.value);
    diagram().statements.push_back({statement.output, value, statement.span});
  }
  ExprId rewritten(ExprId e) {
    if (const auto known = known_.find(e); known != known_.end()) return known->second;
    const auto value = rewritten_once(e);
    return known_[e] = value;
  }
  ExprId rewritten_once(ExprId e) {
    const auto node = diagram().at(e).node;
    if (const auto* at = std::get_if<Position>(&node)) {
      const auto split = splits_.find(at->wire);
      return split == splits_.end() ? e : position(diagram(), split->second);
    }
    if (const auto* access = std::get_if<Access>(&node)) return rewritten(*access, diagram().at(e).span);
    if (const auto* reduce = std::get_if<Reduce>(&node)) return rewritten(*reduce, diagram().at(e).span);
    return with_operands(diagram(), e, [&](ExprId operand) { return rewritten(operand); });
  }
  ExprId rewritten(const Access& access, Span span) {
    Access made{access.array, {}};
    const bool given = contains(diagram().inputs, access.array);
    for (const auto& index : access.at) {
      const auto whole = along(index);
      if (given || !whole)
        made.at.push_back(divided(index));
      else
        made.at.insert(made.at.end(), {{{{whole->outer, 1}}}, {{{whole->inside, 1}}}});
    }
    if (made.at.size() != diagram().at(access.array).wires.size()) possible_ = false;
    return possible_ ? diagram().intern(std::move(made), span) : diagram().intern(Constant{0});
  }
  std::optional<SplitWire> along(const Index& index) const {
    const auto wire = plain_wire(index);
    const auto found = wire ? splits_.find(*wire) : splits_.end();
    return found == splits_.end() ? std::nullopt : std::optional(found->second);
  }
  Index divided(Index index) const {
    for (const auto& [wire, split] : splits_) index = napkin::divided(index, split);
    return index;
  }
  ExprId rewritten(const Reduce& reduce, Span span) {
    const auto found = separate_prefix(diagram(), reduce);
    const auto* separated = std::get_if<Separated>(&found);
    if (separated && splits_.contains(separated->edge.kept) && splits_.contains(separated->edge.reduced))
      return in_chunks(reduce, *separated, span);
    std::vector<WireId> over;
    for (const auto wire : reduce.over) append(over, wire);
    return reduction(reduce.reduction, std::move(over), rewritten(reduce.body), span);
  }

  // ---- one reduction ----
  ExprId in_chunks(const Reduce& reduce, const Separated& parts, Span span) {
    const auto& t = splits_.at(parts.edge.kept);
    const auto own = std::exchange(splits_.at(parts.edge.reduced),
                                   {parts.edge.reduced, t.outer, splits_.at(parts.edge.reduced).inside, length_});
    auto outside = std::exchange(known_, {});
    known_[parts.edge.condition] = edge(parts.edge, own.inside, t.inside);
    const ExprId chunk = reduction(reduce.reduction, {own.inside}, rewritten(reduce.body), span);
    made_.made.push_back({diagram().at(statement_.output).name, name(t.whole), name(t.outer), name(t.inside), {}});
    const bool sums = reduce.reduction->combine->role == Role::add;
    const ExprId before = sums ? sum_before(reduce, parts, own) : extreme_before(reduce, parts, own);
    splits_.at(parts.edge.reduced) = own;
    known_ = std::move(outside);
    return diagram().intern(Apply{reduce.reduction->combine, {before, chunk}}, span);
  }
  // `x <= t` of two other wires, or `x < t` where equal ones are asked for apart.
  ExprId edge(const PrefixEdge& edge, WireId x, WireId t, bool strict = false) {
    const bool with = edge.with && !strict;
    const auto* sign = edge.before ? (with ? "<=" : "<") : (with ? ">=" : ">");
    return apply(sign, {diagram().intern(Position{x}), diagram().intern(Position{t})});
  }

  // max(g(t) + h(x)) = g(t) + max(h(x)).
  ExprId extreme_before(const Reduce& reduce, const Separated& parts, const SplitWire& own) {
    const auto identity = number(reduce.reduction->identity);
    const ExprId each = guarded(parts.reduced, total(parts.reduced.exponents), identity);
    const ExprId states = state(reduction(reduce.reduction, {own.inside}, each, {}), reduce.reduction->state_name);
    const ExprId all = state(before(reduce.reduction, parts.edge, own, in(states, own), identity),
                             std::string(reduce.reduction->state_name) + "_before");
    const ExprId moved = parts.kept.exponents.empty() ? all : apply("+", {total(parts.kept.exponents), all});
    return guarded(parts.kept, moved, identity);
  }
  ExprId sum_before(const Reduce& reduce, const Separated& parts, const SplitWire& own) {
    const auto zero = number(0);
    const auto references = references_of(parts, own);
    auto factors = rewritten(parts.reduced.factors);
    if (references)
      factors.push_back(exponential(parts, apply("-", {total(parts.reduced.exponents), references->own})));
    const ExprId each = quotient(std::move(factors), parts.reduced.divisors);
    const ExprId states = state(reduction(reduce.reduction, {own.inside}, guarded(parts.reduced, each, zero), {}), "S");
    ExprId added = in(states, own);
    if (references)
      added = apply("*", {added, exponential(parts, apply("-", {in(references->own, own), references->before}))});
    const ExprId all = state(before(reduce.reduction, parts.edge, own, added, zero), "S_before");
    return first_guarded(parts.edge, of_all_before(reduce, parts, all, references));
  }
  // The greatest exponent of each chunk, and of all chunks before it. Where guards may leave nothing of a chunk it is
  // the least number, because infinity has no difference from itself.
  struct References {
    ExprId own, before;
  };
  std::optional<References> references_of(const Separated& parts, const SplitWire& own) {
    if (parts.reduced.exponents.empty()) return std::nullopt;
    const auto* max = find_reduction("max");
    const ExprId h = total(parts.reduced.exponents), none = number(max->identity);
    ExprId greatest = reduction(max, {own.inside}, guarded(parts.reduced, h, none), {});
    if (!parts.reduced.guards.empty())
      greatest = apply("max", {greatest, number(std::numeric_limits<float>::lowest())});
    greatest = state(greatest, max->state_name);
    return References{greatest, state(this->before(max, parts.edge, own, in(greatest, own), none), "m_before")};
  }
  // What does not vary along the wires of an inner sum stands outside of it, so that a product of matrices is left.
  ExprId of_all_before(const Reduce& reduce, const Separated& parts, ExprId states,
                       const std::optional<References>& references) {
    auto factors = rewritten(parts.kept.factors);
    auto exponents = rewritten(parts.kept.exponents);
    if (references) exponents.push_back(references->before);
    if (!exponents.empty()) factors.push_back(exponential(parts, joined("+", exponents)));
    if (parts.inner.empty()) {
      factors.push_back(states);
      return guarded(parts.kept, quotient(std::move(factors), parts.kept.divisors), number(0));
    }
    const auto stays = [&](ExprId e) { return !varies(e, parts.inner); };
    const bool all_inside =
        !std::ranges::all_of(parts.kept.divisors, stays) || !std::ranges::all_of(parts.kept.guards, stays);
    const auto inside = all_inside ? factors.begin() : std::stable_partition(factors.begin(), factors.end(), stays);
    std::vector<ExprId> inner(inside, factors.end());
    factors.erase(inside, factors.end());
    inner.push_back(states);
    if (all_inside)
      return reduction(reduce.reduction, parts.inner,
                       guarded(parts.kept, quotient(std::move(inner), parts.kept.divisors), number(0)), {});
    factors.insert(factors.begin(), reduction(reduce.reduction, parts.inner, joined("*", inner), {}));
    return guarded(parts.kept, quotient(std::move(factors), parts.kept.divisors), number(0));
  }
  // Where no chunk lies before, the factors of t need not be numbers.
  ExprId first_guarded(const PrefixEdge& edge, ExprId value) {
    const auto& t = splits_.at(edge.kept);
    const ExprId chunk = diagram().intern(Position{t.outer});
    const ExprId some =
        edge.before ? apply(">", {chunk, number(0)}) : apply("<", {chunk, apply("-", {size(t.outer), number(1)})});
    return apply("where", {some, value, number(0)});
  }
  ExprId size(WireId wire) { return diagram().intern(Size{diagram().at(wire).axis}); }
  // Over the chunks that lie before, or behind.
  ExprId before(const Reduction* reduction, const PrefixEdge& edge, const SplitWire& own, ExprId value,
                ExprId identity) {
    const auto& t = splits_.at(edge.kept);
    const ExprId there = this->edge(edge, own.outer, t.outer, true);
    return this->reduction(reduction, {own.outer}, apply("where", {there, value, identity}), {});
  }
  // What stands at the chunk of t, at another chunk.
  ExprId in(ExprId read, const SplitWire& own) {
    auto access = std::get<Access>(diagram().at(read).node);
    const auto chunk = splits_.at(own.whole).outer;
    for (auto& index : access.at)
      if (index == Index{{{chunk, 1}}}) index = {{{own.outer, 1}}};
    return diagram().intern(std::move(access));
  }
  // A statement of its own, as wide as the sums of the one that reads it; the same value is computed once.
  ExprId state(ExprId value, std::string_view name) {
    const auto type = accumulator(diagram(), diagram().at(statement_.output).type, value);
    const auto known = states_.find({value, type});
    if (known != states_.end()) return known->second;
    auto wires = free_wires(diagram(), value);
    std::ranges::stable_sort(wires, {}, [&](WireId wire) { return place(wire); });
    const auto array = new_array(diagram(), std::string(name), type, std::move(wires), statement_.span);
    diagram().statements.push_back({array, value, statement_.span});
    made_.made.back().states.push_back(diagram().at(array).name);
    return states_[{value, type}] = read_whole(diagram(), array);
  }
  // As in the statement's own array; what that lacks stands behind the chunk.
  std::ptrdiff_t place(WireId wire) {
    const auto& own = diagram().at(statement_.output).wires;
    const auto found = std::ranges::find(own, wire);
    if (found != own.end()) return 2 * (found - own.begin());
    const auto chunk = std::ranges::find_if(own, [&](WireId w) {
      return std::ranges::any_of(splits_, [&](const auto& split) { return split.second.outer == w; });
    });
    return chunk == own.end() ? -1 : 2 * (chunk - own.begin()) + 1;
  }

  // ---- small things ----
  bool varies(ExprId e, const std::vector<WireId>& wires) {
    const auto own = free_wires(diagram(), e);
    return std::ranges::any_of(wires, [&](WireId wire) { return contains(own, wire); });
  }
  ExprId quotient(std::vector<ExprId> factors, const std::vector<ExprId>& divisors) {
    const ExprId value = factors.empty() ? number(1) : joined("*", factors);
    return divisors.empty() ? value : apply("/", {value, joined("*", rewritten(divisors))});
  }
  ExprId total(const std::vector<ExprId>& all) { return joined("+", rewritten(all)); }
  std::vector<ExprId> rewritten(std::vector<ExprId> all) {
    for (auto& e : all) e = rewritten(e);
    return all;
  }
  ExprId joined(std::string_view function, const std::vector<ExprId>& all) {
    ExprId value = all.at(0);
    for (std::size_t i = 1; i < all.size(); ++i) value = apply(function, {value, all[i]});
    return value;
  }
  ExprId exponential(const Separated& parts, ExprId of) { return diagram().intern(Apply{parts.exponential, {of}}); }
  ExprId guarded(const Separated::Side& side, ExprId value, ExprId otherwise) {
    for (const auto guard : side.guards) value = apply("where", {rewritten(guard), value, otherwise});
    return value;
  }
  ExprId number(double value) { return diagram().intern(Constant{value}); }
  ExprId apply(std::string_view function, std::vector<ExprId> arguments) {
    return diagram().intern(Apply{find_pointwise(function), std::move(arguments)});
  }
  ExprId reduction(const Reduction* reduction, std::vector<WireId> over, ExprId body, Span span) {
    std::ranges::sort(over);
    return diagram().intern(Reduce{reduction, std::move(over), body}, span);
  }

  std::int64_t length_;
  PrefixesInChunks made_;
  Alike alike_;
  std::map<WireId, SplitWire> splits_;
  Statement statement_{};
  std::map<ExprId, ExprId> known_;                        // of the statement, with the wires cut as they are now
  std::map<std::pair<ExprId, Datatype>, ExprId> states_;  // by value and type: how their arrays are read
  bool possible_ = true;                                  // every array is read where its chunks are known
};

}  // namespace

PrefixesInChunks prefixes_in_chunks(const Diagram& diagram, std::int64_t length) {
  return Chunking(diagram, length).run();
}

std::vector<std::int64_t> chunk_lengths(const Diagram& diagram) {
  const auto sizes = Chunking(diagram, 1).sizes();
  std::vector<std::int64_t> all;
  if (sizes.empty()) return all;
  const auto least = std::ranges::min(sizes);
  for (std::int64_t length = 2; length <= std::min(least / 2, longest_chunk); ++length)
    if (std::ranges::all_of(sizes, [&](std::int64_t size) { return size % length == 0; })) all.push_back(length);
  return all;
}

}  // namespace napkin
