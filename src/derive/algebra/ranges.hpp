// Bounds of values that hold for all data, and the ranges of number formats.
#pragma once

#include <functional>
#include <limits>
#include <optional>

#include "derive/algebra/terms.hpp"

namespace napkin {

bool is_floating(Datatype);
bool saturates(Datatype);   // values beyond its range become its greatest number, not infinity
double greatest(Datatype);  // finite
// Whether the format represents numbers as large, and as small, as those of `other`.
bool reaches_as_far(Datatype, Datatype other);
bool holds_all_of(Datatype, Datatype other);

struct Range {
  double least = -std::numeric_limits<double>::infinity(), greatest = std::numeric_limits<double>::infinity();
  double magnitude() const;
};

class Ranges {
 public:
  // `known`: the range of an array, if more is known than its format says.
  Ranges(const Diagram& diagram, std::function<std::optional<Range>(ArrayId)> known)
      : diagram_(diagram), known_(std::move(known)) {}

  Range of(ExprId) const;
  Range of(const Term&) const;  // ignoring its cast
  Range of(const Sum&) const;
  // Whether casts to the format do not change the value, because it is chosen among numbers that the format holds.
  bool exact_in(Datatype, ExprId) const;
  bool exact_in(Datatype, const Term&) const;

 private:
  Range of(const Apply&) const;
  Range of_size(AxisId, double least) const;

  const Diagram& diagram_;
  std::function<std::optional<Range>(ArrayId)> known_;
};

}  // namespace napkin
