// Kernel by kernel: which statements it has, what of them must leave it, and how it is split.
#include "analyze/by_hand.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "analyze/rows.hpp"
#include "napkin/partition.hpp"
#include "napkin/search.hpp"

namespace napkin {
namespace {

using SharedDerivation = std::shared_ptr<const Derivation>;
using Statements = std::vector<StatementId>;

bool has(const std::vector<ArrayId>& arrays, ArrayId array) { return std::ranges::find(arrays, array) != arrays.end(); }

void check_target(const Hardware& hardware, const ast::Partition& labels, Diagnostics& diagnostics) {
  if (!labels.target || labels.target->text == hardware.name) return;
  const auto what =
      fmt::format("this partition was written for `{}`, not for `{}`", labels.target->text, hardware.name);
  diagnostics.add({"W0305", what, labels.target->span, "", {}, {}, ""});
}

class PlanByHand {
 public:
  PlanByHand(const WrittenPlan& written, Analysis& analysis, Diagnostics& diagnostics)
      : written_(written), analysis_(analysis), diagnostics_(diagnostics) {}

  bool run() {
    take_orders();
    for (const auto& kernel : written_.kernels) parts_.push_back(part_of(kernel));
    if (!diagnostics_.has_errors()) check_order();
    if (diagnostics_.has_errors()) return false;
    analysis_.by_hand = written_.text;
    for (std::size_t k = 0; k < parts_.size(); ++k)
      if (!add(k)) return false;
    return true;
  }

 private:
  // The statements of one kernel, by the arrays that they make: those have the same names in every diagram that kernels
  // before it leave.
  struct Part {
    std::vector<std::string> made;
    std::vector<ArrayId> outputs;
  };
  const Diagram& diagram() const { return analysis_.diagram; }
  Hardware& hardware() const { return analysis_.hardware; }
  const ast::KernelLabels& kernel(std::size_t k) const { return written_.kernels[k]; }
  void error(Span where, std::string what, std::string help) {
    diagnostics_.add({"E0307", std::move(what), where, "", {}, {}, std::move(help)});
  }

  // Names of arrays that orders of contraction add say those orders, and labels say which of several with equal names.
  // If no orders add all of the names, those that add most of them are taken, so that only the others are unknown.
  void take_orders() {
    std::set<std::string> named;
    for (const auto& kernel : written_.kernels)
      for (const auto& name : kernel.statements) named.insert(name.text);
    for (const auto& statement : diagram().statements) named.erase(diagram().at(statement.output).name);
    Ordered found{{}, named.size()};
    if (!named.empty()) try_orders(diagram(), named, found);
    if (found.diagram) analysis_.diagram = analysis_.ordered = *std::move(found.diagram);
  }
  struct Ordered {
    std::optional<Diagram> diagram;  // the best so far
    std::size_t left;                // names that it does not add
    bool legal = false;
    int tried = 0;
  };
  void try_orders(const Diagram& before, const std::set<std::string>& named, Ordered& best) const {
    constexpr int most = 64;
    if (best.legal || ++best.tried > most) return;
    const bool better = named.size() < best.left, legal = named.empty() && is_legal(before);
    if (better || legal) best.diagram = before, best.left = named.size(), best.legal = legal;
    if (named.empty()) return;
    for (const auto& orders : contractions(before))
      for (const auto& form : orders.forms) {
        auto left = named;
        for (const auto& name : form.made) left.erase(name);
        if (!form.made.empty() && left.size() + form.made.size() == named.size()) try_orders(form.diagram, left, best);
      }
  }
  // Whether the labels of all kernels are legal in this diagram.
  bool is_legal(const Diagram& ordered) const {
    return std::ranges::all_of(written_.kernels, [&](const ast::KernelLabels& kernel) {
      Part part;
      for (const auto& name : kernel.statements) part.made.push_back(name.text);
      const auto derivation = napkin::derive(ordered, statements_of(ordered, part));
      Diagnostics found;
      const auto partition = resolve_partition(kernel.labels, derivation.scratch, hardware(), found);
      if (found.has_errors()) return false;
      const auto group = merged_group(derivation, partition);
      if (!group) return illegal(derivation, hardware(), partition).empty();
      return std::holds_alternative<DividedPartition>(divide(ordered, derivation, partition, *group));
    });
  }

  Part part_of(const ast::KernelLabels& kernel) {
    Part part;
    for (const auto& statement : diagram().statements)
      if (kernel.statements.empty()) part.made.push_back(diagram().at(statement.output).name);
    if (kernel.statements.empty() && written_.kernels.size() > 1)
      error(kernel.span, "a kernel does not say which statements it has",
            "with several kernels, write the statements before the labels: 'S, P: group q 128 at smem | O: group q 64 "
            "at smem'");
    for (const auto& name : kernel.statements) add_statement(part, name);
    return part;
  }
  void add_statement(Part& part, const ast::Name& name) {
    std::vector<std::string> names;
    for (const auto& statement : diagram().statements) names.push_back(diagram().at(statement.output).name);
    if (std::ranges::find(names, name.text) == names.end()) {
      const auto help = did_you_mean(name.text, names);
      diagnostics_.add({"E0526",
                        fmt::format("the diagram has no statement `{}`", name.text),
                        name.span,
                        "",
                        {},
                        {},
                        help.empty() ? fmt::format("it has {}", fmt::join(names, ", ")) : help});
    }
    part.made.push_back(name.text);
  }

  Statements statements_of(const Part& part) const { return statements_of(diagram(), part); }
  static Statements statements_of(const Diagram& diagram, const Part& part) {
    Statements all;
    for (std::uint32_t i = 0; i < diagram.statements.size(); ++i)
      if (std::ranges::count(part.made, diagram.at(diagram.statements[i].output).name) > 0) all.push_back({i});
    return all;
  }

  // Every kernel reads inputs and what kernels before it left, and all outputs are made. What several compute, the
  // first of them leaves.
  void check_order() {
    std::vector<ArrayId> made;
    std::vector<std::vector<ArrayId>> reads;
    for (std::size_t k = 0; k < parts_.size(); ++k) {
      const auto derivation = napkin::derive(diagram(), statements_of(parts_[k]));
      for (const auto input : derivation.inputs)
        if (!has(diagram().inputs, input) && !has(made, input))
          error(kernel(k).span,
                fmt::format("this kernel reads `{}`, but no kernel before it computes it", diagram().at(input).name),
                "write the kernels in launch order");
      for (const auto statement : derivation.statements) {
        const auto output = diagram().at(statement).output;
        if (has(made, output)) continue;
        made.push_back(output), parts_[k].outputs.push_back(output);
      }
      reads.push_back(derivation.inputs);
    }
    for (const auto output : diagram().outputs)
      if (!has(made, output))
        error(kernel(0).span, fmt::format("no kernel computes the output `{}`", diagram().at(output).name),
              "name its statement in one of the kernels");
    for (std::size_t k = 0; k < parts_.size(); ++k)
      std::erase_if(parts_[k].outputs, [&](ArrayId made_here) { return !leaves(made_here, k, reads); });
  }
  bool leaves(ArrayId array, std::size_t from, const std::vector<std::vector<ArrayId>>& reads) const {
    if (has(diagram().outputs, array)) return true;
    return std::any_of(reads.begin() + static_cast<std::ptrdiff_t>(from) + 1, reads.end(),
                       [&](const auto& later) { return has(later, array); });
  }

  SharedDerivation derived(const Statements& statements) const {
    return std::make_shared<const Derivation>(napkin::derive(diagram(), statements));
  }
  SharedDerivation derived(const Part& part) const {
    if (parts_.size() == 1 && kernel(0).statements.empty()) return derived(statements_of(part));
    return std::make_shared<const Derivation>(napkin::derive(diagram(), statements_of(part), part.outputs));
  }

  // A group of an axis whose parts have to be merged becomes a kernel of the parts, and one that merges them.
  bool add(std::size_t k) {
    const auto& labels = kernel(k).labels;
    const auto derivation = derived(parts_[k]);
    const auto partition = resolve_partition(labels, derivation->scratch, hardware(), diagnostics_);
    if (diagnostics_.has_errors()) return false;
    const auto group = merged_group(*derivation, partition);
    if (!group) return add_kernel(derivation, partition, labels);
    auto divided = divide(diagram(), *derivation, partition, *group);
    if (const auto* made = std::get_if<DividedPartition>(&divided)) return add_divided(*made, labels);
    report_refused(labels, *derivation, hardware(), partition.splits[*group], std::get<Refused>(divided), diagnostics_);
    return false;
  }
  bool add_divided(const DividedPartition& divided, const ast::Partition& labels) {
    move_to(divided.diagram);
    if (!add_kernel(derived(divided.parts), divided.partition, labels)) return false;
    const auto merging = search(derived(divided.merging), hardware(), analysis_.goal);
    auto apart = split_into_rows(merging, diagram(), hardware(), analysis_.goal);
    if (apart.empty()) apart.push_back(merging);
    for (auto& found : apart) add_found(std::move(found), {});
    analysis_.merging_by_hand += apart.size();
    return true;
  }
  // Kernels that are there become those of the new diagram, which has their statements too.
  void move_to(const Diagram& next) {
    for (auto& found : analysis_.kernels)
      for (auto* candidates : {&found.best})
        for (auto& candidate : *candidates) candidate.kernel = moved(candidate.kernel, next);
    analysis_.diagram = next;
  }
  Kernel moved(const Kernel& kernel, const Diagram& next) const {
    Statements statements;
    for (std::uint32_t i = 0; i < next.statements.size(); ++i)
      for (const auto old : kernel.derivation->statements)
        if (diagram().at(old).output == next.statements[i].output) statements.push_back({i});
    auto derivation = std::make_shared<const Derivation>(napkin::derive(next, statements, kernel.derivation->outputs));
    return make_kernel(std::move(derivation), kernel.partition);
  }

  bool add_kernel(const SharedDerivation& derivation, const Partition& partition, const ast::Partition& labels) {
    report_illegal(labels, *derivation, hardware(), partition, diagnostics_);
    if (diagnostics_.has_errors()) return false;
    check_target(hardware(), labels, diagnostics_);
    add_searched(derivation, without_completion(derivation, partition));
    assume_sizes(analysis_.diagram, Kernel{derivation, partition, {}});
    return true;
  }
  // Below what is fixed; without labels, all levels.
  void add_searched(const SharedDerivation& derivation, const Partition& fixed) {
    auto goal = analysis_.goal;
    goal.fixed = fixed;
    add_found(search(derivation, hardware(), goal), fixed);
  }
  void add_found(Found found, const Partition& fixed) {
    if (fixed.splits.empty()) take_rows(found, hardware(), analysis_.goal);
    std::size_t deepest = 0;
    for (const auto& split : fixed.splits) deepest = std::max(deepest, split.level);
    analysis_.written_to.push_back(deepest);
    analysis_.completed_levels.push_back(completed(deepest, found));
    analysis_.kernels.push_back(std::move(found));
  }
  // The deepest level that is named stays as written; what the search split below it is its own.
  static std::vector<std::size_t> completed(std::size_t deepest, const Found& found) {
    std::vector<std::size_t> levels;
    if (found.best.empty()) return levels;
    for (const auto& split : found.best.front().kernel.partition.splits)
      if (split.level > deepest && (levels.empty() || levels.back() != split.level)) levels.push_back(split.level);
    return levels;
  }
  // Below the core a person may say how warps share out rows. What the search would split there by itself says nothing
  // of that, so that a plan that was printed and is given back is that plan.
  Partition without_completion(const SharedDerivation& derivation, const Partition& partition) const {
    const auto core = hardware().core.value_or(0);
    Partition to_core;
    std::ranges::copy_if(partition.splits, std::back_inserter(to_core.splits),
                         [&](const Split& split) { return split.level <= core; });
    if (to_core.splits.empty() || to_core == partition) return partition;
    auto goal = analysis_.goal;
    goal.fixed = to_core;
    const auto found = search(derivation, hardware(), goal);
    return !found.best.empty() && found.best.front().kernel.partition == partition ? to_core : partition;
  }

  const WrittenPlan& written_;
  Analysis& analysis_;
  Diagnostics& diagnostics_;
  std::vector<Part> parts_;
};

}  // namespace

bool add_by_hand(const WrittenPlan& written, Analysis& analysis, Diagnostics& diagnostics) {
  return PlanByHand(written, analysis, diagnostics).run();
}

}  // namespace napkin
