#include "derive/orders/names.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace napkin::orders {
namespace {

constexpr std::size_t longest_name = 24;

bool is_taken(const Diagram& diagram, const std::string& name) {
  return std::ranges::count(diagram.arrays, name, &Array::name) + std::ranges::count(diagram.axes, name, &Axis::name) +
             std::ranges::count(diagram.wires, name, &Wire::name) >
         0;
}

}  // namespace

std::string free_name(const Diagram& diagram, const std::vector<std::string>& factors, const std::string& result) {
  const bool are_letters = std::ranges::all_of(factors, [](const std::string& name) { return name.size() == 1; });
  auto first = fmt::format("{}", fmt::join(factors, are_letters ? "" : "_"));
  if (first.empty() || first.size() > longest_name) first = result + "_part";
  auto name = first;
  for (int i = 2; is_taken(diagram, name); ++i) name = fmt::format("{}{}", first, i);
  return name;
}

}  // namespace napkin::orders
