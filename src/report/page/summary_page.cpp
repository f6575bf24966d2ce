// Makes the page of a summary from an analysis: sums over the kernels, and facts about the whole plan.
#include "report/page/summary_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "explore/machine.hpp"
#include "napkin/device.hpp"
#include "report/orders/orders.hpp"
#include "report/plan.hpp"
#include "report/quantity.hpp"
#include "report/words.hpp"

namespace napkin::page {

using namespace report;
namespace {

std::vector<StatementId> every_statement(const Diagram& diagram) {
  std::vector<StatementId> all;
  for (std::uint32_t s = 0; s < diagram.statements.size(); ++s) all.push_back(StatementId{s});
  return all;
}

bool has_products(const Analysis& analysis, std::optional<std::size_t> kernel) {
  const auto on_tensor = [](const UnitCost& unit) { return unit.unit == Unit::tensor && unit.operations > 0; };
  for (std::size_t k = 0; k < analysis.kernels.size(); ++k) {
    const auto* shown = reported(analysis.kernels[k]);
    if (shown && (!kernel || *kernel == k) && std::ranges::any_of(shown->cost.units, on_tensor)) return true;
  }
  return false;
}

std::string size_words(const Diagram& diagram) {
  std::vector<std::string> words;
  for (const auto& axis : diagram.axes) words.push_back(fmt::format("{} {}", axis.name, axis.size.value_or(0)));
  return join(words);
}

// The number formats of inputs and outputs.
std::string format_words(const Diagram& diagram) {
  std::vector<std::string> words;
  for (const auto* arrays : {&diagram.inputs, &diagram.outputs})
    for (const auto id : *arrays) {
      const std::string type(row(diagram.at(id).stored()).name);
      if (std::ranges::find(words, type) == words.end()) words.push_back(type);
    }
  return join(words);
}

void add(std::vector<Cause>& all, const std::vector<Cause>& more) {
  for (const auto& one : more) {
    const auto at = std::ranges::find(all, one.what, &Cause::what);
    at == all.end() ? void(all.push_back(one)) : void(at->seconds += one.seconds);
  }
}

void add(std::vector<Crossing::OfArray>& all, const std::vector<Crossing::OfArray>& more) {
  for (const auto& one : more) {
    const auto same = [&](const auto& other) { return other.array == one.array && other.saved == one.saved; };
    const auto at = std::ranges::find_if(all, same);
    at == all.end() ? void(all.push_back(one)) : void((at->bytes += one.bytes, at->times += one.times));
  }
  std::ranges::stable_sort(all, std::greater{}, &Crossing::OfArray::bytes);
}

void add(std::vector<Crossing>& all, const std::vector<Crossing>& more) {
  for (const auto& one : more) {
    const auto at = std::ranges::find_if(all, [&](const auto& o) { return o.from == one.from && o.to == one.to; });
    if (at == all.end()) {
      all.push_back(one);
      continue;
    }
    at->bytes += one.bytes;
    // If instructions read only parts of arrays, the arrays are not shown for all kernels together.
    if (one.arrays.empty() || at->arrays.empty())
      at->arrays.clear();
    else
      add(at->arrays, one.arrays);
  }
}

void add(std::vector<UnitTime>& all, const std::vector<UnitTime>& more) {
  for (const auto& one : more) {
    const auto at = std::ranges::find(all, one.unit, &UnitTime::unit);
    at == all.end() ? void(all.push_back(one)) : void(at->seconds += one.seconds);
  }
}

// An array that several kernels compute counts as useful only once.
void add_operations(Page& page) {
  std::map<std::string, double> useful;
  for (const auto& kernel : page.kernels) {
    page.operations.executed += kernel.operations.executed;
    for (const auto& [array, operations] : kernel.operations.by_array)
      useful[array] = std::max(useful[array], operations);
  }
  for (const auto& [array, operations] : useful) page.operations.useful += operations;
  page.operations.useful = std::min(page.operations.useful, page.operations.executed);
}

void add_sums(Page& page) {
  page.time_s = 0;
  for (const auto& kernel : page.kernels) {
    page.time_s = page.time_s && kernel.time_s ? std::optional(*page.time_s + *kernel.time_s) : std::nullopt;
    add(page.causes, kernel.causes);
    add(page.traffic, kernel.traffic);
    add(page.units, kernel.units);
    page.bytes.add(kernel.bytes);
  }
  std::ranges::stable_sort(page.causes, std::greater{}, &Cause::seconds);
  const auto seconds = [](const KernelSummary& one) { return one.time_s.value_or(0); };
  page.longest = static_cast<std::size_t>(std::ranges::max_element(page.kernels, {}, seconds) - page.kernels.begin());
  add_operations(page);
}

// The peak rate for the products of the longest kernel, or of the vector lanes if there are no products.
std::optional<double> peak_of(const Page& page, const Hardware& hardware) {
  const auto rate = [&](Unit unit, Datatype type) -> std::optional<double> {
    const auto* made = hardware.find(unit);
    const auto found = made ? made->rates.find(type) : std::map<Datatype, Rate>::const_iterator();
    return made && found != made->rates.end() ? std::optional(found->second.peak()) : std::nullopt;
  };
  if (!page.of_products) return rate(Unit::fma, Datatype::f32);
  std::optional<double> peak;
  for (const auto& kernel : page.kernels)
    for (const auto& product : kernel.products)
      if (const auto here = product.unit == Unit::tensor ? rate(Unit::tensor, product.type) : std::nullopt)
        peak = std::max(peak.value_or(0), *here);
  return peak;
}

void find_saved(Page& page, const Analysis& analysis, std::optional<std::size_t> kernel) {
  if (!analysis.plan || !analysis.plan->apart) return;
  double apart = 0;
  bool known = true;
  for (const auto& saved : analysis.plan->saved) {
    if (kernel && saved.kernel != *kernel) continue;
    for (const auto& array : saved.arrays) page.kept.emplace_back(array.array, static_cast<double>(array.bytes));
    known = known && saved.time_apart_s;
    apart += saved.time_apart_s.value_or(0);
  }
  std::ranges::stable_sort(page.kept, std::greater{}, [](const auto& one) { return one.second; });
  if (page.kept.empty()) return;
  if (!kernel) page.unfused_s = analysis.plan->apart->time_s;
  if (kernel && known) page.unfused_s = apart;
}

void find_doubled(Page& page, const Analysis& analysis, std::optional<std::size_t> kernel) {
  auto plan = plan_of(analysis);
  if (kernel) plan.kernels = {plan.kernels.at(*kernel)};
  const auto found = as_split_now(plan, analysis.hardware, analysis.goal.model);
  constexpr double worth_saying = 0.005;
  for (const auto& one : found.improvements)
    if (one.time_kept_s && page.time_s && *one.time_kept_s < *found.time_s * (1 - worth_saying))
      page.doubled.push_back({one.what, *one.time_kept_s / *found.time_s * *page.time_s});
  std::ranges::stable_sort(page.doubled, {}, &Doubled::time_s);
}

std::string at_most(double gap) {
  return gap < 0.0005 ? "less than 0.1 %" : fmt::format("at most {:.1f} %", 100 * gap);
}

std::string proof_of(const Analysis& analysis) {
  if (analysis.plan) {
    const auto& plan = *analysis.plan;
    const auto many = counted(static_cast<double>(plan.candidates));
    const auto cuts = plan.cuts > 1
                          ? fmt::format(" of the {} possible kernels", counted(static_cast<double>(plan.cuts)))
                          : std::string();
    if (plan.optimal) return fmt::format("proven optimal among {} partitions{}", many, cuts);
    if (plan.gap)
      return fmt::format("not proven: a better plan could save {}; best found of {} partitions{}", at_most(*plan.gap),
                         many, cuts);
    return fmt::format("not proven: the best found of {} partitions{}", many, cuts);
  }
  std::int64_t candidates = 0;
  bool optimal = true;
  for (const auto& found : analysis.kernels) candidates += found.candidates, optimal = optimal && found.optimal;
  if (candidates <= 1) return "not proven: the partition is given";
  return fmt::format("the partition is given; its lower levels are {} {} partitions",
                     optimal ? "proven optimal among" : "the best found of", counted(static_cast<double>(candidates)));
}

bool is_given_up(const Analysis& analysis) {
  if (analysis.plan) return !analysis.plan->optimal;
  return std::ranges::any_of(analysis.kernels,
                             [](const Found& found) { return found.candidates > 1 && !found.optimal; });
}

Derivation derive_written(const Analysis& analysis) {
  return derive(analysis.ordered, every_statement(analysis.ordered));
}

std::optional<SourceText> source_of(const Analysis& analysis) {
  if (analysis.source.empty() || analysis.written.statements.empty()) return {};
  return SourceText{analysis.written.statements.front().span.file, analysis.source};
}

// Whether a chosen order of products added the array. No statement of the file makes it, so no edit can change it.
bool is_added(const Analysis& analysis, const std::string& name) {
  return analysis.plan && std::ranges::any_of(analysis.plan->orders, [&](const OrderTaken& one) {
           return std::ranges::find(one.made, name) != one.made.end();
         });
}

// Whether a product is in parts in the file, but no kernel of the plan computes it in parts.
bool is_whole(const Page& page, const MatrixProduct& product) {
  const auto is_there = [&](const MatrixProduct& one) { return one.result == product.result; };
  const auto is_in_parts = [&](const MatrixProduct& one) { return is_there(one) && one.parts > 1; };
  const auto any = [&](const auto& is) {
    return std::ranges::any_of(page.kernels,
                               [&](const auto& kernel) { return std::ranges::any_of(kernel.products, is); });
  };
  return product.parts > 1 && any(is_there) && !any(is_in_parts);
}

// The slow products of one kernel as it is, or of the whole plan as it was written.
void find_lost(Page& page, const Analysis& analysis, std::optional<std::size_t> kernel) {
  const auto off = [&] {
    if (kernel) return slow_products(*reported(analysis.kernels[*kernel])->kernel.derivation, analysis.hardware);
    return slow_products(derive_written(analysis), analysis.hardware, source_of(analysis));
  }();
  for (const auto& one : off)
    if (!is_whole(page, one) && (one.lost || one.parts > 1 || !page.of_products)) page.lost.push_back(one);
  for (auto& one : page.lost)
    if (is_added(analysis, one.first) || is_added(analysis, one.second)) one.mend = {};
}

void find_orders(Page& page, const Analysis& analysis) {
  if (!analysis.plan) return;
  for (const auto& one : analysis.plan->orders) page.orders.push_back(order_words(one, analysis.ordered));
  page.refused_orders = analysis.plan->refused_orders;
}

// Adds times of the next tile sizes, halves and doubles, unless the configuration already has them.
void find_pieces(Page& page, const Analysis& analysis) {
  auto& longest = page.kernels[page.longest];
  const auto& shown = *reported(analysis.kernels[page.numbers[page.longest] - 1]);
  if (!longest.pieces.empty() || !longest.time_s || !shown.cost.overruns.empty()) return;
  const auto& derivation = shown.kernel.derivation;
  const auto core = analysis.hardware.core.value_or(1);
  auto partition = shown.kernel.partition;
  const auto model = analysis.goal.model;
  const bool over_warps = rows_of(shown.kernel, analysis.hardware).has_value();
  const auto time = seconds_if_it_runs(shown.kernel, analysis.hardware, model) ? seconds_if_it_runs : seconds_of;
  for (auto& split : partition.splits) {
    const auto size = split.size, whole = derivation->scratch.size(split.wire).value_or(split.size);
    for (const auto other : {size / 2, size * 2}) {
      if (split.level != core || other < 1 || other > whole) continue;
      split.size = other;
      if (!illegal(*derivation, analysis.hardware, partition).empty()) continue;
      const auto kernel = make_kernel(derivation, partition);
      if (over_warps && other_tiles(kernel, analysis.hardware)) continue;  // nothing runs so
      longest.pieces.push_back(
          {derivation->scratch.at(split.wire).name, split.kind, other, time(kernel, analysis.hardware, model)});
    }
    split.size = size;
  }
}

void add_kernel(Page& page, const Analysis& analysis, std::size_t k) {
  const auto* shown = reported(analysis.kernels[k]);
  if (!shown) return;
  page.numbers.push_back(k + 1);
  page.kernels.push_back(summarize(shown->kernel, shown->cost, configuration_of(analysis, k), analysis.hardware,
                                   analysis.goal.model, page.of_products));
  page.names.push_back(kernel_name(analysis, k));
  page.compulsory_bytes += static_cast<double>(shown->cost.compulsory_bytes);
  for (const auto& overrun : shown->cost.overruns) page.overruns.push_back(overrun_text(analysis.hardware, overrun));
}

// Before the labels of a kernel by hand: its statements, if the text names them, because an order may have added some.
std::string statements_by_hand(const Analysis& analysis) {
  const auto colon = analysis.by_hand ? analysis.by_hand->find(':') : std::string::npos;
  return colon == std::string::npos ? "" : analysis.by_hand->substr(0, colon) + ": ";
}

void tell_of_file(Page& page, const Analysis& analysis) {
  if (!analysis.plan || analysis.plan->divisions.empty()) return;
  const auto written = products_of(derive_written(analysis), &analysis.hardware);
  for (std::size_t k = 0; k < page.kernels.size(); ++k)
    tell_as_written(page.kernels[k], analysis, page.numbers[k] - 1, written);
}

}  // namespace

Page page_of(const Analysis& analysis, std::optional<std::size_t> kernel) {
  Page page;
  page.name = analysis.written.name, page.target = analysis.hardware.name;
  page.sizes = size_words(analysis.written), page.formats = format_words(analysis.written);
  page.core = analysis.hardware.cuda_architecture.empty() ? "core" : "SM";
  page.memory = analysis.hardware.levels[analysis.hardware.core.value_or(1)].name;
  page.of_plan = analysis.kernels.size();
  page.of_products = has_products(analysis, kernel);
  for (std::size_t k = 0; k < analysis.kernels.size(); ++k)
    if (!kernel || *kernel == k) add_kernel(page, analysis, k);
  if (page.kernels.empty()) return page;
  tell_of_file(page, analysis);
  add_sums(page);
  page.peak = peak_of(page, analysis.hardware);
  const auto core = analysis.hardware.core.value_or(1);
  if (const auto& bandwidth = analysis.hardware.levels[core].bandwidth) page.memory_peak = bandwidth->peak();
  const bool one = kernel && page.of_plan > 1;
  find_saved(page, analysis, one ? kernel : std::nullopt);
  find_lost(page, analysis, one ? kernel : std::nullopt);
  find_pieces(page, analysis);
  tell_of_file(page, analysis);
  find_doubled(page, analysis, one ? kernel : std::nullopt);
  page.partition = one ? as_partition(analysis, *kernel).value_or("") : as_partition(analysis).value_or("");
  const bool reordered = analysis.plan && !analysis.plan->orders.empty();  // by added arrays, which the text names
  if (page.of_plan == 1 && !reordered)
    page.partition = statements_by_hand(analysis) + page.kernels.front().tile.partition;
  if (analysis.plan && !one) page.divisions = analysis.plan->divisions;
  if (!one) find_roundings(page, analysis), find_orders(page, analysis);
  page.proof = proof_of(analysis), page.given_up = is_given_up(analysis);
  return page;
}

}  // namespace napkin::page
