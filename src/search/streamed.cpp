// Streams the derivation once for each choice and order of wires, and keeps the programs and their cost models.
#include "search/streamed.hpp"

#include <algorithm>

#include "cost/model/make_cost_model.hpp"
#include "cost/model/parts.hpp"

namespace napkin {
namespace {

// Evaluating a partition takes about 2 us. Searches of `gated_linear_attention`, `attention_gradient`,
// `transformer_block` and two larger gradients on h100-sxm5 and x86-64-avx2 took 13 us in all for each expression that
// streams added, and a model 13 us for each array that it holds by the median, and 18 us in all. What a stream that
// adds nothing takes is a guess between 18 us, the least twentieth of all streams, and 131 us, their median.
constexpr std::int64_t of_stream = 20, of_expression = 6, of_holding = 8;

std::int64_t added(const Derivation& to, const Program& program) {
  const auto before = to.scratch.exprs.size(), after = program.scratch.exprs.size();
  return static_cast<std::int64_t>(std::max(before, after) - before);
}

}  // namespace

Kernel* Streamed::along(const std::vector<WireId>& wires) {
  const auto [known, fresh] = known_.try_emplace(wires);
  if (fresh) {
    auto program = stream(*derivation_, wires);
    work_ += of_stream;
    if (auto* made = std::get_if<Program>(&program)) {
      work_ += of_expression * added(*derivation_, *made);
      known->second = Kernel{derivation_, {}, std::move(*made)};
    }
  }
  return known->second ? &*known->second : nullptr;
}

const CostModel& Streamed::model(const Kernel& shape) {
  const auto known = models_.find(shape.partition);
  if (known != models_.end()) return known->second;
  auto& made = models_.emplace(shape.partition, make_cost_model(shape, hardware_)).first->second;
  work_ += of_holding * static_cast<std::int64_t>(made.holdings.size());
  share_sums(made, sums_);
  return made;
}

}  // namespace napkin
