// Kernels by the wires that they stream along, and the cost models of their shapes.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "cost/model.hpp"
#include "napkin/partition.hpp"

namespace napkin {

// Each made once, for whoever looks at the same kernel again.
class Streamed {
 public:
  Streamed(std::shared_ptr<const Derivation> derivation, const Hardware& hardware)
      : derivation_(std::move(derivation)), hardware_(hardware) {}
  // Wires outermost first. With an empty partition, which the caller fills in; null where the derivation refuses these
  // streams.
  Kernel* along(const std::vector<WireId>& wires);
  // Of a kernel that was made here, by its partition.
  const CostModel& model(const Kernel& shape);

 private:
  std::shared_ptr<const Derivation> derivation_;
  const Hardware& hardware_;
  std::map<std::vector<WireId>, std::optional<Kernel>> known_;
  std::map<Partition, CostModel> models_;
  KnownSums sums_;
};

}  // namespace napkin
