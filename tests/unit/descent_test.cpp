// Climbs of many shapes: which are made, and how many.
#include "search/descent.hpp"

#include <memory>

#include "support/catch.hpp"
#include "support/machine.hpp"
#include "support/read.hpp"

using namespace napkin;

TEST_CASE("climbs end once they looked at as many partitions as they may", "[search]") {
  const auto diagram = read_example("matmul.nap");
  const auto hardware = read_machine("a100-sxm4-80-l2");
  const Goal goal;
  const auto space =
      make_space(std::make_shared<const Derivation>(derive(diagram, std::vector{StatementId{0}})), hardware, goal);
  const Scoring scoring(space, goal, false);
  const auto tops = [&](const Width& width) {
    Shapes shapes(space);
    const auto roots = shapes.roots();
    return Descent(space, scoring, shapes).run(roots, width, {}).size();
  };
  const auto all = tops({}), few = tops({.partitions = 200});
  CAPTURE(all, few);
  CHECK(few > 0);
  CHECK(few < all / 2);
  CHECK(tops({.shapes = 1}) < all);
}
