// Sums of products of powers: how transfers and memory depend on the sizes of axes and pieces.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace napkin {

// In the order in which a product names them. `room` is M itself.
enum class SymbolKind : std::uint8_t { size, piece, room };
struct Symbol {
  SymbolKind kind = SymbolKind::size;
  std::string name;
  auto operator<=>(const Symbol&) const = default;
};

struct Monomial {
  double factor = 1;
  std::map<Symbol, double> powers;  // none is zero

  double power(const Symbol&) const;  // 0 where it does not occur
  void times(const Symbol&, double power = 1);
  bool has_pieces() const;
};
using Posynomial = std::vector<Monomial>;
using Assignment = std::map<Symbol, double>;

Monomial operator*(const Monomial&, const Monomial&);
Posynomial operator*(const Posynomial&, const Posynomial&);
Monomial power(const Monomial&, double exponent);

// Like terms added, leading terms first: by degree, then by text.
Posynomial collected(const Posynomial&);
// With numbers in place of symbols; like terms are added.
Posynomial substituted(const Posynomial&, const Assignment&);
std::set<Symbol> pieces(const Posynomial&);

// A symbol without a value counts as 1.
double value(const Monomial&, const Assignment&);
double value(const Posynomial&, const Assignment&);

// `2*d*q*x/g_q`, `2*a*b*c*M^(-1/2)`
std::string to_text(const Monomial&);
std::string to_text(const Posynomial&);

// Never larger than a constant times `other`, as long as every symbol is at least 1, and of lower order.
bool is_dominated(const Monomial&, const Monomial& other);

}  // namespace napkin
