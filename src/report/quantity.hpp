// Numbers of reports as text.
#pragma once

#include <optional>
#include <string>

#include "text/quantity.hpp"

namespace napkin::report {

using napkin::counted;
using napkin::held;
using napkin::lasting;
using napkin::moved;
using napkin::rate;
std::string values(double number);                   // "10.0 k values"
std::string flop(double operations);                 // "4.29 GFLOP"
std::string lasting(std::optional<double> seconds);  // "-" if unknown
std::string energy(double joules);                   // "1.25 mJ"
std::string ratio(double number);                    // "32", "1.03"
std::string share(double part, double whole);        // "43 %"
std::string bar(double part, double whole);          // "####......", ten characters

}  // namespace napkin::report
