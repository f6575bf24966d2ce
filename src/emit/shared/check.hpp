// What the programs that check a plan's kernels share, in any language: the plain meaning as straight loops, random
// inputs, how far rounding may carry, and sizes small enough for all of that.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "emit/shared/interface.hpp"

namespace napkin {

// Statements of a diagram as straight loops over host arrays, one function `reference`.
std::string code_reference(const CodePlan&);

// The functions random_unit and relative_error.
extern const std::string_view random_text, error_text;

// The share of an output's norm that rounding may explain, by the coarsest format of what is computed on the way.
double rounding_share(const Diagram&);

// Declares an array of type `Both` for every input, drawn, and every output, with no numbers in it yet.
void declare_arrays(const CodePlan&, Lines&);
// Compares what an output's array holds with its host's side.
void compare_output(const CodePlan&, ArrayId, Lines&);
// The beginning of `main`: reads `axis=size` and `--time` into `times` and `given`. Beside what check_words() gives it
// wants @USAGE@, @FURTHER@ (declarations) and @READ_FURTHER@ (branches for options of a language's own).
extern const std::string_view options_text;
// The function that @DIVIDE@ calls, where an axis is divided.
void define_divide_axes(const CodePlan&, Lines&);

// In C++: bytes of every input read and every output written once, and operations of the plain statements.
std::string plain_bytes(const CodePlan&);
std::string plain_operations(const CodePlan&);

// For replaced(): @NAME@, @AXES@, @GIVEN@ (axes), @OPTIONS@ (lines that read `axis=size`), @DIVIDE@ (a line that gives
// parts of axes their sizes), @CHECKED@ and @PLANNED@ (sizes).
std::vector<std::pair<std::string, std::string>> check_words(const CodePlan&);

}  // namespace napkin
