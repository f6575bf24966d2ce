// Reductions of what lies before a position: what they become in chunks, that they mean the same, and which do not
// come apart.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "diagram/assume.hpp"
#include "diagram/in_memory.hpp"
#include "napkin/derive.hpp"
#include "napkin/search.hpp"
#include "napkin/verify.hpp"
#include "support/catch.hpp"
#include "support/machine.hpp"
#include "support/read.hpp"
#include "support/run_cli.hpp"

using namespace napkin;

namespace {

constexpr const char* head =
    "diagram prefixes\naxis r = 3; axis t = 12; axis x = 12; axis s = 12; axis d = 2; axis e = 4; axis u = 11\n"
    "input A: f32[r, x]; input B: f32[r, t]; input Q: f32[r, t, d]; input K: f32[r, x, d]; input V: f32[r, x, e]\n"
    "input a: f32[r, s]; input G: f32[r, t, d]; input c: f32[r]; input M: bool[r, x]; input Z: f32[u]\n";

Diagram of(const std::string& statements, const Overrides& overrides = {}) {
  return read_text(head + statements + "\noutput Y\n", overrides);
}

// A result as the file has it, of all parts that statements make of it.
std::vector<double> whole(const Diagram& diagram, const Values& values, ArrayId id, std::size_t size) {
  std::vector<double> all(size, NAN);
  for (const auto part : diagram.outputs) {
    if (part != id && diagram.at(part).part_of != id) continue;
    const auto places = places_in_memory(diagram, part);
    REQUIRE(places.size() == values.arrays[part.index].size());
    for (std::size_t i = 0; i < places.size(); ++i)
      all.at(static_cast<std::size_t>(places[i])) = values.arrays[part.index][i];
  }
  return all;
}

void check_same(const Diagram& one, const Diagram& other) {
  auto values = random_values(one, 3);
  Values same;
  same.arrays.resize(other.arrays.size());
  for (const auto input : other.inputs) same.arrays[input.index] = values.arrays[input.index];
  evaluate(one, values, false);
  evaluate(other, same, false);
  for (const auto output : one.outputs) {
    const auto& a = values.arrays[output.index];
    const auto b = whole(other, same, output, a.size());
    for (std::size_t i = 0; i < a.size(); ++i) {
      CAPTURE(i, a[i], b[i]);
      REQUIRE((a[i] == b[i] || std::abs(a[i] - b[i]) < 1e-9 * (1 + std::abs(a[i]))));
    }
  }
}

std::string refusal(const std::string& statements) {
  const auto made = prefixes_in_chunks(of(statements), 3);
  CHECK(made.made.empty());
  REQUIRE_FALSE(made.refused.empty());
  return made.refused.front().reason;
}

const std::string separable[] = {
    "Y[r, t] = sum[x](where(x <= t, A[r, x], 0))",
    "Y[r, t] = sum[x](where(t > x, A[r, x], 0))",
    "Y[r, t] = sum[x](where(x >= t, A[r, x], 0))",
    "Y[r, t] = sum[x](where(x > t and M[r, x], A[r, x], 0))",
    "Y[r, t] = sum[x](where(not (x > t), A[r, x], 0))",
    "Y[r, t] = sum[x](where(not (x <= t), A[r, x], 0))",
    "Y[r, t] = sum[x](where(x < t + 1, A[r, x] * B[r, t], 0))",
    "Y[r, t] = sum[x](where(x + 1 <= t, A[r, x], 0))",
    "Y[r, t] = sum[x](where(x > t - 1, A[r, x], 0))",
    "Y[r, t] = sum[x](where(not (x < t + 1), A[r, x], 0))",
    "Y[r, t] = max[x](where(x <= t, A[r, x], -inf))",
    "Y[r, t] = max[x](where(x <= t, A[r, x] + B[r, t], -inf))",
    "Y[r, t] = min[x](where(x >= t, B[r, t] - 2 * A[r, x], inf))",
    "Y[r, t] = prod[x](where(x <= t, A[r, x], 1))",
    "Y[r, t] = logsumexp[x](where(x <= t, A[r, x], -inf))",
    "Y[r, t] = sum[x](where(x <= t, A[r, x], 0)) / sum[x](where(x <= t, 1, 0))",
    "Y[r, t, e] = sum[x](where(x <= t, sum[d](Q[r, t, d] * K[r, x, d]), 0) * V[r, x, e])",
    "P[r, t, x] = where(x <= t, sum[d](Q[r, t, d] * K[r, x, d]), 0); Y[r, t, e] = sum[x](P[r, t, x] * V[r, x, e])",
    "Y[r, t, e] = sum[x](where(x <= t, exp(c[r] * (x - t)) * sum[d](Q[r, t, d] * K[r, x, d]), 0) * V[r, x, e])",
    "L[r, t] = sum[s](where(s <= t, a[r, s], 0)); "
    "Y[r, t, e] = sum[x](where(x <= t, exp(L[r, t] - L[r, x]) * sum[d](Q[r, t, d] * K[r, x, d]), 0) * V[r, x, e])",
    "Y[r, t, e] = sum[x](where(x < t, sum[d](Q[r, t, d] * K[r, x, d] * exp(G[r, t, d] - G[r, x, d])), 0) * V[r, x, e])",
    "Y[r, t] = sum[x](exp(where(x <= t, A[r, x] / 3 - B[r, t], -inf)) / (3 + A[r, x]) / (2 + B[r, t]))",
    "Y[r, t] = sum[x](where(x <= t, sum[d](where(Q[r, t, d] > 0, Q[r, t, d], 0) * K[r, x, d] / (3 + G[r, t, d])), 0))",
    "Y[r, t] = sum[x](where(x <= t and B[r, t] > 0, A[r, x] * sum[d](K[r, x, d] * Q[r, t, d]), 0))",
    "Y[r, t] = sum[x](where(x < t and M[r, x], A[r, x] * exp(B[r, t] - A[r, x]), 0))",
    "C[r, t] = sum[x](where(x <= t, A[r, x], 0)); Y[r] = sum[t](C[r, t] * B[r, t])",
    "Y[r, t] = sum[x](where(x <= t, exp(A[r, x] - max[x](where(x <= t, A[r, x], -inf))), 0))",
    "Y[r, t] = sum[x](where(x < t, A[r, x] * max[x](where(x >= t, A[r, x] + B[r, t], -inf)), 0))",
    "Y[r, t] = sum[x](where(x <= t, A[r, x] * max[x](A[r, x] * B[r, t]), 0))",
    // What is of t is no number where nothing counts.
    "Y[r, t] = sum[x](where(x <= t and A[r, x] > 9, exp(A[r, x] - max[x](where(x <= t and A[r, x] > 9, A[r, x], "
    "-inf))), 0))",
    "Y[r, t] = sum[x](where(x < t and A[r, x] > 9, A[r, x] / sum[x](where(x < t and A[r, x] > 9, 1, 0)), 0))",
    "Y[r, t] = sum[x](where(x > t and A[r, x] > 0.9, A[r, x] / sum[x](where(x > t and A[r, x] > 0.9, 1, 0)), 0))",
    "Y[r, t] = sum[x](where(x <= t and A[r, x] > 9, sum[d](Q[r, t, d] * K[r, x, d] / (B[r, t] - B[r, t])), 0))",
};

}  // namespace

TEST_CASE("what lies before is reduced once for each chunk") {
  const auto made = prefixes_in_chunks(of(separable[0]), 3);
  const auto& diagram = made.diagram;
  REQUIRE(diagram.statements.size() == 3);
  const auto text = [&](std::uint32_t i) { return to_text(diagram, diagram.statements[i].value); };
  CHECK(text(0) == "sum[x_in_chunk](A[r, 3*t_chunk + x_in_chunk])");
  CHECK(text(1) == "sum[x_chunk](where(x_chunk < t_chunk, S[r, x_chunk], 0))");
  CHECK(text(2) ==
        "where(t_chunk > 0, S_before[r, t_chunk], 0) + "
        "sum[x_in_chunk](where(x_in_chunk <= t_in_chunk, A[r, 3*t_chunk + x_in_chunk], 0))");
  CHECK(chunk_lengths(of(separable[0])) == std::vector<std::int64_t>{2, 3, 4, 6});
}

TEST_CASE("the last chunk may be shorter, and has statements of its own") {
  const auto made = prefixes_in_chunks(of(separable[0]), 5);
  const auto& diagram = made.diagram;
  REQUIRE(diagram.statements.size() == 5);
  const auto text = [&](std::uint32_t i) { return to_text(diagram, diagram.statements[i].value); };
  CHECK(text(3) == "sum[x_chunk](S[r, x_chunk])");
  CHECK(text(4) == "S_before_last[r] + sum[x_in_last](where(x_in_last <= t_in_last, A[r, x_in_last + 10], 0))");
  CHECK(made.made.at(0).length == 5);
  CHECK(made.made.at(0).rest == 2);
  CHECK(made.made.at(0).states == std::vector<std::string>{"S", "S_before", "S_before_last"});
  REQUIRE(diagram.outputs.size() == 2);
  const auto last = diagram.outputs[1];
  CHECK(diagram.at(last).name == "Y_last");
  CHECK(diagram.at(last).part_of == diagram.outputs[0]);
  const auto place = in_memory(diagram, last);
  REQUIRE(place.size() == 2);
  CHECK(diagram.at(place[1].axis).name == "t");
  CHECK(place[1].offset == 10);
  CHECK(with_whole_outputs(diagram).outputs == std::vector{diagram.outputs[0]});
}

TEST_CASE("where no length divides an axis, powers of two are tried") {
  const auto lengths = [](int size) {
    return chunk_lengths(
        read_text(fmt::format("diagram d\naxis t = {0}; axis x = {0}\ninput A: f32[x]\n"
                              "Y[t] = sum[x](where(x <= t, A[x], 0))\noutput Y\n",
                              size)));
  };
  CHECK(lengths(13) == std::vector<std::int64_t>{2, 4});
  CHECK(lengths(45) == std::vector<std::int64_t>{3, 5, 9, 15, 16});
  CHECK(lengths(3).empty());
}

TEST_CASE("prefixes in chunks mean what the file means") {
  for (const auto& statements : separable)
    for (const auto length : {1, 2, 3, 5, 6, 7, 11}) {
      CAPTURE(statements, length);
      const auto made = prefixes_in_chunks(of(statements), length);
      CHECK(made.refused.empty());
      CHECK_FALSE(made.made.empty());
      CHECK(verify(made.diagram).empty());
      check_same(of(statements), made.diagram);
    }
}

TEST_CASE("a bit says whether anything counts only where what is of t may be no number") {
  const auto has_bit = [](const std::string& factor) {
    const auto made =
        prefixes_in_chunks(of("Y[r, t] = sum[x](where(x <= t and M[r, x], A[r, x]" + factor + ", 0))"), 3);
    return std::ranges::count(made.made.at(0).states, "any") > 0;
  };
  CHECK_FALSE(has_bit(""));
  CHECK_FALSE(has_bit(" * exp(B[r, t]) / (1 + abs(B[r, t]))"));
  CHECK_FALSE(has_bit(" * max[s](a[r, s])"));
  CHECK(has_bit(" / B[r, t]"));
  CHECK(has_bit(" * max[x](where(x <= t and M[r, x], A[r, x], -inf))"));
}

TEST_CASE("chunks of other lengths are made of chunks, as small plans need them") {
  for (const auto& statements : separable) {
    CAPTURE(statements);
    auto made = prefixes_in_chunks(of(statements), 5).diagram;
    const auto all = ragged_blocks(made);
    REQUIRE_FALSE(all.empty());
    CHECK_FALSE(has_given_length(made, all[0].inside));
    made.axes[all[0].block.index].size = 3;
    made.axes[all[0].inside.index].size = 2;
    made.axes[all[0].last.index].size = 1;
    set_blocks(made, all[0], 10);
    for (const auto& blocks : all) made.axes[blocks.whole.index].size = 7;
    CHECK(verify(made).empty());
    CHECK(ragged_blocks(made).size() == all.size());
    Overrides sizes;
    for (const auto& blocks : all) sizes.sizes.emplace_back(made.at(blocks.whole).name, 7);
    check_same(of(statements, sizes), made);
  }
}

TEST_CASE("long axes in chunks with a shorter last one are verified at small sizes", "[cli]") {
  const auto ran = test::run_cli({"verify", test::example("cumulative_sum"), "--target", "h100-sxm5", "--set", "t=8191",
                                  "--set", "x=8191", "--set", "r=2", "--chunks", "128"});
  CHECK(ran.code == exit_done);
  CHECK(ran.out.find("verified") != std::string::npos);
  CHECK(ran.out.find("t_in_last") != std::string::npos);
}

TEST_CASE("what is read at another chunk than its own is not streamed over chunks") {
  const auto made = prefixes_in_chunks(of("P[r, t] = sum[x](where(x <= t, A[r, x], 0)); "
                                          "Y[r, t] = sum[x](where(x <= t, P[r, x] * A[r, x], 0))"),
                                       3);
  std::vector<StatementId> all;
  for (std::uint32_t i = 0; i < made.diagram.statements.size(); ++i) all.push_back({i});
  const auto derivation = derive(made.diagram, all);
  const auto* verdict = derivation.find(*find_wire(made.diagram, "t_chunk"));
  REQUIRE(verdict);
  const auto* refused = std::get_if<Refused>(&verdict->stream);
  REQUIRE(refused);
  CHECK(refused->reason.find("which another piece may compute") != std::string::npos);
}

TEST_CASE("a plan takes the chunks that are faster, and says what others could save") {
  const auto diagram = read_text(
      "diagram c\naxis r = 64; axis t = 8192; axis x = 8192\ninput A: f32[r, x]\n"
      "Y[r, t] = sum[x](where(x <= t, A[r, x], 0))\noutput Y\n");
  const auto hardware = read_machine("h100-sxm5");
  Goal whole;
  whole.chunks = false, whole.patience = 0.05;
  const auto plain = search(diagram, hardware, whole), found = search(diagram, hardware, {});
  REQUIRE_FALSE(found.prefixes.empty());
  CHECK(found.prefixes[0].statement == "Y");
  CHECK(found.prefixes[0].axis == "t");
  CHECK(plain.prefixes.empty());
  CHECK(*found.cost.time_s * 2 < *plain.cost.time_s);
  CHECK_FALSE(found.optimal);
  // A in, Y out, and a launch, at what the memory sustains.
  const double least = 2.0 * 64 * 8192 * 4 / 3.0e12 + hardware.limits.launch_seconds->value;
  REQUIRE(found.gap);
  CHECK(*found.cost.time_s * (1 - *found.gap) == Approx(least));
}

TEST_CASE("a launcher of chunks has the axes of the file, and asks for one length", "[cli]") {
  const test::Folder folder;
  const auto ran = test::run_cli({"emit", "cuda", test::example("cumulative_sum"), "--target", "h100-sxm5", "--set",
                                  "t=4096", "--set", "x=4096", "-o", folder / "out"});
  CHECK(ran.code == exit_done);
  const auto header = test::text_of(folder / "out/cumulative_sum.h");
  CHECK(header.find("output f32[r, t]") != std::string::npos);
  CHECK(header.find("where size(t) == size(x)") != std::string::npos);
}

TEST_CASE("what does not come apart is no prefix, and the reason is told") {
  CHECK(refusal("Y[r, t] = sum[x](exp(where(x <= t, sum[d](Q[r, t, d] * K[r, x, d]), -inf)))") ==
        "`sum[d](Q * K)` depends on t and x, and is no product of a factor of each");
  CHECK(refusal("Y[r, t, e] = sum[x](f16(where(x <= t, sum[d](Q[r, t, d] * K[r, x, d]), 0)) * V[r, x, e])") ==
        "`f16(where(x <= t, sum[d](Q * K), 0))` is rounded before it is reduced");
  CHECK(refusal("Y[r, t] = sum[x](where(x <= t and x > t - 4, A[r, x], 0))") ==
        "`x > t - 4` leaves out more than the positions after t");
  CHECK(refusal("Y[r, t] = sum[x](where(x > t - 4 and x <= t, A[r, x], 0))") ==
        "`x > t - 4` leaves out more than the positions after t");
  CHECK(refusal("Y[r, t] = sum[x](where(x <= t + 3, A[r, x], 0))") ==
        "`x <= t + 3` keeps x and t apart by 3, so chunks of the two do not end together");
  CHECK(refusal("Y[r, t] = sum[x](where(not (x > t - 2), A[r, x], 0))") ==
        "`not x > t - 2` keeps x and t apart by 2, so chunks of the two do not end together");
  CHECK(refusal("Y[r, t] = max[x](where(x <= t, A[r, x] * B[r, t], -inf))") ==
        "`A * B` depends on t and x, and is no product of a factor of each");
  for (const std::string statements :
       {"Y[r, t] = sum[x](A[r, x] * B[r, t])", "Y[r, t] = sum[u](where(u <= t, Z[u], 0)) * B[r, t]"}) {
    const auto made = prefixes_in_chunks(of(statements), 3);
    CHECK((made.made.empty() && made.refused.empty()));
    CHECK(chunk_lengths(of(statements)).empty());
  }
}

TEST_CASE("an axis of a few positions is not cut, and `derive` says so", "[cli]") {
  const test::Folder folder;
  const auto derived = [&](const std::string& size, const std::vector<std::string>& more) {
    folder.write("sum.nap", "diagram d\naxis t = " + size + "; axis x = " + size +
                                "\ninput A: f32[x]\nY[t] = sum[x](where(x <= t, A[x], 0))\noutput Y\n");
    std::vector<std::string> words{"derive", folder / "sum.nap"};
    words.insert(words.end(), more.begin(), more.end());
    const auto ran = test::run_cli(words);
    CHECK(ran.code == exit_done);
    return ran.out;
  };
  CHECK(derived("3", {}).find("cannot be taken in chunks of t: 3 positions are no two chunks") != std::string::npos);
  CHECK(derived("13", {}).find("with chunks of 2 and a last one of 1:") != std::string::npos);
  CHECK(derived("13", {"--chunks", "5"}).find("with chunks of 5 and a last one of 3:") != std::string::npos);
}

TEST_CASE("kernels of chunks hold for other lengths of the last one", "[cli]") {
  const test::Folder folder;
  const auto ran = test::run_cli({"emit", "cuda", test::example("cumulative_sum"), "--target", "h100-sxm5", "--set",
                                  "t=1009", "--set", "x=1009", "--chunks", "64", "-o", folder / "out"});
  CHECK(ran.code == exit_done);
  const auto header = test::text_of(folder / "out/cumulative_sum.h");
  CHECK(header.find("output f32[r, t]") != std::string::npos);
  CHECK(header.find("Y_last") == std::string::npos);
  CHECK(header.find("t is from 961 to 10") != std::string::npos);
}

TEST_CASE("positions are taken in order only where all others count nothing") {
  const auto in_order = [](const std::string& reduction) {
    const auto diagram = read_text(
        "diagram o\naxis c = 6; axis b = 6; axis j = 2\ninput A: f32[c, j]; input Q: f32[c]\n"
        "S[c] = sum[j](A[c, j])\nP[c] = " +
        reduction + "\nY[c] = Q[c] * P[c]\noutput Y\n");
    const auto made = derive(diagram, std::vector<StatementId>{{0}, {1}, {2}});
    return std::ranges::any_of(made.verdicts, [](const Verdict& verdict) {
      const auto* stream = std::get_if<Streamable>(&verdict.stream);
      return stream && stream->in_order;
    });
  };
  CHECK(in_order("sum[b](where(b < c, S[b], 0))"));
  CHECK(in_order("max[b](where(not (b >= c), S[b], -inf))"));
  CHECK_FALSE(in_order("sum[b](where(b < c, S[b], 1))"));
  CHECK_FALSE(in_order("sum[b](where(b < c, S[b], 0) + 3)"));
  CHECK_FALSE(in_order("sum[b](exp(where(b < c, S[b], 0)))"));
  CHECK_FALSE(in_order("max[b](where(b < c, S[b], 0))"));
  CHECK_FALSE(in_order("sum[b](where(b <= c, S[b], 0))"));
  CHECK_FALSE(in_order("sum[b](where(b > c, S[b], 0))"));
  CHECK_FALSE(in_order("sum[b](where(b < c, S[b] * Q[c], 0))"));
}

TEST_CASE("positions that are taken in order are not grouped, whichever array of the stream is reduced") {
  const auto diagram = read_text(
      "diagram o\naxis t = 6; axis x = 6; axis r = 2\ninput B: f32[r, x]\n"
      "P[r, t] = sum[x](where(x + 1 <= t, softmax[x](B[r, x]) * B[r, x], 0))\n"
      "Y[r, t] = sum[x](where(x < t, P[r, x] * B[r, x], 0))\noutput P; output Y\n");
  const auto made = derive(diagram, std::vector<StatementId>{{0}, {1}});
  int refused = 0;
  for (const auto& verdict : made.verdicts)
    if (const auto* stream = std::get_if<Streamable>(&verdict.stream); stream && stream->in_order) {
      const auto* why = std::get_if<Refused>(&verdict.group);
      REQUIRE(why);
      CHECK(why->reason.find("reduces what lies before each position") != why->reason.npos);
      ++refused;
    }
  CHECK(refused > 0);
}

TEST_CASE("what is carried begins with what is the same at every position") {
  const auto begins_with = [](const std::string& read, const std::string& more = "") {
    const auto diagram = read_text(
        "diagram o\naxis c = 6; axis b = 6; axis j = 2\ninput A: f32[c, j]; input Q: f32[c]; input Z: f32[]\n"
        "S[c] = sum[j](A[c, j])\nG: f32[] = 3 * Z[]\nP: f32[c] = " +
        read + "\nY[c] = Q[c] * P[c]" + more + "\noutput Y\n");
    std::vector<StatementId> all;
    for (std::uint32_t i = 0; i < diagram.statements.size(); ++i) all.push_back({i});
    const auto made = derive(diagram, all);
    for (const auto& verdict : made.verdicts)
      if (const auto* stream = std::get_if<Streamable>(&verdict.stream); stream && stream->in_order)
        return to_text(stream->scratch, stream->init.front());
    return std::string("not in order");
  };
  const std::string sum = "sum[b](where(b < c, S[b], 0))", most = "max[b](where(b < c, S[b], -inf))";
  CHECK(begins_with(sum) == "P2 = 0");
  CHECK(begins_with(sum + " + Z[]") == "P2 = Z");
  CHECK(begins_with("2 * Z[] + " + sum) == "P2 = 2 * Z");
  CHECK(begins_with("max(" + most + ", Z[])") == "P2 = Z");
  CHECK(begins_with("max(" + sum + ", Z[])") == "P2 = 0");       // another operation
  CHECK(begins_with(sum + " + Q[c]") == "P2 = 0");               // another value at each position
  CHECK(begins_with(sum + " + sum[j](A[c, j])") == "P2 = 0");    // made by each piece
  CHECK(begins_with(sum + " + G[]") == "P2 = 0");                // made by this kernel
  CHECK(begins_with(sum + " + Z[]", "\noutput P") == "P2 = 0");  // needed as it is
}

TEST_CASE("kernels that take chunks in order have the registers that were planned", "[cli]") {
  const test::Folder folder;
  const auto ran = test::run_cli({"emit", "cuda", test::example("causal_linear_attention"), "--target", "h100-sxm5",
                                  "--chunks", "32", "-o", folder / "out"});
  CHECK(ran.code == exit_done);
  CHECK(ran.err.find("a thread would need") == std::string::npos);
}
