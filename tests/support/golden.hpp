// Goldens: answers kept in files. NAPKIN_UPDATE_GOLDENS=1 writes them anew; read the difference before keeping it.
#pragma once

#include <cstdlib>
#include <fstream>
#include <string>

#include "support/catch.hpp"
#include "support/read.hpp"

inline void check_golden(const std::string& path, const std::string& text) {
  if (const char* update = std::getenv("NAPKIN_UPDATE_GOLDENS"); update != nullptr && std::string(update) == "1")
    std::ofstream(path, std::ios::binary) << text;
  INFO("golden " << path);
  std::ifstream there(path);
  REQUIRE(there.good());
  CHECK(text == read_file(path));
}
