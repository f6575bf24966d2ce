// Streams the derivation once for each choice and order of wires, and keeps the programs and their cost models.
#include "search/streamed.hpp"

#include "cost/model/make_cost_model.hpp"
#include "cost/model/parts.hpp"

namespace napkin {

Kernel* Streamed::along(const std::vector<WireId>& wires) {
  const auto [known, fresh] = known_.try_emplace(wires);
  if (fresh) {
    auto program = stream(*derivation_, wires);
    if (auto* made = std::get_if<Program>(&program)) known->second = Kernel{derivation_, {}, std::move(*made)};
  }
  return known->second ? &*known->second : nullptr;
}

const CostModel& Streamed::model(const Kernel& shape) {
  const auto known = models_.find(shape.partition);
  if (known != models_.end()) return known->second;
  auto& made = models_.emplace(shape.partition, make_cost_model(shape, hardware_)).first->second;
  share_sums(made, sums_);
  return made;
}

}  // namespace napkin
