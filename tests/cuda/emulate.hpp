// Emitted kernels compiled for the host, and run there: harness and driver of a plan in a folder of their own.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "support/kernel_cases.hpp"

namespace emulate {

// Builds the programs `harness` and `driver`; gives their folder.
std::string build(const std::string& name, const napkin::Diagram&, std::vector<napkin::EmittedFile>);
// Runs the harness of a folder; what it printed, with what the emulation counted: "read_bytes 250" and so on.
kernel_cases::Ran harness(const std::string& folder, const std::string& sizes);
std::map<std::string, long long> counts(const std::string& output);

// Runs the driver at sizes "q=7 x=9" and compares with evaluate(), which is slow.
void compare(const std::string& text, const std::string& folder, const std::string& sizes);

}  // namespace emulate
