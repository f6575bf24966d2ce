// Whether a value is finite for all finite inputs, whatever a mask leaves out.
#pragma once

#include <functional>

#include "derive/algebra/ranges.hpp"

namespace napkin {

// Which of minus infinity (`below`), infinity (`above`) and not-a-number (`none`) a value may be.
struct Ends {
  bool below = false, above = false, none = false;
  bool finite() const { return !below && !above && !none; }
};
inline constexpr Ends any_ends{true, true, true};
Ends joined(Ends, Ends);  // for a value that is one or the other
Ends sum(Ends, Ends);
Ends negated(Ends);
Ends folded_ends(const Reduction&, Ends each);  // of values that are reduced

// Overflow of a number format is not considered.
class Finite {
 public:
  // `array`: the ends of what an array holds; `bounds`: ranges of divisors.
  Finite(const Diagram& diagram, std::function<Ends(ArrayId)> array, Ranges bounds)
      : diagram_(diagram), array_(std::move(array)), bounds_(std::move(bounds)) {}

  Ends of(ExprId) const;

 private:
  Ends of(const Apply&) const;
  Ends of_function(const Apply&) const;
  Ends power(const Apply&) const;
  Ends logarithm(const Apply&) const;
  bool finite(ExprId e) const { return of(e).finite(); }
  bool at_least(ExprId, double least, bool more) const;
  bool nonzero(ExprId) const;
  bool avoids_zero(const Apply& choice) const;

  const Diagram& diagram_;
  std::function<Ends(ArrayId)> array_;
  Ranges bounds_;
};

// How an array is computed: its value, and what folds that if anything does.
struct Produced {
  ExprId value;
  const Reduction* fold = nullptr;
};
// Whether a value is finite for all finite inputs. `produced`: how an array is computed; what is neither produced nor
// an input may hold anything.
bool is_finite(const Diagram&, ExprId, const std::function<std::optional<Produced>(ArrayId)>& produced);
// The same of a whole diagram, whose statements compute its arrays.
bool is_finite(const Diagram&, ExprId);

}  // namespace napkin
