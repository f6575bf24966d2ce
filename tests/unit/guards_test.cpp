// What finish asks where a choice may leave everything out: only what it must, of what is carried if that tells.
#include <string>

#include "support/catch.hpp"
#include "support/derived.hpp"
#include "support/read.hpp"

using namespace napkin;
using namespace napkin::testing;

namespace {

// The stream of x in a diagram of these statements.
Streamable stream_of(const std::string& statements) {
  const auto diagram = read_text(
      "diagram t\naxis q = 8; axis x = 8\n"
      "input A: f32[q, x]\ninput W: f32[q, x]\ninput B: f32[q]\ninput M: bool[q, x]\n" +
      statements + "\noutput Y\n");
  return std::get<Streamable>(derived(diagram)->find(*find_wire(diagram, "x"))->stream);
}

// The states carried along x and what the last column of finish is.
std::string finished(const std::string& statements) {
  const auto stream = stream_of(statements);
  REQUIRE(!stream.finish.empty());
  std::string text;
  for (const auto& carried : stream.state) text += stream.scratch.at(carried.array).name + " ";
  return text + "| " + to_text(stream.scratch, stream.finish.back());
}

}  // namespace

TEST_CASE("what is finite whatever a mask leaves out is not guarded") {
  CHECK(finished("Y[q] = sum[x](where(M[q, x], softmax[x](A[q, x]), 0) * W[q, x])") == "m l Y | Y = Y / l");
  CHECK(finished("Y[q] = sum[x](where(M[q, x], W[q, x] * sum[x](W[q, x]), 0))") == "l Y | Y = l * Y");
  CHECK(finished("Y[q] = sum[x](where(M[q, x], W[q, x] * max[x](W[q, x]), 0))") == "m Y | Y = m * Y");
  CHECK(finished("Y[q] = sum[x](where(M[q, x], A[q, x] / max(max[x](where(M[q, x], A[q, x], 0)), 1), 0))") ==
        "m Y | Y = Y / max(m, 1)");
  CHECK(finished("Y[q] = sum[x](where(M[q, x], tanh(max[x](where(M[q, x], A[q, x], -inf))) * A[q, x], 0))") ==
        "m Y | Y = tanh(m) * Y");
  CHECK(finished("Y[q] = sum[x](where(M[q, x], rmsnorm[x](A[q, x]), 0) * W[q, x])").find("where") == std::string::npos);
  CHECK(finished("N[q] = sum[x](where(M[q, x], 1, 0))\n"
                 "Y[q] = sum[x](where(M[q, x], A[q, x] / where(N[q] > 0, N[q], 1), 0))")
            .find("Y = where") == std::string::npos);
}

TEST_CASE("a guard that the file leaves out is not added") {
  CHECK(finished("Y[q] = sum[x](softmax[x](where(M[q, x], A[q, x], -inf)) * W[q, x])") == "m l Y | Y = Y / l");
  CHECK(finished("Y[q] = sum[x](exp(where(M[q, x], A[q, x] - max[x](where(M[q, x], A[q, x], -inf)), -inf)))")
            .find("where") == std::string::npos);
  CHECK(finished("Y[q] = sum[x](where(M[q, x], A[q, x], 0) / sum[x](where(M[q, x], 1, 0)))") == "l Y | Y = Y / l");
}

TEST_CASE("what is carried already tells whether a condition held") {
  CHECK(finished("Y[q] = sum[x](where(M[q, x], A[q, x] / sum[x](where(M[q, x], 1, 0)), 0))") ==
        "l Y | Y = where(l > 0, Y / l, 0)");
  CHECK(finished("Y[q] = sum[x](where(M[q, x], softmax[x](where(M[q, x], A[q, x], -inf)), 0) * W[q, x])") ==
        "m l Y | Y = where(l > 0, Y / l, 0)");
  CHECK(finished("Y[q] = sum[x](where(M[q, x], A[q, x] / sum[x](where(M[q, x], W[q, x], 0)), 0))") ==
        "l Y m | Y = where(m > 0, Y / l, 0)");
  CHECK(finished("Y[q] = sum[x](where(q > 3, A[q, x] * A[q, x] / sum[x](A[q, x]), 0))") ==
        "l Y | Y = where(q > 3, Y / l, 0)");
  CHECK(finished("Y[q] = sum[x](where(M[q, x], A[q, x], W[q, x]) / sum[x](W[q, x]))").find("where") ==
        std::string::npos);
  CHECK(finished("Y[q] = sum[x](where(M[q, x], A[q, x] / sum[x](W[q, x]), W[q, x] / sum[x](W[q, x])))") ==
        "l Y | Y = Y / l");
}

namespace {

// What a piece adds to the states of a sum of this value.
std::string added(const std::string& value) {
  const auto stream = stream_of("P[q, x] = softmax[x](A[q, x])\nY[q] = sum[x](" + value + ")");
  std::string all;
  for (const auto& column : stream.absorb) all += to_text(stream.scratch, column) + "\n";
  return all;
}
bool adds(const std::string& value, const std::string& what) { return added(value).find(what) != std::string::npos; }

}  // namespace

TEST_CASE("an exponential that a mask makes zero is multiplied only by what is finite") {
  CHECK(adds("where(M[q, x], P[q, x] * W[q, x], 0)", "sum[x](W * exp(where(M, A, -inf) - "));
  CHECK(adds("where(M[q, x], P[q, x] * tanh(W[q, x]), 0)", "tanh(W) * exp(where(M, A, -inf) - "));
  for (const auto* factor : {"* log(W[q, x])", "/ W[q, x]", "* rsqrt(W[q, x])"}) {
    CAPTURE(factor);
    CHECK(adds(std::string("where(M[q, x], P[q, x] ") + factor + ", 0)", "where(M, "));
    CHECK(adds(std::string("where(W[q, x] > 0, P[q, x] ") + factor + ", 0)", " exp(where("));
    const auto guarded = added(std::string("where(M[q, x], P[q, x] ") + factor + ", 0)");
    CHECK((guarded.find("where(M, log(W), 0)") != guarded.npos || guarded.find("where(M, 1 / W, 0)") != guarded.npos ||
           guarded.find("where(M, rsqrt(W), 0)") != guarded.npos));
    // Each x counts for some q, where the file uses the factor as it is.
    CHECK(adds(std::string("where(x <= q, P[q, x] ") + factor + ", 0)", "exp(where(x <= q, A, -inf) - "));
    CHECK_FALSE(adds(std::string("where(x <= q, P[q, x] ") + factor + ", 0)", ", 0)"));
    CHECK(adds(std::string("where(x <= q and x > 0, P[q, x] ") + factor + ", 0)", ", 0)"));
  }
}
