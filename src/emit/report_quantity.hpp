// Numbers as people read them: three digits and a unit. Transfers in powers of ten, as bandwidths are; memory in powers
// of two, as chips are.
#pragma once

#include <optional>
#include <string>

namespace napkin::report {

std::string moved(double bytes);                               // "68.2 MB"
std::string held(double bytes);                                // "97.3 KiB"
std::string values(double number);                             // "10.0 k values"
std::string counted(double number);                            // "8.59 G"
std::string lasting(double seconds);                           // "25.1 us"
std::string lasting(std::optional<double> seconds);            // "-" where unknown
std::string rate(double per_second, const std::string& unit);  // "342 TFLOP/s"
std::string energy(double joules);                             // "1.25 mJ"
std::string ratio(double number);                              // "32", "1.03"
std::string share(double part, double whole);                  // "43 %"
std::string bar(double part, double whole);                    // "####......", full at ten

}  // namespace napkin::report
