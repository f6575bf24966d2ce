// What the printed forms of a comparison share: how a metric is written, and the JSON of a row.
#pragma once

#include "report/json/json.hpp"

namespace napkin::report {

// A value in the unit that the end of the metric's name gives: a time, an energy, bytes; "-" if it is unknown.
std::string metric_text(const std::string& metric, std::optional<double> value);
std::string percent_text(const Change&);                 // "+3.1 %"
const Change* find_change(const Gate&);                  // of the gated metric; null if it did not change
std::string value_text(const Comparison&, const Gate&);  // the gated metric: "25.1 us -> 28.0 us (+11.6 %)"

Json row_json(const ComparedRow&);
Json basis_json(const Basis&);

}  // namespace napkin::report
