#include "summary/split_sum.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <set>

#include "diagram/contains.hpp"
#include "diagram/operands.hpp"
#include "loops/formats.hpp"

namespace napkin {
namespace {

struct Factor {
  ExprId value;
  bool divides = false;
  std::vector<WireId> wires{};
};
using Side = std::vector<Factor>;
using Sides = std::array<Side, 2>;

bool holds(Span outer, Span inner) {
  return inner.begin < inner.end && outer.file == inner.file && outer.begin <= inner.begin && inner.end <= outer.end;
}

// The result of a call such as `softmax` stays one factor.
bool is_written(const Diagram& diagram, ExprId id, const Apply& apply) {
  const auto span = diagram.at(id).span;
  return std::ranges::none_of(apply.arguments, [&](ExprId one) {
    return diagram.at(one).span.begin == span.begin && diagram.at(one).span.end == span.end;
  });
}

void add_factors(const Diagram& diagram, ExprId id, bool divides, Side& all) {
  const auto* apply = std::get_if<Apply>(&diagram.at(id).node);
  const auto role = apply ? apply->function->role : Role::other;
  if ((role != Role::multiply && role != Role::divide) || !is_written(diagram, id, *apply))
    return void(all.push_back({id, divides, free_wires(diagram, id)}));
  add_factors(diagram, apply->arguments[0], divides, all);
  add_factors(diagram, apply->arguments[1], divides != (role == Role::divide), all);
}

// Collects every sum in an expression, the outer ones first.
void add_sums(const Diagram& diagram, ExprId id, std::vector<ExprId>& all) {
  const auto& node = diagram.at(id).node;
  if (const auto* cast = std::get_if<Cast>(&node)) return add_sums(diagram, cast->value, all);
  if (const auto* apply = std::get_if<Apply>(&node))
    for (const auto argument : apply->arguments) add_sums(diagram, argument, all);
  const auto* reduce = std::get_if<Reduce>(&node);
  if (!reduce) return;
  if (reduce->reduction->combine->role == Role::add) all.push_back(id);
  add_sums(diagram, reduce->body, all);
}

bool is_array(const Diagram& diagram, const Side& side) {
  return side.size() == 1 && !side[0].divides && std::holds_alternative<Access>(diagram.at(side[0].value).node);
}

bool has(const Side& side, WireId wire) {
  return std::ranges::any_of(side, [&](const Factor& factor) { return contains(factor.wires, wire); });
}

// Divides the factors into those with `rows` and those with `columns`. A factor with neither joins a side that has to
// be computed in any case.
std::optional<Sides> divided(const Diagram& diagram, const Side& factors, WireId rows, WireId columns) {
  Sides sides;
  Side either;
  for (const auto& factor : factors) {
    const bool row = contains(factor.wires, rows), column = contains(factor.wires, columns);
    if (row && column) return {};
    (row ? sides[0] : column ? sides[1] : either).push_back(factor);
  }
  if (sides[0].empty() || sides[1].empty()) return {};
  auto& joined = is_array(diagram, sides[0]) && !is_array(diagram, sides[1]) ? sides[1] : sides[0];
  joined.insert(joined.end(), either.begin(), either.end());
  return sides;
}

std::optional<Sides> two_sides(const Diagram& diagram, const Reduce& sum, const std::vector<WireId>& kept) {
  Side factors;
  add_factors(diagram, sum.body, false, factors);
  for (const auto rows : kept)
    for (const auto columns : kept) {
      auto sides = rows == columns ? std::nullopt : divided(diagram, factors, rows, columns);
      const auto in_both = [&](WireId wire) { return has((*sides)[0], wire) && has((*sides)[1], wire); };
      if (!sides || !std::ranges::any_of(sum.over, in_both)) continue;
      // In the order of the text.
      if ((*sides)[0].front().value != factors.front().value) std::swap((*sides)[0], (*sides)[1]);
      return sides;
    }
  return {};
}

// Statements that the canonical form breaks over several lines are printed on one line in a sentence.
std::string with_single_spaces(const std::string& text) {
  std::string all;
  for (const char c : text)
    if (const bool space = c == ' ' || c == '\n'; !space || !all.ends_with(' ')) all += space ? ' ' : c;
  return all;
}

class Writing {
 public:
  Writing(const Diagram& diagram, const Statement& statement, const std::optional<SourceText>& source)
      : diagram_(diagram), statement_(statement), source_(source) {
    for (const auto& array : diagram.arrays) taken_.insert(array.name);
    for (const auto& axis : diagram.axes) taken_.insert(axis.name);
  }

  bool add(const Side& side, Datatype type) {
    return is_array(diagram_, side) ? keep(side, type) : declare(side, type);
  }

  // The fix writes the product anew, after the statements that it reads.
  Fix fix(const Reduce& sum) && {
    std::vector<std::string> words;
    if (!declared_.empty())
      words.push_back(fmt::format("write `{}` as {}", fmt::join(declared_, "` and `"),
                                  declared_.size() == 1 ? "a statement of its own" : "statements of their own"));
    words.insert(words.end(), retyped_.begin(), retyped_.end());
    Fix made{with_single_spaces(fmt::format("{}", fmt::join(words, " and "))), std::move(edits_)};
    const auto product = diagram_.at(sum.body).span;
    if (!source_ || !textual_ || !holds(statement_.span, product)) return {made.title, {}};
    if (declared_.empty()) return made;
    made.edits.push_back({before(statement_.span), fmt::format("{}\n", fmt::join(declared_, "\n"))});
    made.edits.push_back({product, fmt::format("{}", fmt::join(operands_, " * "))});
    return made;
  }

 private:
  bool keep(const Side& side, Datatype type) {
    operands_.push_back(text(side[0].value));
    const auto& array = diagram_.at(std::get<Access>(diagram_.at(side[0].value).node).array);
    if (array.type == type || row(type).bytes > row(array.type).bytes) return true;
    const auto format = std::string(row(type).name);
    retyped_.push_back(fmt::format("write {}: {}", array.name, format));
    textual_ = textual_ && array.typed.file != nowhere.file;
    edits_.push_back({array.typed, (array.typed.begin < array.typed.end ? "" : ": ") + format});
    return true;
  }
  bool declare(const Side& side, Datatype type) {
    if (std::ranges::any_of(side, [&](const Factor& factor) { return shifts(factor.value); })) return false;
    std::vector<std::string> axes;
    for (const auto wire : wires_in_order(side)) axes.push_back(diagram_.at(diagram_.at(wire).axis).name);
    for (const auto& axis : axes)
      if (std::ranges::count(axes, axis) > 1) return false;
    const auto place = fmt::format("[{}]", fmt::join(axes, ", "));
    const auto name = free_name();
    declared_.push_back(fmt::format("{}: {}{} = {}", name, row(type).name, place, product(side)));
    operands_.push_back(name + place);
    return true;
  }
  // Returns the wires of a side in the order of the arrays among its factors.
  std::vector<WireId> wires_in_order(const Side& side) const {
    std::vector<WireId> all;
    const auto add = [&](WireId wire) {
      if (!contains(all, wire)) all.push_back(wire);
    };
    for (const auto& factor : side) {
      any_part(diagram_, factor.value, [&](ExprId part) {
        const auto* access = std::get_if<Access>(&diagram_.at(part).node);
        if (!access) return false;
        for (const auto& index : access->at)
          for (const auto& term : index.terms)
            if (contains(factor.wires, term.first)) add(term.first);
        return false;
      });
      for (const auto wire : factor.wires) add(wire);
    }
    return all;
  }
  // A read at `u + i` would become an array of its own for each i.
  bool shifts(ExprId id) const {
    return any_part(diagram_, id, [&](ExprId part) {
      const auto* access = std::get_if<Access>(&diagram_.at(part).node);
      return access && std::ranges::any_of(access->at, [](const Index& index) { return index.terms.size() > 1; });
    });
  }
  // A name that nothing has: "O_factor", "O_factor2".
  std::string free_name() {
    const auto first = diagram_.at(statement_.output).name + "_factor";
    auto name = first;
    for (int i = 2; !taken_.insert(name).second; ++i) name = fmt::format("{}{}", first, i);
    return name;
  }
  // Returns the text of an expression as in the file if it is part of this statement.
  std::string text(ExprId id) const {
    const auto span = diagram_.at(id).span;
    if (!source_ || source_->file != span.file || !holds(statement_.span, span)) return to_text(diagram_, id);
    return std::string(source_->text.substr(span.begin, span.end - span.begin));
  }
  std::string operand(ExprId id) const {
    const auto* apply = std::get_if<Apply>(&diagram_.at(id).node);
    const auto words = text(id);
    const bool binds = !apply || apply->function->precedence == 0 || words.starts_with("(");
    return binds ? words : "(" + words + ")";
  }
  std::string product(const Side& side) const {
    if (side.size() == 1 && !side[0].divides) return text(side[0].value);
    std::string above, below;
    for (const auto& factor : side)
      if (factor.divides)
        below += " / " + operand(factor.value);
      else
        above += (above.empty() ? "" : " * ") + operand(factor.value);
    return (above.empty() ? "1" : above) + below;
  }

  const Diagram& diagram_;
  const Statement& statement_;
  const std::optional<SourceText>& source_;
  std::set<std::string> taken_;
  std::vector<std::string> declared_, operands_, retyped_;
  std::vector<Edit> edits_;
  bool textual_ = true;
};

std::vector<Datatype> types_read(const Diagram& diagram, const Side& side) {
  std::vector<Datatype> all;
  for (const auto& factor : side)
    for (const auto array : arrays_read(diagram, factor.value)) all.push_back(diagram.at(array).type);
  return all;
}

// Returns the format of an operand that is already an array, else the widest format that is read, if matrix units have
// it.
std::optional<Datatype> format_of(const Diagram& diagram, const Sides& sides, const ComputeUnit& unit) {
  std::vector<Datatype> arrays, all;
  for (const auto& side : sides)
    for (const auto type : types_read(diagram, side)) {
      all.push_back(type);
      if (is_array(diagram, side)) arrays.push_back(type);
    }
  const auto& asked = arrays.empty() ? all : arrays;
  if (asked.empty()) return {};
  auto wanted = asked.front();
  for (const auto type : asked)
    wanted = row(type).bytes > 1 || row(wanted).bytes > 1 ? wider(wanted, type) : Datatype::f16;
  if (row(wanted).bytes == 1) wanted = Datatype::f16;
  if (unit.rates.contains(wanted)) return wanted;
  std::optional<Datatype> best;
  for (const auto& [type, rate] : unit.rates)
    if (row(type).bytes <= row(wanted).bytes && (!best || row(type).bytes > row(*best).bytes)) best = type;
  return best;
}

// Returns the arrays of the file that a column reads, directly or through arrays that the derivation adds.
std::set<ArrayId> file_arrays_read(const Derivation& derivation, ExprId value) {
  std::set<ArrayId> all;
  for (const auto array : arrays_read(derivation.scratch, value)) {
    if (array.index < derivation.file_arrays) all.insert(array);
    for (const auto& column : derivation.columns)
      if (array.index >= derivation.file_arrays && column.output == array)
        all.merge(file_arrays_read(derivation, column.value));
  }
  return all;
}

// Returns "A", or "f(A)" for an operand computed from A.
std::string name_of(const Derivation& derivation, const Side& side) {
  for (const auto& factor : side)
    if (const auto read = arrays_read(derivation.scratch, factor.value); !read.empty())
      return fmt::format(fmt::runtime(is_array(derivation.scratch, side) ? "{}" : "f({})"),
                         derivation.scratch.at(read.front()).name);
  return "a factor";
}

std::optional<SplitSum> split_at(const Derivation& derivation, const Statement& statement, ExprId sum,
                                 const ComputeUnit& unit, const std::optional<SourceText>& source) {
  const auto& diagram = derivation.scratch;
  const auto& reduce = std::get<Reduce>(diagram.at(sum).node);
  const auto sides = two_sides(diagram, reduce, free_wires(diagram, sum));
  const auto type = sides ? format_of(diagram, *sides, unit) : std::nullopt;
  if (!type) return {};
  SplitSum made;
  Writing writing(diagram, statement, source);
  for (const auto& side : *sides) {
    if (!writing.add(side, *type)) return {};
    made.operands.push_back(name_of(derivation, side));
    if (!is_array(diagram, side)) made.computed.push_back(made.operands.back());
  }
  if (made.computed.empty()) return {};
  made.fix = std::move(writing).fix(reduce);
  return made;
}

}  // namespace

std::optional<SplitSum> split_sum(const Derivation& derivation, const Column& column, const ComputeUnit& matrix_unit,
                                  const std::optional<SourceText>& source) {
  const auto read = file_arrays_read(derivation, column.value);
  for (const auto id : derivation.statements) {
    const auto& statement = derivation.scratch.at(id);
    std::vector<ExprId> sums;
    add_sums(derivation.scratch, statement.value, sums);
    for (const auto sum : sums) {
      const auto& reduce = std::get<Reduce>(derivation.scratch.at(sum).node);
      if (reduce.over == column.over && file_arrays_read(derivation, reduce.body) == read)
        return split_at(derivation, statement, sum, matrix_unit, source);
    }
  }
  return {};
}

}  // namespace napkin
