// Labels as written -> a partition of a kernel's wires on a machine's levels, each problem at its label.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "cli/stages.hpp"

namespace napkin::cli {
namespace {

std::vector<std::string> wire_names(const Diagram& diagram) {
  std::vector<std::string> names;
  for (const auto& wire : diagram.wires) names.push_back(wire.name);
  return names;
}

std::vector<std::string> level_names(const Hardware& hardware) {
  std::vector<std::string> names;
  for (std::size_t i = 1; i < hardware.levels.size(); ++i) names.push_back(hardware.levels[i].name);
  return names;
}

void unknown(Session& session, std::string_view code, const char* what, const ast::Name& name,
             const std::vector<std::string>& names) {
  const auto help = did_you_mean(name.text, names);
  session.diagnostics.add({code,
                           fmt::format("no {} is called `{}`", what, name.text),
                           name.span,
                           "",
                           {},
                           {},
                           help.empty() ? fmt::format("one of {}", fmt::join(names, ", ")) : help});
}

std::optional<Split> split_of(Session& session, const Diagram& diagram, const Hardware& hardware,
                              const ast::Split& label) {
  const auto wire = find_wire(diagram, label.axis.text);
  const auto level = hardware.level(label.level.text);
  if (!wire) unknown(session, "E0301", "axis", label.axis, wire_names(diagram));
  if (!level) unknown(session, "E0302", "level below the outermost", label.level, level_names(hardware));
  if (!wire || !level) return std::nullopt;
  return Split{label.stream ? SplitKind::stream : SplitKind::group, *wire, label.size, *level};
}

// Outermost level first, groups before streams, else as written: the order of Partition.
Partition in_order(std::vector<Split> splits) {
  std::stable_sort(splits.begin(), splits.end(), [](const Split& a, const Split& b) {
    return a.level != b.level ? a.level < b.level : a.kind < b.kind;
  });
  return {std::move(splits)};
}

bool refuses(const std::vector<Refused>& reasons, const std::string& reason) {
  return std::any_of(reasons.begin(), reasons.end(), [&](const Refused& other) { return other.reason == reason; });
}

// The label that is refused for that reason even alone; else the whole partition.
Span place(const Derivation& derivation, const Hardware& hardware, const std::vector<Split>& splits,
           const ast::Partition& labels, const std::string& reason) {
  for (std::size_t i = 0; i < splits.size(); ++i) {
    if (refuses(illegal(derivation, hardware, {{splits[i]}}), reason)) return labels.splits[i].span;
  }
  return labels.span;
}

void add_refusal(Session& session, const Refused& refused, Span span) {
  Diagnostic diagnostic{"E0303", refused.reason, span, "", {}, {}, ""};
  const bool elsewhere = refused.span.end > refused.span.begin && refused.span.file < session.sources.size();
  if (elsewhere && !(refused.span == span)) diagnostic.others.push_back({refused.span, "because of this"});
  session.diagnostics.add(std::move(diagnostic));
}

void check_target(Session& session, const Hardware& hardware, const ast::Partition& labels) {
  if (!labels.target || labels.target->text == hardware.name) return;
  session.diagnostics.add({"W0305",
                           fmt::format("this partition was written for `{}`, not for `{}`", labels.target->text,
                                       hardware.name),
                           labels.target->span,
                           "",
                           {},
                           {},
                           ""});
}

}  // namespace

std::optional<Partition> legal_partition(Session& session, const Derivation& derivation, const Hardware& hardware,
                                         const ast::Partition& labels) {
  std::vector<Split> splits;
  for (const auto& label : labels.splits) {
    if (const auto split = split_of(session, derivation.scratch, hardware, label)) splits.push_back(*split);
  }
  if (splits.size() != labels.splits.size()) return std::nullopt;
  auto partition = in_order(splits);
  const auto reasons = illegal(derivation, hardware, partition);
  for (const auto& refused : reasons) {
    add_refusal(session, refused, place(derivation, hardware, splits, labels, refused.reason));
  }
  if (!reasons.empty()) return std::nullopt;
  check_target(session, hardware, labels);
  return partition;
}

}  // namespace napkin::cli
