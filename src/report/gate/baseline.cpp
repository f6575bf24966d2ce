// Baselines to JSON and back, and the differences between two bases.
#include <fmt/format.h>

#include <algorithm>

#include "report/gate/gate.hpp"
#include "report/words.hpp"
#include "text/escape.hpp"

namespace napkin {
namespace {

using report::Json;
using Words = std::vector<std::pair<std::string, std::string>>;

std::string word(const Json& json, const char* key) { return on_one_line(json.at(key).get<std::string>()); }

void read_metrics(const Json& json, const std::string& end, Metrics& metrics) {
  for (const auto& [name, value] : json.items())
    if (value.is_number()) metrics.emplace_back(on_one_line(name) + end, value.get<double>());
}

Words read_words(const Json& json) {
  Words words;
  for (const auto& [name, value] : json.items())
    words.emplace_back(on_one_line(name), on_one_line(value.get<std::string>()));
  return words;
}

Basis basis_in(const Json& json) {
  Basis basis;
  basis.diagram = word(json, "diagram");
  for (const auto& [name, size] : json.at("sizes").items())
    basis.sizes.emplace_back(on_one_line(name), size.get<std::int64_t>());
  basis.inputs = read_words(json.at("inputs"));
  basis.outputs = read_words(json.at("outputs"));
  basis.text = word(json, "text");
  basis.target = word(json, "target");
  basis.numbers = word(json, "numbers");
  basis.model = word(json, "model");
  basis.objective = word(json, "objective");
  basis.metric = word(json, "metric");
  return basis;
}

ComparedRow row_in(const Json& json) {
  ComparedRow row;
  row.partition = word(json, "partition");
  row.target = word(json, "target");
  constexpr std::pair<const char*, const char*> plain[] = {
      {"time", "time_s"}, {"ideal_time", "ideal_time_s"}, {"energy", "energy_j"}};
  for (const auto& [name, key] : plain) {
    const auto& value = json.at(key);
    row.metrics.emplace_back(name, value.is_null() ? std::nullopt : std::optional(value.get<double>()));
  }
  read_metrics(json.at("transfer_bytes"), ".transfer_bytes", row.metrics);
  read_metrics(json.at("memory_bytes"), ".memory_bytes", row.metrics);
  for (const auto& [metric, parts] : json.at("parts").items())
    read_metrics(parts, "", row.parts.emplace_back(on_one_line(metric), Metrics()).second);
  row.bound = word(json, "bound");
  row.launch = word(json, "launch");
  row.kernels = json.at("kernels").get<std::size_t>();
  return row;
}

// Throws the exceptions of nlohmann if a key is missing or has another type.
Baselines baselines_in(const Json& json) {
  Baselines baselines;
  baselines.version = word(json, "version");
  for (const auto& one : json.at("baselines")) baselines.all.push_back({basis_in(one.at("of")), row_in(one.at("row"))});
  return baselines;
}

std::string schema_of(const Json& json) {
  return json.is_object() && json.contains("schema") && json["schema"].is_string() ? word(json, "schema") : "";
}

void add_word(std::vector<Difference>& found, const char* what, const std::string& before, const std::string& now) {
  if (before != now) found.push_back({what, fmt::format("the {} is {}, and {} in the baseline", what, now, before)});
}

// Compares entry by entry: "q is 2048, and 4096 in the baseline".
template <class Value>
std::vector<std::string> entry_words(const std::vector<std::pair<std::string, Value>>& before,
                                     const std::vector<std::pair<std::string, Value>>& now, bool only_shared) {
  std::vector<std::string> words;
  const auto at = [](const auto& all, const std::string& name) {
    return std::find_if(all.begin(), all.end(), [&](const auto& entry) { return entry.first == name; });
  };
  for (const auto& [name, value] : now) {
    const auto old = at(before, name);
    if (old == before.end() && !only_shared) words.push_back(fmt::format("{} is not in the baseline", name));
    if (old != before.end() && old->second != value)
      words.push_back(fmt::format("{} is {}, and {} in the baseline", name, value, old->second));
  }
  for (const auto& [name, value] : before)
    if (at(now, name) == now.end() && !only_shared) words.push_back(fmt::format("{} is only in the baseline", name));
  return words;
}

void add_entries(std::vector<Difference>& found, const char* what, const std::vector<std::string>& words) {
  if (!words.empty()) found.push_back({what, report::join(words, "; ")});
}

}  // namespace

std::vector<Difference> differences(const Basis& before, const Basis& now) {
  std::vector<Difference> found;
  add_entries(found, "sizes", entry_words(before.sizes, now.sizes, false));
  auto types = entry_words(before.inputs, now.inputs, true);  // an edit may add or remove an input
  for (auto& words : entry_words(before.outputs, now.outputs, false)) types.push_back(std::move(words));
  add_entries(found, "types", types);
  add_word(found, "target", before.target, now.target);
  if (before.target == now.target && before.numbers != now.numbers)
    found.push_back({"target", fmt::format("the numbers of {} differ from those in the baseline", now.target)});
  add_word(found, "model", before.model, now.model);
  add_word(found, "objective", before.objective, now.objective);
  add_word(found, "metric", before.metric, now.metric);
  return found;
}

std::optional<Baselines> parse_baselines(const std::string& text, std::string& why) {
  try {
    const auto json = Json::parse(text);
    const auto schema = schema_of(json);
    if (schema == "napkin.baseline/2") return baselines_in(json);
    why = schema == "napkin.baseline/1" ? "an older napkin wrote it, without the model and the numbers of the target"
          : schema.empty()              ? "it names no schema"
                                        : fmt::format("its schema is `{}`", schema);
  } catch (const Json::exception& problem) {
    why = problem.what();
  }
  return std::nullopt;
}

std::string print(const Baselines& baselines) {
  Json json{{"schema", "napkin.baseline/2"}, {"version", baselines.version}, {"baselines", Json::array()}};
  for (const auto& one : baselines.all)
    json["baselines"].push_back({{"of", report::basis_json(one.basis)}, {"row", report::row_json(one.row)}});
  return json.dump(2) + "\n";
}

namespace report {
namespace {

// The metrics of every level with the given end, keyed by the level.
Json by_level(const ComparedRow& row, const std::string& end) {
  auto levels = Json::object();
  for (const auto& [name, value] : row.metrics) {
    if (name.ends_with("." + end)) levels[name.substr(0, name.find('.'))] = value ? whole(*value) : Json(nullptr);
  }
  return levels;
}

Json parts_json(const ComparedRow& row) {
  auto all = Json::object();
  for (const auto& [metric, parts] : row.parts) {
    auto& one = all[metric] = Json::object();
    for (const auto& [name, value] : parts) one[name] = value ? whole(*value) : Json(nullptr);
  }
  return all;
}

template <class Value>
Json object(const std::vector<std::pair<std::string, Value>>& entries) {
  auto json = Json::object();
  for (const auto& [name, value] : entries) json[name] = value;
  return json;
}

}  // namespace

Json row_json(const ComparedRow& row) {
  return {{"partition", row.partition},
          {"target", row.target},
          {"time_s", number(find(row.metrics, "time"))},
          {"ideal_time_s", number(find(row.metrics, "ideal_time"))},
          {"energy_j", number(find(row.metrics, "energy"))},
          {"transfer_bytes", by_level(row, "transfer_bytes")},
          {"memory_bytes", by_level(row, "memory_bytes")},
          {"parts", parts_json(row)},
          {"bound", row.bound},
          {"launch", row.launch},
          {"kernels", row.kernels},
          {"fits", row.fits}};
}

Json basis_json(const Basis& basis) {
  return {{"diagram", basis.diagram},
          {"sizes", object(basis.sizes)},
          {"inputs", object(basis.inputs)},
          {"outputs", object(basis.outputs)},
          {"text", basis.text},
          {"target", basis.target},
          {"numbers", basis.numbers},
          {"model", basis.model},
          {"objective", basis.objective},
          {"metric", basis.metric}};
}

}  // namespace report
}  // namespace napkin
