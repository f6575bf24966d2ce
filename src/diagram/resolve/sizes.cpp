// Computes sizes of axes. A size that depends on a symbolic axis is itself symbolic; `--set` overrides the file.
#include "diagram/resolve/sizes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "diagram/checked.hpp"
#include "text/limits.hpp"

namespace napkin {

namespace {

struct Symbolic {};
struct Failed {};
using SizeValue = std::variant<std::int64_t, Symbolic, Failed>;

class SizeReader {
 public:
  SizeReader(const Diagram& diagram, const Names& names, const ast::File& file, Diagnostics& diagnostics)
      : diagram_(diagram), names_(names), file_(file), diagnostics_(diagnostics) {}

  SizeValue read(const ast::Expr& expr) {
    switch (expr.kind) {
      case ast::ExprKind::number:
        return literal(expr);
      case ast::ExprKind::name:
        return axis(expr.name);
      case ast::ExprKind::unary:
        return expr.name.text == "-" ? combine("-", std::int64_t{0}, read(expr.arguments[0]), expr.span) : refuse(expr);
      case ast::ExprKind::binary:
        return combine(expr.name.text, read(expr.arguments[0]), read(expr.arguments[1]), expr.span);
      default:
        return refuse(expr);
    }
  }

 private:
  SizeValue literal(const ast::Expr& expr) {
    std::int64_t value = 0;
    const auto& text = expr.number_text;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
    if (read.ec == std::errc::result_out_of_range) return overflow(expr.span);
    if (read.ptr != text.data() + text.size()) return refuse(expr);
    return value;
  }

  SizeValue axis(const ast::Name& name) {
    if (const auto found = names_.axes.find(name.text); found != names_.axes.end()) {
      const auto size = diagram_.at(found->second).size;
      return size ? SizeValue(*size) : SizeValue(Symbolic{});
    }
    if (names_.broken.contains(name.text)) return Failed{};
    auto diagnostic = unknown_axis(name, names_.axis_names());
    for (const auto* later : all<ast::Axis>(file_)) {
      if (later->name.text != name.text) continue;
      diagnostic.message = fmt::format("axis `{}` is declared later", name.text);
      diagnostic.others = {{later->name.span, "declared here"}};
      diagnostic.help = "a size may name earlier axes only", diagnostic.fixes.clear();
    }
    diagnostics_.add(std::move(diagnostic));
    return Failed{};
  }

  SizeValue combine(const std::string& sign, const SizeValue& left, const SizeValue& right, Span span) {
    if (std::holds_alternative<Failed>(left) || std::holds_alternative<Failed>(right)) return Failed{};
    if (sign != "+" && sign != "-" && sign != "*" && sign != "/") return refuse_sign(sign, span);
    if (std::holds_alternative<Symbolic>(left) || std::holds_alternative<Symbolic>(right)) return Symbolic{};
    const auto a = std::get<std::int64_t>(left), b = std::get<std::int64_t>(right);
    if (sign == "/" && b <= 0) return fail(span, "a size is divided by a number that is not positive");
    const auto value = sign == "+"   ? checked_add(a, b)
                       : sign == "-" ? checked_subtract(a, b)
                       : sign == "*" ? checked_multiply(a, b)
                                     : std::optional(floor_divide(a, b));
    return value ? SizeValue(*value) : overflow(span);
  }

  SizeValue fail(Span span, std::string message, std::string help = "") {
    diagnostics_.add({.code = "E0210", .message = std::move(message), .span = span, .help = std::move(help)});
    return Failed{};
  }
  SizeValue refuse(const ast::Expr& expr) {
    return fail(expr.span, "a size is a positive integer, or made of integers and earlier axes");
  }
  SizeValue refuse_sign(const std::string& sign, Span span) {
    return fail(span, fmt::format("`{}` does not make a size", sign), "sizes are made with `+`, `-`, `*` and `/`");
  }
  SizeValue overflow(Span span) {
    diagnostics_.add({.code = "E0104", .message = "the size does not fit in 63 bits", .span = span});
    return Failed{};
  }

  const Diagram& diagram_;
  const Names& names_;
  const ast::File& file_;
  Diagnostics& diagnostics_;
};

std::optional<std::int64_t> overridden(const Overrides& overrides, const std::string& name) {
  std::optional<std::int64_t> size;
  for (const auto& [axis, value] : overrides.sizes)
    if (axis == name && value >= 1) size = value;  // the last one wins
  return size;
}

void check_overrides(const Overrides& overrides, const Names& names, Diagnostics& diagnostics) {
  for (const auto& [axis, value] : overrides.sizes) {
    if (names.broken.contains(axis)) continue;
    if (!names.axes.contains(axis))
      diagnostics.add(with_suggestion(
          {.code = "E0501", .message = fmt::format("`--set {}={}` names no axis of the diagram", axis, value)}, axis,
          names.axis_names(), "axes"));
    else if (value < 1)
      diagnostics.add({.code = "E0501",
                       .message = fmt::format("`--set {}={}` is no size", axis, value),
                       .help = "a size is a whole number from 1 on"});
  }
}

std::optional<std::int64_t> size_of(const ast::Axis& axis, SizeReader reader, Diagnostics& diagnostics) {
  if (!axis.size) return std::nullopt;
  const auto value = reader.read(*axis.size);
  const auto* size = std::get_if<std::int64_t>(&value);
  if (size == nullptr) return std::nullopt;
  if (*size >= 1) return *size;
  diagnostics.add({.code = "E0210",
                   .message = fmt::format("axis `{}` would have size {}", axis.name.text, *size),
                   .span = axis.size->span,
                   .help = "a size is a positive integer"});
  return std::nullopt;
}

}  // namespace

void declare_axes(const ast::File& file, const Overrides& overrides, Diagram& diagram, Names& names,
                  Diagnostics& diagnostics) {
  for (const auto* axis : all<ast::Axis>(file)) {
    if (diagram.axes.size() == limits::axes) {
      diagnostics.add(
          {.code = "E0606", .message = fmt::format("more than {} axes", limits::axes), .span = axis->name.span});
      return;
    }
    auto size = size_of(*axis, SizeReader(diagram, names, file, diagnostics), diagnostics);
    if (const auto set = overridden(overrides, axis->name.text)) size = set;
    const AxisId id{static_cast<std::uint32_t>(diagram.axes.size())};
    if (names.axes.emplace(axis->name.text, id).second)
      diagram.axes.push_back({axis->name.text, size, axis->name.span});
  }
  check_overrides(overrides, names, diagnostics);
}

void check_array_size(const Diagram& diagram, const Array& array, Diagnostics& diagnostics) {
  std::int64_t values = 1;
  for (const auto wire : array.wires) {
    const auto product = checked_multiply(values, diagram.size(wire).value_or(1));
    if (product && *product <= limits::array_values) {
      values = *product;
      continue;
    }
    diagnostics.add({.code = "E0608",
                     .message = fmt::format("array `{}` would have more than 2^60 values", array.name),
                     .span = array.span,
                     .help = "give its axes smaller sizes"});
    return;
  }
}

}  // namespace napkin
