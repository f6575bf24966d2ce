// What the help for functions of other languages tells people to write is right: it reads without a word.
#include "diagram/resolve/elsewhere.hpp"

#include "napkin/diagram.hpp"
#include "support/catch.hpp"

using namespace napkin;

TEST_CASE("functions of other languages are answered whatever their case", "[resolve]") {
  CHECK(written_instead("einsum").find("sum[k](A[i, k] * B[k, j])") != std::string::npos);
  CHECK(written_instead("MatMul") == written_instead("einsum"));
  CHECK(written_instead("CLAMP") == "write `min(max(a, low), high)`");
  CHECK(written_instead("softmax") == "");
  CHECK(written_instead("") == "");
  CHECK(written_instead("e") == "");
  CHECK(written_instead("einsum matmul") == "");
}

TEST_CASE("what is written instead of functions of other languages is right", "[resolve]") {
  const std::string text = R"(
diagram suggestions
axis q = 8; axis x = 16; axis y = 16; axis i = 4; axis k = 8; axis j = 4; axis o = 4; axis r = 4
axis n = 2; axis c = 3; axis h = 6; axis w = 6; axis u = 3; axis v = 3; axis hh = 8; axis ww = 8; axis oc = 5
input S: f32[q, x]; input A: f32[i, k]; input B: f32[k, j]; input L: f32[x]
input T: f32[q]; input X: f32[n, c, hh, ww]; input W: f32[oc, c, u, v]
C[i, j] = sum[k](A[i, k] * B[k, j])
R[x] = sum[y](where(y <= x, L[y], 0))
RM[x] = max[y](where(y <= x, L[y], -inf))
RP[x] = prod[y](where(y <= x, L[y], 1))
M[q] = max[x](S[q, x])
AM[q] = min[x](where(S[q, x] == M[q], x, inf))
K[q, x] = where(S[q, x] >= T[q], S[q, x], -inf)
N[q] = sqrt(var[x](S[q, x])) + sqrt(sum[x](S[q, x] ^ 2)) + mean[x](S[q, x])
CV[n, oc, h, w] = sum[c, u, v](X[n, c, h + u, w + v] * W[oc, c, u, v])
CL[q, x] = min(max(S[q, x], 0), 1) + f32(i32(S[q, x]))
RS[o, r] = L[4 * o + r]
BT[j, k] = B[k, j]
CT[q] = sum[x](where(S[q, x] > 0, 1, 0))
AN: bool[q] = max[x](where(S[q, x] > 0, 1, 0)) > 0
output C; output R; output RM; output RP; output AM
output K; output N; output CV; output CL; output RS; output BT; output CT; output AN
)";
  Sources sources;
  Diagnostics diagnostics;
  read_diagram(sources, sources.add("suggestions.nap", text), {}, diagnostics);
  CHECK(render_text(sources, diagnostics, false) == "");
}
