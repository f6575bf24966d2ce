// The key `configuration` of a kernel, with its keys in the order of docs/json.md.
#include <cmath>

#include "report/configuration.hpp"

namespace napkin::report {
namespace {

template <class T, class One>
Json list(const std::vector<T>& items, const One& one) {
  auto all = Json::array();
  for (const auto& item : items) all.push_back(one(item));
  return all;
}

Json variable_json(const Variable& variable) {
  return {{"name", variable.name},         {"shape", variable.shape},          {"type", row(variable.type).name},
          {"place", name(variable.place)}, {"by_team", variable.by_warpgroup}, {"copies", variable.copies},
          {"bytes", variable.bytes}};
}

Json divisor_json(const Divisor& divisor) {
  const auto reasons = list(divisor.reasons, [](const auto& r) { return Json{{"size", r.first}, {"why", r.second}}; });
  return {{"axis", divisor.axis}, {"size", divisor.size}, {"reasons", reasons}};
}

Json column_json(const ColumnVariables& column) {
  return {{"column", column.column},
          {"value", column.value},
          {"on", name(column.on)},
          {"team_register_bytes", column.warpgroup_register_bytes},
          {"variables", list(column.variables, variable_json)}};
}

Json kept_json(const ResidentOperands& kept) {
  return {{"tiles", kept.tiles},
          {"registers_per_thread", kept.registers_per_thread},
          {"launch_s", kept.launch_s ? number(*kept.launch_s) : Json(nullptr)},
          {"chosen", kept.chosen}};
}

Json occupancy_json(const Occupancy& occupancy) {
  const auto step = [](const auto& s) { return Json{{"registers", s.first}, {"warps", s.second}}; };
  return {{"by_bytes",
           {{"teams_by_shared", number(occupancy.warpgroups_by_shared)},
            {"teams_by_registers", number(occupancy.warpgroups_by_registers)},
            {"warps_by_registers", number(occupancy.warps_by_registers)},
            {"teams", occupancy.warpgroups},
            {"warps", number(std::floor(occupancy.warps_by_registers))}}},
          {"as_allocated",
           {{"registers_per_thread", occupancy.registers_per_thread},
            {"blocks", occupancy.blocks},
            {"warps", occupancy.warps},
            {"limited_by", occupancy.limited_by},
            {"warps_by_these_bytes", occupancy.warps_by_these_registers},
            {"ladder", list(occupancy.ladder, step)}}}};
}

Json pipelining_json(const Pipelining& pipelining, std::int64_t threads) {
  const auto event = [](const Pipelining::Event& e) {
    return Json{
        {"column", e.column}, {"on", name(e.on)}, {"begin_s", e.begin_s}, {"end_s", e.end_s}, {"team", e.warpgroup}};
  };
  return {{"overlap", name(pipelining.overlap)},
          {"runs", pipelining.runs},
          {"stages", pipelining.stages},
          {"within", pipelining.within},
          {"latency_s", number(pipelining.latency_s)},
          {"step_s", number(pipelining.step_s)},
          {"launch_s", number(pipelining.launch_s)},
          {"utilization", number(pipelining.utilization)},
          {"team_register_bytes", pipelining.warpgroup_register_bytes},
          {"thread_register_bytes",
           number(static_cast<double>(pipelining.warpgroup_register_bytes) / static_cast<double>(threads))},
          {"shared_bytes", pipelining.shared_bytes},
          {"occupancy", occupancy_json(pipelining.occupancy)},
          {"timeline", list(pipelining.timeline, event)}};
}

Json bandwidth_json(const BandwidthCheck& check) {
  return {{"rows", check.rows},
          {"step_s", number(check.step_s)},
          {"transfer_s", number(check.transfer_s)},
          {"least_rows", number(check.least_rows)},
          {"operations_per_s", number(check.operations_per_s)}};
}

Json neighbour_json(const Neighbour& one) {
  return {{"axis", one.axis},
          {"kind", one.kind == SplitKind::group ? "group" : "stream"},
          {"size", one.size},
          {"runs", one.runs},
          {"why_not", one.why_not.empty() ? Json(nullptr) : Json(one.why_not)},
          {"overlap", name(one.overlap)},
          {"bound", name(one.bound)},
          {"times_as_fast", number(one.times_as_fast)},
          {"time_s", one.time_s ? number(*one.time_s) : Json(nullptr)}};
}

Json cluster_json(const Cluster& one) {
  return {{"blocks", one.blocks}, {"axis", one.axis}, {"copy_s", number(one.copy_s)}, {"chosen", one.chosen}};
}

Json raster_json(const Raster& one) { return {{"order", one.order}, {"step_bytes", number(one.step_bytes)}}; }

Json launch_json(const Launch& launch) {
  const auto loss = [](const Loss& l) { return Json{{"what", l.what}, {"seconds", l.seconds}}; };
  return {{"ideal_time_s", launch.ideal_s},
          {"time_s", launch.time_s},
          {"blocks", launch.blocks},
          {"cores", launch.cores},
          {"blocks_per_core", launch.blocks_per_core},
          {"turns", launch.turns},
          {"waves", launch.waves},
          {"last_wave_busy", launch.last_wave_busy},
          {"steps", launch.steps},
          {"losses", list(launch.losses, loss)}};
}

// Repeats every key that contains "team", as the first reports wrote it, with the CUDA term "warpgroup".
void repeat_as_warpgroups(Json& json) {
  if (json.is_object()) {
    std::vector<std::pair<std::string, Json>> repeated;
    for (const auto& [key, value] : json.items())
      if (const auto at = key.find("team"); at != std::string::npos)
        repeated.emplace_back(std::string(key).replace(at, 4, "warpgroup"), value);
    for (auto& [key, value] : repeated) json[key] = std::move(value);
  }
  for (auto& value : json)
    if (value.is_structured()) repeat_as_warpgroups(value);
}

}  // namespace

Json configuration_json(const Configuration& made) {
  constexpr std::int64_t threads_of_warp = 32;
  const auto rows = static_cast<double>(made.rows);
  const auto clock = [&](const ColumnClocks& c) {
    return Json{{"column", c.column},
                {"on", name(c.on)},
                {"operations", c.operations},
                {"clocks", c.clocks},
                {"clocks_per_row", c.clocks / rows},
                {"time_s", c.seconds}};
  };
  const auto resource = [&](const ResourceClocks& r) {
    return Json{{"on", name(r.on)},
                {"clocks", r.clocks},
                {"clocks_per_row", r.clocks / rows},
                {"time_s", r.seconds},
                {"slack", r.slack}};
  };
  const auto pipelining = [&](const Pipelining& p) {
    return pipelining_json(p, made.warpgroup_warps * threads_of_warp);
  };
  auto subloops = Json::object();
  for (const auto& [axis, size] : made.subloops) subloops[axis] = size;
  Json json = {{"instruction", made.instruction},
               {"row_axis", made.row_axis},
               {"rows", made.rows},
               {"teams", made.warpgroups},
               {"team_rows", made.warpgroup_rows},
               {"team_warps", made.warpgroup_warps},
               {"subloops", subloops},
               {"divisors", list(made.divisors, divisor_json)},
               {"shared", list(made.variables, variable_json)},
               {"shared_block_bytes", made.shared_block_bytes},
               {"shared_team_bytes", made.shared_warpgroup_bytes},
               {"columns", list(made.columns, column_json)},
               {"clocks", list(made.clocks, clock)},
               {"resources", list(made.resources, resource)},
               {"bound", name(made.bound)},
               {"pipelinings", list(made.pipelinings, pipelining)},
               {"chosen", name(made.pipelinings[made.chosen].overlap)},
               {"kept", made.kept ? kept_json(*made.kept) : Json(nullptr)},
               {"bandwidth", made.bandwidth ? bandwidth_json(*made.bandwidth) : Json(nullptr)},
               {"neighbours", list(made.neighbours, neighbour_json)},
               {"launch", made.launch ? launch_json(*made.launch) : Json(nullptr)},
               {"clusters", list(made.clusters, cluster_json)},
               {"rasters", list(made.rasters, raster_json)}};
  repeat_as_warpgroups(json);
  return json;
}

}  // namespace napkin::report
