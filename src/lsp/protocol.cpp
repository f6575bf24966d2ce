// Reads fields of JSON, and writes spans as JSON.
#include "lsp/protocol.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace napkin::lsp {

const Json& field(const Json& object, const char* name) {
  const auto found = object.is_object() ? object.find(name) : object.end();
  if (found == object.end()) throw Failure{invalid_params, fmt::format("the parameters lack `{}`", name)};
  return *found;
}

const std::string& text_field(const Json& object, const char* name) {
  const auto& value = field(object, name);
  if (!value.is_string()) throw Failure{invalid_params, fmt::format("`{}` is no string", name)};
  return value.get_ref<const std::string&>();
}

std::uint32_t number_field(const Json& object, const char* name) {
  const auto& value = field(object, name);
  if (!value.is_number_unsigned()) throw Failure{invalid_params, fmt::format("`{}` is no number from 0 on", name)};
  constexpr std::uint64_t most = std::numeric_limits<std::uint32_t>::max();
  return static_cast<std::uint32_t>(std::min(most, value.get<std::uint64_t>()));
}

Position position_field(const Json& object, const char* name) {
  const auto& position = field(object, name);
  return {number_field(position, "line"), number_field(position, "character")};
}

Json to_json(Position position) { return {{"line", position.line}, {"character", position.character}}; }

Json range(const Reading& reading, Span span) {
  if (span.file != reading.file) span = {reading.file, 0, 0};
  const auto place = [&](std::size_t offset) { return to_json(reading.lines.position(reading.text(), offset)); };
  return {{"start", place(span.begin)}, {"end", place(span.end)}};
}

Json markdown(const std::string& text) { return {{"kind", "markdown"}, {"value", text}}; }

}  // namespace napkin::lsp
