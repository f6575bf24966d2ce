// `--set-target` numbers, put into the tree of a profile before it is read.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "hardware/yaml.hpp"

namespace napkin::profile {

// Each setting becomes a source of its own, so that whatever is wrong with it is pointed at where it was typed.
void apply(const std::vector<std::pair<std::string, std::string>>& settings, Node& root, Sources&, Diagnostics&);

}  // namespace napkin::profile
