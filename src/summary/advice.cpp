// A diagram -> what keeps it slower than it needs to be: products off the matrix units, streams that a rounding
// forbids.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "napkin/summary.hpp"

namespace napkin {
namespace {

bool holds(Span outer, Span inner) {
  return inner.begin < inner.end && outer.file == inner.file && outer.begin <= inner.begin && inner.end <= outer.end;
}

// A name that nothing has: "O_factor", "O_factor2".
std::string free_name(const Diagram& diagram, const std::string& of) {
  std::set<std::string> taken;
  for (const auto& array : diagram.arrays) taken.insert(array.name);
  for (const auto& axis : diagram.axes) taken.insert(axis.name);
  auto name = of;
  for (int i = 2; taken.contains(name); ++i) name = fmt::format("{}{}", of, i);
  return name;
}

// What a sum multiplies without its being an array: written as a statement of its own in front.
class OwnStatement {
 public:
  OwnStatement(const Sources& sources, const Diagram& diagram, const Statement& statement)
      : sources_(sources), diagram_(diagram), statement_(statement) {}

  std::optional<Fix> in(Datatype type) const {
    if (statement_.span.file >= sources_.size()) return {};
    const auto factor = below(statement_.value);
    if (!factor) return {};
    const auto axes = axes_of(*factor);
    const auto span = diagram_.at(*factor).span;
    if (!axes || !holds(statement_.span, span)) return {};
    const auto& text = sources_.at(span.file).text;
    const auto name = free_name(diagram_, diagram_.at(statement_.output).name + "_factor");
    const auto declared = fmt::format("{}: {}[{}] = {}", name, row(type).name, fmt::join(*axes, ", "),
                                      text.substr(span.begin, span.end - span.begin));
    return Fix{
        fmt::format("write `{}` as a statement of its own", declared),
        {{before(statement_.span), declared + "\n"}, {span, fmt::format("{}[{}]", name, fmt::join(*axes, ", "))}}};
  }

 private:
  bool is_factor(ExprId id) const {
    const auto& node = diagram_.at(id).node;
    return !std::holds_alternative<Access>(node) && !std::holds_alternative<Constant>(node) &&
           !arrays_read(diagram_, id).empty();
  }
  // In the sum of a product that stands first.
  std::optional<ExprId> below(ExprId id) const {
    const auto& node = diagram_.at(id).node;
    if (const auto* reduce = std::get_if<Reduce>(&node)) {
      const auto* product = std::get_if<Apply>(&diagram_.at(reduce->body).node);
      const bool of_sum =
          reduce->reduction->combine->role == Role::add && product && product->function->role == Role::multiply;
      if (!of_sum) return below(reduce->body);
      const auto found = std::ranges::find_if(product->arguments, [&](ExprId one) { return is_factor(one); });
      return found == product->arguments.end() ? std::nullopt : std::optional(*found);
    }
    if (const auto* cast = std::get_if<Cast>(&node)) return below(cast->value);
    if (const auto* apply = std::get_if<Apply>(&node))
      for (const auto argument : apply->arguments)
        if (const auto found = below(argument)) return found;
    return {};
  }
  // None where two wires of an axis would have one name.
  std::optional<std::vector<std::string>> axes_of(ExprId id) const {
    std::vector<std::string> names;
    for (const auto wire : free_wires(diagram_, id)) {
      names.push_back(diagram_.at(diagram_.at(wire).axis).name);
      if (std::ranges::count(names, names.back()) > 1) return {};
    }
    return names;
  }

  const Sources& sources_;
  const Diagram& diagram_;
  const Statement& statement_;
};

const Statement* statement_of(const Derivation& derivation, const MatrixProduct& product) {
  for (const auto id : derivation.statements) {
    const auto& statement = derivation.scratch.at(id);
    const auto& name = derivation.scratch.at(statement.output).name;
    if (name == product.result || "part of " + name == product.result) return &statement;
  }
  return nullptr;
}

// The format of the other factor where matrix units have it, else the first that they have.
Datatype format_for(const Derivation& derivation, const MatrixProduct& product) {
  for (const auto& array : derivation.scratch.arrays)
    if ((array.name == product.first || array.name == product.second) && row(array.type).bytes <= 2) return array.type;
  return Datatype::f16;
}

Advice advice_of(const Sources& sources, const Derivation& derivation, const MatrixProduct& product,
                 const Hardware* hardware) {
  const auto what =
      product.first.empty() ? product.result : fmt::format("{} = {}*{}", product.result, product.first, product.second);
  Advice made{product.span,
              hardware ? fmt::format("{} runs on {} lanes of `{}`", what, name(product.unit), hardware->name)
                       : fmt::format("{} runs without matrix units", what),
              product.why, product.mend};
  const auto* statement = statement_of(derivation, product);
  if (!statement) return made;
  if (made.span.file == nowhere.file || made.span.begin == made.span.end)
    made.span = derivation.scratch.at(statement->output).span;
  const bool asks = !made.mend.title.empty() && made.mend.edits.empty();
  if (const auto own = asks ? OwnStatement(sources, derivation.scratch, *statement).in(format_for(derivation, product))
                            : std::nullopt)
    made.mend = *own;
  return made;
}

}  // namespace

std::vector<Advice> advice(const Sources& sources, const Derivation& derivation, const Hardware* hardware) {
  std::vector<Advice> all;
  if (!hardware || hardware->find(Unit::tensor))
    for (const auto& product : products_of(derivation, hardware))
      if (product.lost) all.push_back(advice_of(sources, derivation, product, hardware));
  for (const auto& verdict : derivation.verdicts)
    if (const auto* refused = std::get_if<Refused>(&verdict.stream); refused && refused->of_a_cast)
      all.push_back({refused->span,
                     fmt::format("a rounding prevents a stream of `{}`", derivation.scratch.at(verdict.wire).name),
                     refused->reason,
                     {refused->mend, {}}});
  return all;
}

}  // namespace napkin
