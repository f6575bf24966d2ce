// A diagram's statements as one kernel, with the labels of a partition in words; both must be right.
#pragma once

#include <stdexcept>
#include <string>

#include "napkin/partition.hpp"
#include "support/derived.hpp"
#include "support/read.hpp"

namespace napkin::testing {

inline Kernel planned(const Diagram& diagram, const std::string& words, const Hardware& hardware) {
  Sources sources;
  Diagnostics diagnostics;
  const auto derivation = derived(diagram);
  Partition partition;
  if (!words.empty()) {
    const auto labels = parse_partition(sources, sources.add("<labels>", words), diagnostics);
    partition = resolve_partition(labels, derivation->scratch, hardware, diagnostics);
  }
  if (diagnostics.has_errors()) throw std::runtime_error(render_text(sources, diagnostics, false));
  for (const auto& refused : illegal(*derivation, hardware, partition)) throw std::runtime_error(refused.reason);
  return make_kernel(derivation, partition);
}

}  // namespace napkin::testing
