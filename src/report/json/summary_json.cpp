// Summaries as JSON, with the keys of docs/json.md.
#include "report/page/summary_page.hpp"

namespace napkin::page {

using namespace report;
namespace {

template <class T, class One>
Json list_of(const std::vector<T>& items, const One& one) {
  auto all = Json::array();
  for (const auto& item : items) all.push_back(one(item));
  return all;
}

Json crossing_json(const Crossing& one) {
  const auto array = [](const Crossing::OfArray& a) {
    return Json{{"array", a.array}, {"bytes", whole(a.bytes)}, {"times", number(a.times)}, {"saved", a.saved}};
  };
  return {{"from", one.from}, {"to", one.to}, {"bytes", whole(one.bytes)}, {"arrays", list_of(one.arrays, array)}};
}

Json cause_json(const Cause& one) { return {{"what", one.what}, {"seconds", one.seconds}}; }

}  // namespace

Json product_json(const MatrixProduct& one) {
  const auto padded = [](const MatrixProduct::Padded& a) {
    return Json{{"axis", a.axis}, {"size", a.size}, {"computed", a.computed}};
  };
  const auto unaligned = [](const MatrixProduct::Unaligned& a) {
    return Json{
        {"array", a.array}, {"axis", a.axis}, {"size", a.size}, {"next", a.next}, {"copied_ahead", a.copied_ahead}};
  };
  const auto one_by_one = [](const MatrixProduct::OneByOne& a) {
    return Json{{"array", a.array},
                {"axis", a.axis.empty() ? Json(nullptr) : Json(a.axis)},
                {"stored", row(a.stored).name},
                {"multiplied", row(a.multiplied).name}};
  };
  return {{"result", one.result},
          {"factors", {one.first, one.second}},
          {"unit", name(one.unit)},
          {"type", row(one.type).name},
          {"instruction", one.instruction.empty() ? Json(nullptr) : Json(one.instruction)},
          {"rows", one.rows},
          {"of_rows", one.of_rows},
          {"padded", list_of(one.padded, padded)},
          {"unaligned", list_of(one.unaligned, unaligned)},
          {"packed", one.packed},
          {"one_by_one", list_of(one.one_by_one, one_by_one)},
          {"parts", one.parts},
          {"lost", one.lost},
          {"why_not", one.why.empty() ? Json(nullptr) : Json(one.why)},
          {"mend", one.mend.title.empty() ? Json(nullptr) : Json(one.mend.title)}};
}

namespace {

Json tile_json(const BlockTile& tile) {
  return {{"blocks", tile.blocks},
          {"cores", tile.cores},
          {"waves", tile.waves},
          {"last_wave_busy", tile.last_wave_busy},
          {"blocks_per_core", tile.blocks_per_core},
          {"warps", tile.warps},
          {"warpgroups", tile.warpgroups},
          {"stages", tile.stages},
          {"cluster", tile.cluster},
          {"overlap", tile.overlap},
          {"registers_per_thread", tile.registers_per_thread},
          {"shared_bytes", tile.shared_bytes}};
}

Json shares_json(const std::vector<UnitTime>& units, std::optional<double> time_s) {
  auto all = Json::object();
  if (time_s && *time_s > 0)
    for (const auto& one : units) all[std::string(name(one.unit))] = one.seconds / *time_s;
  return all;
}

Json common_json(const Operations& operations, const std::vector<Cause>& causes, const std::vector<Crossing>& traffic,
                 const MovedBytes& bytes, const std::vector<UnitTime>& units, std::optional<double> time_s) {
  return {{"useful_operations", number(operations.useful)},
          {"executed_operations", number(operations.executed)},
          {"dram_bytes", whole(bytes.dram)},
          {"cache_bytes", bytes.cache ? whole(*bytes.cache) : Json(nullptr)},
          {"register_bytes", whole(bytes.registers)},
          {"traffic", list_of(traffic, crossing_json)},
          {"causes", list_of(causes, cause_json)},
          {"unit_shares", shares_json(units, time_s)}};
}

}  // namespace

Json summary_json(const KernelSummary& kernel) {
  auto json = common_json(kernel.operations, kernel.causes, kernel.traffic, kernel.bytes, kernel.units, kernel.time_s);
  json["tile"] = tile_json(kernel.tile);
  json["products"] = list_of(kernel.products, product_json);
  return json;
}

Json summary_json(const Page& page) {
  auto json = common_json(page.operations, page.causes, page.traffic, page.bytes, page.units, page.time_s);
  json["unfused_time_s"] = number(page.unfused_s);
  json["kept_on_chip"] = list_of(page.kept, [](const auto& one) {
    return Json{{"array", one.first}, {"bytes", whole(one.second)}};
  });
  json["lost"] = list_of(page.lost, product_json);
  json["doubled"] = list_of(page.doubled, [](const Doubled& one) {
    return Json{{"what", one.what}, {"time_s", one.time_s}};
  });
  json["proof"] = page.proof;
  return json;
}

}  // namespace napkin::page
