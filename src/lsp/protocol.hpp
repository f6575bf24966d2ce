// What the methods share: JSON, the protocol's error codes, and the fields of parameters, checked.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "lsp/reading.hpp"

namespace napkin::lsp {

using Json = nlohmann::json;

enum ErrorCode : int {
  parse_error = -32700,
  invalid_request = -32600,
  method_not_found = -32601,
  invalid_params = -32602,
  internal_error = -32603,
  not_initialized = -32002,
  request_failed = -32803,
};

// Thrown by methods, and answered as the protocol's error.
struct Failure {
  int code;
  std::string message;
};

// A field that must be there; Failure says which is not, or is something else.
const Json& field(const Json& object, const char* name);
const std::string& text_field(const Json& object, const char* name);
std::uint32_t number_field(const Json& object, const char* name);  // from zero; a larger one is the largest there is
Position position_field(const Json& object, const char* name);

Json to_json(Position);
// The range of a span of the text; of anything else its beginning.
Json range(const Reading&, Span);
Json markdown(const std::string& text);

}  // namespace napkin::lsp
