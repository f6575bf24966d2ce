// Names, types and wires: what a file means.
#include "napkin/diagram.hpp"
#include "support/catch.hpp"
#include "support/read.hpp"

using namespace napkin;

TEST_CASE("attention's two d come apart") {
  const auto diagram = read_example("attention.nap");
  CHECK(find_wire(diagram, "d'").has_value());
  CHECK_FALSE(find_wire(diagram, "d''").has_value());
}
