// What masks may leave out, and what a plan of any form is worth at least.
#include "search/cuts/masked.hpp"

#include <algorithm>
#include <set>

#include "search/cuts/prices.hpp"
#include "search/plans/chunked.hpp"
#include "support/catch.hpp"
#include "support/machine.hpp"
#include "support/read.hpp"

using namespace napkin;

namespace {

constexpr auto head =
    "diagram d; axis t = 8; axis x = 8; axis s = 8; axis y = 6; input A: f32[x]; input B: f32[t]; input C: f32[t, x]\n"
    "input M: bool[x]; input P: f32[y]; input S: f32[s]\n";

// The names of inputs of whose reads a kernel of all statements may leave out a part.
std::string skipped(const std::string& statements) {
  const auto diagram = read_text(head + statements);
  const Masks masks(diagram);
  const auto masked = masks.of(needed_statements(diagram));
  std::set<std::string> all;
  for (std::uint32_t i = 0; i < diagram.exprs.size(); ++i)
    if (const auto* access = std::get_if<Access>(&diagram.exprs[i].node))
      if (std::ranges::count(diagram.inputs, access->array) > 0 && masks.may_skip(masked, free_wires(diagram, {i})))
        all.insert(diagram.at(access->array).name);
  std::string names;
  for (const auto& name : all) names += name;
  return names;
}

}  // namespace

TEST_CASE("a mask of two positions needs all of what varies along one of them") {
  CHECK(skipped("Y[t] = sum[x](where(x <= t, A[x] * B[t], 0))\noutput Y").empty());
  CHECK(skipped("Y[t] = sum[x](where(t >= x, A[x] * B[t], 0))\noutput Y").empty());
  CHECK(skipped("Y[t] = sum[x](where(x <= t, A[x] * C[t, x], 0))\noutput Y") == "C");
  CHECK(skipped("Y[t] = sum[x](A[x] * (t - x))\noutput Y").empty());               // no condition
  CHECK(skipped("Y[t] = sum[x](where(A[x] > 0, A[x], B[t]))\noutput Y").empty());  // reads what decides
}

TEST_CASE("other masks may leave out what varies along their wires") {
  CHECK(skipped("Y[t] = sum[x](where(x < t, A[x], 0))\noutput Y") == "A");   // not the last x
  CHECK(skipped("Y[t] = sum[x](where(x <= t, 1, A[x]))\noutput Y") == "A");  // not the first x
  CHECK(skipped("Y[t] = sum[x](where(x <= 3, A[x], 0) * B[t])\noutput Y") == "A");
  CHECK(skipped("Y[t] = sum[x](where(M[x], A[x], 0) * B[t])\noutput Y") == "AM");
  CHECK(skipped("Y[t] = sum[y](where(y <= t, P[y], 0) * B[t])\noutput Y") == "BP");  // axes of two lengths
  CHECK(skipped("Y[t] = sum[x](where(x <= t, where(t <= x, A[x], 0), 0))\noutput Y") == "A");
}

TEST_CASE("masks of statements that read each other count together") {
  // t is the upper wire of one mask and the lower wire of the other.
  CHECK(skipped("L[t] = sum[s](where(s <= t, S[s], 0))\nY[x] = sum[t](where(t <= x, L[t], 0))\noutput Y") == "S");
  // The second statement reads L along another wire.
  CHECK(skipped("L[t] = sum[s](where(s <= t, S[s], 0))\nY[t] = sum[x](where(x <= t, L[x], 0))\noutput Y") == "S");
  CHECK(
      skipped("L[t] = sum[s](where(s <= t, S[s], 0))\nY[t] = sum[x](where(x <= t, A[x], 0) * L[t])\noutput Y").empty());
  // Only a part of L is read.
  CHECK(skipped("L[t] = B[t] + 1\nY[y] = L[y + 1] + P[y]\noutput Y") == "B");
}

TEST_CASE("whatever its form, a plan reads its inputs and writes its outputs") {
  const auto diagram = read_text(
      "diagram d; axis t = 64; axis x = 64; axis r = 4; input A: f32[r, x]; input B: i4[r, x]\n"
      "Y[r, t] = sum[x](where(x <= t, A[r, x] * B[r, x], 0))\noutput Y");
  Goal goal;
  goal.objective = Objective::transfers;
  // Also on a machine that counts values, as plans are worth their bytes there.
  for (const auto* name : {"two-level", "h100-sxm5"}) {
    const Settings room{{"M", "100000"}};
    const auto machine = read_machine(name, name == std::string("two-level") ? room : Settings{});
    CHECK(least_worth(diagram, machine, goal) == 4 * 64 * 4 + 4 * 64 / 2 + 4 * 64 * 4);
    const auto found = search(diagram, machine, goal);
    CHECK(least_worth(diagram, machine, goal) <= worth(found, goal));
  }
}
