// Expressions as sums of products, in which gradients are collected: like terms add up, factors cancel, and what does
// not vary along a reduced wire leaves the sum. Sums are never multiplied out, because that loses digits.
#pragma once

#include <map>
#include <set>
#include <vector>

#include "napkin/diagram.hpp"

namespace napkin::grad {

// A number times powers of expressions. A condition is a factor too: the product is zero where it fails.
struct Product {
  double coefficient = 1;
  std::map<ExprId, double> factors{};
};
using Sum = std::vector<Product>;  // of products with different factors; empty: zero

class Algebra {
 public:
  explicit Algebra(Diagram& diagram) : diagram_(diagram) {}
  Diagram& diagram() { return diagram_; }

  // exp(a + b) is exp(a) exp(b), so that a maximum that a file subtracts in an exponent cancels by itself.
  const Sum& sum_of(ExprId);
  Product single(const Sum&);  // with what all terms share in front of them
  Sum reduced(const std::vector<WireId>& over, const Product&);
  Sum reduced(const std::vector<WireId>& over, const Sum&);
  const std::set<WireId>& free(ExprId);
  std::set<WireId> free(const Product&);
  bool is_condition(ExprId) const;
  ExprId apply(std::string_view function, std::vector<ExprId> arguments);
  ExprId apply(const Pointwise& function, std::vector<ExprId> arguments);
  ExprId number(double);
  ExprId read(ArrayId);  // at its own place
  Product size_of(WireId);

 private:
  Sum normal(ExprId);
  Sum normal(ExprId, const Apply&);
  Sum power(ExprId, const Apply&);
  Sum root(ExprId base, double exponent);
  Sum exponential(const Apply&);
  Sum logarithm(ExprId, const Apply&);
  Sum choice(const Apply&);
  Sum opaque(ExprId);

  Diagram& diagram_;
  std::map<ExprId, Sum> sums_;
  std::map<ExprId, std::set<WireId>> free_;
};

Product times(Product, const Product&);
Product to_power(const Product&, double exponent);
void add(Sum&, const Product&);
void add(Sum&, const Sum&);
bool is_one(const Product&);
// The exponents that all terms have in common.
Product common(const Sum&);

}  // namespace napkin::grad
