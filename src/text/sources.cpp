// Sources: the texts that spans point into.
#include <algorithm>

#include "napkin/text.hpp"

namespace napkin {

std::uint32_t Sources::add(std::string name, std::string text) {
  files_.push_back({std::move(name), std::move(text)});
  return static_cast<std::uint32_t>(files_.size() - 1);
}

Location Sources::locate(std::uint32_t file, std::uint32_t offset) const {
  const std::string_view text = at(file).text;
  const std::string_view before = text.substr(0, std::min<std::size_t>(offset, text.size()));
  const auto newline = before.rfind('\n');
  const auto line = before.substr(newline == std::string_view::npos ? 0 : newline + 1);
  const auto begins_code_point = [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; };
  return {static_cast<std::uint32_t>(1 + std::count(before.begin(), before.end(), '\n')),
          static_cast<std::uint32_t>(1 + std::count_if(line.begin(), line.end(), begins_code_point))};
}

}  // namespace napkin
