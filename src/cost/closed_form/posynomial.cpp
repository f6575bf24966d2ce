// Arithmetic and text of posynomials.
#include "cost/closed_form/posynomial.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

namespace napkin {
namespace {

constexpr double tiny = 1e-9;

std::optional<std::int64_t> whole(double number) {
  const double nearest = std::round(number);
  if (std::abs(number - nearest) > tiny * std::max(1.0, std::abs(number)) || std::abs(nearest) > 1e15) return {};
  return static_cast<std::int64_t>(nearest);
}

// Prints a fraction such as `1/2` if a small denominator suffices, else decimals.
std::string fraction(double number) {
  for (std::int64_t below = 1; below <= 12; ++below)
    if (const auto above = whole(number * static_cast<double>(below)))
      return below == 1 ? fmt::format("{}", *above) : fmt::format("{}/{}", *above, below);
  return fmt::format("{:.4g}", number);
}

std::string powered(const std::string& name, double exponent) {
  if (exponent == 1) return name;
  const auto text = fraction(exponent);
  return fmt::format("{}^{}", name, whole(exponent) && exponent > 0 ? text : "(" + text + ")");
}

std::string factor_text(double factor) {
  const auto integer = whole(factor);
  return integer ? fmt::format("{}", *integer) : fmt::format("{:.6g}", factor);
}

double degree(const Monomial& monomial) {
  double sum = 0;
  for (const auto& [symbol, power] : monomial.powers)
    if (symbol.kind == SymbolKind::size) sum += power;
  return sum;
}

bool is_before(const Monomial& a, const Monomial& b) {
  return degree(a) != degree(b) ? degree(a) > degree(b) : to_text(a) < to_text(b);
}

}  // namespace

double Monomial::power(const Symbol& symbol) const {
  const auto found = powers.find(symbol);
  return found == powers.end() ? 0 : found->second;
}

void Monomial::times(const Symbol& symbol, double power) {
  auto& exponent = powers[symbol];
  exponent += power;
  if (std::abs(exponent) < tiny) powers.erase(symbol);
}

bool Monomial::has_pieces() const {
  return std::ranges::any_of(powers, [](const auto& entry) { return entry.first.kind == SymbolKind::piece; });
}

Monomial operator*(const Monomial& a, const Monomial& b) {
  Monomial product = a;
  product.factor *= b.factor;
  for (const auto& [symbol, power] : b.powers) product.times(symbol, power);
  return product;
}

Posynomial operator*(const Posynomial& a, const Posynomial& b) {
  Posynomial product;
  for (const auto& x : a)
    for (const auto& y : b) product.push_back(x * y);
  return product;
}

Monomial power(const Monomial& monomial, double exponent) {
  Monomial result{std::pow(monomial.factor, exponent), {}};
  for (const auto& [symbol, power] : monomial.powers) result.times(symbol, power * exponent);
  return result;
}

Posynomial collected(const Posynomial& sum) {
  Posynomial result;
  for (const auto& term : sum) {
    const auto like = std::ranges::find(result, term.powers, &Monomial::powers);
    if (like == result.end())
      result.push_back(term);
    else
      like->factor += term.factor;
  }
  std::ranges::sort(result, is_before);
  return result;
}

Posynomial substituted(const Posynomial& sum, const Assignment& at) {
  Posynomial result;
  for (const auto& term : sum) {
    result.push_back({value(term, at), term.powers});
    std::erase_if(result.back().powers, [&](const auto& entry) { return at.contains(entry.first); });
  }
  return collected(result);
}

std::set<Symbol> pieces(const Posynomial& sum) {
  std::set<Symbol> all;
  for (const auto& term : sum)
    for (const auto& [symbol, power] : term.powers)
      if (symbol.kind == SymbolKind::piece) all.insert(symbol);
  return all;
}

double value(const Monomial& monomial, const Assignment& at) {
  double product = monomial.factor;
  for (const auto& [symbol, power] : monomial.powers)
    if (const auto found = at.find(symbol); found != at.end()) product *= std::pow(found->second, power);
  return product;
}

double value(const Posynomial& sum, const Assignment& at) {
  double total = 0;
  for (const auto& term : sum) total += value(term, at);
  return total;
}

std::string to_text(const Monomial& monomial) {
  std::string above, below;
  int divisors = 0;
  const auto append = [](std::string& to, const std::string& text) { to += (to.empty() ? "" : "*") + text; };
  const auto inverse = monomial.factor < 1 ? whole(1 / monomial.factor) : std::nullopt;
  if (inverse) append(below, fmt::format("{}", *inverse)), ++divisors;
  if (!inverse && monomial.factor != 1) append(above, factor_text(monomial.factor));
  for (const auto& [symbol, power] : monomial.powers) {
    const bool divides = power < 0 && whole(power).has_value();
    append(divides ? below : above, powered(symbol.name, divides ? -power : power));
    divisors += divides;
  }
  if (above.empty()) above = "1";
  if (divisors == 0) return above;
  return divisors == 1 ? fmt::format("{}/{}", above, below) : fmt::format("{}/({})", above, below);
}

std::string to_text(const Posynomial& sum) {
  std::string text;
  for (const auto& term : sum) text += (text.empty() ? "" : " + ") + to_text(term);
  return text.empty() ? "0" : text;
}

bool is_dominated(const Monomial& monomial, const Monomial& other) {
  bool lower = false;
  const auto quotient = other * power(monomial, -1);
  for (const auto& [symbol, exponent] : quotient.powers) {
    if (exponent < 0) return false;
    lower = true;
  }
  return lower;
}

}  // namespace napkin
