// Partitions: their text, what is refused and why, and the kernels that follow.
#include "napkin/partition.hpp"

#include <stdexcept>

#include "support/by_hand.hpp"
#include "support/catch.hpp"
#include "support/derived.hpp"
#include "support/machine.hpp"
#include "support/read.hpp"

using namespace napkin;

namespace {

Derivation derive_all(const Diagram& diagram) {
  std::vector<StatementId> all;
  for (std::uint32_t i = 0; i < diagram.statements.size(); ++i) all.push_back({i});
  return derive(diagram, all);
}

// A derivation, a machine and labels in the language's words.
struct Written {
  Derivation derivation;
  Hardware hardware = by_hand::machine({"gmem", "smem", "reg"});
  Sources sources;
  Diagnostics diagnostics;

  explicit Written(const Diagram& diagram) : derivation(derive_all(diagram)) {}

  Partition resolve(const std::string& words) {
    const auto labels = parse_partition(sources, sources.add("<command line>", words), diagnostics);
    auto partition = resolve_partition(labels, derivation.scratch, hardware, diagnostics);
    report_illegal(labels, derivation, hardware, partition, diagnostics);
    return partition;
  }
  std::string text(const std::string& words) { return to_text(resolve(words), derivation.scratch, hardware); }
  std::string refusal(const std::string& words) {
    const auto reasons = illegal(derivation, hardware, resolve(words));
    return reasons.empty() ? "" : reasons.front().reason;
  }
  WireId wire(const std::string& name) const { return find_wire(derivation.scratch, name).value(); }
};

const std::string attention = R"(diagram attention
axis q = 64; axis x = 64; axis d = 16
input Q: f16[q, d]
input K: f16[x, d]
input V: f16[x, d]
S[q, x] = sum[d](Q[q, d] * K[x, d])
O[q, d] = sum[x](softmax[x](S[q, x]) * V[x, d])
output O
)";
const std::string matmul = R"(diagram matmul
axis a = 8; axis b = 8; axis c = 8
input A: f16[a, b]
input B: f16[b, c]
C[a, c] = sum[b](A[a, b] * B[b, c])
output C
)";

}  // namespace

TEST_CASE("a partition's text puts levels in order, groups before streams") {
  Written written(read_text(attention));
  CHECK(written.text("") == "");
  CHECK(written.text("group q 16 at smem") == "group q 16 at smem");
  CHECK(written.text("group q 4 at reg; stream x 8, group q 16, d' 8 at smem") ==
        "group q 16, d' 8, stream x 8 at smem; group q 4 at reg");
  CHECK_FALSE(written.diagnostics.has_errors());
}

TEST_CASE("the text of a partition reads as the same partition") {
  Written written(read_text(attention));
  const auto partition = written.resolve("group q 16, d' 8, stream x 8 at smem; group q 4, stream x 2 at reg");
  CHECK(written.resolve(to_text(partition, written.derivation.scratch, written.hardware)) == partition);
  CHECK(partition.splits.size() == 5);
}

TEST_CASE("an axis that is its first wire's name means that wire") {
  Written written(read_text(attention));
  CHECK(written.resolve("group d' 8 at smem").splits.front().wire == written.wire("d'"));
}

TEST_CASE("legal partitions make kernels with a loop per stream") {
  Written written(read_text(attention));
  const auto partition = written.resolve("group q 16, stream x 8 at smem; group q 4, stream x 2 at reg");
  REQUIRE(illegal(written.derivation, written.hardware, partition).empty());
  const auto kernel = make_kernel(std::make_shared<const Derivation>(written.derivation), partition);
  CHECK(kernel.partition == partition);
  int loops = 0;
  for (const auto& step : kernel.program.steps) loops += std::holds_alternative<Loop>(step);
  CHECK(loops == 1);
}

TEST_CASE("pieces larger than the axis are legal: the axis is whole") {
  Written written(read_text(attention));
  CHECK(written.refusal("group q 1000, stream x 1000 at smem") == "");
}

TEST_CASE("groups that a merge would have to join are refused with the state and the way out") {
  Written written(read_text(matmul));
  CHECK(written.refusal("group b 4 at smem") ==
        "groups of `b` would each hold a part of `C`, which would have to be merged: stream `b` instead");
  Written more(read_text(attention));
  CHECK(more.refusal("group x 4 at smem").find("`m`, `l` and `O`") != std::string::npos);
}

TEST_CASE("groups inside a stream of the same axis are refused, outside it they are legal") {
  Written written(read_text(matmul));
  CHECK(written.refusal("group a 4 at smem; stream a 2 at reg") == "");
  CHECK(written.refusal("group a 4, stream a 2 at smem") == "");
  CHECK(written.refusal("stream a 4 at smem; group a 2 at reg").find("`a` is streamed at `smem`") == 0);
}

TEST_CASE("streams are refused with the derivation's reason") {
  Written written(
      read_text("diagram d\naxis q = 4; axis x = 4\ninput S: f32[q, x]\n"
                "P[q, x] = softmax[x](S[q, x])\noutput P\n"));
  const auto& stream = written.derivation.find(written.wire("x"))->stream;
  REQUIRE(std::holds_alternative<Refused>(stream));
  CHECK(written.refusal("stream x 2 at smem") == std::get<Refused>(stream).reason);
  // Beside what else is wrong.
  const auto empty = by_hand::group(written.wire("q"), 0, 1), refused = by_hand::stream(written.wire("x"), 2, 1);
  CHECK(illegal(written.derivation, written.hardware, {{empty, refused}}).size() == 2);
}

TEST_CASE("what no text can say is refused too") {
  Written written(read_text(matmul));
  const auto a = written.wire("a");
  const auto reason = [&](const Split& split) {
    const auto reasons = illegal(written.derivation, written.hardware, {{split}});
    return reasons.empty() ? "" : reasons.front().reason;
  };
  CHECK(reason(by_hand::group(a, 0, 1)) == "a tile of `a` holds at least one position, not 0");
  CHECK(reason(by_hand::group(a, 1, 0)) == "`gmem` is the outermost level, where everything is whole");
  CHECK(reason(by_hand::group(a, 1, 3)) == "`by_hand` has no level 3");
  CHECK(reason(by_hand::group(a, 1, 2)).empty());
  const auto twice = by_hand::group(a, 2, 1);
  CHECK(illegal(written.derivation, written.hardware, {{twice, twice}}).front().reason ==
        "`a` is grouped twice at `smem`");
}

TEST_CASE("a kernel of an illegal partition is a bug of the caller") {
  Written written(
      read_text("diagram d\naxis q = 4; axis x = 4\ninput S: f32[q, x]\n"
                "P[q, x] = softmax[x](S[q, x])\noutput P\n"));
  const auto shared = std::make_shared<const Derivation>(written.derivation);
  CHECK_THROWS_AS(make_kernel(shared, {{by_hand::stream(written.wire("x"), 2, 1)}}), std::logic_error);
}

TEST_CASE("no stream stands between the pieces that a state takes together") {
  const auto diagram = read_example("attention.nap");
  const auto derivation = testing::derived(diagram);
  const auto hardware = read_machine("toy");
  const auto wire = [&](const char* name) { return *find_wire(diagram, name); };
  const auto split = [](WireId w, std::int64_t size, std::size_t level) {
    return Split{SplitKind::stream, w, size, level};
  };
  const auto x = wire("x"), d = wire("d'");
  const auto refused = illegal(*derivation, hardware, {{split(x, 64, 1), split(d, 16, 2), split(x, 16, 2)}});
  REQUIRE(refused.size() == 1);
  CHECK(refused[0].reason == "each piece of `x` changes `m`, so no other stream may come between these pieces");
  CHECK_FALSE(illegal(*derivation, hardware, {{split(x, 64, 1), split(d, 16, 1), split(x, 16, 2)}}).empty());
  CHECK(illegal(*derivation, hardware, {{split(x, 64, 1), split(x, 16, 2), split(d, 16, 2)}}).empty());
  // Rows of a norm take nothing together: another stream may come between their pieces.
  const auto norm = testing::derived(read_example("layernorm_projection.nap"));
  const auto t = *find_wire(norm->scratch, "t"), c = *find_wire(norm->scratch, "c");
  CHECK(illegal(*norm, hardware, {{split(t, 8, 1), split(c, 4, 1), split(t, 4, 2)}}).empty());
}
