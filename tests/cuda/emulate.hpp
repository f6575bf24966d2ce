// Emitted kernels compiled for the host, and run there: harness and driver of a plan in a folder of their own.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "support/kernel_cases.hpp"

namespace emulate {

// Builds the program `harness`, with a sanitizer; gives its folder.
std::string build(const std::string& name, const napkin::Diagram&, const std::vector<napkin::EmittedFile>&);
// Compiles and runs a program of its own against the emulation.
kernel_cases::Ran program(const std::string& name, const std::string& text);
// Runs the harness of a folder, whatever path it takes; what it printed, with what the emulation counted: "read_bytes
// 250" and so on.
kernel_cases::Ran harness(const std::string& folder, const std::string& sizes);
using Counts = std::map<std::string, long long>;
Counts counts(const std::string& output);

// What the cost model says that moves between the outermost level and the next, of the kernels with the partitions that
// they are distributed with, at the sizes of a diagram; not of those without one. And what moves where a mask is an
// array, which the model only expects: as the loop nests do it, one step after another, with the inputs of a driver.
using Distributed = std::function<std::optional<napkin::Partition>(const napkin::Kernel&)>;
std::int64_t model_bytes(const napkin::Diagram&, const kernel_cases::Planned&, const Distributed&);
std::int64_t interpreted_bytes(const napkin::Diagram&, const kernel_cases::Planned&, const Distributed&);

// Builds the kernels of a case with a driver and runs them at all its sizes: every result is right, and as much moves
// as the model says of the kernels as they are distributed. `also` looks at what else was counted.
void run_all(const kernel_cases::Case&, const kernel_cases::Planned&, const std::vector<napkin::EmittedFile>&,
             const Distributed&, const std::function<void(Counts&)>& also);

// Plans a case for a machine all of whose kernels run on matrix units of single warps, and runs it so; gives the text.
std::string run_on_warps(const kernel_cases::Case&, const std::string& machine);

// Text of a kernel and what is written instead: at the `which`-th of its places, from 0, or with -1 at all of them.
struct Mistake {
  std::string right, wrong;
  int which = 0;
};
// What the harness says, at sizes "q=7 x=9", of kernels with mistakes behind the first place of `behind`. It is built
// without a sanitizer: what is planted the emulation has to find.
std::string planted(const std::string& name, const napkin::Diagram&, std::vector<napkin::EmittedFile>,
                    const std::string& behind, const std::vector<Mistake>&, const std::string& sizes);

// Build a driver of kernels without their harness, with a sanitizer and without one, which compiles fastest; the
// folder.
std::string build_driver(const std::string& name, const napkin::Diagram&, const std::vector<napkin::EmittedFile>&);
std::string build_alone(const std::string& name, const napkin::Diagram&, const std::vector<napkin::EmittedFile>&);
// Runs that driver on inputs, at the sizes of a diagram: what it printed and counted, and the outputs where it returned
// with success.
struct Result {
  kernel_cases::Ran ran;
  Counts counts;
  std::vector<std::vector<double>> outputs{};
};
Result run_alone(const std::string& folder, const napkin::Diagram&, const napkin::Values& inputs);

// Runs the driver of a folder at sizes "q=7 x=9", which is built there beside a harness that has none, and compares
// with evaluate(), which rounds what has a format or, as a kernel may round less, does not; what the emulation counted.
Counts compare(const std::string& text, const std::string& folder, const std::string& sizes);

}  // namespace emulate
