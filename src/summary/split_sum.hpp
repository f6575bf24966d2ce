// A sum of a product of several factors -> arrays that are computed in front of it, so that it multiplies two arrays in
// a format of the matrix units.
#pragma once

#include "napkin/summary.hpp"

namespace napkin {

struct SplitSum {
  std::vector<std::string> operands;  // "f(A)", "B"
  std::vector<std::string> computed;  // of them, those that are not arrays yet
  Fix fix;
};
// Of the sum of a statement that `column` is. None where it is not a product of two matrices.
std::optional<SplitSum> split_sum(const Derivation&, const Column&, const ComputeUnit& matrix_unit,
                                  const std::optional<SourceText>&);

}  // namespace napkin
