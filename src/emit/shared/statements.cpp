// Prints columns as statements, independent of the surrounding loops.
#include "emit/shared/statements.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <variant>

namespace napkin {

bool is_wide(const LoopNest& nest, const Compute& compute, bool compares) {
  const auto is_wide_buffer = [&](BufferId id) { return is_wide(nest.at(id).type); };
  const auto reads_wide = [&](const auto& self, ExprId id) -> bool {
    if (compares_integers(nest.scratch, nest.inputs, id)) return false;
    const auto& node = nest.scratch.at(id).node;
    if (const auto* access = std::get_if<Access>(&node)) return is_wide(nest.scratch.at(access->array).type);
    const auto of = [&](ExprId operand) { return self(self, operand); };
    if (const auto* apply = std::get_if<Apply>(&node)) return std::ranges::any_of(apply->arguments, of);
    const auto* cast = std::get_if<Cast>(&node);
    return cast && of(cast->value);
  };
  if (is_wide_buffer(compute.to)) return true;
  if (std::ranges::none_of(compute.reads, [&](const auto& read) { return is_wide_buffer(read.second); })) return false;
  const auto& [value, repair] = std::tie(compute.column.value, compute.column.repair);
  return !compares || reads_wide(reads_wide, value) || (repair && reads_wide(reads_wide, *repair));
}

bool begins_in_place(const Compute& compute) {
  return compute.column.carried && *compute.carried == compute.to && !compute.column.repair;
}

std::string code_joined(Language language, const Pointwise& combine, const std::string& to, const std::string& value) {
  if (combine.role == Role::add || combine.role == Role::multiply)
    return fmt::format("{} {}= {};", to, combine.name, value);
  return fmt::format("{} = {};", to, fmt::format(fmt::runtime(code_of(language, combine)), to, value));
}

}  // namespace napkin
