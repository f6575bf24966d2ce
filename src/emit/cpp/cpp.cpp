// Turns a plan into files in portable C++: the printed loop nest of every kernel, the interface, the harness and a
// build file.
#include <fmt/format.h>

#include <utility>

#include "diagram/in_memory.hpp"
#include "emit/cpp/files.hpp"
#include "emit/cpp/numbers.hpp"
#include "emit/cpp/tiles.hpp"
#include "napkin/cost.hpp"
#include "napkin/emit.hpp"

namespace napkin {

std::vector<EmittedFile> emit_cpp(const Diagram& planned, const Plan& plan, const Hardware& hardware) {
  const auto diagram = with_whole_outputs(planned);
  CppPlan printed{code_plan(Language::cpp, diagram, plan, hardware),
                  plan,
                  {},
                  estimate(plan, hardware, Model::machine).time_s,
                  hardware.name};
  for (std::size_t i = 0; i < plan.kernels.size(); ++i) {
    const auto number = plan.kernels.size() > 1 ? fmt::format("_{}", i + 1) : "";
    const auto nest = lower(with_long_tiles(plan.kernels[i], hardware), hardware);
    printed.kernels.push_back(cpp_kernel(nest, hardware, printed.names, printed.names.diagram + "_kernel" + number));
    add_limits(printed, printed.kernels.back().limits);
  }
  const auto& name = printed.names.diagram;
  auto source = cpp_source(printed);
  return {{name + ".cpp", std::move(source.text), std::move(source.origins)},
          {name + ".h", cpp_header(printed)},
          {"napkin_numbers.hpp", std::string(cpp_numbers)},
          {name + "_harness.cpp", cpp_harness(printed)},
          {"CMakeLists.txt", cpp_build_file(printed)}};
}

}  // namespace napkin
