// Lays out a diagram, alone or kernel by kernel, as a scene.
#include <fmt/format.h>

#include "scene/page.hpp"

namespace napkin {
namespace {

using namespace scene;

std::string statement_names(const Diagram& diagram, const Derivation& derivation) {
  std::string names;
  for (const auto id : derivation.statements)
    names += (names.empty() ? "" : ", ") + diagram.at(diagram.at(id).output).name;
  return names;
}

std::string kernel_words(const std::string& name, const Kernel& kernel, const Hardware& hardware) {
  const auto labels = to_text(kernel.partition, kernel.derivation->scratch, hardware);
  return fmt::format("kernel {}: {}", name, labels.empty() ? "everything whole" : labels);
}

}  // namespace

Scene lay_out(const Diagram& diagram, double width) {
  const auto all = circuit(diagram);
  Page page(width, diagram.name, described(all));
  page.add({diagram, all, nullptr}, {});
  return page.end();
}

Scene lay_out(const Diagram& diagram, const Plan& plan, const Cost& cost, const Hardware& hardware, Model model,
              double width, Configurations configurations, std::span<const std::string> names) {
  const auto all = circuit(diagram);
  Page page(width, fmt::format("{} on {}", diagram.name, hardware.name), described(all));
  page.set_levels(inked(hardware));
  std::optional<std::int64_t> divisor;
  for (std::size_t i = 0; i < plan.kernels.size(); ++i) {
    const auto& kernel = plan.kernels[i];
    const auto some = part(all, *kernel.derivation);
    auto at = levels(some, kernel, hardware);
    if (i < configurations.size() && configurations[i]) at.divisors = divisors(diagram, *configurations[i]);
    const auto name = i < names.size() ? names[i] : statement_names(diagram, *kernel.derivation);
    page.add_heading(kernel_words(name, kernel, hardware));
    page.add({diagram, some, &at}, figures(cost.kernels.at(i), hardware, model));
    for (const auto& [wire, size] : at.divisors)
      if (!divisor && page.says(fmt::format("÷{}", size))) divisor = size;
  }
  page.add_legend();
  for (const auto& line : reading_help(diagram, plan, divisor)) page.add_heading(line);
  return page.end();
}

Scene lay_out_memories(const Diagram& diagram, const Plan& plan, const Hardware& hardware, double width) {
  const auto all = circuit(diagram);
  const auto* why = "each array is drawn in the style of its memory: only loads and saves leave an SM";
  Page page(width, fmt::format("the memories of {}", hardware.name), why);
  page.add_heading(why);
  page.set_levels(inked(hardware));
  for (const auto& kernel : plan.kernels) {
    const auto some = part(all, *kernel.derivation);
    auto at = levels(some, kernel, hardware);
    at.partition = {};
    page.add_heading("kernel " + statement_names(diagram, *kernel.derivation));
    page.add({diagram, some, &at}, {});
  }
  page.add_legend();
  return page.end();
}

}  // namespace napkin
