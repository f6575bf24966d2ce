// Runs columns and programs directly on whole arrays, restricted to a range of positions per wire: the plainest
// possible meaning of what the derivation writes, to compare with the plain meaning of the diagram.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "napkin/derive.hpp"

namespace napkin::testing {

class ColumnRunner {
 public:
  using Range = std::pair<std::int64_t, std::int64_t>;
  explicit ColumnRunner(const Diagram& scratch) : diagram(scratch), arrays(scratch.arrays.size()) {}

  void run(const std::vector<Column>& columns);
  // Loops of the program in pieces of `sizes`, by label.
  void run(const std::vector<Step>& steps, const std::vector<std::int64_t>& sizes);

  std::vector<double>& values(ArrayId array);

  const Diagram& diagram;
  std::vector<std::vector<double>> arrays;
  std::map<WireId, Range> ranges;  // absent: the whole wire

 private:
  using Positions = std::map<WireId, std::int64_t>;
  void run(const Column& column);
  void update(const Column& column, Positions& at);
  double fold(const Column& column, Positions& at, std::size_t depth, double sofar);
  double value(ExprId, const Positions&);
  std::size_t place(const Access&, const Positions&) const;
  Range range(WireId) const;
  template <class Visit>
  void each(const std::vector<WireId>& wires, std::size_t depth, Positions& at, const Visit& visit);
};

}  // namespace napkin::testing
