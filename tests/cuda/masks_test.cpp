// Masks of positions in kernels on matrix units: what is left out of pieces, and where, is what the diagram means.
// Cases that went wrong, and random masks under folds, products and epilogues, emulated at six sizes each.
#include <fmt/format.h>

#include <cmath>
#include <cstdlib>

#include "cuda/emulate.hpp"
#include "napkin/search.hpp"
#include "support/catch.hpp"
#include "support/machine.hpp"
#include "support/read.hpp"
#include "support/values.hpp"

using namespace napkin;
using namespace kernel_cases;

namespace {

// By whom kernels run, and words of their text by which they are known.
struct Path {
  std::string name, machine, words;
  CudaPath asked = CudaPath::tensor;
};
const Path warps{"warps", "a100-sxm4-80", "napkin_mma"};
const Path warpgroups{"warpgroups", "h100-sxm5", "_warpgroups("};
const Path rows{"rows", "a100-sxm4-80", "assigns its rows to warps"};
const Path threads{"threads", "a100-sxm4-80", "threadIdx", CudaPath::reference};

// A diagram with masks, how it is split, and the sizes that it runs at.
struct Masked {
  std::string text, labels;
  std::vector<std::string> sizes;
};

// How far a number may be off, by the formats on the way.
double allowance(const Diagram& diagram) {
  double all = 1e-3;
  for (const auto& statement : diagram.statements) {
    const auto type = diagram.at(statement.output).type;
    if (type == Datatype::f16) all = std::max(all, 4e-3);
    if (type == Datatype::bf16) all = std::max(all, 3e-2);
  }
  return all;
}
bool is_close(double got, double meant, double allowed) {
  if (std::isnan(meant) || std::isnan(got)) return std::isnan(meant) && std::isnan(got);
  return got == meant || std::abs(got - meant) <= allowed * (1 + std::abs(meant));
}
// The first number that is wrong, in words; empty where none is.
std::string wrong(const Diagram& diagram, const std::vector<std::vector<double>>& outputs, const Values& meant) {
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    const auto id = diagram.outputs[k];
    const auto& right = meant.arrays[id.index];
    for (std::size_t i = 0; i < right.size(); ++i)
      if (!is_close(outputs[k][i], right[i], allowance(diagram)))
        return fmt::format("{}: number {} is {}, not {}", diagram.at(id).name, i, outputs[k][i], right[i]);
  }
  return "";
}

std::optional<Planned> planned(const Masked& each, const Path& path) {
  const auto labels = each.labels.empty() ? std::vector<std::string>() : std::vector<std::string>{each.labels};
  try {
    return plan({"", each.text, labels, {}}, path.machine);
  } catch (const std::runtime_error&) {
    return {};  // no such split
  }
}

// Whether the diagram has a kernel on the path; if so it is checked at all sizes.
bool check(const std::string& name, const Masked& each, const Path& path) {
  CAPTURE(each.text, each.labels);
  const auto plan = planned(each, path);
  if (!plan) return false;
  const auto code = emit_cuda(plan->diagram, plan->plan, plan->hardware, path.asked);
  if (code.files.front().text.find(path.words) == std::string::npos) return false;
  const auto folder = emulate::build_alone("masks_" + path.name + "_" + name, plan->diagram, code.files);
  for (const auto& sizes : each.sizes) {
    CAPTURE(sizes);
    const auto diagram = read_text(each.text, sizes_of(sizes));
    auto values = drawn_values(diagram, 7);
    auto result = emulate::run_alone(folder, diagram, values);
    INFO(result.ran.output);
    CHECK(result.ran.status == 0);
    evaluate(diagram, values, true);
    CHECK(wrong(diagram, result.outputs, values) == "");
  }
  return true;
}

// ---- cases that went wrong ----

std::string scores(const std::string& axes, const std::string& statements) {
  return fmt::format(R"(diagram masked
{}
input Q: bf16[q, d]; input K: bf16[x, d]
S[q, x] = sum[d](Q[q, d] * K[x, d])
{}
output L
)",
                     axes, statements);
}
const std::vector<std::string> usual_sizes = {"q=32 x=32 d=16",  "q=64 x=64 d=16", "q=128 x=128 d=32",
                                              "q=150 x=170 d=8", "q=33 x=97 d=16", "q=7 x=5 d=8"};

struct Known {
  std::string name, statement;
};
// A mask beside what has none: its pieces are not passed over, so that each is either whole and clear or asked.
Known beside(const std::string& name, const std::string& mask) {
  return {name, fmt::format("L[q] = logsumexp[x](S[q, x]) - sum[x](where({}, S[q, x], 0))", mask)};
}
const std::vector<Known> known = {
    beside("equal", "q == x"),
    beside("quotients", "x / 64 == q / 64"),
    beside("both", "x >= q and x / 32 == q / 32"),
    beside("shifted", "x + q == 62"),
    beside("unequal", "not (x != q)"),
    {"corner", "L[q] = min[x](where(x - q == 31, S[q, x], inf))"},
    {"product", "L[q] = prod[x](where(x == q, 1 + S[q, x], 1))"},
    {"multiples", "L[q] = max[x](where(x / 41 == q, S[q, x], -inf))"},
};

}  // namespace

TEST_CASE("pieces that a mask holds nowhere or everywhere on are told apart", "[emulated][masks]") {
  for (const auto& each : known) DYNAMIC_SECTION(each.name) {
      const auto text = scores("axis q = 512; axis x = 512; axis d = 64", each.statement);
      CHECK(check(each.name, {text, "group q 32, stream x 32 at smem; group q 16 at reg", usual_sizes}, warps));
      CHECK(check(each.name, {text, "group q 64, stream x 32 at smem; group q 16 at reg", usual_sizes}, warpgroups));
    }
}

TEST_CASE("a block that passes over all pieces waits for what it has loaded", "[emulated][masks]") {
  const auto text = scores("axis q = 4096; axis x = 4096; axis d = 128", "L[q] = max[x](where(x == q, S[q, x], -inf))");
  const std::vector<std::string> long_rows = {"q=283 x=104 d=16", "q=600 x=10 d=16"};
  CHECK(check("passed", {text, "group q 128, stream x 64 at smem; group q 16 at reg", long_rows}, warps));
  CHECK(check("passed", {text, "group q 64, stream x 32 at smem; group q 16 at reg", long_rows}, warpgroups));
}

// ---- divided axes ----

namespace {

Diagram at_sizes(Diagram diagram, const Overrides& sizes) {
  for (const auto& [name, size] : sizes.sizes)
    for (auto& axis : diagram.axes)
      if (axis.name == name) axis.size = size;
  return diagram;
}

}  // namespace

// As the search divides keys among blocks: in one part, in several, where the last part is shorter, and where there are
// more than planned, which may be refused but not cut. The launcher finds the parts.
TEST_CASE("a divided axis may have any length", "[emulated][masks]") {
  const std::string head = "axis q = 16; axis x = 16384; axis d = 64";
  const std::vector<Known> statements = {
      {"sums", "L[q] = logsumexp[x](S[q, x]) - sum[x](where(x + q == 130, S[q, x], 0))"},
      {"extremes", "L[q] = max[x](where(x >= q and x != 70, S[q, x], -inf)) - min[x](S[q, x])"},
  };
  for (const auto& each : statements)
    for (const auto& path : {warps, threads}) DYNAMIC_SECTION(each.name << " by " << path.name) {
        const auto text = scores(head, each.statement);
        const auto hardware = read_machine(path.machine);
        const auto found = search(read_text(text), hardware, Goal());
        REQUIRE(found.divisions.size() == 1);
        const auto part = 16384 / found.divisions[0].parts;
        const auto code = emit_cuda(found.diagram, found.plan, hardware, path.asked);
        const auto folder = emulate::build_alone("masks_divided_" + each.name + path.name, found.diagram, code.files);
        for (const std::int64_t x : {part, 3 * part, 2 * part + 17, 4 * part - 1, part + 1, part - 5,
                                     std::int64_t{16384}, std::int64_t{16384 + 9}}) {
          CAPTURE(part, x);
          const auto sizes = fmt::format("q=13 d=40 x={}", x);
          const auto meaning = read_text(text, sizes_of(sizes));
          auto values = drawn_values(meaning, 7);
          auto result = emulate::run_alone(folder, at_sizes(found.diagram, sizes_of(sizes)), values);
          INFO(result.ran.output);
          if (x > 16384 && result.ran.status == 1) continue;  // refused, where a part may be no longer than planned
          CHECK(result.ran.status == 0);
          evaluate(meaning, values, true);
          CHECK(wrong(meaning, result.outputs, values) == "");
        }
      }
}

// ---- random masks ----

namespace {

class Drawing {
 public:
  Drawing(std::uint64_t seed, const Path& path) : random_(seed), path_(path) {}

  Masked run() {
    if (random_.below(6) == 0) heads_ = "h, ";
    type_ = one_of({"f16", "bf16"});
    const auto text = statements();
    const bool of_rows = path_.name == rows.name, searched = of_rows || random_.below(6) == 0;
    Masked drawn;
    drawn.text = fmt::format(R"(diagram masked
axis h = 2; axis q = {0}; axis x = {0}; axis d = 64; axis qb = (q + 15) / 16; axis xb = (x + 23) / 24
{1}
{2}
output L
)",
                             searched ? 4096 : 512, of_rows ? given(text) : scored(text), text);
    if (!searched) drawn.labels = labels();
    drawn.sizes = sizes(searched);
    return drawn;
  }

 private:
  std::string one_of(const std::vector<std::string>& all) { return all[random_.below(all.size())]; }
  std::string number(std::uint64_t least, std::uint64_t below) {
    return fmt::format("{}", least + random_.below(below - least));
  }
  // Scores that are a product, and such that are there.
  std::string scored(const std::string& text) const {
    return fmt::format(
        "input Q: {0}[{1}q, d]; input K: {0}[{1}x, d]{2}\nS[{1}q, x] = sum[d](Q[{1}q, d] * K[{1}x, d]) / 4", type_,
        heads_, inputs(text));
  }
  std::string given(const std::string& text) const {
    return fmt::format("input S: {}[{}q, x]{}", type_, heads_, inputs(text));
  }
  // Those that the statements read.
  std::string inputs(const std::string& text) const {
    std::string all;
    for (const auto& input : {"V: " + type_ + "[" + heads_ + "x, d]", std::string("M: bool[qb, xb] density 0.5"),
                              std::string("T: i32[q]"), std::string("R: f32[q]"), std::string("B: f32[x]")})
      if (text.find(input.substr(0, 1) + input.substr(input.find('['), 2)) != text.npos) all += "; input " + input;
    return all;
  }

  // Masks

  std::string mask(int depth = 2) {
    const auto which = depth == 0 ? 9 : random_.below(10);
    if (which < 2) return fmt::format("({} and {})", mask(depth - 1), mask(depth - 1));
    if (which < 4) return fmt::format("({} or {})", mask(depth - 1), mask(depth - 1));
    if (which < 5) return fmt::format("not ({})", mask(depth - 1));
    if (which < 6) return fmt::format("(x <= q and x > q - {})", number(1, 90));
    return comparison();
  }
  std::string comparison() {
    const auto sign = one_of({"==", "==", "!=", "<", "<=", ">", ">="});
    switch (random_.below(9)) {
      case 0:
        return fmt::format("x {} q", sign);
      case 1:
        return fmt::format("x - q {} {}", sign, number(0, 70));
      case 2:
        return fmt::format("x + q {} {}", sign, one_of({"31", "62", "63", "100", "size(x)", "size(q) - 1"}));
      case 3: {
        const auto by = one_of({"2", "3", "32", "41", "64"});
        return fmt::format("x / {} {} q / {}", by, sign, one_of({by, by, "3"}));
      }
      case 4:
        return fmt::format("{} * x {} {} * q + {}", number(1, 4), sign, number(1, 4), number(0, 20));
      case 5:
        return fmt::format("{} {} {}", one_of({"x", "q"}), sign, number(0, 130));
      case 6:
        return fmt::format("size(x) - 1 - x {} q", sign);
      case 7:
        return "T[q] == x";
      default:
        return "M[q / 16, x / 24]";
    }
  }

  // Statements

  std::string score() const { return fmt::format("S[{}q, x]", heads_); }
  // The masked score, and what stands beside it where the mask does not hold.
  std::string chosen(const std::string& otherwise) {
    return fmt::format("where({}, {}, {})", mask(), score(), otherwise);
  }
  std::string folded(const std::string& over) {
    switch (random_.below(7)) {
      case 0:
        return fmt::format("sum[{}]({})", over, chosen("0"));
      case 1:
        return fmt::format("max[{}]({})", over, chosen("-inf"));
      case 2:
        return fmt::format("min[{}]({})", over, chosen("inf"));
      case 3:
        return fmt::format("logsumexp[{0}]({1}) - sum[{0}]({2})", over, score(), chosen("0"));
      case 4:
        return fmt::format("prod[{}](where({}, 1 + {} / 100, 1))", over, mask(), score());
      case 5:
        return fmt::format("logsumexp[{}]({})", over, chosen("-inf"));
      default:
        return fmt::format("sum[{0}]({1}) + max[{0}]({2})", over, chosen("0"), chosen("-1"));
    }
  }
  std::string statements() {
    switch (path_.name == rows.name ? 2 + random_.below(5) : random_.below(7)) {
      case 0:
        return fmt::format("P: {0}[{1}q, x] = softmax[x]({2})\nL[{1}q, d] = sum[x](P[{1}q, x] * V[{1}x, d]){3}", type_,
                           heads_, chosen(one_of({"-1e4", "-inf"})), one_of({"", " + R[q]"}));
      case 1:
        return fmt::format("P: {0}[{1}q, x] = {2}\nL[{1}q, d] = sum[x](P[{1}q, x] * V[{1}x, d]){3}", type_, heads_,
                           chosen("0"), one_of({"", " * R[q]"}));
      case 2:
        streamed_ = "";
        return fmt::format("L[{}q, x] = {}{}", heads_, chosen(one_of({"0", "-inf", "R[q]", "B[x]"})),
                           one_of({"", " + R[q]", " * B[x]"}));
      case 3:
        kept_ = "x", streamed_ = "q";
        return fmt::format("L[{}x] = {}{}", heads_, folded("q"), one_of({"", " + B[x]", " * 2"}));
      default:
        return fmt::format("L[{}q] = {}{}", heads_, folded("x"), one_of({"", " + R[q]", " * 2"}));
    }
  }

  // Splits and sizes

  std::string labels() {
    rows_ = path_.name == warpgroups.name ? 64 * (1 + random_.below(2)) : 16 * (1 + random_.below(3));
    columns_ = 16 * (1 + random_.below(4));
    const auto heads = heads_.empty() ? "" : "h 1, ";
    const auto inside = random_.below(4) == 0 ? "d 16" : "";
    const auto other = streamed_.empty() ? fmt::format(", x {}", columns_) : "";
    auto streams = streamed_.empty() ? "" : fmt::format("{} {}", streamed_, columns_);
    if (*inside) streams += (streams.empty() ? "" : ", ") + std::string(inside);
    return fmt::format("group {}{} {}{}{} at smem; group {} 16 at reg", heads, kept_, rows_, other,
                       streams.empty() ? "" : ", stream " + streams, kept_);
  }
  std::vector<std::string> sizes(bool searched) {
    if (searched) rows_ = columns_ = 64;
    const auto at = [&](std::uint64_t kept, std::uint64_t other) {
      return fmt::format("{}={} {}={} d={} h={}", kept_, kept, kept_ == "q" ? "x" : "q", other,
                         8 * (1 + random_.below(4)), 1 + random_.below(2));
    };
    return {at(rows_, columns_),
            at(2 * rows_, 3 * columns_),
            at(2 * rows_ + 1 + random_.below(15), 3 * columns_ + 1 + random_.below(15)),
            at(1 + random_.below(9), 1 + random_.below(9)),
            at(3 * rows_ + random_.below(rows_), 1 + random_.below(columns_)),
            at(1 + random_.below(rows_), 4 * columns_ + random_.below(columns_))};
  }

  Random random_;
  const Path& path_;
  std::string heads_, type_, kept_ = "q", streamed_ = "x";  // no stream where all is kept
  std::uint64_t rows_ = 64, columns_ = 64;
};

// How many diagrams on each path; more by hand.
std::uint64_t diagrams() {
  const char* asked = std::getenv("NAPKIN_LAW_MASKS");
  return asked ? std::strtoull(asked, nullptr, 10) : 4;
}
std::uint64_t first_seed() {
  const char* asked = std::getenv("NAPKIN_LAW_SEED");
  return asked ? std::strtoull(asked, nullptr, 10) : 1;
}

}  // namespace

TEST_CASE("random masks leave out what they mean, on every path", "[emulated][masks]") {
  for (const auto& path : {warps, warpgroups, rows, threads}) DYNAMIC_SECTION(path.name) {
      std::uint64_t checked = 0;
      for (auto seed = first_seed(); checked < diagrams(); ++seed) {
        CAPTURE(seed);
        REQUIRE(seed < first_seed() + 10 * diagrams());  // most are split so that they have a kernel of the path
        checked += check("random", Drawing(seed, path).run(), path);
      }
    }
}
