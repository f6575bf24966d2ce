// Kernels that are split by hand, distributed to warps or warpgroups.
#pragma once

#include <algorithm>
#include <string>

#include "napkin/device.hpp"
#include "support/catch.hpp"
#include "support/machine.hpp"
#include "support/planned.hpp"
#include "support/read.hpp"

namespace napkin::testing {

inline Kernel kernel_of(const std::string& text, const std::string& labels, const Hardware& hardware) {
  return testing::planned(read_text(text), labels, hardware);
}

inline WarpNest distributed(const std::string& text, const std::string& labels,
                            const std::string& machine = "a100-sxm4-80") {
  const auto hardware = read_machine(machine);
  const auto result = distribute(kernel_of(text, labels, hardware), hardware);
  if (const auto* refused = std::get_if<Refused>(&result)) FAIL(refused->reason);
  return std::get<WarpNest>(result);
}
inline std::string refusal(const std::string& text, const std::string& labels,
                           const std::string& machine = "a100-sxm4-80") {
  const auto hardware = read_machine(machine);
  const auto result = distribute(kernel_of(text, labels, hardware), hardware);
  const auto* refused = std::get_if<Refused>(&result);
  return refused ? refused->reason : "";
}

inline std::string attention() { return read_file(NAPKIN_SOURCE_DIR "/examples/attention.nap"); }
inline std::string product(const std::string& type = "f16", const std::string& other = "") {
  return "diagram product\naxis m = 512; axis n = 512; axis k = 512\ninput A: " + type +
         "[m, k]; input B: " + (other.empty() ? type : other) +
         "[k, n]\nC[m, n] = sum[k](A[m, k] * B[k, n])\noutput C\n";
}

using Distributed = std::variant<WarpNest, Refused>;
inline Distributed by_warpgroups(const std::string& text, const std::string& labels,
                                 const std::string& machine = "h100-sxm5") {
  const auto hardware = read_machine(machine);
  return distribute_warpgroups(kernel_of(text, labels, hardware), hardware);
}
inline WarpNest warpgroups(const std::string& text, const std::string& labels) {
  const auto result = by_warpgroups(text, labels);
  if (const auto* refused = std::get_if<Refused>(&result)) FAIL(refused->reason);
  return std::get<WarpNest>(result);
}
inline std::string refused_by_warpgroups(const std::string& text, const std::string& labels,
                                         const std::string& machine = "h100-sxm5") {
  const auto result = by_warpgroups(text, labels, machine);
  const auto* refused = std::get_if<Refused>(&result);
  return refused ? refused->reason : "";
}
inline std::string labels(const WarpNest& warps) {
  return to_text(warps.partition, warps.nest->scratch, read_machine("h100-sxm5"));
}

inline const Grid& grid(const WarpNest& warps, const std::string& name) {
  for (const auto& [id, grid] : warps.arrays)
    if (warps.nest->scratch.at(warps.nest->at(id).array).name == name) return grid;
  FAIL("no array " << name);
  return warps.arrays.begin()->second;
}
inline std::string name(const WarpNest& warps, std::optional<WireId> wire) {
  return wire ? warps.nest->scratch.at(*wire).name : "-";
}

// Of the pipeline whose tiles a loop loads.
inline std::int64_t copies_of(const WarpNest& nest, const For* loop) {
  const auto pipeline = std::ranges::find(nest.pipelines, loop, &TilePipeline::loop);
  REQUIRE(pipeline != nest.pipelines.end());
  return pipeline->copies;
}

}  // namespace napkin::testing
