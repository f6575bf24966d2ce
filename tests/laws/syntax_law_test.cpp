// Same text, same tree: what `print` writes parses to the tree it was given, and prints the same again. Over files
// drawn from the grammar with careless spacing, brackets, line breaks and comments.
#include "napkin/syntax.hpp"
#include "support/catch.hpp"
#include "support/read.hpp"
#include "support/structure.hpp"
#include "support/values.hpp"

using namespace napkin;

namespace {

class Writer {
 public:
  explicit Writer(std::uint64_t seed) : random_(seed) {}

  std::string file() {
    std::string text = pick({"", "# first\n\n\n", "\n"}) + "diagram d" + end();
    const auto count = random_.below(12);
    for (std::uint64_t i = 0; i < count; ++i) text += declaration() + end();
    return text + pick({"", "\n", "# last", "\n\n# last\n"});
  }

 private:
  std::string pick(const std::vector<std::string>& from) { return from[random_.below(from.size())]; }
  std::string space() { return pick({"", " ", "  ", "\t"}); }
  std::string inner() { return depth_ > 0 ? pick({"", " ", " ", "\n  ", " # inside\n"}) : space(); }
  std::string end() {
    return space() + pick({"\n", "\n", "\n\n", ";", "; ", " # note\n", "\n\n\n  # alone\n# again\n", "\r\n"});
  }
  std::string name() { return pick({"a", "b", "c", "d", "q", "x", "long_name_1", "S", "on", "at", "group"}); }
  std::string number() { return pick({"1", "2", "0.25", "1e-5", "64", "3.50", "2E3"}); }

  std::string list(char open, char close, std::uint64_t most, bool names) {
    std::string text(1, open);
    ++depth_;
    const auto count = random_.below(most + 1);
    for (std::uint64_t i = 0; i < count; ++i)
      text += (i == 0 ? "" : inner() + ",") + inner() + (names ? name() : expression(2)) + inner();
    --depth_;
    return text + close;
  }

  std::string expression(int budget) {
    if (budget == 0) return random_.below(2) == 0 ? name() : number();
    switch (random_.below(9)) {
      case 0:
        return "inf";
      case 1:
        return name() + list('[', ']', 3, false);
      case 2:
        return pick({"exp", "max", "f16", "softmax"}) + list('(', ')', 3, false);
      case 3:
        return pick({"sum", "max"}) + list('[', ']', 3, true) + list('(', ')', 2, false);
      case 4:
        return "-" + inner() + operand(budget);
      case 5:
        return "not " + inner() + operand(budget);
      case 6:
        return operand(budget);
      default:
        return operand(budget) + inner() + " " + sign() + " " + inner() + operand(budget);
    }
  }
  std::string sign() { return pick({"+", "-", "*", "/", "^", "<", "<=", ">", ">=", "==", "!=", "and", "or"}); }

  // In brackets, mostly: then any expression may stand at any place.
  std::string operand(int budget) {
    if (random_.below(4) == 0) return expression(0);
    ++depth_;
    auto text = "(" + inner() + expression(budget - 1) + inner() + ")";
    --depth_;
    return text;
  }

  std::string declaration() {
    switch (random_.below(6)) {
      case 0:
        return "axis " + name() + (random_.below(3) == 0 ? "" : space() + "=" + space() + expression(2));
      case 1:
        return "input " + name() + space() + ": f16" + list('[', ']', 4, true) +
               (random_.below(3) == 0 ? " density 0.5" : "");
      case 2:
        return "output " + name();
      case 3:
        return "def " + name() + (random_.below(2) == 0 ? "" : list('[', ']', 2, true)) + list('(', ')', 3, true) +
               "=" + expression(3);
      case 4:
        return partition();
      default:
        return "S" + pick({"", ": f32", " :bf16"}) + list('[', ']', 4, true) + space() + "=" + space() + expression(4);
    }
  }

  std::string partition() {
    std::string text = "partition " + name() + pick({"", " on h100-sxm5", " on x86-64-avx2"}) + space() + "{" + space();
    const auto count = random_.below(4);
    for (std::uint64_t i = 0; i < count; ++i) {
      text += pick({"", "\n", "\n\n", " # head\n"}) + pick({"group", "stream"}) + " " + name() + pick({"", "'"}) +
              " 8" + pick({"", ", d 4", ", stream q 2"}) + " at " + pick({"smem", "reg"}) +
              pick({";", "\n", " # tail\n"});
    }
    return text + pick({"", "\n", "\n # end\n"}) + "}";
  }

  Random random_;
  int depth_ = 0;
};

struct Parsed {
  std::string structure, printed, errors;
};

Parsed parsed(const std::string& text) {
  Sources sources;
  Diagnostics diagnostics;
  const auto file = parse(sources, sources.add("random.nap", text), diagnostics);
  return {structure(file), print(sources, file), render_text(sources, diagnostics, false)};
}

}  // namespace

TEST_CASE("printing and parsing again gives the same tree, and the same text") {
  std::size_t clean = 0;
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    const auto text = Writer(seed).file();
    const auto first = parsed(text);
    if (!first.errors.empty()) continue;
    ++clean;
    const auto second = parsed(first.printed);
    INFO("seed " << seed << "\n" << text << "\n----\n" << first.printed << "\n----\n" << second.printed);
    REQUIRE(second.errors == "");
    REQUIRE(second.structure == first.structure);
    REQUIRE(second.printed == first.printed);
  }
  CHECK(clean > 500);
}
