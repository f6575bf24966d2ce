// A diagram, alone or kernel by kernel -> a scene.
#include <fmt/format.h>

#include "scene/page.hpp"

namespace napkin {
namespace {

using namespace scene;

std::string kernel_words(const Diagram& diagram, const Kernel& kernel, const Hardware& hardware) {
  std::string names;
  for (const auto id : kernel.derivation->statements)
    names += (names.empty() ? "" : ", ") + diagram.at(diagram.at(id).output).name;
  const auto labels = to_text(kernel.partition, kernel.derivation->scratch, hardware);
  return fmt::format("kernel {}: {}", names, labels.empty() ? "everything whole" : labels);
}

}  // namespace

Scene lay_out(const Diagram& diagram, double width) {
  const auto all = circuit(diagram);
  Page page(width, diagram.name, described(all));
  page.add({diagram, all, nullptr}, {});
  return page.end();
}

Scene lay_out(const Diagram& diagram, const Plan& plan, const Cost& cost, const Hardware& hardware, Model model,
              double width) {
  const auto all = circuit(diagram);
  Page page(width, fmt::format("{} on {}", diagram.name, hardware.name), described(all));
  page.set_levels(inked(hardware));
  for (std::size_t i = 0; i < plan.kernels.size(); ++i) {
    const auto& kernel = plan.kernels[i];
    const auto some = part(all, *kernel.derivation);
    const auto at = levels(some, kernel, hardware);
    page.add_heading(kernel_words(diagram, kernel, hardware));
    page.add({diagram, some, &at}, figures(cost.kernels.at(i), hardware, model));
  }
  page.add_legend();
  return page.end();
}

}  // namespace napkin
