// The files of the source tree, for tests of the tree as a whole.
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "support/catch.hpp"

namespace tree {

namespace fs = std::filesystem;
inline const fs::path root = NAPKIN_SOURCE_DIR;

inline std::vector<fs::path> files_below(const std::vector<std::string>& folders,
                                         const std::set<std::string>& endings) {
  std::vector<fs::path> found;
  for (const auto& folder : folders) {
    if (!fs::exists(root / folder)) continue;
    for (const auto& entry : fs::recursive_directory_iterator(root / folder))
      if (entry.is_regular_file() && endings.contains(entry.path().extension().string()))
        found.push_back(fs::relative(entry.path(), root));
  }
  std::sort(found.begin(), found.end());
  return found;
}

inline std::string text_of(const fs::path& path) {
  std::ifstream in(root / path);
  REQUIRE(in);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

}  // namespace tree
