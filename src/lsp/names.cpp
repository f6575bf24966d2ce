// Collects all names of a syntax tree in one walk.
#include "lsp/names.hpp"

#include <algorithm>

#include "diagram/resolve/names.hpp"

namespace napkin::lsp {
namespace {

bool names_one(const std::vector<ast::Name>& names, std::string_view text) {
  return std::any_of(names.begin(), names.end(), [=](const ast::Name& name) { return name.text == text; });
}

bool is_formal(const ast::Def* def, std::string_view text) {
  return def && (names_one(def->axes, text) || names_one(def->parameters, text));
}

class Walk {
 public:
  std::vector<Occurrence> run(const ast::File& file) {
    if (!file.diagram.text.empty()) add(file.diagram, Role::diagram, true);
    for (const auto& declaration : file.declarations) std::visit(*this, declaration.node);
    return std::move(found_);
  }

  void operator()(const ast::Axis& axis) {
    add(axis.name, Role::axis, true);
    if (axis.size) walk(*axis.size);
  }
  void operator()(const ast::Input& input) {
    add(input.name, Role::array, true);
    add(input.type, Role::type);
    dimensions(input.name, input.axes);
  }
  void operator()(const ast::Output& output) { add(output.name, Role::array); }
  void operator()(const ast::Statement& statement) {
    add(statement.name, Role::array, true);
    if (statement.type) add(*statement.type, Role::type);
    dimensions(statement.name, statement.axes);
    walk(statement.value);
  }
  void operator()(const ast::Def& def) {
    add(def.name, Role::function, true);
    inside_ = &def;
    for (const auto& axis : def.axes) add(axis, Role::axis, true);
    for (const auto& parameter : def.parameters) add(parameter, Role::parameter, true);
    walk(def.value);
    inside_ = nullptr;
  }
  void operator()(const ast::Partition& partition) {
    add(partition.name, Role::partition, true);
    if (partition.target) add(*partition.target, Role::target);
    for (const auto& split : partition.splits) {
      add(split.axis, Role::axis);
      add(split.level, Role::level);
    }
  }
  void operator()(const ast::Broken& broken) {
    if (broken.name) add(*broken.name, Role::array, true);
  }

 private:
  void add(const ast::Name& name, Role role, bool declares = false) {
    const std::string_view all = name.text;
    const auto text = all.substr(0, all.find('\''));
    auto span = name.span;
    span.end = span.begin + static_cast<std::uint32_t>(text.size());
    found_.push_back({text, span, role, declares, inside_, {}, 0, all});
  }
  void add_dimension(const ast::Name& axis, const ast::Name& array, std::size_t dimension) {
    add(axis, Role::axis);
    found_.back().array = array.text;
    found_.back().dimension = dimension;
  }
  void dimensions(const ast::Name& array, const std::vector<ast::Name>& axes) {
    for (std::size_t i = 0; i < axes.size(); ++i) add_dimension(axes[i], array, i);
  }

  void walk(const ast::Expr& expr) {
    using enum ast::ExprKind;
    if (expr.kind == call) add(expr.name, Role::function);
    if (expr.kind == access) add(expr.name, Role::array);
    if (expr.kind == name)
      add(expr.name, inside_ && names_one(inside_->parameters, expr.name.text) ? Role::parameter : Role::axis);
    for (const auto& axis : expr.axes) add(axis, Role::axis);
    for (std::size_t i = 0; i < expr.arguments.size(); ++i) {
      const auto& argument = expr.arguments[i];
      if (expr.kind == access && argument.kind == name && !inside_)
        add_dimension(argument.name, expr.name, i);
      else
        walk(argument);
    }
  }

  std::vector<Occurrence> found_;
  const ast::Def* inside_ = nullptr;
};

bool defines(const ast::File& file, std::string_view text) {
  const auto defs = all<ast::Def>(file);
  return std::any_of(defs.begin(), defs.end(), [=](const ast::Def* def) { return def->name.text == text; });
}

Space space(const ast::File& file, const Occurrence& occurrence) {
  switch (occurrence.role) {
    case Role::diagram:
      return Space::diagram;
    case Role::partition:
      return Space::partitions;
    case Role::type:
      return Space::language;
    case Role::target:
    case Role::level:
      return Space::machine;
    case Role::function:
      if (is_built_in(occurrence.text)) return Space::language;
      return defines(file, occurrence.text) ? Space::file : Space::prelude;
    case Role::axis:
    case Role::array:
    case Role::parameter:
      return is_formal(occurrence.inside, occurrence.text) ? Space::def : Space::file;
  }
  return Space::language;
}

}  // namespace

std::vector<Occurrence> occurrences(const ast::File& file) { return Walk().run(file); }

std::optional<Occurrence> occurrence_at(const ast::File& file, std::size_t offset) {
  std::optional<Occurrence> found;
  for (const auto& occurrence : occurrences(file)) {
    const auto primes = static_cast<std::uint32_t>(occurrence.wire.size() - occurrence.text.size());
    const bool holds = occurrence.span.begin <= offset && offset <= occurrence.span.end + primes;
    if (holds && (!found || found->span.begin < occurrence.span.begin)) found = occurrence;
  }
  return found;
}

Symbol symbol(const ast::File& file, const Occurrence& occurrence) {
  const auto where = space(file, occurrence);
  return {where, where == Space::def ? occurrence.inside : nullptr, occurrence.text};
}

std::vector<Occurrence> uses(const ast::File& file, const Symbol& wanted) {
  auto found = occurrences(file);
  std::erase_if(found, [&](const Occurrence& occurrence) { return symbol(file, occurrence) != wanted; });
  std::ranges::sort(found, {}, [](const Occurrence& occurrence) { return occurrence.span.begin; });
  // Several splits can share the level at the end of their line.
  const auto same = [](const Occurrence& a, const Occurrence& b) { return a.span == b.span; };
  found.erase(std::unique(found.begin(), found.end(), same), found.end());
  return found;
}

std::optional<Occurrence> declaration(const ast::File& file, const Symbol& wanted) {
  for (const auto& occurrence : uses(file, wanted))
    if (occurrence.declares) return occurrence;
  return std::nullopt;
}

}  // namespace napkin::lsp
