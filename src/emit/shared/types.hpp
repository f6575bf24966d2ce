// How numbers of every format are stored, read, written and rounded in the emitted languages.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "napkin/diagram.hpp"

namespace napkin {

enum class Language : std::uint8_t { cuda, cpp };

struct CodeType {
  Datatype type;
  std::string_view own;     // the type used in computations: "float"
  std::string_view read;    // converts from the storage type to `own`
  std::string_view write;   // converts back and rounds
  std::string_view round;   // rounds to a value of the format, in type `own`
  std::string_view header;  // the CUDA header that declares the storage type
};
const CodeType& code_type(Language, Datatype);

// The element type of an array: "__half".
std::string_view code_storage(Language, Datatype);
// A number of an array in memory: "A[i]".
std::string code_element(const Array&, std::string_view name, std::string_view offset);
// A number in the storage type, in an expression; an empty text gives zero.
std::string code_as_stored(Language, Datatype, std::string_view text);

// "expf({0})".
std::string_view code_of(Language, const Pointwise&);

// Whether computations on numbers of the format need more than f32.
bool is_wide(Datatype);

// The text of a row with `{0}` replaced by the value.
std::string filled(std::string_view row, std::string_view value);

// Definitions of the project's own functions that the text uses, to be printed before it.
std::string code_definitions(Language, std::string_view used_in);
// The CUDA headers that the text needs.
std::string cuda_headers(std::string_view used_in);

}  // namespace napkin
