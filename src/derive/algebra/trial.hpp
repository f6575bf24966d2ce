// Undoing what an attempt adds to a diagram.
#pragma once

#include "napkin/diagram.hpp"

namespace napkin {

// take_back() removes the arrays and expressions appended since construction.
class Trial {
 public:
  explicit Trial(Diagram& scratch) : scratch_(scratch), arrays_(scratch.arrays.size()), exprs_(scratch.exprs.size()) {}
  void take_back() {
    scratch_.arrays.resize(arrays_);
    scratch_.exprs.take_back(exprs_);
  }

 private:
  Diagram& scratch_;
  std::size_t arrays_, exprs_;
};

}  // namespace napkin
