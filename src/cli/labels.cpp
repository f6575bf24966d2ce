// Labels as written -> a partition of a kernel's wires on a machine's levels, each problem at its label.
#include <fmt/format.h>

#include "cli/stages.hpp"

namespace napkin::cli {
namespace {

void check_target(Session& session, const Hardware& hardware, const ast::Partition& labels) {
  if (!labels.target || labels.target->text == hardware.name) return;
  session.diagnostics.add(
      {"W0305",
       fmt::format("this partition was written for `{}`, not for `{}`", labels.target->text, hardware.name),
       labels.target->span,
       "",
       {},
       {},
       ""});
}

}  // namespace

std::optional<Partition> legal_partition(Session& session, const Derivation& derivation, const Hardware& hardware,
                                         const ast::Partition& labels) {
  Diagnostics mistakes;
  auto partition = resolve_partition(labels, derivation.scratch, hardware, mistakes);
  if (!mistakes.has_errors()) report_illegal(labels, derivation, hardware, partition, mistakes);
  for (auto& mistake : mistakes.sorted()) session.diagnostics.add(std::move(mistake));
  if (mistakes.has_errors()) return std::nullopt;
  check_target(session, hardware, labels);
  return partition;
}

}  // namespace napkin::cli
