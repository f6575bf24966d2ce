// Commands that GitHub's runner reads in what a step prints: `::error file=a.nap,line=3::message`.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace napkin {

// One command with its properties, as a line. Whatever the texts hold, they stay texts of this command.
std::string github_command(std::string_view kind, const std::vector<std::pair<std::string, std::string>>& properties,
                           std::string_view message);

}  // namespace napkin
