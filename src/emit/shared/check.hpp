// What the programs that check a plan's kernels share, in any language: a reference of straight loops, random inputs,
// bounds on rounding errors, and sizes small enough to run the reference.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "emit/shared/interface.hpp"

namespace napkin {

// The statements of a diagram as straight loops over host arrays, in one function `reference`.
std::string code_reference(const CodePlan&);

// The text of the functions random_unit and relative_error.
extern const std::string_view random_text, error_text;

// The fraction of an output's norm that rounding may explain, by the coarsest format of any intermediate value.
double rounding_share(const Diagram&);

// Declares an array of type `Both` for every input, filled with random numbers, and an empty one for every output.
void declare_arrays(const CodePlan&, Lines&);
// Compares an output's array with its host copy.
void compare_output(const CodePlan&, ArrayId, Lines&);
// The beginning of `main`: reads `axis=size` and `--time` into `times` and `given`. In addition to the words of
// check_words(), it needs @USAGE@, @FURTHER@ (declarations) and @READ_FURTHER@ (branches for options of one language).
extern const std::string_view options_text;
// The function that @DIVIDE@ calls, if an axis is divided.
void define_divide_axes(const CodePlan&, Lines&);

// C++ expressions: the bytes of reading every input and writing every output once, and the operations of the plain
// statements.
std::string plain_bytes(const CodePlan&);
std::string plain_operations(const CodePlan&);

// For replaced(): @NAME@, @AXES@, @GIVEN@ (axes), @OPTIONS@ (lines that read `axis=size`), @DIVIDE@ (a line that gives
// parts of axes their sizes), @CHECKED@ and @PLANNED@ (sizes).
std::vector<std::pair<std::string, std::string>> check_words(const CodePlan&);
// The program: its opening, the functions of its body, the options, and the end of `main`. `more` are words in addition
// to those of check_words() and @DEFINITIONS@.
std::string code_harness(const CodePlan&, std::string_view opening, const std::string& body, std::string_view main,
                         const std::vector<std::pair<std::string, std::string>>& more);

}  // namespace napkin
