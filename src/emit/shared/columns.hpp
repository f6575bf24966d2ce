// What printing a column has in common in every language: its values, how they are rounded, and how a fold begins and
// takes one more.
#pragma once

#include <string>

#include "emit/shared/expression.hpp"
#include "emit/shared/text.hpp"
#include "napkin/loops.hpp"

namespace napkin {

// Whether a column is computed in double.
bool is_wide(const LoopNest&, const Compute&);
// The same where inputs are compared as they are stored: what is only compared in int makes nothing wide.
bool is_wide(const Diagram&, const LoopNest&, const Compute&);

// An expression as a number; values used more than once become locals, in front. `around` needs its language,
// positions and reads.
std::string code_value(const Diagram&, const CodeNames&, ExprId, Surroundings around, Lines&, Identifiers&);

// As the format of a buffer keeps it.
std::string code_rounded(Language, Datatype, const std::string& text);

// The statement that gives a fold's place its first value: the identity, or the old value repaired. Empty where the
// place holds it already.
struct FoldWords {
  std::string to;      // the place
  std::string old;     // of what is carried
  std::string repair;  // empty without one
};
bool begins_in_place(const Compute&);
std::string code_begun(const Compute&, const FoldWords&, bool wide);
// The statement that joins a value to it.
std::string code_joined(Language, const Pointwise& combine, const std::string& to, const std::string& value);

}  // namespace napkin
