// Verdicts as JSON, shared by derivations and analyses.
#include "report/json/json.hpp"

#include <cmath>

#include "report/words.hpp"

namespace napkin::report {

Json number(std::optional<double> value) { return value && std::isfinite(*value) ? Json(*value) : Json(nullptr); }

Json whole(double value) {
  const bool exact = value == std::floor(value) && std::abs(value) < 0x1p62;
  return exact ? Json(static_cast<std::int64_t>(value)) : number(value);
}

Json groupable_json(const Derivation& derivation) {
  auto names = Json::array();
  for (const auto& verdict : derivation.verdicts) {
    if (groups(verdict)) names.push_back(wire_name(derivation, verdict.wire));
  }
  return names;
}

Json streamable_json(const Derivation& derivation, const Verdict& verdict, const Streamable& stream) {
  auto rule_names = Json::array();
  for (const auto rule : stream.rules) rule_names.push_back(code(rule));
  auto state = Json::array();
  for (const auto& carried : stream.state) {
    state.push_back({{"name", stream.scratch.at(carried.array).name}, {"combine", combine_name(carried)}});
  }
  return {{"axis", wire_name(derivation, verdict.wire)}, {"rules", rule_names}, {"state", state}};
}

Json streamable_json(const Derivation& derivation) {
  auto all = Json::array();
  for (const auto& verdict : derivation.verdicts) {
    if (const auto* stream = streams(verdict)) all.push_back(streamable_json(derivation, verdict, *stream));
  }
  return all;
}

Json refused_json(const Derivation& derivation) {
  auto all = Json::array();
  const auto add = [&](const Verdict& verdict, const char* kind, const Refused* refused) {
    if (!refused) return;
    all.push_back({{"axis", wire_name(derivation, verdict.wire)},
                   {"kind", kind},
                   {"reason", refused->reason},
                   {"mend", refused->mend}});
  };
  for (const auto& verdict : derivation.verdicts) {
    add(verdict, "group", std::get_if<Refused>(&verdict.group));
    add(verdict, "stream", std::get_if<Refused>(&verdict.stream));
  }
  return all;
}

}  // namespace napkin::report
