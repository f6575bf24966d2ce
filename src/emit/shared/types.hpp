// How numbers of every format are stored, read, written and rounded in the languages that kernels are printed in.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "napkin/diagram.hpp"

namespace napkin {

enum class Language : std::uint8_t { cuda, cpp };

struct CodeType {
  Datatype type;
  std::string_view own;     // what is computed with: "float"
  std::string_view read;    // from storage to that
  std::string_view write;   // and back, rounding
  std::string_view round;   // to a value of the format, still as that
  std::string_view header;  // of CUDA, that declares the storage type
};
const CodeType& code_type(Language, Datatype);

// What the elements of an array are: "__half".
std::string_view code_storage(Language, Datatype);
// A number of an array in memory: "A[i]".
std::string code_element(const Array&, std::string_view name, std::string_view offset);
// A number as that, in an expression; nothing is zero.
std::string code_as_stored(Language, Datatype, std::string_view text);

// "expf({0})".
std::string_view code_of(Language, const Pointwise&);

// Whether computing with numbers of the format needs more than f32.
bool is_wide(Datatype);

// `{0}` of a row's text replaced.
std::string filled(std::string_view row, std::string_view value);

// The functions of this project's own that the text uses, as definitions to stand in front of it.
std::string code_definitions(Language, std::string_view used_in);
// The headers of CUDA that the text needs.
std::string cuda_headers(std::string_view used_in);

}  // namespace napkin
