// The names of resources, places and overlaps.
#include "napkin/timing.hpp"

namespace napkin {

std::string_view name(Resource resource) {
  constexpr std::string_view names[] = {"tensor", "fma", "sfu", "shared", "copy"};
  return names[static_cast<std::size_t>(resource)];
}
std::string_view name(Place place) {
  constexpr std::string_view names[] = {"shared", "registers", "tensor_memory"};
  return names[static_cast<std::size_t>(place)];
}
std::string_view name(Overlap overlap) {
  constexpr std::string_view names[] = {"none", "copies", "beside", "within_team", "two_teams", "three_teams"};
  return names[static_cast<std::size_t>(overlap)];
}
std::string_view words(Overlap overlap) {
  constexpr std::string_view all[] = {"no overlap",      "multistage",       "co-resident blocks",
                                      "intra-warpgroup", "ping-pong of two", "ping-pong of three"};
  return all[static_cast<std::size_t>(overlap)];
}

}  // namespace napkin
