// Labels as a person wrote them to a partition of wires and levels, each problem at its label.
#include <fmt/format.h>

#include <algorithm>

#include "partition/objections.hpp"

namespace napkin {
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

std::string suggestion(const std::string& word, const std::vector<std::string>& names) {
  const auto meant = did_you_mean(word, names);
  return !meant.empty() || names.empty() ? meant : fmt::format("one of `{}`", fmt::join(names, "`, `"));
}

Diagnostic unknown_axis(const ast::Name& name, const Diagram& diagram) {
  return {"E0301", fmt::format("no axis is called `{}`", name.text), name.span, "", {},
          {},      suggestion(name.text, wire_names(diagram))};
}

Diagnostic unknown_level(const ast::Name& name, const Hardware& hardware) {
  const auto names = level_names(hardware);
  Diagnostic diagnostic{"E0302",
                        fmt::format("`{}` has no level `{}`", hardware.name, name.text),
                        name.span,
                        "",
                        {},
                        {},
                        suggestion(name.text, names)};
  if (hardware.level(name.text)) {
    diagnostic.message = fmt::format("nothing is split at `{}`, the outermost level", name.text);
    diagnostic.notes = {fmt::format("the levels of `{}` below it: {}", hardware.name, fmt::join(names, ", "))};
    diagnostic.help.clear();
  } else if (!nearest(name.text, names).empty()) {
    diagnostic.notes = {fmt::format("the levels of `{}`: {}", hardware.name, fmt::join(names, ", "))};
  }
  return diagnostic;
}

Diagnostic label_twice(const ast::Split& first, const ast::Split& second, const std::string& wire) {
  return {"E0306",
          fmt::format("`{}` is {} twice at `{}`", wire, second.stream ? "streamed" : "grouped", second.level.text),
          second.span,
          "",
          {{first.span, "first here"}},
          {},
          "keep one of the two labels"};
}

SplitKind kind_of(const ast::Split& label) { return label.stream ? SplitKind::stream : SplitKind::group; }

bool names(const ast::Split& label, const Split& split, const Diagram& diagram, const Hardware& hardware) {
  return kind_of(label) == split.kind && find_wire(diagram, label.axis.text) == split.wire &&
         hardware.level(label.level.text) == split.level;
}

std::optional<Split> resolve_split(const ast::Split& label, const Diagram& diagram, const Hardware& hardware,
                                   Diagnostics& diagnostics) {
  const auto wire = find_wire(diagram, label.axis.text);
  const auto level = hardware.level(label.level.text);
  if (!wire) diagnostics.add(unknown_axis(label.axis, diagram));
  if (!level || *level == 0) diagnostics.add(unknown_level(label.level, hardware));
  if (!wire || !level || *level == 0) return std::nullopt;
  return Split{kind_of(label), *wire, label.size, *level};
}

// Outermost level first, groups before streams, else as written.
void put_in_order(Partition& partition) {
  std::ranges::stable_sort(partition.splits, [](const Split& a, const Split& b) {
    return a.level != b.level ? a.level < b.level : a.kind < b.kind;
  });
}

Span span_of(const ast::Partition& labels, const Split& split, const Diagram& diagram, const Hardware& hardware) {
  const auto label =
      std::ranges::find_if(labels.splits, [&](const ast::Split& one) { return names(one, split, diagram, hardware); });
  return label == labels.splits.end() ? labels.span : label->span;
}

}  // namespace

Partition resolve_partition(const ast::Partition& labels, const Diagram& diagram, const Hardware& hardware,
                            Diagnostics& diagnostics) {
  Partition partition;
  for (auto label = labels.splits.begin(); label != labels.splits.end(); ++label) {
    const auto split = resolve_split(*label, diagram, hardware, diagnostics);
    if (!split) continue;
    const auto first = std::find_if(labels.splits.begin(), label,
                                    [&](const auto& one) { return names(one, *split, diagram, hardware); });
    if (first == label)
      partition.splits.push_back(*split);
    else
      diagnostics.add(label_twice(*first, *label, diagram.at(split->wire).name));
  }
  put_in_order(partition);
  return partition;
}

void report_illegal(const ast::Partition& labels, const Derivation& derivation, const Hardware& hardware,
                    const Partition& partition, Diagnostics& diagnostics) {
  for (const auto& [split, why] : objections(derivation, hardware, partition))
    report_refused(labels, derivation, hardware, partition.splits[split], why, diagnostics);
}

void report_refused(const ast::Partition& labels, const Derivation& derivation, const Hardware& hardware,
                    const Split& split, const Refused& why, Diagnostics& diagnostics) {
  const auto span = span_of(labels, split, derivation.scratch, hardware);
  Diagnostic diagnostic{"E0303", why.reason, span, "", {}, {}, why.mend};
  if (why.span.end > why.span.begin) diagnostic.others.push_back({why.span, "because of this"});
  diagnostics.add(std::move(diagnostic));
}

}  // namespace napkin
