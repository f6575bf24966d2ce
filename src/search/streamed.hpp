// The kernels of a derivation by the wires that they stream along, and the cost models of their shapes.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "cost/model/model.hpp"
#include "napkin/partition.hpp"

namespace napkin {

// Makes each kernel and model once, and keeps it for later searches of the same kernel.
class Streamed {
 public:
  Streamed(std::shared_ptr<const Derivation> derivation, const Hardware& hardware)
      : derivation_(std::move(derivation)), hardware_(hardware) {}
  // The kernel that streams along these wires, outermost first. Its partition is empty, and the caller sets it. Null if
  // the derivation refuses these streams.
  Kernel* along(const std::vector<WireId>& wires);
  // The model of a kernel that along() made, by its partition.
  const CostModel& model(const Kernel& shape);
  // The number of models that were made, and of those since there were `known`.
  std::int64_t models() const { return static_cast<std::int64_t>(models_.size()); }
  std::int64_t models_since(std::int64_t& known) const { return models() - std::exchange(known, models()); }
  // How many partitions could have been evaluated while these kernels and models were made.
  std::int64_t work() const { return work_; }

 private:
  std::shared_ptr<const Derivation> derivation_;
  const Hardware& hardware_;
  std::map<std::vector<WireId>, std::optional<Kernel>> known_;
  std::map<Partition, CostModel> models_;
  KnownSums sums_;
  std::int64_t work_ = 0;
};

}  // namespace napkin
