#include "derive/prefixes/cut.hpp"

#include <algorithm>

#include "derive/columns.hpp"
#include "diagram/assume.hpp"
#include "diagram/contains.hpp"
#include "diagram/index.hpp"
#include "diagram/operands.hpp"

namespace napkin {

// ---- wires ----

void CutAxes::cut_wires(const Alike& alike) {
  const auto wires = diagram().wires;
  for (std::uint32_t w = 0; w < wires.size(); ++w) {
    const auto found = alike.find(wires[w].axis);
    if (found == alike.end()) continue;
    if (!axes_.contains(found->second)) axes_[found->second] = new_axes(found->second);
    cuts_.emplace(WireId{w}, new_cut({w}, axes_.at(found->second)));
  }
  own_cuts_ = cuts_;
  assume(alike);
  for (const auto& statement : std::vector(diagram().statements)) cut_array(statement.output);
}

bool CutAxes::is_chunk(WireId wire) const {
  return std::ranges::any_of(cuts_, [&](const auto& one) { return one.second.chunks.outer == wire; });
}

// The axes of the chunks, of the positions in a chunk, and of the positions in the last chunk.
std::vector<AxisId> CutAxes::new_axes(AxisId whole) {
  const auto axis = diagram().at(whole);
  std::vector<AxisId> all;
  const auto add = [&](const std::string& name, std::int64_t size) {
    diagram().axes.push_back({name, size, axis.span});
    all.push_back({static_cast<std::uint32_t>(diagram().axes.size() - 1)});
  };
  add(which(axis.name), *axis.size / length_);
  add(axis.name + names_.inside, length_);
  if (const auto rest = *axis.size % length_; rest > 0) add(axis.name + names_.last, rest);
  return all;
}
std::string CutAxes::which(std::string of) const {
  if (!names_.without.empty() && of.ends_with(names_.without)) of.resize(of.size() - names_.without.size());
  return of + names_.which;
}

CutWire CutAxes::new_cut(WireId wire, const std::vector<AxisId>& axes) {
  const auto name = diagram().at(wire).name;
  CutWire made;
  made.chunks = {wire, add_wire(diagram(), which(name), axes[0]), add_wire(diagram(), name + names_.inside, axes[1]),
                 length_};
  if (axes.size() == 3) made.last = add_wire(diagram(), name + names_.last, axes[2]);
  made.begin = *diagram().at(axes[0]).size * length_;
  return made;
}

void CutAxes::assume(const Alike& alike) {
  for (const bool named : {true, false})  // the axis that the chunks are named after comes first
    for (const auto& [axis, first] : alike) {
      if ((axis == first) != named || !axes_.contains(first)) continue;
      const auto& axes = axes_.at(first);
      if (axes.size() == 3)
        assume_ragged_blocks(diagram(), {axis, axes[0], axes[1], axes[2]});
      else
        assume_parts(diagram(), axis, axes[0], axes[1], length_);
    }
  for (const auto& [axis, first] : alike)
    if (axis != first) assume_same_size(diagram(), first, axis);
}

// ---- arrays ----

// The array itself holds the whole chunks; further arrays hold the last ones. If the array is an output, all of them
// are outputs.
void CutAxes::cut_array(ArrayId array) {
  const auto own = diagram().at(array).wires;
  wires_[array] = own;
  std::vector<std::vector<WireId>> in_last{{}};  // the wires that are in their last chunk, in all combinations
  for (const auto wire : own)
    if (is_cut(wire) && cut(wire).last)
      for (auto some : std::vector(in_last)) some.push_back(wire), in_last.push_back(some);
  const bool given = contains(diagram().outputs, array) && in_last.size() > 1;
  for (const auto& some : in_last) {
    last_ = {some.begin(), some.end()};
    std::vector<WireId> all;
    for (const auto wire : own) append(all, wire);
    auto part = array;
    if (!some.empty()) {
      const auto whole = diagram().at(array);
      part = new_array(diagram(), whole.name + "_last", whole.type, {}, whole.span);
      if (given) diagram().outputs.push_back(part);
    }
    diagram().at(part).wires = all;
    if (given) diagram().at(part).part_of = array;
    parts_[{array, some}] = part;
  }
  last_.clear();
}

void CutAxes::append(std::vector<WireId>& all, WireId wire) const {
  if (!is_cut(wire)) return all.push_back(wire);
  if (in_last(wire)) return all.push_back(*cut(wire).last);
  all.insert(all.end(), {cut(wire).chunks.outer, cut(wire).chunks.inside});
}

// ---- statements ----

void CutAxes::write_statements() {
  for (const auto& statement : std::exchange(diagram().statements, {})) write(statement, 0);
}

// Writes the statement for both pieces, whole chunks and last chunk, of each wire of the array from number `from` on.
void CutAxes::write(const Statement& statement, std::size_t from) {
  const auto& own = wires_.at(statement.output);
  std::vector<WireId> some;
  for (std::size_t i = 0; i < own.size(); ++i) {
    if (in_last(own[i])) some.push_back(own[i]);
    if (i < from || !is_cut(own[i]) || !cut(own[i]).last) continue;
    write(statement, i + 1);
    last_.insert(own[i]);
    write(statement, i + 1);
    last_.erase(own[i]);
    return;
  }
  array_ = statement.output;
  statement_ = {parts_.at({array_, some}), statement.value, statement.span};
  known_.clear();
  const auto value = rewritten(statement.value);
  diagram().statements.push_back({statement_.output, value, statement.span});
}

// ---- expressions ----

ExprId CutAxes::rewritten(ExprId e) {
  if (const auto known = known_.find(e); known != known_.end()) return known->second;
  const auto value = rewritten_once(e);
  return known_[e] = value;
}

ExprId CutAxes::rewritten_once(ExprId e) {
  const auto node = diagram().at(e).node;
  if (const auto* at = std::get_if<Position>(&node)) return is_cut(at->wire) ? position(at->wire) : e;
  if (const auto* access = std::get_if<Access>(&node)) return rewritten(*access, diagram().at(e).span);
  if (const auto* reduce = std::get_if<Reduce>(&node)) return bound(*reduce, diagram().at(e).span);
  return with_operands(diagram(), e, [&](ExprId operand) { return rewritten(operand); });
}

ExprId CutAxes::position(WireId wire) {
  if (!in_last(wire)) return napkin::position(diagram(), cut(wire).chunks);
  return apply("+", {number(static_cast<double>(cut(wire).begin)), diagram().intern(Position{*cut(wire).last})});
}

ExprId CutAxes::rewritten(const Access& access, Span span) {
  const bool given = contains(diagram().inputs, access.array);
  Access made{access.array, {}};
  std::vector<WireId> some;
  for (std::size_t i = 0; i < access.at.size(); ++i) {
    const auto& index = access.at[i];
    const bool in_pieces = !given && is_cut(wires_.at(access.array)[i]);
    const auto* whole = in_pieces ? along(index) : nullptr;
    possible_ &= !in_pieces || whole;
    if (!whole)
      made.at.push_back(divided(index));
    else if (in_last(whole->chunks.whole))
      made.at.push_back({{{*whole->last, 1}}}), some.push_back(wires_.at(access.array)[i]);
    else
      made.at.insert(made.at.end(), {{{{whole->chunks.outer, 1}}}, {{{whole->chunks.inside, 1}}}});
  }
  if (!possible_) return number(0);
  if (!given) made.array = parts_.at({access.array, some});
  return diagram().intern(std::move(made), span);
}

const CutWire* CutAxes::along(const Index& index) const {
  const auto wire = plain_wire(index);
  return wire && is_cut(*wire) ? &cut(*wire) : nullptr;
}

Index CutAxes::divided(Index index) const {
  for (const auto& [wire, as] : cuts_) {
    if (!in_last(wire)) {
      index = napkin::divided(index, as.chunks);
      continue;
    }
    for (auto& [term, factor] : index.terms)
      if (term == wire) term = *as.last, index.offset += factor * as.begin;
    std::ranges::sort(index.terms);
  }
  return index;
}

// A reduction inside another one may bind the same wire. Then it reduces over all pieces of the wire, not over the
// piece that the outer reduction is at.
ExprId CutAxes::bound(const Reduce& reduce, Span span) {
  for (const auto wire : reduce.over) {
    if (!is_cut(wire)) continue;
    const auto own = own_cuts_.at(wire);
    if (own.chunks.outer != cut(wire).chunks.outer || in_last(wire))
      return at_piece(wire, own, false, [&] { return bound(reduce, span); });
  }
  return reduced(reduce, span);
}

ExprId CutAxes::plainly(const Reduce& reduce, Span span, std::size_t from) {
  std::vector<WireId> over;
  for (std::size_t i = 0; i < reduce.over.size(); ++i) {
    const auto wire = reduce.over[i];
    if (i >= from && is_cut(wire) && cut(wire).last) {
      const auto as = cut(wire);
      const auto at = [&](bool last) { return at_piece(wire, as, last, [&] { return plainly(reduce, span, i + 1); }); };
      const ExprId chunks = at(false), last = at(true);
      return diagram().intern(Apply{reduce.reduction->combine, {chunks, last}}, span);
    }
    append(over, wire);
  }
  return reduction(reduce.reduction, std::move(over), rewritten(reduce.body), span);
}

ExprId CutAxes::apply(std::string_view function, std::vector<ExprId> arguments) {
  return diagram().intern(Apply{find_pointwise(function), std::move(arguments)});
}

ExprId CutAxes::joined(std::string_view function, const std::vector<ExprId>& all) {
  ExprId value = all.at(0);
  for (std::size_t i = 1; i < all.size(); ++i) value = apply(function, {value, all[i]});
  return value;
}

std::vector<ExprId> CutAxes::rewritten(std::vector<ExprId> all) {
  for (auto& e : all) e = rewritten(e);
  return all;
}

bool CutAxes::varies(ExprId e, const std::vector<WireId>& along) {
  const auto own = free_wires(diagram(), e);
  return std::ranges::any_of(along, [&](WireId wire) { return contains(own, wire); });
}

ExprId CutAxes::reduction(const Reduction* reduction, std::vector<WireId> over, ExprId body, Span span) {
  std::ranges::sort(over);
  return diagram().intern(Reduce{reduction, std::move(over), body}, span);
}

}  // namespace napkin
