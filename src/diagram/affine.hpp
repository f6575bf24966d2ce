// Reads indices: `2*u + i`, `q - 3`, `q / 64` as floor((terms + offset) / divisor), and checks that they stay in
// bounds.
#pragma once

#include <optional>
#include <set>

#include "diagram/index.hpp"
#include "diagram/resolve/names.hpp"
#include "diagram/resolve/scope.hpp"

namespace napkin {

// Any other form is a diagnostic. `bound` gives the meaning of an axis name; it reports unknown names itself.
class AffineReader {
 public:
  using Binder = std::function<std::optional<Bound>(const ast::Expr&)>;
  AffineReader(const Diagram& diagram, const Names& names, Binder binder, Diagnostics& diagnostics)
      : diagram_(diagram), names_(names), binder_(std::move(binder)), diagnostics_(diagnostics) {}

  std::optional<Index> read(const ast::Expr&);
  // Axes whose sizes the indices contain as numbers.
  const std::set<AxisId>& sizes() const { return sizes_; }

 private:
  std::optional<Index> literal(const ast::Expr&);
  std::optional<Index> size(const ast::Expr&);
  std::optional<Index> unary(const ast::Expr&);
  std::optional<Index> binary(const ast::Expr&);
  std::optional<Index> add(const ast::Expr&, const Index&, const Index&);
  std::optional<Index> multiply(const ast::Expr&, const Index&, const Index&);
  std::optional<Index> divide(const ast::Expr&, const Index&, const Index&);
  std::optional<Index> scale(const ast::Expr&, const Index&, std::int64_t factor);
  std::nullopt_t refuse(const ast::Expr&, std::string why);
  std::nullopt_t overflow(const ast::Expr&);

  const Diagram& diagram_;
  const Names& names_;
  Binder binder_;
  Diagnostics& diagnostics_;
  std::set<AxisId> sizes_;
};

// Whether the indices are the array's own axes, each once, in another order than declared.
bool exchanged(const Diagram&, const Array&, const std::vector<Index>& at);

// Reports an index of dimension `dimension` that is outside of its array for some position, as far as the sizes are
// known.
void check_bounds(const Diagram&, const Array&, std::size_t dimension, const Index&, const ast::Expr& written,
                  Diagnostics&);

}  // namespace napkin
