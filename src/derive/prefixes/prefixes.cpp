// Reductions over the positions before another position are computed in chunks of the axis: rule S9.
//
//   y[t] = sum[x](where(x <= t, v(t) * u(x), 0)),   t = n * t_chunk + t_in_chunk and x cut alike:
//   S[t_chunk] = sum of u over a chunk,   U[t_chunk] = sum of S over the chunks before,
//   y[t] = v(t) * U[t_chunk] + sum over the chunk itself, as the file has it
//
// The statements are rewritten with both wires cut, so that every later stage treats them like any other. A shorter
// last chunk gets wires and statements of its own.
#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "derive/algebra/finite.hpp"
#include "derive/columns.hpp"
#include "derive/prefixes/cut.hpp"
#include "derive/prefixes/groups.hpp"
#include "derive/prefixes/prefix.hpp"
#include "derive/prefixes/write_out.hpp"
#include "diagram/compact.hpp"
#include "diagram/contains.hpp"
#include "diagram/operands.hpp"
#include "napkin/derive.hpp"

namespace napkin {
namespace {

constexpr std::int64_t longest_chunk = 4096;  // positions within one chunk are compared with each other

// A value of each whole chunk of x, read at the chunk of t, and the value of the last chunk if that lies behind t.
struct OfChunks {
  ExprId whole;
  std::optional<ExprId> last;
};

class Chunking : public CutAxes {
 public:
  Chunking(const Diagram& diagram, std::int64_t length) : CutAxes(length), made_{diagram, {}, {}} {}
  // Cuts the axes of these chunks only, which are chunks of an earlier cut.
  Chunking(const Diagram& diagram, std::int64_t of_group, std::vector<std::string> chunks)
      : CutAxes(of_group, {"_group", "_in_group", "_in_last", "_chunk"}),
        made_{diagram, {}, {}},
        only_(std::move(chunks)) {}

  PrefixesInChunks run() {
    const auto before = made_.diagram;
    find_axes();
    if (!alike_.empty()) {
      cut_wires(alike_);
      write_statements();
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

 protected:
  Diagram& diagram() override { return made_.diagram; }

  ExprId reduced(const Reduce& reduce, Span span) override {
    const auto found = separate_prefix(diagram(), reduce);
    const auto* separated = std::get_if<Separated>(&found);
    const bool in_pieces = separated && is_cut(separated->edge.kept) && is_cut(separated->edge.reduced);
    return in_pieces ? in_chunks(reduce, *separated, span) : plainly(reduce, span);
  }

 private:
  std::string name(WireId wire) { return diagram().at(wire).name; }

  // ---- which axes ----
  void find_axes() {
    if (only_.empty()) write_out(diagram());
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
    if (!only_.empty() && !contains(only_, name(edge.kept))) return;
    if (*diagram().at(t).size <= length_) return;
    const auto first = [&](AxisId axis) { return alike_.try_emplace(axis, axis).first->second; };
    const auto a = first(t), b = first(x);
    for (auto& [axis, same] : alike_)
      if (same == b) same = a;
  }

  // ---- one reduction ----
  ExprId in_chunks(const Reduce& reduce, const Separated& parts, Span span) {
    const auto& edge = parts.edge;
    const auto own = at_piece(edge.reduced, at_chunk_of_kept(edge), in_last(edge.kept), [&] {
      const auto x = inside_own(edge.reduced), t = inside_own(edge.kept);
      known_[edge.condition] = compared(edge, x, t);
      known_[difference(edge.kept, edge.reduced)] = difference(t, x);
      return reduction(reduce.reduction, {x}, rewritten(reduce.body), span);
    });
    note(reduce, edge);
    if (!earlier(edge).any()) return own;
    const bool sums = reduce.reduction->combine->role == Role::add;
    const ExprId before = sums ? sum_before(reduce, parts) : extreme_before(reduce, parts);
    return diagram().intern(Apply{reduce.reduction->combine, {before, own}}, span);
  }
  WireId inside_own(WireId wire) const { return in_last(wire) ? *cut(wire).last : cut(wire).chunks.inside; }
  WireId chunk(const PrefixEdge& edge) const { return cut(edge.kept).chunks.outer; }
  // How x is cut, with the chunk of t as its chunk.
  CutWire at_chunk_of_kept(const PrefixEdge& edge) const {
    auto x = cut(edge.reduced);
    x.chunks.outer = chunk(edge);
    return x;
  }
  // `x <= t` of two other wires; `strict` gives `x < t`, for edges that treat equal positions separately.
  ExprId compared(const PrefixEdge& edge, WireId x, WireId t, bool strict = false) {
    const bool with = edge.with && !strict;
    const auto* sign = edge.before ? (with ? "<=" : "<") : (with ? ">=" : ">");
    return apply(sign, {at(x), at(t)});
  }
  // Which chunks lie before the current chunk of t, or, for a suffix, behind it.
  struct Earlier {
    bool some = false, all = false, last = false;  // some or all of the whole chunks; the last chunk
    bool any() const { return some || all || last; }
  };
  Earlier earlier(const PrefixEdge& edge) const {
    const bool at_end = in_last(edge.kept);
    if (edge.before) return {!at_end, at_end, false};
    return {!at_end, false, !at_end && cut(edge.kept).last};
  }
  // Notes the reduction for the report, once for all pieces of a statement.
  void note(const Reduce& reduce, const PrefixEdge& edge) {
    const auto [found, fresh] = noted_.try_emplace({array_, reduce.body}, made_.made.size());
    at_ = found->second;
    const auto& own = cut(edge.kept);
    const auto rest = own.last ? *diagram().size(*own.last) : 0;
    if (fresh)
      made_.made.push_back(
          {diagram().at(array_).name, name(edge.kept), name(chunk(edge)), name(own.chunks.inside), length_, rest, {}});
  }

  // Makes a value for each chunk. `make` gets the wire of the positions in the chunk, and whether it is the last chunk.
  template <class Make>
  OfChunks of_chunks(const PrefixEdge& edge, const Make& make) {
    const auto x = at_chunk_of_kept(edge);
    OfChunks all{at_piece(edge.reduced, x, false, [&] { return make(x.chunks.inside, false); }), {}};
    if (earlier(edge).last) all.last = at_piece(edge.reduced, x, true, [&] { return make(*x.last, true); });
    return all;
  }
  // ---- exponents c * (t - x): the distance from x to the next chunk, of the chunks between, and inside that of t ----
  std::vector<ExprId> of_reduced(const Separated& parts) {
    const auto x = inside_own(parts.edge.reduced);
    return with_distance(parts, parts.reduced, parts.edge.before ? to_next_chunk(x) : at(x));
  }
  std::vector<ExprId> of_kept(const Separated& parts) {
    const auto t = inside_own(parts.edge.kept);
    return with_distance(parts, parts.kept, parts.edge.before ? at(t) : to_next_chunk(t));
  }
  std::vector<ExprId> with_distance(const Separated& parts, const Separated::Side& side, ExprId distance) {
    auto all = rewritten(side.exponents);
    for (const auto slope : parts.slopes) all.push_back(over_distance(parts, slope, distance));
    return all;
  }
  // Moves an exponent from a chunk of x to the current chunk of t. If guards leave out a whole chunk, its exponent
  // stays as it is.
  ExprId moved_here(const Separated& parts, ExprId exponent, bool last) {
    const ExprId own = exponent;
    for (const auto slope : parts.slopes)
      exponent = apply("+", {exponent, over_distance(parts, slope, between(parts.edge, last))});
    if (own == exponent || parts.reduced.guards.empty()) return exponent;
    return apply("where", {apply(">", {own, nothing()}), exponent, nothing()});
  }
  ExprId nothing() { return number(std::numeric_limits<float>::lowest()); }
  // What a distance adds to an exponent; in a suffix t - x is negative.
  ExprId over_distance(const Separated& parts, ExprId slope, ExprId distance) {
    if (!parts.edge.before) distance = apply("neg", {distance});
    const auto* constant = std::get_if<Constant>(&diagram().at(slope).node);
    return constant && constant->value == 1 ? distance : apply("*", {rewritten(slope), distance});
  }
  ExprId between(const PrefixEdge& edge, bool last) {
    const auto t = chunk(edge), x = cut(edge.reduced).chunks.outer;
    const ExprId of_t = in_last(edge.kept) ? size_of(t) : at(t), of_x = last ? size_of(t) : at(x);
    const auto inside = cut(edge.kept).chunks.inside;
    return edge.before ? between_chunks(of_x, of_t, inside) : between_chunks(of_t, of_x, inside);
  }

  // Reduces over the earlier chunks. `whole` is the value of a whole chunk, read at the chunk itself.
  ExprId over_earlier(const Reduction* reduction, const PrefixEdge& edge, ExprId whole, std::optional<ExprId> last) {
    const auto own = cut(edge.reduced).chunks.outer;
    if (!earlier(edge).all)
      whole = apply("where", {compared(edge, own, chunk(edge), true), whole, number(reduction->identity)});
    const ExprId all = this->reduction(reduction, {own}, whole);
    return last ? diagram().intern(Apply{reduction->combine, {all, *last}}) : all;
  }
  ExprId over_earlier(const Reduction* extreme, const Separated& parts, const OfChunks& all) {
    const ExprId whole = moved_here(parts, elsewhere(parts.edge, all.whole), false);
    return over_earlier(extreme, parts.edge, whole,
                        all.last ? std::optional(moved_here(parts, *all.last, true)) : std::nullopt);
  }
  // Reads, at the chunk of x, what `read` reads at the chunk of t.
  ExprId elsewhere(const PrefixEdge& edge, ExprId read) {
    auto access = std::get<Access>(diagram().at(read).node);
    for (auto& index : access.at)
      if (index == Index{{{chunk(edge), 1}}}) index = {{{cut(edge.reduced).chunks.outer, 1}}};
    return diagram().intern(std::move(access));
  }
  static std::string named(std::string_view name, bool last) { return std::string(name) + (last ? "_last" : ""); }

  // max(g(t) + h(x)) = g(t) + max(h(x)).
  ExprId extreme_before(const Reduce& reduce, const Separated& parts) {
    const auto* over = reduce.reduction;
    const auto identity = number(over->identity);
    const auto all = of_chunks(parts.edge, [&](WireId within, bool last) {
      const ExprId each = guarded(parts.reduced, joined("+", of_reduced(parts)), identity);
      return state(reduction(over, {within}, each), named(over->state_name, last));
    });
    const ExprId before = state(over_earlier(over, parts, all),
                                named(std::string(over->state_name) + "_before", in_last(parts.edge.kept)));
    auto exponents = of_kept(parts);
    exponents.push_back(before);
    return guarded(parts.kept, joined("+", exponents), identity);
  }
  ExprId sum_before(const Reduce& reduce, const Separated& parts) {
    const auto& edge = parts.edge;
    const auto references = references_of(parts);
    const auto all = of_chunks(edge, [&](WireId within, bool last) {
      auto factors = rewritten(parts.reduced.factors);
      if (references) {
        const auto own = last ? *references->own.last : references->own.whole;
        factors.push_back(exponential(parts, apply("-", {joined("+", of_reduced(parts)), own})));
      }
      const ExprId each = quotient(std::move(factors), parts.reduced.divisors);
      return state(reduction(reduce.reduction, {within}, guarded(parts.reduced, each, number(0))), named("S", last));
    });
    // Relative to the greatest exponent of all chunks before.
    const auto moved = [&](ExprId added, ExprId own) {
      return apply("*", {added, exponential(parts, apply("-", {own, references->before}))});
    };
    ExprId whole = elsewhere(edge, all.whole);
    auto last = all.last;
    if (references) whole = moved(whole, moved_here(parts, elsewhere(edge, references->own.whole), false));
    if (references && last) last = moved(*last, moved_here(parts, *references->own.last, true));
    const ExprId before =
        state(over_earlier(reduce.reduction, edge, whole, last), named("S_before", in_last(edge.kept)));
    return first_guarded(edge, of_all_before(reduce, parts, before, references));
  }
  // The greatest exponent of each chunk, and of all chunks before it. If guards may leave out a whole chunk, it is at
  // least the smallest f32 number, because infinity minus infinity is NaN.
  struct References {
    OfChunks own;
    ExprId before;
  };
  std::optional<References> references_of(const Separated& parts) {
    if (parts.reduced.exponents.empty() && parts.slopes.empty()) return std::nullopt;
    const auto* max = find_reduction("max");
    const auto own = of_chunks(parts.edge, [&](WireId within, bool last) {
      const ExprId h = guarded(parts.reduced, joined("+", of_reduced(parts)), number(max->identity));
      ExprId greatest = reduction(max, {within}, h);
      if (!parts.reduced.guards.empty()) greatest = apply("max", {greatest, nothing()});
      return state(greatest, named(max->state_name, last));
    });
    return References{own, state(over_earlier(max, parts, own), named("m_before", in_last(parts.edge.kept)))};
  }
  // Factors that do not vary along the wires of an inner sum move out of it, so that a matrix product remains.
  ExprId of_all_before(const Reduce& reduce, const Separated& parts, ExprId states,
                       const std::optional<References>& references) {
    auto factors = factors_of_kept(parts, references);
    const auto counts = some_count(parts, references);
    const auto if_any = [&](ExprId value) { return counts ? apply("where", {*counts, value, number(0)}) : value; };
    if (parts.inner.empty())
      return guarded(parts.kept, if_any(scaled(factors, parts.kept.divisors, states)), number(0));
    const auto stays = [&](ExprId e) { return !varies(e, parts.inner); };
    const bool all_inside = !std::ranges::all_of(parts.kept.divisors, stays) ||
                            !std::ranges::all_of(parts.kept.guards, stays) || (counts && !stays(*counts));
    const auto inside = all_inside ? factors.begin() : std::stable_partition(factors.begin(), factors.end(), stays);
    std::vector<ExprId> inner(inside, factors.end());
    factors.erase(inside, factors.end());
    const auto divisors = all_inside ? parts.kept.divisors : std::vector<ExprId>{};
    const ExprId each = scaled(inner, divisors, states);
    if (all_inside) return reduction(reduce.reduction, parts.inner, guarded(parts.kept, if_any(each), number(0)));
    const ExprId sum = reduction(reduce.reduction, parts.inner, each);
    const ExprId all = factors.empty() ? scaled({}, parts.kept.divisors, sum)
                                       : apply("*", {sum, quotient(std::move(factors), parts.kept.divisors)});
    return guarded(parts.kept, if_any(all), number(0));
  }
  // A sum over nothing is 0 whatever its factors of t are, which may then be infinite or NaN: whether guards leave
  // anything of the chunks before. None if they always do, or if what is of t is finite.
  std::optional<ExprId> some_count(const Separated& parts, const std::optional<References>& references) {
    if (parts.reduced.guards.empty()) return std::nullopt;
    if (is_finite(diagram(), quotient(factors_of_kept(parts), parts.kept.divisors))) return std::nullopt;
    if (references) return apply(">", {references->before, nothing()});
    const auto* max = find_reduction("max");
    const auto any = of_chunks(parts.edge, [&](WireId within, bool last) {
      return state(reduction(max, {within}, guarded(parts.reduced, number(1), number(0))), named("any", last));
    });
    const ExprId before = over_earlier(max, parts.edge, elsewhere(parts.edge, any.whole), any.last);
    return apply(">", {state(before, named("any_before", in_last(parts.edge.kept))), number(0)});
  }
  // The factors of t, with the exponential of its exponents, and of the greatest one before if that is given.
  std::vector<ExprId> factors_of_kept(const Separated& parts, const std::optional<References>& references = {}) {
    auto factors = rewritten(parts.kept.factors);
    auto exponents = of_kept(parts);
    if (references) exponents.push_back(references->before);
    if (!exponents.empty()) factors.push_back(exponential(parts, joined("+", exponents)));
    return factors;
  }
  // Multiplies the value by factors / divisors. The factors are divided first, so that intermediate values do not
  // become large if those of the file are small.
  ExprId scaled(std::vector<ExprId> factors, const std::vector<ExprId>& divisors, ExprId value) {
    if (factors.empty()) return quotient({value}, divisors);
    return apply("*", {quotient(std::move(factors), divisors), value});
  }
  // If no chunk lies before, the factors of t may be infinite or NaN, so the value is replaced by 0.
  ExprId first_guarded(const PrefixEdge& edge, ExprId value) {
    const auto [some, all, last] = earlier(edge);
    if (all || last) return value;
    const ExprId here = at(chunk(edge)), size = size_of(chunk(edge));
    const ExprId there =
        edge.before ? apply(">", {here, number(0)}) : apply("<", {here, apply("-", {size, number(1)})});
    return apply("where", {there, value, number(0)});
  }
  // Adds a statement for the value, with only the wires along which the value varies; equal values are computed once.
  ExprId state(ExprId value, std::string_view name) {
    const auto type = accumulator(diagram(), diagram().at(statement_.output).type, value);
    if (const auto known = states_.find({value, type}); known != states_.end()) return known->second;
    auto wires = free_wires(diagram(), value);
    std::ranges::stable_sort(wires, {}, [&](WireId wire) { return place(wire); });
    const auto array = new_array(diagram(), std::string(name), type, std::move(wires), statement_.span);
    diagram().statements.push_back({array, value, statement_.span});
    made_.made.at(at_).states.push_back(diagram().at(array).name);
    return states_[{value, type}] = read_whole(diagram(), array);
  }
  // Wires have the order of the statement's own array; a wire that this array lacks comes after the chunk.
  std::ptrdiff_t place(WireId wire) {
    const auto& own = diagram().at(statement_.output).wires;
    if (const auto found = std::ranges::find(own, wire); found != own.end()) return 2 * (found - own.begin());
    const auto chunk = std::ranges::find_if(own, [&](WireId w) { return is_chunk(w); });
    return chunk == own.end() ? -1 : 2 * (chunk - own.begin()) + 1;
  }

  // ---- small things ----
  ExprId quotient(std::vector<ExprId> factors, const std::vector<ExprId>& divisors) {
    const ExprId value = factors.empty() ? number(1) : joined("*", factors);
    return divisors.empty() ? value : apply("/", {value, joined("*", rewritten(divisors))});
  }
  ExprId exponential(const Separated& parts, ExprId of) { return diagram().intern(Apply{parts.exponential, {of}}); }
  ExprId guarded(const Separated::Side& side, ExprId value, ExprId otherwise) {
    for (const auto guard : side.guards) value = apply("where", {rewritten(guard), value, otherwise});
    return value;
  }

  PrefixesInChunks made_;
  std::vector<std::string> only_;  // the only wires to cut, with their aliases; empty: any wire
  Alike alike_;
  std::map<std::pair<ArrayId, ExprId>, std::size_t> noted_;  // reductions, by array and body
  std::size_t at_ = 0;                                       // index of the current entry of `made`
  std::map<std::pair<ExprId, Datatype>, ExprId> states_;     // by value and type: how their arrays are read
};

}  // namespace

PrefixesInChunks prefixes_in_chunks(const Diagram& diagram, std::int64_t length) {
  return Chunking(diagram, length).run();
}

PrefixesInChunks chunks_in_groups(const Diagram& diagram, std::int64_t of_group, std::vector<std::string> chunks) {
  return Chunking(diagram, of_group, std::move(chunks)).run();
}

std::vector<std::int64_t> chunk_lengths(const Diagram& diagram) {
  const auto sizes = Chunking(diagram, 1).sizes();
  std::vector<std::int64_t> all;
  if (sizes.empty()) return all;
  const auto most = std::min(std::ranges::min(sizes) / 2, longest_chunk);
  const auto divides = [&](std::int64_t length) {
    return std::ranges::all_of(sizes, [&](std::int64_t size) { return size % length == 0; });
  };
  for (std::int64_t power = 2; power <= most; power *= 2) {
    const auto before = all.size();
    for (auto length = power; length < std::min(2 * power, most + 1); ++length)
      if (divides(length)) all.push_back(length);
    if (all.size() == before) all.push_back(power);
  }
  return all;
}

}  // namespace napkin
