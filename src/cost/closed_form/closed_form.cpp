// Finds transfers H and memory M as expressions, and the least H to leading order in the capacity M.
//
// Pieces on which no transfer depends take the least memory, 1. Of what is then held, only the monomials of the highest
// order count. If one monomial remains, the least is symbolic. docs/theory.md, closed forms.
#include "cost/closed_form/closed_form.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cost/closed_form/balance.hpp"

namespace napkin {
namespace {

// The parts of H, and the parts of M that bound it.
struct Question {
  Posynomial fixed;    // does not depend on the pieces
  Posynomial terms;    // falls as pieces grow
  Posynomial leading;  // of M
  Posynomial held;     // M, where pieces on which H does not depend are 1
};

Assignment ones_of(const Posynomial& memory, const Posynomial& transfers) {
  Assignment ones;
  const auto needed = pieces(transfers);
  for (const auto& piece : pieces(memory))
    if (!needed.contains(piece)) ones[piece] = 1;
  return ones;
}

bool leads(const Monomial& term, const Posynomial& among) {
  return std::ranges::none_of(among, [&](const Monomial& other) { return is_dominated(term, other); });
}

Question question(const Posynomial& transfers, const Posynomial& memory) {
  Question asked;
  for (const auto& term : transfers) (term.has_pieces() ? asked.terms : asked.fixed).push_back(term);
  asked.held = substituted(memory, ones_of(memory, transfers));
  for (const auto& term : asked.held)
    if (leads(term, asked.held)) asked.leading.push_back(term);
  return asked;
}

std::optional<Leading> symbolic_least(const Question& asked) {
  if (asked.terms.empty() || asked.leading.size() != 1) return std::nullopt;
  return least_by_means(asked.terms, asked.leading.front());
}

// Returns the monomials of M whose order is too low to count.
std::vector<std::string> dropped(const Posynomial& memory, const Question& asked) {
  std::vector<std::string> texts;
  const auto ones = ones_of(memory, asked.terms);
  for (const auto& term : memory) {
    const auto reduced = substituted({term}, ones).front().powers;
    if (std::ranges::find(asked.leading, reduced, &Monomial::powers) == asked.leading.end())
      texts.push_back(to_text(term));
  }
  return texts;
}

double value_if_sized(const Posynomial& sum, const Symbolic& all) { return all.sized ? value(sum, all.sizes) : 0; }

void add_symbolic(ClosedForm& form, const Leading& least, const Symbolic& all) {
  auto term = least.alpha;
  term.times({SymbolKind::room, "M"}, -least.beta);
  form.H_star = to_text(term);
  form.terms.push_back({to_text(least.alpha), value_if_sized({least.alpha}, all), least.beta});
}

void add_fixed(ClosedForm& form, const Question& asked, const Symbolic& all) {
  if (asked.fixed.empty()) return;
  form.H_star += (form.H_star.empty() ? "" : " + ") + to_text(asked.fixed);
  form.terms.push_back({to_text(asked.fixed), value_if_sized(asked.fixed, all), 0});
}

std::optional<NumericLeast> numeric_least(const Question& weighted, const Symbolic& all, double room) {
  if (!all.sized || !std::isfinite(room) || weighted.terms.empty() || weighted.held.empty()) return std::nullopt;
  return least_by_numbers(substituted(weighted.terms, all.sizes), substituted(weighted.held, all.sizes), room,
                          all.largest);
}

// If the sizes alone set the limit, the capacity does not matter, and the solver leaves a small exponent.
constexpr double no_exponent = 1e-6;

// Without a symbolic solution, prints the value and exponent at this capacity, or the program itself.
void add_numeric(ClosedForm& form, const Question& asked, const std::optional<NumericLeast>& least,
                 const Level& level) {
  if (!least) {
    form.H_star = fmt::format("(least of {} where {} <= M)", to_text(asked.terms), to_text(asked.held));
    return;
  }
  const double beta = least->beta < no_exponent ? 0 : least->beta;
  const double alpha = least->value * std::pow(level.room(), beta);
  form.H_star =
      fmt::format("{:.6g}{} (numeric, near M = {:.6g} {})", alpha, beta == 0 ? "" : fmt::format("*M^(-{:.4g})", beta),
                  level.room(), level.in_values ? "values" : "bytes");
  form.terms.push_back({fmt::format("{:.6g} (numeric)", alpha), alpha, beta});
}

// Returns the bound at the capacity of the level, where every value held is weighted with its bytes.
std::optional<double> bound(const Question& weighted, const std::optional<NumericLeast>& numeric, const Symbolic& all,
                            double room) {
  if (!all.sized || !std::isfinite(room)) return std::nullopt;
  const double fixed = value(weighted.fixed, all.sizes);
  if (weighted.terms.empty()) return fixed;
  if (const auto least = symbolic_least(weighted))
    return fixed + value(least->alpha, all.sizes) * std::pow(room, -least->beta);
  return numeric ? std::optional(fixed + numeric->value) : std::nullopt;
}

// Adds what H* means for the machine, and which changes reduce it, if it is one symbolic term.
void add_machine(ClosedForm& form, const Symbolic& all, const CostModel& model, const Kernel& shape,
                 const Hardware& hardware) {
  const auto bytes = question(all.weighted_transfers, all.weighted_memory);
  const auto least = symbolic_least(bytes);
  if (!all.sized || (!bytes.terms.empty() && !least)) return;
  const LeastBytes as_bytes{least, bytes.fixed};
  form.gains = gains(as_bytes, hardware, all.sizes);
  form.balance = balance(as_bytes, model, shape, hardware, all.sizes);
}

// Adds H at the best whole pieces. Pieces on which it does not depend are 1.
void add_whole(ClosedForm& form, const Question& weighted, const Symbolic& all, double room) {
  const auto near = numeric_least(weighted, all, room);
  if (!near) return;
  const auto terms = substituted(weighted.terms, all.sizes), held = substituted(weighted.held, all.sizes);
  form.whole = whole_pieces(terms, held, *near, room, all.largest);
  if (form.whole) form.whole->values += value(weighted.fixed, all.sizes);
}

}  // namespace

ClosedForm closed_form(const CostModel& model, const Kernel& shape, const Hardware& hardware, Model kind) {
  if (hardware.levels.size() < 2) return {};
  const auto& level = hardware.levels[1];
  const auto all = symbols(model, shape, hardware, kind);
  const auto asked = question(all.transfers, all.memory);
  const auto weighted = question(all.transfers, all.weighted_memory);
  ClosedForm form;
  form.H = to_text(all.transfers);
  form.M = to_text(all.memory);
  const auto symbolic = symbolic_least(asked);
  const auto numeric = symbolic ? std::nullopt : numeric_least(weighted, all, level.room());
  if (symbolic) {
    add_symbolic(form, *symbolic, all);
    form.dropped = dropped(all.memory, asked);
  } else if (!asked.terms.empty()) {
    add_numeric(form, asked, numeric, level);
  }
  add_fixed(form, asked, all);
  form.bound_values = bound(weighted, numeric, all, level.room());
  add_whole(form, weighted, all, level.room());
  add_machine(form, all, model, shape, hardware);
  return form;
}

}  // namespace napkin
