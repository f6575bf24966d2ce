// Finds what makes a diagram slower than necessary: products that do not run on matrix units, and streams that a
// rounding forbids.
#include <fmt/format.h>

#include <algorithm>

#include "napkin/summary.hpp"

namespace napkin {
namespace {

const Statement* statement_of(const Derivation& derivation, const MatrixProduct& product) {
  for (const auto id : derivation.statements) {
    const auto& statement = derivation.scratch.at(id);
    const auto& name = derivation.scratch.at(statement.output).name;
    if (name == product.result || "part of " + name == product.result) return &statement;
  }
  return nullptr;
}

std::string how_it_runs(const MatrixProduct& product, const Hardware* hardware) {
  if (product.parts > 1) return fmt::format("takes two products of {}", row(product.type).name);
  return hardware ? fmt::format("runs on {} lanes of `{}`", name(product.unit), hardware->name)
                  : "runs without matrix units";
}

Advice advice_of(const Derivation& derivation, const MatrixProduct& product, const Hardware* hardware) {
  const auto what =
      product.first.empty() ? product.result : fmt::format("{} = {}*{}", product.result, product.first, product.second);
  Advice made{product.span, what + " " + how_it_runs(product, hardware), product.why, product.mend};
  const auto* statement = statement_of(derivation, product);
  if (!statement) return made;
  if (made.span.file == nowhere.file || made.span.begin == made.span.end)
    made.span = derivation.scratch.at(statement->output).span;
  return made;
}

std::optional<SourceText> text_of(const Sources& sources, const Derivation& derivation) {
  if (derivation.statements.empty()) return {};
  const auto file = derivation.scratch.at(derivation.statements.front()).span.file;
  return file < sources.size() ? std::optional(SourceText{file, sources.at(file).text}) : std::nullopt;
}

}  // namespace

std::vector<Advice> advice(const Sources& sources, const Derivation& derivation, const Hardware* hardware) {
  std::vector<Advice> all;
  const auto source = text_of(sources, derivation);
  if (!hardware || hardware->find(Unit::tensor))
    for (const auto& product : products_of(derivation, hardware, source))
      if (product.lost || product.parts > 1) all.push_back(advice_of(derivation, product, hardware));
  for (const auto& verdict : derivation.verdicts)
    if (const auto* refused = std::get_if<Refused>(&verdict.stream); refused && refused->of_a_cast)
      all.push_back({refused->span,
                     fmt::format("a rounding prevents a stream of `{}`", derivation.scratch.at(verdict.wire).name),
                     refused->reason,
                     {refused->mend, {}}});
  return all;
}

}  // namespace napkin
