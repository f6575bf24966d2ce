// Writes refusals in words; see refusals.hpp.
#include "derive/streams/refusals.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "derive/algebra/normal.hpp"
#include "derive/algebra/ranges.hpp"
#include "derive/algebra/separate.hpp"

namespace napkin {
namespace {

// The first expression below `e`, from the outside in, for which `holds` is true.
std::optional<ExprId> first_below(const Diagram& diagram, ExprId e, const std::function<bool(ExprId)>& holds) {
  if (holds(e)) return e;
  if (const auto* cast = std::get_if<Cast>(&diagram.at(e).node)) return first_below(diagram, cast->value, holds);
  if (const auto* apply = std::get_if<Apply>(&diagram.at(e).node))
    for (const auto argument : apply->arguments)
      if (const auto found = first_below(diagram, argument, holds)) return found;
  return {};
}

std::string why_elsewhere(const Diagram& diagram, ExprId read) {
  return fmt::format("reads `{}`, which another piece may compute", to_text(diagram, read));
}
std::string mend_elsewhere(const Diagram& diagram, ExprId read) {
  const auto& name = diagram.at(std::get<Access>(diagram.at(read).node).array).name;
  return fmt::format("replace the read by the expression of `{}`, or end the kernel after `{}`", name, name);
}

// A condition that compares a piece with a finished reduction.
std::optional<ExprId> late_condition(const Diagram& diagram, const Algebra& algebra, ExprId e) {
  return first_below(diagram, e, [&](ExprId part) {
    const auto* apply = std::get_if<Apply>(&diagram.at(part).node);
    return apply && apply->function->role == Role::compare && dependence(algebra, part).mixed();
  });
}

// Whether only a rounding prevents the separation.
bool rounding_mixes(Diagram& diagram, Algebra& algebra, ExprId mixing) {
  const auto* cast = std::get_if<Cast>(&diagram.at(mixing).node);
  if (!cast) return false;
  return std::ranges::all_of(normal(algebra, cast->value), [&](const Term& t) {
    return std::holds_alternative<SeparatedTerm>(separate(algebra, t));
  });
}

// Whether every term of a sum separates, so that the sums of the single terms could be streamed.
bool separates(Algebra& algebra, ExprId e) {
  const Sum sum = normal(algebra, e);
  return sum.size() > 1 && std::ranges::all_of(sum, [&](const Term& term) {
           return std::holds_alternative<SeparatedTerm>(separate(algebra, term));
         });
}

Refused of_a_cast(Refused refused) {
  refused.of_a_cast = true;
  return refused;
}

}  // namespace

std::optional<ExprId> read_elsewhere(const Diagram& diagram, ExprId e, const Kinds& kinds) {
  return first_below(diagram, e, [&](ExprId part) {
    const auto* access = std::get_if<Access>(&diagram.at(part).node);
    return access && (kinds.elsewhere(*access) || (kinds.mixed(access->array) && !kinds.whole(*access)));
  });
}

Refused refused_kept(const Diagram& diagram, const Column& column, WireId wire, const Kinds& kinds) {
  const auto& name = diagram.at(column.output).name;
  const auto& axis = diagram.at(wire).name;
  const auto span = diagram.at(column.value).span;
  if (const auto read = read_elsewhere(diagram, column.value, kinds))
    return {fmt::format("`{}` {}", name, why_elsewhere(diagram, *read)), span, mend_elsewhere(diagram, *read)};
  return {fmt::format("`{}` keeps `{}` but needs all of it first", name, axis), span,
          fmt::format("fuse it with a statement that reduces `{0}`, or keep `{0}` whole", axis)};
}

Refused refused_fold(const Diagram& diagram, const Column& column, WireId wire, const std::string& why,
                     const std::string& mend) {
  return {fmt::format("`{}` reduces over `{}` and {}", diagram.at(column.output).name, diagram.at(wire).name, why),
          diagram.at(column.value).span, mend};
}

Refused refused_mixing(Diagram& diagram, Algebra& algebra, const Column& column, WireId wire, const Kinds& kinds,
                       ExprId mixing) {
  const auto& axis = diagram.at(wire).name;
  if (const auto read = read_elsewhere(diagram, mixing, kinds))
    return refused_fold(diagram, column, wire, why_elsewhere(diagram, *read), mend_elsewhere(diagram, *read));
  if (const auto condition = late_condition(diagram, algebra, mixing))
    return refused_fold(diagram, column, wire,
                        fmt::format("cannot be separated: whether `{}` holds is known only after all of `{}`",
                                    to_text(diagram, *condition), axis));
  if (separates(algebra, mixing))
    return refused_fold(
        diagram, column, wire,
        fmt::format("cannot be separated: expanding the powers and products of `{}` gives sums of large "
                    "terms that cancel",
                    to_text(diagram, mixing)),
        "compute the reductions that it waits for in a kernel of their own");
  const auto why = fmt::format("cannot be separated: `{}` mixes a piece of `{}` with a finished reduction over it",
                               to_text(diagram, mixing), axis);
  if (!rounding_mixes(diagram, algebra, mixing)) return refused_fold(diagram, column, wire, why);
  const auto type = row(std::get<Cast>(diagram.at(mixing).node).type).name;
  return of_a_cast(
      refused_fold(diagram, column, wire, why,
                   fmt::format("leave out the rounding to {}: without it the expression separates", type)));
}

Refused refused_rounding(const Diagram& diagram, const Column& column, WireId wire, Datatype type, ExprId rounded,
                         ExprId waiting) {
  const auto& axis = diagram.at(wire).name;
  const auto format = row(type).name;
  const auto because = is_floating(type) ? "may exceed the range of the format" : "rounds to another integer";
  return of_a_cast(refused_fold(
      diagram, column, wire,
      fmt::format("rounds to {} after a multiplication by `{}`, which is known only after all of `{}`: without this "
                  "factor `{}` {}",
                  format, to_text(diagram, waiting), axis, to_text(diagram, rounded), because),
      fmt::format("scale by a value known before `{}`, compute the rounded array in a kernel of its own, {}or leave "
                  "out the rounding",
                  axis, is_floating(type) ? "round to bf16, which has the range of f32, " : "")));
}

}  // namespace napkin
