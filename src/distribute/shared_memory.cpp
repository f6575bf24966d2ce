// What a configuration says of the kernel that is emitted for it.
#include "napkin/distribute.hpp"

namespace napkin {

void count_shared_memory(Configuration& made, const Kernel& kernel, const Hardware& hardware) {
  if (hardware.cuda_capability() < 80) return;
  auto placed = distribute_teams(kernel, hardware);
  if (std::holds_alternative<Refused>(placed)) placed = distribute(kernel, hardware);
  const auto* warps = std::get_if<WarpNest>(&placed);
  if (!warps || warps->warps != made.teams * made.team_warps) return;
  made.pipelinings[made.chosen].shared_bytes = warps->shared_bytes;
}

}  // namespace napkin
