// Plans whose kernels are compiled and run: every example as the search leaves it, and the corners of the language
// split by hand.
#pragma once

#include <string>
#include <vector>

#include "napkin/emit.hpp"

namespace cuda_cases {

struct Case {
  std::string name;                    // of the folder that its files are written to
  std::string text;                    // of the diagram
  std::vector<std::string> labels;     // for every kernel; one: all statements in one kernel; none: what a search finds
  std::vector<std::string> run_sizes;  // "q=7 x=9", what the emulated kernels run with
};
const std::vector<Case>& cases();

// The files of a case, for an H100.
struct Emitted {
  napkin::Diagram diagram;
  std::vector<napkin::EmittedFile> files;
};
Emitted emit(const Case&);

// Writes files below the build folder, gives the folder.
std::string write(const std::string& name, const std::vector<napkin::EmittedFile>& files);

// Runs a command of the shell; its exit status and what it printed.
struct Ran {
  int status = 0;
  std::string output;
};
Ran run(const std::string& command);

}  // namespace cuda_cases
