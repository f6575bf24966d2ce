// Forms of which one pass is possible though pieces and finished reductions mix: each is run in pieces, merged of two
// halves, divided into parts and nested along two axes, on data with ties, zeros and entries that are masked.
#include "support/one_pass.hpp"

using namespace napkin;
using namespace napkin::testing;

TEST_CASE("a choice by finished reductions waits for the end, in sums, products and extremes") {
  check_one_pass("Y[q] = sum[x](where(max[x](A[q, x]) > 1, A[q, x] * W[q, x] / max[x](A[q, x]), W[q, x]))");
  check_one_pass(
      "P[q, x] = where(sum[x](abs(A[q, x])) > 0, A[q, x] / sum[x](abs(A[q, x])), 0)\n"
      "Y[q, y] = sum[x](P[q, x] * V[x, y])");
  check_one_pass("Y[q] = max[x](where(sum[x](A[q, x]) > 0 and M[q, x], A[q, x], -inf))");
  check_one_pass("Y[q] = min[x](where(sum[x](A[q, x]) > 0 or M[q, x], A[q, x], W[q, x]))");
  check_one_pass("Y[q] = sum[x](where(not (sum[x](A[q, x]) > 0), (A[q, x] - mean[x](A[q, x]))^2, 0))");
  check_one_pass("Y[q] = prod[x](where(sum[x](A[q, x]) > 0, 1 + 0.1 * tanh(A[q, x]), 1))");
  check_one_pass("Y[q] = sum[x](exp(where(max[x](A[q, x]) > 1, A[q, x] - max[x](A[q, x]), -1)))");
  check_one_pass("Y[q] = sum[x](where(min[x](A[q, x]) > -1, where(max[x](A[q, x]) > 1, A[q, x], W[q, x]), 2))");
  // The condition varies along an axis that is folded too: that waits.
  check_one_pass("Y[q] = sum[x, y](where(sum[x](T[q, x, y]) > 0, T[q, x, y], 1))", false);
}

TEST_CASE("a division that a finished condition guards is not made where it would be by zero") {
  check_one_pass(
      "P[q, x] = where(max[x](abs(A[q, x])) > 0, A[q, x] / max[x](abs(A[q, x])), 0)\n"
      "Y[q] = sum[x](P[q, x] * W[q, x])");
}

TEST_CASE("a sum of nothing is zero, though it waits for a division by zero and by what is never zero") {
  check_one_pass("Y[q] = sum[x](where(abs(A[q, x]) > 0, W[q, x] / sum[x](abs(A[q, x])), 0))");
  check_one_pass(
      "Y[q] = sum[x](where(abs(A[q, x]) > 0, W[q, x] / (sum[x](abs(A[q, x])) * (1 + sum[x](W[q, x]^2))), 0))");
}

TEST_CASE("an extreme of what a finished factor multiplies needs no sign of it") {
  check_one_pass("Y[q] = max[x](A[q, x] * sum[x](W[q, x] + A[q, x]))");
  check_one_pass("Y[q] = min[x](A[q, x] * sum[x](W[q, x] * A[q, x]) + sum[x](A[q, x]))");
  check_one_pass("Y[q] = min[x](A[q, x] / -max[x](abs(W[q, x] * A[q, x]) + 1))");
  check_one_pass("Y[q] = max[x](abs(W[q, x]) * exp(A[q, x] - max[x](A[q, x])) * sum[x](A[q, x]))");
  check_one_pass("Y[q] = max[x, y](T[q, x, y] * sum[x](T[q, x, y]))", false);
  check_one_pass("C[y] = V[0, y]\nY[q] = max[x, y](exp(C[y]))");
  check_one_pass("B[q] = sum[x](A[q, x])\nC[y] = V[0, y]\nY[q] = max[x, y](exp(C[y]) * (1 + A[q, x]^2)) + B[q]");
}

TEST_CASE("a greatest distance is one of both ends") {
  check_one_pass("Y[q] = max[x](abs(A[q, x] - mean[x](A[q, x])))");
  check_one_pass("Y[q] = max[x]((A[q, x] - mean[x](A[q, x]))^2)");
  check_one_pass("Y[q] = min[x](3 - (A[q, x] - sum[x](W[q, x] * A[q, x]))^4)");
  check_one_pass("Y[q] = max[x](abs(A[q, x] * sum[x](W[q, x] * A[q, x]) - min[x](A[q, x])))");
  check_refused("Y[q] = min[x](abs(A[q, x] - mean[x](A[q, x])))");
}

TEST_CASE("a quotient is raised as one, whose parts to that power are out of range") {
  for (const auto* y : {"max[x]((A[q, x] / max[x](abs(A[q, x])))^8)", "min[x]((A[q, x] / max[x](abs(A[q, x])))^7)",
                        "max[x](-3 * (A[q, x] / sum[x](abs(A[q, x])))^7)",
                        "max[x]((A[q, x] * W[q, x] / (max[x](abs(A[q, x])) * max[x](abs(W[q, x]))))^6)"})
    check_one_pass(std::string("Y[q] = ") + y, true, {InputKind::plain, InputKind::negative, InputKind::huge});
}

TEST_CASE("a reduction that a statement repeats along other wires is no other statement's value") {
  const auto diagram = read_text(
      "diagram d; axis h = 3; axis d = 4; axis q = 5; input A: f32[q]; P[d, h] = sum[q](A[q]); Q[] = sum[q](A[q])\n"
      "output P; output Q");
  const auto derivation = derive(diagram, all_statements(diagram));
  std::size_t folds = 0;
  for (const auto& column : derivation.columns)
    if (derivation.scratch.at(column.output).name == "Q") folds += column.fold != nullptr;
  CHECK(folds == 1);
}

TEST_CASE("the root of a square is a magnitude, whatever the sign of what is squared") {
  const std::vector<InputKind> kinds = {InputKind::plain, InputKind::negative, InputKind::large};
  check_one_pass("Y[q] = min[x](l2norm[x](A[q, x] * sum[x](W[q, x])))", true, kinds);
  check_one_pass("C[q] = A[q, 0]\nY[q] = sum[x](l2norm[x](C[q]) * W[q, x])", false, kinds);
  check_one_pass("Y[q] = sum[x](W[q, x] * sqrt((A[q, x] * sum[x](A[q, x]))^2))", true, kinds);
  check_one_pass("Y[q] = sum[x](W[q, x] * ((A[q, x] * sum[x](A[q, x]))^2)^0.75)", true, kinds);
}

TEST_CASE("an infinite number gives what it gives in the file's statements") {
  for (const auto* y :
       {"logsumexp[x](A[q, x])", "log(sum[x](exp(G[q, x] * 2))) - A[q, 0]", "max[x](A[q, x] - min[x](A[q, x]))",
        "sum[x](softmax[x](A[q, x]) * W[q, x])", "logsumexp[x](where(M[q, x], A[q, x], -inf))",
        "sum[x](where(logsumexp[x](A[q, x]) > 3, W[q, x], A[q, x]))"})
    check_one_pass(std::string("Y[q] = ") + y, true, {InputKind::plain, InputKind::infinite});
}

TEST_CASE("what keeps or turns round the order waits for the extreme of what is inside") {
  check_one_pass("Y[q] = max[x](tanh(A[q, x] * sum[x](W[q, x] * A[q, x])))");
  check_one_pass("Y[q] = max[x](sigmoid(A[q, x] - sum[x](W[q, x] * A[q, x])))");
  check_one_pass("Y[q] = max[x](softcap(A[q, x] - sum[x](W[q, x] * A[q, x]), 5))");
  check_one_pass("Y[q] = min[x](sqrt(abs(A[q, x]) / (1 + sum[x](abs(W[q, x] * A[q, x]))) + 1))");
  check_one_pass("Y[q] = min[x](rsqrt(abs(A[q, x]) / (1 + sum[x](abs(W[q, x] * A[q, x]))) + 1))");
  check_one_pass("Y[q] = max[x](min(max(A[q, x] - max[x](A[q, x]), -0.5), 0.5))");
  check_one_pass("Y[q] = max[x](log(1 + exp(A[q, x] - max[x](A[q, x]))))");
  check_one_pass("Y[q] = max[x]((A[q, x] - max[x](A[q, x]))^3)");
  check_one_pass("Y[q] = max[x](relu(erf(A[q, x] - max[x](A[q, x]))) - 2 * sum[x](A[q, x]))");
  check_one_pass("Y[q] = max[x](softmax[x](A[q, x]))");
  check_one_pass("Y[q] = max[x](layernorm[x](A[q, x]))");
  check_one_pass("Y[q] = max[x](abs(layernorm[x](A[q, x])))");
  check_refused("Y[q] = max[x](tanh(A[q, x] - max[x](A[q, x])) * W[q, x])");
}

TEST_CASE("rounding keeps the order: an extreme of what is rounded is exact") {
  check_one_pass("Y[q] = max[x](f16(A[q, x] - sum[x](A[q, x])))");
  check_one_pass("Y[q] = min[x](i8(A[q, x] / max[x](abs(A[q, x]) + 1) * 127))");
  check_one_pass("P: f16[q, x] = softmax[x](A[q, x])\nY[q] = max[x](P[q, x])");
}

TEST_CASE("an extreme of a masked choice is taken of the positions that it counts") {
  check_one_pass("Y[q] = max[x](where(M[q, x], A[q, x] * sum[x](W[q, x] * A[q, x]), -inf))");
  check_one_pass("Y[q] = max[x](where(M[q, x], A[q, x] * sum[x](W[q, x] * A[q, x]), 1))");
  check_one_pass("Y[q] = min[x](where(M[q, x], A[q, x] - sum[x](A[q, x]), W[q, x] + sum[x](A[q, x])))");
  check_one_pass("Y[q] = max[x](tanh(where(M[q, x], A[q, x] - sum[x](A[q, x]), -inf)))");
  check_one_pass("Y[q] = max[x](where(M[q, x], tanh(A[q, x] - sum[x](A[q, x])), -inf))");
  check_one_pass("Y[q] = max[x](where(M[q, x], where(A[q, x] > 0, A[q, x] - sum[x](A[q, x]), 3), 0))");
  check_one_pass("Y[q] = max[x](where(M[q, x], (A[q, x] - sum[x](A[q, x]))^2, -inf))");
  check_one_pass(
      "S[q, x] = where(M[q, x], A[q, x], -inf)\nY[q] = max[x](where(M[q, x], S[q, x] - max[x](S[q, x]), -inf))");
}

TEST_CASE("factors that are never negative leave roots, powers and what bends at zero") {
  check_one_pass("Y[q] = sum[x](relu(A[q, x] / max[x](abs(A[q, x]) + 1)) * W[q, x])");
  check_one_pass("Y[q] = sum[x](relu(A[q, x] * sum[x](A[q, x])) * W[q, x])");
  check_one_pass("Y[q] = sum[x](max(A[q, x] * sum[x](A[q, x]), 0))");
  check_one_pass("Y[q] = sum[x](min(A[q, x] * sum[x](A[q, x]), W[q, x] * sum[x](A[q, x])))");
  check_one_pass("Y[q] = max[x](relu(A[q, x] * sum[x](A[q, x])) - sum[x](A[q, x]))");
  check_one_pass("Y[q] = sum[x](sqrt((1 + abs(A[q, x])) * max[x](abs(A[q, x]))))");
  check_one_pass("Y[q] = sum[x]((abs(A[q, x]) / (1 + sum[x](abs(A[q, x]))))^1.5 * W[q, x])");
  check_one_pass("Y[q] = sum[x](W[q, x] * rsqrt(exp(A[q, x]) * (1 + max[x](abs(A[q, x])))))");
  check_one_pass("Y[q] = sum[x](relu(A[q, x] * exp(W[q, x] - max[x](W[q, x]))))");
  check_refused("Y[q] = sum[x](relu(A[q, x] * sum[x](A[q, x]) - 1))");
}

TEST_CASE("the logarithm of a product is a sum, and a finished factor waits") {
  check_one_pass("P[q, x] = (1 + abs(A[q, x])) / sum[x](1 + abs(A[q, x]))\nY[q] = sum[x](P[q, x] * log(P[q, x]))");
  check_one_pass("Y[q] = sum[x](log((1 + abs(A[q, x])) / max[x](1 + abs(A[q, x]))))");
  check_one_pass("Y[q] = sum[x](where(M[q, x], log2((1 + abs(A[q, x])) * max[x](1 + abs(A[q, x]))), 0))");
  check_one_pass("Y[q] = max[x](log((1 + abs(A[q, x])) / max[x](1 + abs(A[q, x]))))");
  check_one_pass("P[q, x] = softmax[x](A[q, x])\nY[q] = sum[x](P[q, x] * log(P[q, x] / (1 + W[q, x]^2)))");
  check_refused("Y[q] = sum[x](log(A[q, x] * sum[x](A[q, x])))");
}

TEST_CASE("shifts that a finished factor scales are carried about a centre") {
  const std::vector<InputKind> kinds = {InputKind::plain, InputKind::ties, InputKind::negative, InputKind::large};
  check_one_pass("Y[q] = sum[x]((A[q, x] / mean[x](A[q, x]) - 1)^2)", true, kinds);
  check_one_pass("Y[q] = sum[x](W[q, x] * (1 - A[q, x] / min[x](A[q, x]))^3)", true, kinds);
  check_one_pass("Y[q] = var[x](A[q, x] / max[x](abs(A[q, x])))", true, kinds);
  check_one_pass(
      "N[q] = max[x](where(M[q, x], abs(A[q, x]), 0))\nY[q] = sum[x](where(M[q, x], (A[q, x] / N[q] - 1)^2, 0))", true,
      kinds);
  check_one_pass("Y[q] = sum[x](where(M[q, x], (A[q, x] * max[x](A[q, x]) - 1)^2, 0))");
  check_one_pass("Y[q] = sum[x](where(M[q, x], (A[q, x] / max[x](A[q, x] + 3) - 1)^2, 0))", true, kinds);
  check_one_pass("Y[q] = sum[x]((A[q, x] / min[x](A[q, x]) - 1) * (W[q, x] / max[x](W[q, x]) - 2))", true, kinds);
  check_one_pass("Y[q] = sum[x](softmax[x](W[q, x]) * (A[q, x] / max[x](A[q, x]) - 1)^2)", true, kinds);
  check_one_pass("Y[q] = sum[x](A[q, x] * max[x](A[q, x]) - W[q, x] * max[x](A[q, x]) + sum[x](A[q, x] * W[q, x]))");
  check_one_pass("Y[q] = sum[x](A[q, x] - G[q, 3])", true, {InputKind::plain});
}

TEST_CASE("what stands where the greatest stands is carried with it") {
  check_one_pass("Y[q] = sum[x](where(A[q, x] == max[x](A[q, x]), x, 0))");
  check_one_pass("Y[q] = max[x](where(A[q, x] == max[x](A[q, x]), x, -inf))");
  check_one_pass("Y[q] = min[x](where(max[x](A[q, x]) <= A[q, x], W[q, x], inf))");
  check_one_pass("Y[q] = prod[x](where(A[q, x] >= max[x](A[q, x]), 1 + W[q, x], 1))");
  check_one_pass("Y[q] = sum[x](where(A[q, x] == min[x](A[q, x]), 1, 0))");
  check_one_pass("Y[q, y] = sum[x](where(A[q, x] == max[x](A[q, x]), V[x, y], 0))");
  check_one_pass("Y[q] = sum[x](where(A[q, x] == max[x](A[q, x]), W[q, x], 0) * sum[x](A[q, x]))");
  check_one_pass("Y[q] = sum[x](where(A[q, x] == max[x](A[q, x]), 1, -1) * W[q, x])");
  check_one_pass("Y[q] = sum[x](where(A[q, x] + W[q, x] == max[x](A[q, x] + W[q, x]), A[q, x], 0))");
  check_one_pass("Y[q] = sum[x](where(A[q, x] == max[x](A[q, x]) and M[q, x], x + 1, 0))");
  check_one_pass("Y[q] = sum[x](where(G[q, x] == max[x](G[q, x]), x + 1, 0))");
  check_one_pass("B[q, x] = where(A[q, x] == max[x](A[q, x]), W[q, x], 0)\nY[q] = sum[x](B[q, x] * V[x, 0])");
  check_one_pass(
      "C[q] = max[x](A[q, x])\nD[q] = sum[x](where(A[q, x] == C[q], 1, 0))\n"
      "Y[q] = sum[x](where(A[q, x] == C[q], W[q, x], 0)) / D[q]");
  check_one_pass("Y[q] = max[x](where(A[q, x] == max[x](A[q, x]), W[q, x] - sum[x](W[q, x]), -inf))");
  check_one_pass(
      "Y[q] = sum[x](where(A[q, x] == max[x](A[q, x]), x + W[q, x], 0)) + sum[x](where(W[q, x] == min[x](W[q, x]), "
      "A[q, x], 0))");
  check_one_pass("Y[q] = sum[x, y](where(T[q, x, y] == max[x](T[q, x, y]), x, 0))", false);
  check_one_pass("Y[q] = sum[x, y](where(T[q, x, y] == max[x, y](T[q, x, y]), x + y, 0))");
}

TEST_CASE("all but the greatest, and the few greatest") {
  check_one_pass("Y[q] = sum[x](where(A[q, x] < max[x](A[q, x]), A[q, x], 0))");
  check_one_pass("Y[q] = sum[x](where(A[q, x] != max[x](A[q, x]), A[q, x], 0))");
  check_one_pass("Y[q] = max[x](where(A[q, x] < max[x](A[q, x]), A[q, x], -inf))");
  check_one_pass("Y[q] = min[x](where(A[q, x] > min[x](A[q, x]), A[q, x], inf))");
  check_one_pass("Y[q] = max[x](where(A[q, x] < max[x](A[q, x]), W[q, x], -inf))");
  const std::string levels =
      "B[q] = max[x](A[q, x])\nC[q] = max[x](where(A[q, x] < B[q], A[q, x], -inf))\n"
      "D[q] = max[x](where(A[q, x] < C[q], A[q, x], -inf))\n";
  check_one_pass(levels + "Y[q] = D[q]");
  check_one_pass(levels + "Y[q] = sum[x](where(A[q, x] == C[q], x + 1, 0))");
  check_one_pass(levels + "Y[q] = sum[x](where(A[q, x] >= D[q], W[q, x], 0))");
  check_one_pass(levels + "Y[q] = sum[x](where(A[q, x] > D[q], W[q, x], 0))");
  check_one_pass(levels + "Y[q] = sum[x](where(A[q, x] <= D[q], W[q, x], 0))");
  check_one_pass(levels + "Y[q] = min[x](where(A[q, x] < D[q], W[q, x], inf))");
  check_one_pass(levels + "Y[q, y] = sum[x](where(A[q, x] >= C[q], A[q, x] * V[x, y], 0))");
  const std::string masked =
      "B[q] = max[x](G[q, x])\nC[q] = max[x](where(G[q, x] < B[q], G[q, x], -inf))\n"
      "D[q] = max[x](where(G[q, x] < C[q], G[q, x], -inf))\n";
  check_one_pass(masked + "Y[q] = D[q]");
  for (const std::string sign : {"==", ">=", ">", "<=", "<", "!="}) {
    check_one_pass(masked + "Y[q] = sum[x](where(G[q, x] " + sign + " D[q], W[q, x], 0))");
    check_one_pass(masked + "Y[q] = sum[x](where(G[q, x] " + sign + " C[q], x + 1, 0))");
    check_one_pass(masked + "Y[q] = prod[x](where(G[q, x] " + sign + " B[q], 1 + 0.1 * W[q, x], 1))");
  }
  check_refused("B[q] = max[x](A[q, x])\nY[q] = sum[x](where(A[q, x] >= B[q] - 1, A[q, x], 0))");
  check_refused("Y[q] = sum[x](where(tanh(A[q, x]) == max[x](A[q, x]), A[q, x], 0))");
}

TEST_CASE("what a choice leaves out everywhere counts for nothing, whatever finished factors wait") {
  const std::string mean = "B[q] = sum[x](where(M[q, x], A[q, x], 0)) / sum[x](where(M[q, x], 1, 0))\n";
  const std::string scores = "S[q, x] = where(M[q, x], A[q, x], -inf)\n";
  for (const std::string y :
       {"sum[x](where(M[q, x], softmax[x](where(M[q, x], A[q, x], -inf)), 0) * A[q, x])",
        "sum[x](where(M[q, x], A[q, x] / max[x](where(M[q, x], abs(A[q, x]), 0)), 0))",
        "sum[x](where(M[q, x], A[q, x] * max[x](where(M[q, x], A[q, x], -inf)), 0))",
        "sum[x](where(not M[q, x], 0, W[q, x] * min[x](where(M[q, x], A[q, x], inf))))",
        "sum[x](where(M[q, x] and x > 2, W[q, x] / sum[x](where(M[q, x] and x > 2, 1, 0)), 0))",
        "sum[x](where(M[q, x], where(x > 8, W[q, x] / sum[x](where(M[q, x] and x > 8, 1, 0)), 0), 0))",
        "sum[x](where(M[q, x], W[q, x] / sum[x](where(M[q, x], 1, 0)), 2))",
        "sum[x](where(q > 2, W[q, x] / relu(q - 2 + 0 * sum[x](A[q, x])), 0))",
        "sum[x](abs(where(M[q, x], W[q, x] / sum[x](where(M[q, x], 1, 0)), 0)))",
        "sum[x](relu(where(M[q, x], W[q, x] / sum[x](where(M[q, x], 1, 0)), 0)))",
        "sum[x](sqrt(where(M[q, x], abs(W[q, x]) / sum[x](where(M[q, x], 1, 0)), 0)))",
        "sum[x](where(M[q, x], W[q, x] / sum[x](where(M[q, x], 1, 0)), 0)^2)",
        "max[x](where(M[q, x], W[q, x] / sum[x](where(M[q, x], 1, 0)), 0))",
        "max[x](tanh(where(M[q, x], W[q, x] / sum[x](where(M[q, x], 1, 0)), 0)))"})
    check_one_pass("Y[q] = " + y);
  // A quotient of two sums that are the same is one, even of zeros.
  check_one_pass("Y[q] = sum[x](where(M[q, x], A[q, x] / sum[x](where(M[q, x], A[q, x], 0)), 0))", true,
                 {InputKind::plain, InputKind::negative, InputKind::large});
  check_one_pass("Y[q] = sum[x](where(M[q, x], W[q, x] / sum[x](abs(A[q, x])), 0))");
  check_one_pass("Y[q] = sum[x](where(M[q, x], log(abs(A[q, x]) / sum[x](where(M[q, x], abs(A[q, x]), 0))), 0))", true,
                 {InputKind::plain, InputKind::negative, InputKind::large});
  check_one_pass("Y[q] = sum[x](where(A[q, x] < max[x](A[q, x]), W[q, x] / min[x](where(M[q, x], A[q, x], inf)), 0))");
  check_one_pass(mean + "Y[q] = sum[x](where(M[q, x], (A[q, x] - B[q])^2, 0))");
  check_one_pass(mean + "Y[q] = sum[x](where(M[q, x], (A[q, x] - B[q]) * W[q, x], 0))");
  check_one_pass(mean + "Y[q] = sum[x](where(M[q, x], A[q, x] - B[q], 0))");
  check_one_pass(mean + "Y[q] = sum[x](exp(where(M[q, x], 0.1 * A[q, x] - 0.1 * B[q], -inf)))");
  check_one_pass(mean + "Y[q, y] = sum[x](where(M[q, x], exp(A[q, x] - B[q]), 0) * V[x, y])");
  check_one_pass(scores + "Y[q, y] = sum[x](where(M[q, x], softmax[x](S[q, x]), 0) * V[x, y])");
  check_one_pass(scores + "Y[q] = sum[x](exp(where(M[q, x] and x > 2, A[q, x] - max[x](S[q, x]), -inf)))");
  check_one_pass("Y[q] = sum[x, y](where(T[q, x, y] > 0, T[q, x, y] / sum[x](relu(T[q, x, y])), 0))", false,
                 {InputKind::plain, InputKind::ties, InputKind::negative, InputKind::zero});
}

TEST_CASE("what is infinite where a choice leaves it out is added, not multiplied") {
  for (const std::string other : {"inf", "-1 * inf", "W[q, x]^2 * inf"})
    for (const std::string y : {"A[q, x] - max[x](A[q, x])", "A[q, x] * max[x](A[q, x])",
                                "(A[q, x] - max[x](A[q, x]))^2", "A[q, x] / (1 + sum[x](abs(A[q, x])))"}) {
      check_one_pass("Y[q] = sum[x](where(M[q, x], " + y + ", " + other + "))");
      check_one_pass("Y[q] = sum[x](where(x >= 0, " + y + ", " + other + "))");
      check_one_pass("Y[q] = sum[x](where(x < 9 * q, " + y + ", " + other + "))");
    }
  check_one_pass("Y[q] = sum[x](where(M[q, x], A[q, x] - max[x](A[q, x]), -inf))");
  check_one_pass("Y[q] = sum[x](where(M[q, x], inf, A[q, x] * max[x](A[q, x])))");
  check_one_pass("Y[q] = sum[x](where(M[q, x], exp(A[q, x] - max[x](A[q, x])), inf))");
}
