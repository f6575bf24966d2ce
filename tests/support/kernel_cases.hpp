// Plans whose kernels are compiled and run: every example as the search leaves it, and the corners of the language
// split by hand.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "napkin/diagram.hpp"
#include "napkin/emit.hpp"
#include "support/in_turn.hpp"

namespace kernel_cases {

using napkin::test::left_out, napkin::test::some_of, napkin::test::takes_every_case;

struct Case {
  std::string name;                    // of the folder that its files are written to
  std::string text;                    // of the diagram
  std::vector<std::string> labels;     // for every kernel; one: all statements in one kernel; none: what a search finds
  std::vector<std::string> run_sizes;  // "q=7 x=9", what the emulated kernels run with
};
const std::vector<Case>& cases();
// C[m, n] = sum[k](A * B), all axes 512 long; `a` and `b` are the axes of A and B in their order, "m, k".
std::string matrix_product(const std::string& a, const std::string& b, const std::string& type = "f16",
                           const std::string& result = "f16");
const Case& case_named(const std::string& name);

// The diagram of a case, and its plan on a machine: an H100 where it is split by hand. Equal questions are searched
// once.
struct Planned {
  napkin::Diagram diagram;
  napkin::Hardware hardware;
  napkin::Plan plan;
};
Planned plan(const Case&, const std::string& target = "h100-sxm5", const napkin::Overrides& = {});

// Writes files below the build folder, gives the folder.
std::string write(const std::string& folder, const std::vector<napkin::EmittedFile>& files);

// "q=7 x=9".
napkin::Overrides sizes_of(const std::string& words);

// Values of arrays in double, one array after another.
void write_doubles(const std::string& path, const napkin::Values&, const std::vector<napkin::ArrayId>&);
// The same for the outputs of a diagram.
std::vector<std::vector<double>> read_outputs(const std::string& path, const napkin::Diagram&);

// C++ of a program that reads inputs in double from a file `in` and stores them in the formats that only inputs have:
// `code(bytes, count, share, in, code_i4)`.
extern const std::string_view coded_inputs;

// The largest relative error by norm that sums in another order explain, by the coarsest
// format on the way; along many statements that adds up.
double tolerance(const napkin::Diagram&);
double relative_error(const std::vector<double>& got, const std::vector<double>& meant);

// Runs a command of the shell; its exit status and what it printed.
struct Ran {
  int status = 0;
  std::string output;
};
Ran run(const std::string& command);

}  // namespace kernel_cases
