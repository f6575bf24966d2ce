// The explored surroundings as JSON, with the keys of docs/json.md.
#include "report/explored.hpp"

namespace napkin::report {
namespace {

Json bytes_or_values(const char* what, bool in_values, double number) {
  return {{std::string(what) + (in_values ? "_values" : "_bytes"), whole(number)}};
}

Json side_json(const Terrain::Side& side) {
  return {{"axis", side.axis},
          {"kind", side.kind == SplitKind::group ? "group" : "stream"},
          {"sizes", side.sizes},
          {"chosen", side.sizes[side.chosen]}};
}

}  // namespace

Json front_json(const Front& front, const Hardware& hardware) {
  auto all = Json::array();
  for (const auto& one : front.candidates) {
    const auto& level = one.cost.levels[front.level - 1];
    all.push_back({{"partition_text", to_text(one.kernel.partition, one.kernel.derivation->scratch, hardware)},
                   {"time_s", number(one.cost.time_s)},
                   {"transfer_bytes", level.transfer_bytes},
                   {"memory_bytes", level.memory_bytes}});
  }
  return {{"level", hardware.levels[front.level].name},
          {"tolerance", front.tolerance},
          {"complete", front.complete},
          {"evaluated", front.evaluated},
          {"partitions", all}};
}

Json rooms_json(const Curve& curve) {
  if (curve.points.empty()) return nullptr;
  const auto& level = curve.level();
  auto points = Json::array();
  for (const auto& point : curve.points) {
    auto one = bytes_or_values("room", level.in_values, point.room);
    one.update(bytes_or_values("transfer", level.in_values, point.moved));
    one.update(bytes_or_values("lower_bound", level.in_values, point.bound.moved));
    one["bound"] = point.bound.why;
    one["partition_text"] = to_text(point.kernel.partition, point.kernel.derivation->scratch, curve.hardware);
    one["proven"] = point.proven;
    points.push_back(std::move(one));
  }
  return {{"level", level.name},
          {"from", curve.hardware.levels[0].name},
          {"whole_tiles", curve.whole_tiles},
          {"points", points}};
}

Json pieces_json(const std::optional<Terrain>& terrain) {
  if (!terrain) return nullptr;
  auto rows = Json::array();
  for (const auto& row : terrain->time_s) {
    auto times = Json::array();
    for (const auto& time : row) times.push_back(number(time));
    rows.push_back(std::move(times));
  }
  return {{"across", side_json(terrain->across)},
          {"up", terrain->up ? side_json(*terrain->up) : Json(nullptr)},
          {"time_s", rows}};
}

Json sensitivity_json(const Sensitivity& sensitivity) {
  auto all = Json::array();
  for (const auto& one : sensitivity.improvements)
    all.push_back({{"twice_the", one.what},
                   {"time_s", number(one.time_s)},
                   {"time_as_split_now_s", number(one.time_kept_s)},
                   {"bound_by", one.bound_by},
                   {"proven", one.proven}});
  return {{"time_s", number(sensitivity.time_s)}, {"improvements", all}};
}

}  // namespace napkin::report
