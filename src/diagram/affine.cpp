// Indices as affine forms. floor(floor(e / a) / b) = floor(e / ab) and floor(e / a) + k = floor((e + ka) / a) keep one
// divisor; anything else with a floor inside is refused.
#include "diagram/affine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "diagram/checked.hpp"

namespace napkin {

namespace {

bool is_constant(const Index& index) { return index.terms.empty() && index.divisor == 1; }

Index constant(std::int64_t value) { return {{}, value, 1}; }

std::optional<Index> sum(const Index& a, const Index& b) {
  Index result = a;
  for (const auto& [wire, coefficient] : b.terms) {
    const auto at =
        std::find_if(result.terms.begin(), result.terms.end(), [w = wire](const auto& t) { return t.first == w; });
    if (at == result.terms.end()) {
      result.terms.emplace_back(wire, coefficient);
      continue;
    }
    const auto total = checked_add(at->second, coefficient);
    if (!total) return std::nullopt;
    at->second = *total;
  }
  std::erase_if(result.terms, [](const auto& term) { return term.second == 0; });
  std::sort(result.terms.begin(), result.terms.end());
  const auto offset = checked_add(a.offset, b.offset);
  if (!offset) return std::nullopt;
  result.offset = *offset;
  return result;
}

struct Range {
  std::optional<std::int64_t> least, greatest;  // none if not known
  bool overflows = false;                       // one of them is known, but does not fit in 63 bits
};

std::optional<std::int64_t> plus(std::optional<std::int64_t> a, std::optional<std::int64_t> b) {
  return a && b ? checked_add(*a, *b) : std::nullopt;
}

Range range_of(const Diagram& diagram, const Index& index) {
  Range range{index.offset, index.offset};
  for (const auto& [wire, coefficient] : index.terms) {
    const auto size = diagram.size(wire);
    const auto far = size ? checked_multiply(*size - 1, coefficient) : std::nullopt;
    auto& end = coefficient > 0 ? range.greatest : range.least;
    const bool was_known = end.has_value();
    end = plus(end, far);
    range.overflows = range.overflows || (size && was_known && !end);
  }
  if (range.least) range.least = floor_divide(*range.least, index.divisor);
  if (range.greatest) range.greatest = floor_divide(*range.greatest, index.divisor);
  return range;
}

}  // namespace

std::optional<Index> AffineReader::read(const ast::Expr& expr) {
  switch (expr.kind) {
    case ast::ExprKind::number:
      return literal(expr);
    case ast::ExprKind::name:
      if (const auto bound = binder_(expr)) return Index{{{bound->use, 1}}, 0, 1};
      return std::nullopt;
    case ast::ExprKind::unary:
      return unary(expr);
    case ast::ExprKind::binary:
      return binary(expr);
    case ast::ExprKind::call:
      if (expr.name.text == "size") return size(expr);
      return refuse(expr, fmt::format("`{}` is no index", expr.name.text));
    case ast::ExprKind::access:
      return refuse(expr, fmt::format("an index cannot be read from array `{}`", expr.name.text));
    case ast::ExprKind::infinity:
      return refuse(expr, "`inf` is no index");
  }
  return std::nullopt;
}

std::optional<Index> AffineReader::literal(const ast::Expr& expr) {
  std::int64_t value = 0;
  const auto& text = expr.number_text;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  if (read.ec == std::errc::result_out_of_range) return overflow(expr);
  if (read.ptr != text.data() + text.size()) return refuse(expr, fmt::format("`{}` is no whole number", text));
  return constant(value);
}

std::optional<Index> AffineReader::size(const ast::Expr& expr) {
  const bool name = expr.arguments.size() == 1 && expr.arguments[0].kind == ast::ExprKind::name && expr.axes.empty();
  if (!name) return refuse(expr, "`size` takes the name of one axis");
  const auto& axis = expr.arguments[0].name;
  const auto found = names_.axes.find(axis.text);
  if (found == names_.axes.end()) {
    if (!names_.broken.contains(axis.text)) diagnostics_.add(unknown_axis(axis, names_.axis_names()));
    return std::nullopt;
  }
  if (const auto size = diagram_.at(found->second).size) {
    sizes_.insert(found->second);
    return constant(*size);
  }
  return refuse(expr, fmt::format("the size of axis `{}` is not known", axis.text));
}

std::optional<Index> AffineReader::unary(const ast::Expr& expr) {
  const auto value = read(expr.arguments[0]);
  if (!value) return std::nullopt;
  if (expr.name.text != "-") return refuse(expr, fmt::format("`{}` makes no index", expr.name.text));
  return scale(expr, *value, -1);
}

std::optional<Index> AffineReader::binary(const ast::Expr& expr) {
  const auto left = read(expr.arguments[0]), right = read(expr.arguments[1]);
  if (!left || !right) return std::nullopt;
  const auto& sign = expr.name.text;
  if (sign == "+") return add(expr, *left, *right);
  if (sign == "*") return multiply(expr, *left, *right);
  if (sign == "/") return divide(expr, *left, *right);
  if (sign != "-") return refuse(expr, fmt::format("`{}` makes no index", sign));
  const auto negative = scale(expr, *right, -1);
  return negative ? add(expr, *left, *negative) : std::nullopt;
}

std::optional<Index> AffineReader::add(const ast::Expr& expr, const Index& left, const Index& right) {
  const Index &floored = left.divisor != 1 ? left : right, &other = left.divisor != 1 ? right : left;
  if (floored.divisor != 1 && !is_constant(other)) return refuse(expr, "only whole numbers can be added to a quotient");
  const auto scaled = scale(expr, other, floored.divisor);
  if (!scaled) return std::nullopt;
  const auto total = sum(floored, *scaled);
  return total ? total : overflow(expr);
}

std::optional<Index> AffineReader::multiply(const ast::Expr& expr, const Index& left, const Index& right) {
  if (is_constant(left)) return scale(expr, right, left.offset);
  if (is_constant(right)) return scale(expr, left, right.offset);
  return refuse(expr, "two positions are multiplied");
}

std::optional<Index> AffineReader::divide(const ast::Expr& expr, const Index& left, const Index& right) {
  if (!is_constant(right)) return refuse(expr, "the divisor is no whole number");
  if (right.offset < 1) return refuse(expr, "the divisor is not positive");
  if (is_constant(left)) return constant(floor_divide(left.offset, right.offset));
  const auto divisor = checked_multiply(left.divisor, right.offset);
  if (!divisor) return overflow(expr);
  Index result = left;
  result.divisor = *divisor;
  return result;
}

std::optional<Index> AffineReader::scale(const ast::Expr& expr, const Index& index, std::int64_t factor) {
  if (factor == 1) return index;
  if (index.divisor != 1) return refuse(expr, "a quotient is multiplied");
  Index result{{}, 0, 1};
  for (const auto& [wire, coefficient] : index.terms) {
    const auto product = checked_multiply(coefficient, factor);
    if (!product) return overflow(expr);
    if (*product != 0) result.terms.emplace_back(wire, *product);
  }
  const auto offset = checked_multiply(index.offset, factor);
  if (!offset) return overflow(expr);
  result.offset = *offset;
  return result;
}

std::nullopt_t AffineReader::refuse(const ast::Expr& expr, std::string why) {
  diagnostics_.add({.code = "E0211",
                    .message = "the index is not affine: " + why,
                    .span = expr.span,
                    .help = "an index is made of axes and whole numbers, as in `x`, `2*u + i`, `q - 3` or `q / 64`"});
  return std::nullopt;
}

std::nullopt_t AffineReader::overflow(const ast::Expr& expr) {
  diagnostics_.add({.code = "E0104", .message = "the index does not fit in 63 bits", .span = expr.span});
  return std::nullopt;
}

bool exchanged(const Diagram& diagram, const Array& array, const std::vector<Index>& at) {
  std::vector<AxisId> read, declared;
  for (const auto& index : at) {
    const auto wire = plain_wire(index);
    if (!wire) return false;
    read.push_back(diagram.at(*wire).axis);
  }
  for (const auto wire : array.wires) declared.push_back(diagram.at(wire).axis);
  return read != declared && std::ranges::is_permutation(read, declared);
}

void check_bounds(const Diagram& diagram, const Array& array, std::size_t dimension, const Index& index,
                  const ast::Expr& written, Diagnostics& diagnostics) {
  const auto& axis = diagram.at(diagram.at(array.wires[dimension]).axis);
  const auto wire = plain_wire(index);
  if (wire && diagram.at(*wire).axis == diagram.at(array.wires[dimension]).axis) return;
  const auto range = range_of(diagram, index);
  if (range.overflows)
    return diagnostics.add({.code = "E0104",
                            .message = "the index does not fit in 63 bits",
                            .span = written.span,
                            .label = "it overflows before the end of its axes"});
  const bool below = range.least && *range.least < 0;
  const bool above = range.greatest && axis.size && *range.greatest >= *axis.size;
  if (!below && !above) return;
  auto reach = below && above ? fmt::format("it runs from {} to {}", *range.least, *range.greatest)
               : below        ? fmt::format("it begins at {}", *range.least)
                              : fmt::format("it runs up to {}", *range.greatest);
  auto extent = axis.size
                    ? fmt::format("axis `{}` of `{}` has positions 0 to {}", axis.name, array.name, *axis.size - 1)
                    : fmt::format("positions begin at 0");
  diagnostics.add({.code = "E0212",
                   .message = fmt::format("the index leaves array `{}`", array.name),
                   .span = written.span,
                   .label = std::move(reach),
                   .others = {{array.span, std::move(extent)}},
                   .notes = {"every index must stay inside; a `where` around it does not keep it there"},
                   .help = below ? "give the array a wider axis and shift the index" : "give the array a longer axis"});
}

}  // namespace napkin
