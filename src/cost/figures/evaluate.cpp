// Evaluates the products of a cost model for one choice of sizes, phase by phase.
#include "cost/figures/evaluate.hpp"

#include "cost/figures/lengths.hpp"
#include "cost/figures/memory.hpp"
#include "cost/figures/region_sums.hpp"
#include "cost/figures/transfers.hpp"

namespace napkin {
namespace {

void evaluate_transfers(const CostModel& model, std::span<const std::int64_t> sizes, Figures& figures) {
  find_lengths(model, sizes, figures, Reach::exact);
  find_groups(model, figures);
  find_counts(model, sizes, figures, Reach::exact);
  sum_regions(model, sizes, figures);
  find_shares(model, figures, figures);
  add_transfers(model, figures);
  add_operations(model, figures);
  add_sectors(model, sizes, figures);
}

}  // namespace

void evaluate(const CostModel& model, std::span<const std::int64_t> sizes, Figures& figures) {
  evaluate_transfers(model, sizes, figures);
  find_memory(model, Counted::everything, {1, all_levels}, figures);
}

void evaluate_compared(const CostModel& model, std::span<const std::int64_t> sizes, Figures& figures) {
  evaluate_transfers(model, sizes, figures);
  find_memory(model, Counted::by_level, {1, all_levels}, figures);
}

void bound_memory(const CostModel& model, std::span<const std::int64_t> sizes, std::span<const std::int64_t> most,
                  Figures& figures, std::size_t last) {
  find_lengths(model, sizes, figures, Reach::least);
  find_groups_of(model, most, figures);
  find_memory(model, Counted::by_level, {1, last}, figures);
}

void bound_memory_at(const CostModel& model, std::size_t level, std::span<const std::int64_t> sizes, Figures& figures) {
  find_lengths(model, sizes, figures, Reach::least);
  find_groups(model, figures);
  find_memory(model, Counted::by_level, {level, level}, figures);
}

void bound_transfers(const CostModel& model, std::span<const std::int64_t> sizes, const Figures& held, Figures& figures,
                     std::span<const std::int64_t> grains) {
  find_lengths(model, sizes, figures, Reach::least);
  find_groups(model, figures);
  find_counts(model, sizes, figures, Reach::least);
  bound_regions(model, sizes, grains, figures);
  find_shares(model, held, figures);
  add_transfers(model, figures);
  add_operations(model, figures);
}

}  // namespace napkin
