// Kernels by the wires that they stream along.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "napkin/partition.hpp"

namespace napkin {

// Outermost first, each made once.
class Streamed {
 public:
  explicit Streamed(std::shared_ptr<const Derivation> derivation) : derivation_(std::move(derivation)) {}
  // With an empty partition, which the caller fills in; null where the derivation refuses these streams.
  Kernel* along(const std::vector<WireId>& wires);

 private:
  std::shared_ptr<const Derivation> derivation_;
  std::map<std::vector<WireId>, std::optional<Kernel>> known_;
};

}  // namespace napkin
