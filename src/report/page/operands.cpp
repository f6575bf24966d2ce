// Says in words what the storage of operands costs on matrix units.
#include <fmt/format.h>

#include <algorithm>

#include "report/page/summary_page.hpp"

namespace napkin::page {
namespace {

std::string unaligned_words(const MatrixProduct::Unaligned& one) {
  const auto* lost = !one.lacks_tma     ? "no load runs ahead of the computation"
                     : one.copied_ahead ? "TMA cannot copy them"
                                        : "TMA cannot copy them and no load runs ahead of the computation";
  return fmt::format("rows of {0} ({1} {2}) are not a multiple of 16 bytes, so {3}; {1} {4} would do", one.array,
                     one.axis, one.size, lost, one.next);
}

std::string packed_words(const std::vector<std::string>& arrays) {
  return fmt::format(
      "{} {} two numbers to a byte, which lanes take apart on their way into shared memory, so no load runs "
      "ahead of the computation",
      fmt::join(arrays, " and "), arrays.size() == 1 ? "has" : "have");
}

std::string one_by_one_words(const MatrixProduct::OneByOne& one) {
  if (row(one.stored).alone != one.multiplied)
    return fmt::format("{} is {}, which lanes widen to {} as they read it, a number at a time", one.array,
                       row(one.stored).name, row(one.multiplied).name);
  return fmt::format(
      "{0} is contracted along {1}, which is not its last axis: lanes read its {2} numbers one by one; with {1} last "
      "in {0}, matrices of it are loaded at once",
      one.array, one.axis, row(one.stored).name);
}

}  // namespace

// Names each array once, even if it is an operand of several products.
std::vector<std::string> operand_words(const std::vector<const MatrixProduct*>& products) {
  std::vector<std::string> all, packed;
  const auto add = [](std::vector<std::string>& to, std::string text) {
    if (std::ranges::find(to, text) == to.end()) to.push_back(std::move(text));
  };
  for (const auto* product : products) {
    for (const auto& one : product->unaligned) add(all, unaligned_words(one));
    for (const auto& array : product->packed) add(packed, array);
    for (const auto& one : product->one_by_one) add(all, one_by_one_words(one));
  }
  if (!packed.empty()) all.push_back(packed_words(packed));
  return all;
}

}  // namespace napkin::page
