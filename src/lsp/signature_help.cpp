// Finds the call or array read around a position: its signature, and which argument is being written.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "diagram/resolve/names.hpp"
#include "lsp/session.hpp"
#include "lsp/signatures.hpp"
#include "syntax/token.hpp"

namespace napkin::lsp {
namespace {

// A bracket that is open at the position, and the name before it.
struct Open {
  std::string name;
  bool of_axes = false;
  std::size_t commas = 0;
};

std::size_t begin_of_declaration(const ast::File& file, std::size_t offset) {
  std::size_t begin = 0;
  for (const auto& declared : file.declarations)
    if (declared.span.begin <= offset) begin = declared.span.begin;
  return begin;
}

// The innermost open bracket; none if no name precedes it.
std::optional<Open> open_at(const Reading& reading, std::size_t offset) {
  Diagnostics known;
  const auto begin = begin_of_declaration(reading.syntax, offset);
  std::vector<Open> open;
  std::string before, closed;  // the word before; the name whose bracket was closed directly before
  for (const auto& token : tokenize(reading.sources, reading.file, known, begin, offset).tokens) {
    const auto sign = token.text;
    if (sign == "(" || sign == "[") {
      open.push_back({!closed.empty() && sign == "(" ? closed : before, sign == "["});
    } else if ((sign == ")" || sign == "]") && !open.empty()) {
      closed = sign == "]" ? open.back().name : "";
      open.pop_back(), before.clear();
      continue;
    } else if (sign == "," && !open.empty()) {
      ++open.back().commas;
    }
    closed.clear();
    before = token.kind == TokenKind::name ? std::string(sign) : "";
  }
  if (open.empty() || open.back().name.empty()) return std::nullopt;
  return open.back();
}

Json signature_json(const std::string& label, const std::vector<std::string>& parts, const std::string& summary) {
  auto parameters = Json::array();
  // Parts are found in order by position, because a part may also occur inside the name.
  auto at = label.find_first_of("[(");
  for (const auto& part : parts) {
    at = label.find(part, at);
    parameters.push_back({{"label", {at, at + part.size()}}});
    at += part.size();
  }
  return {{"label", label}, {"parameters", std::move(parameters)}, {"documentation", summary}};
}

// In `sum[q, x](..)` both arguments in brackets are axes.
Json of_function(const Signature& one, const Open& open, std::size_t& active) {
  auto parts = one.axes;
  parts.insert(parts.end(), one.arguments.begin(), one.arguments.end());
  active = open.of_axes ? std::min(open.commas, one.axes.size() - 1) : one.axes.size() + open.commas;
  return signature_json(label(one), parts, one.summary);
}

Json of_array(const Diagram& diagram, const Array& array, const Open& open, std::size_t& active) {
  std::vector<std::string> axes;
  for (const auto wire : array.wires) axes.push_back(diagram.at(diagram.at(wire).axis).name);
  active = open.commas;
  const auto label = fmt::format("{}[{}]", array.name, fmt::join(axes, ", "));
  return signature_json(label, axes, fmt::format("array of {}", row(array.stored()).name));
}

}  // namespace

Json signature_help(State& state, const Json& params) {
  const auto& reading = document(state, params).reading;
  const auto open = open_at(reading, reading.lines.offset(reading.text(), position_field(params, "position")));
  if (!open) return nullptr;
  auto found = Json::array();
  std::size_t active = 0;
  for (const auto& one : signatures(reading))
    if (one.name == open->name && found.empty() && (!open->of_axes || !one.axes.empty()))
      found.push_back(of_function(one, *open, active));
  const auto& arrays = reading.diagram.arrays;
  const auto array = std::ranges::find(arrays, open->name, &Array::name);
  if (found.empty() && open->of_axes && array != arrays.end())
    found.push_back(of_array(reading.diagram, *array, *open, active));
  if (found.empty()) return nullptr;
  return {{"signatures", std::move(found)}, {"activeSignature", 0}, {"activeParameter", active}};
}

}  // namespace napkin::lsp
