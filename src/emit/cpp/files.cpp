// Prints the C interface of a plan's C++ kernels, and a file with the kernels and the function that runs them.
#include "emit/cpp/files.hpp"

#include <fmt/format.h>

namespace napkin {
namespace {

std::string run_head(const CppPlan& plan) {
  return fmt::format("int {}_run({}{}, void* workspace)", plan.names.diagram, size_parameters(plan),
                     array_parameters(plan));
}

void runner(const CppPlan& plan, Lines& out) {
  out.open("extern \"C\" {}", run_head(plan));
  declare_all_sizes(plan, out);
  out.line("if (!possible(n)) return 1;");
  divide_workspace(plan, out);
  for (std::size_t i = 0; i < plan.kernels.size(); ++i) {
    const auto& program = plan.plan.kernels[i].program;
    out.line("{}(n{});", plan.kernels[i].name, arguments(plan, program.inputs, program.outputs));
  }
  out.line("return 0;");
  out.close();
}

}  // namespace

std::string cpp_header(const CppPlan& plan) {
  Lines out;
  open_header(plan, "the kernel that napkin printed in C++",
              "All arrays are row major. f16 and bf16 are their 16 bits, f8 formats their 8 bits, bool is a byte.",
              out);
  out.line("/* Bytes of workspace that a run with these sizes needs; 0 where it needs none. */");
  out.line(workspace_head(plan) + ";\n");
  out.line("/* Runs the kernels; 0, or 1 where they do not hold for the sizes.");
  describe_parameters(plan, out);
  out.line(" */");
  out.line(run_head(plan) + ";\n");
  close_header(out);
  return out.text();
}

EmittedText cpp_source(const CppPlan& plan) {
  EmittedText kernels;
  for (const auto& kernel : plan.kernels) append(kernels, kernel.text + "\n", kernel.origins);
  Lines rest;
  define_size_functions(plan, rest);
  runner(plan, rest);
  return code_source(plan, kernels, rest.text(), [&](const std::string& code) {
    return fmt::format(
               "#include \"{}.h\"\n\n#include <algorithm>\n#include <cmath>\n#include <cstring>\n\n"
               "#include \"napkin_numbers.hpp\"\n\n",
               plan.names.diagram) +
           code_definitions(Language::cpp, code);
  });
}

}  // namespace napkin
