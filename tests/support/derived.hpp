// A diagram's statements as one kernel.
#pragma once

#include <memory>
#include <vector>

#include "napkin/derive.hpp"

namespace napkin::testing {

inline std::vector<StatementId> all_statements(const Diagram& diagram) {
  std::vector<StatementId> all;
  for (std::uint32_t i = 0; i < diagram.statements.size(); ++i) all.push_back({i});
  return all;
}

inline std::shared_ptr<const Derivation> derived(const Diagram& diagram) {
  return std::make_shared<const Derivation>(derive(diagram, all_statements(diagram)));
}

}  // namespace napkin::testing
