// A table of names from other languages and libraries. Each row says how to write the same here; tests read every
// suggestion.
#include "diagram/resolve/elsewhere.hpp"

#include <algorithm>
#include <array>
#include <cctype>

namespace napkin {

namespace {

struct Elsewhere {
  std::string_view names;  // separated by spaces
  std::string_view help;
};

constexpr std::array elsewhere_rows = {
    Elsewhere{"einsum matmul mm bmm gemm dot vdot tensordot linear inner",
              "write the sum out: `C[i, j] = sum[k](A[i, k] * B[k, j])`"},
    Elsewhere{"conv conv1d conv2d conv3d convolve",
              "write the sum over the window: `sum[c, r, s](X[n, c, h + r, w + s] * W[o, c, r, s])`"},
    Elsewhere{"cumsum scan",
              "a running sum is a masked sum: `sum[y](where(y <= x, A[y], 0))`, with an axis `y` as long as `x`"},
    Elsewhere{
        "cummax",
        "a running maximum is a masked one: `max[y](where(y <= x, A[y], -inf))`, with an axis `y` as long as `x`"},
    Elsewhere{"cumprod",
              "a running product is a masked one: `prod[y](where(y <= x, A[y], 1))`, with an axis `y` as long as `x`"},
    Elsewhere{"argmax",
              "find the value first, `M[q] = max[x](S[q, x])`, then its first position: "
              "`min[x](where(S[q, x] == M[q], x, inf))`"},
    Elsewhere{"argmin",
              "find the value first, `M[q] = min[x](S[q, x])`, then its first position: "
              "`min[x](where(S[q, x] == M[q], x, inf))`"},
    Elsewhere{"topk sort argsort kthvalue median quantile",
              "nothing is sorted here: take the threshold as an input, `T: f32[q]`, and keep what reaches it: "
              "`where(S[q, x] >= T[q], S[q, x], -inf)`"},
    Elsewhere{
        "transpose permute swapaxes moveaxis",
        "read the array with its indices as declared, and write the left side in the other order: `B[j, i] = A[i, j]`"},
    Elsewhere{"reshape view flatten", "index with a sum of products: `A[64 * i + j]` reads `A` as rows of 64"},
    Elsewhere{"gather take embedding", "an index is made of axes alone; pass what is gathered as an input"},
    Elsewhere{"pow power", "write `a ^ b`, with a constant exponent"},
    Elsewhere{"square", "write `a ^ 2`"},
    Elsewhere{"reciprocal", "write `1 / a`"},
    Elsewhere{"clamp clip", "write `min(max(a, low), high)`"},
    Elsewhere{"fmax maximum amax", "write `max(a, b)` of two numbers, or `max[x](..)` over an axis"},
    Elsewhere{"fmin minimum amin", "write `min(a, b)` of two numbers, or `min[x](..)` over an axis"},
    Elsewhere{"avg average", "write `mean[x](..)`"},
    Elsewhere{"std stddev", "write `sqrt(var[x](..))`"},
    Elsewhere{"norm", "write `sqrt(sum[x](a ^ 2))`; `l2norm[x](a)` divides by it"},
    Elsewhere{"any", "write `max[x](where(condition, 1, 0)) > 0`"},
    Elsewhere{"all", "write `min[x](where(condition, 1, 0)) > 0`"},
    Elsewhere{"count_nonzero count", "write `sum[x](where(condition, 1, 0))`"},
    Elsewhere{"len shape dim length arange iota", "the length of an axis is `size(x)`, the position along it is `x`"},
    Elsewhere{"if select cond", "write `where(condition, a, b)`"},
    Elsewhere{"round rint", "a cast rounds to the nearest whole number: `f32(i32(a))`"},
    Elsewhere{"sin cos", "pass a table of its values as an input"},
    Elsewhere{"mod fmod remainder",
              "there is no remainder: give the axis an outer and an inner part, `axis o` and `axis i`, and read "
              "`A[64 * o + i]`, where `i` is the remainder"},
};

bool lists(std::string_view names, std::string_view name) {
  for (std::size_t at = 0; at < names.size();) {
    const auto end = std::min(names.find(' ', at), names.size());
    if (names.substr(at, end - at) == name) return true;
    at = end + 1;
  }
  return false;
}

}  // namespace

std::string written_instead(std::string_view name) {
  std::string lower(name);
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const auto found =
      std::ranges::find_if(elsewhere_rows, [&](const Elsewhere& row) { return lists(row.names, lower); });
  return found == elsewhere_rows.end() ? "" : std::string(found->help);
}

}  // namespace napkin
