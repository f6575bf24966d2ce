// A code's section of docs/diagnostics.md, which is embedded when the build is configured.
#include "napkin/text.hpp"

namespace napkin {

std::string_view diagnostics_text();  // generated, see cmake/embed.cmake

std::optional<std::string> explain(std::string_view code) {
  if (find_code(code) == nullptr) return std::nullopt;
  const std::string_view text = diagnostics_text();
  const auto heading = text.find("\n## " + std::string(code) + ":");
  if (heading == std::string_view::npos) return std::nullopt;
  const auto begin = text.find_first_not_of('\n', text.find('\n', heading + 1));
  const auto end = text.find("\n## ", begin);
  return std::string(text.substr(begin, end == std::string_view::npos ? end : end + 1 - begin));
}

}  // namespace napkin
