// Parts of the JSON schemas that several reports share.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>

#include "napkin/report.hpp"

namespace napkin::report {

using Json = nlohmann::ordered_json;  // keys in the order of the schema

Json number(std::optional<double>);  // null if unknown; whole numbers without a fraction
Json whole(double);

Json groupable_json(const Derivation&);
Json streamable_json(const Derivation&, const Verdict&, const Streamable&);
Json streamable_json(const Derivation&);
Json refused_json(const Derivation&);

}  // namespace napkin::report
