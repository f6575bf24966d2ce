// The gate of `compare`: what it refuses, what it lets pass, and what it says of what changed.
#include <nlohmann/json.hpp>

#include "support/catch.hpp"
#include "support/run_cli.hpp"
#include "support/xml.hpp"

using namespace napkin;
using namespace napkin::test;

namespace {

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

const std::string product_text =
    "diagram product\n"
    "axis a = 64; axis b = 64; axis c = 64\n"
    "input A: f16[a, b]; input B: f16[b, c]\n"
    "C: f16[a, c] = sum[b](A[a, b] * B[b, c])\n"
    "output C\n";
const std::string rows_text =
    "diagram rows\n"
    "axis q = 64; axis x = 256\n"
    "input S: f32[q, x]\n"
    "P[q, x] = softmax[x](S[q, x])\n"
    "output P\n";

std::string changed(std::string text, const std::string& what, const std::string& to) {
  const auto at = text.find(what);
  REQUIRE(at != std::string::npos);
  return text.replace(at, what.size(), to);
}

using Words = std::vector<std::string>;
Words joined(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

// A diagram, and its baseline on the toy machine.
struct Saved {
  Folder folder;
  std::string file, base;
  Words compare;

  explicit Saved(const Words& options = {}) {
    file = folder.write("product.nap", product_text);
    base = folder / "base.json";
    compare = {"compare", file, "--target", "toy"};
    const auto ran = run_cli(joined(joined(compare, options), {"--save-baseline", base}));
    INFO(ran.err);
    REQUIRE(ran.code == exit_done);
  }
  Ran against(const Words& options = {}) const {
    return run_cli(joined(joined(compare, {"--baseline", base}), options));
  }
};

void check_refused(const Ran& ran, const std::string& code, const std::string& words) {
  CAPTURE(ran.err, words);
  CHECK(ran.code == exit_command_line);
  CHECK(ran.out.empty());
  CHECK(has(ran.err, "error[" + code + "]"));
  CHECK(has(ran.err, words));
}

}  // namespace

TEST_CASE("a baseline of something else is refused, and says what differs", "[gate]") {
  const Saved saved;
  CHECK(saved.against().code == exit_done);
  const auto refused = [&](const Words& options, const std::string& words) {
    check_refused(saved.against(options), "E0535", words);
  };
  refused({"--set", "a=32"}, "a is 32, and 64 in the baseline");
  refused({"--model", "ideal"}, "the model is ideal, and machine in the baseline");
  refused({"--objective", "energy"}, "the objective is energy, and time in the baseline");
  refused({"--dtype", "A=f32"}, "A is f32, and f16 in the baseline");
  refused({"--metric", "energy"}, "the metric is energy, and time in the baseline");
  refused({"--set-target", "levels.smem.usable=2 KiB"}, "the numbers of toy differ from those in the baseline");
  check_refused(run_cli({"compare", saved.file, "--target", "two-level", "--baseline", saved.base}), "E0535",
                "the target is two-level, and toy in the baseline");
  CHECK(has(saved.against({"--set", "a=32"}).err, "`--save-baseline " + saved.base + "`"));
}

TEST_CASE("a difference that is accepted is told and no longer refused", "[gate]") {
  const Saved saved;
  const auto smaller = saved.against({"--set", "a=32", "--accept", "sizes"});
  CHECK(smaller.code == exit_done);
  CHECK(has(smaller.out, "accepted: a is 32, and 64 in the baseline"));
  CHECK(!has(smaller.out, "was edited"));
  CHECK(saved.against({"--set", "a=128", "--accept", "sizes"}).code == exit_gate);
  check_refused(saved.against({"--set", "a=32", "--accept", "target"}), "E0535", "--accept sizes");
  check_refused(saved.against({"--accept", "everything"}), "E0523", "one of sizes, types, target");
}

TEST_CASE("a gate without a baseline is not green", "[gate]") {
  const Saved saved;
  const auto none = joined(saved.compare, {"--baseline", saved.folder / "none.json"});
  check_refused(run_cli(none), "E0536", "make one with the same command and `--save-baseline");
  const auto accepted = run_cli(joined(none, {"--accept", "missing"}));
  CHECK(accepted.code == exit_done);
  CHECK(has(accepted.out, "time has no baseline yet, which --accept allows"));
  const auto rows = saved.folder.write("rows.nap", rows_text);
  check_refused(run_cli({"compare", rows, "--target", "toy", "--baseline", saved.base}), "E0536", "no diagram `rows`");
  check_refused(run_cli(joined(saved.compare, {"--baseline", ""})), "E0522", "`--baseline` needs the name of a file");
  check_refused(run_cli(joined(saved.compare, {"--baseline="})), "E0522", "`--baseline` needs a value");
  check_refused(run_cli(joined(saved.compare, {"--max-regression", "2%"})), "E0522", "needs a baseline");
  check_refused(run_cli(joined(saved.compare, {"--accept", "sizes"})), "E0522", "needs a baseline");
  const auto junit = run_cli(joined(saved.compare, {"--format", "junit"}));
  CHECK(junit.code == exit_command_line);
  CHECK(has(junit.out, "<error type=\"error\" message=\"`--format junit` needs a baseline\">"));
}

TEST_CASE("comments and spaces are no edit, and an edited diagram is compared", "[gate]") {
  const Saved saved;
  saved.folder.write("product.nap", "# another word\n" + changed(product_text, "A[a, b] * B", "A[a,b]  *  B"));
  const auto spaced = saved.against();
  CHECK(spaced.code == exit_done);
  CHECK(has(spaced.out, "no change"));
  CHECK(!has(spaced.out, "was edited"));
  saved.folder.write("product.nap",
                     changed(product_text, "C: f16[a, c] = ", "input D: f32[a, c]\nC: f16[a, c] = D[a, c] + "));
  const auto slower = saved.against();
  CHECK(slower.code == exit_gate);
  CHECK(has(slower.out, "the diagram was edited since"));
  CHECK(has(slower.out, "worse  time"));
}

TEST_CASE("one set keeps many files, targets and metrics", "[gate]") {
  const Saved saved;
  const auto rows = saved.folder.write("rows.nap", rows_text);
  const Words all = {"compare",  saved.file,  rows,       "--target",           "toy",
                     "--target", "two-level", "--metric", "gmem.transfer_bytes"};
  const Words on_one = {"compare", saved.file, rows, "--target", "toy", "--metric", "time", "--metric", "energy"};
  CHECK(run_cli(joined(on_one, {"--save-baseline", saved.base})).code == exit_done);
  CHECK(nlohmann::json::parse(text_of(saved.base))["baselines"].size() == 4);
  const auto same = run_cli(joined(on_one, {"--baseline", saved.base, "--format", "json"}));
  CHECK(same.code == exit_done);
  const auto json = nlohmann::json::parse(same.out);
  CHECK(json["schema"] == "napkin.comparison/2");
  CHECK(json["regressed"] == false);
  REQUIRE(json["comparisons"].size() == 2);
  CHECK(json["comparisons"][1]["diagram"] == "rows");
  CHECK(json["comparisons"][1]["gates"].size() == 2);

  // One of them is worse in one metric alone.
  const auto worse =
      run_cli(joined(on_one, {"--baseline", saved.base, "--format", "json", "--set", "x=512", "--accept", "sizes"}));
  CHECK(worse.code == exit_gate);
  const auto judged = nlohmann::json::parse(worse.out);
  CHECK(judged["regressed"] == true);
  CHECK(judged["comparisons"][0]["gates"][0]["regressed"] == false);
  CHECK(judged["comparisons"][1]["gates"][0]["regressed"] == true);

  // A file that nobody looks at any more is told.
  const auto fewer = run_cli(joined(saved.compare, {"--baseline", saved.base}));
  CHECK(fewer.code == exit_done);
  CHECK(has(fewer.err, "also has rows on toy (time), and no file was compared with it"));
}

TEST_CASE("every target of a gate is judged, not the best alone", "[gate]") {
  const Saved saved;
  const Words both = {"compare", saved.file, "--target", "toy", "--target", "two-level", "--metric"};
  const auto metric = [&](const std::string& name) { return joined(both, {name}); };
  const auto refused = run_cli(joined(metric("time"), {"--save-baseline", saved.folder / "two.json"}));
  check_refused(refused, "E0523", "`time` of product on two-level is unknown");
  auto profile = text_of(NAPKIN_SOURCE_DIR "/hardware_profiles/toy.yaml");
  const auto other = saved.folder.write("toy.yaml", changed(profile, "4 KiB ", "8 KiB "));
  check_refused(run_cli({"compare", saved.file, "--target", "toy", "--target", other, "--baseline", saved.base}),
                "E0522", "two targets are named toy");
  check_refused(run_cli({"compare", saved.file, saved.file, "--target", "toy", "--baseline", saved.base}), "E0522",
                "one baseline would contain product on toy (time) twice");
  Words plain = both;
  plain.pop_back();
  REQUIRE(run_cli(joined(plain, {"--save-baseline", saved.folder / "two.json"})).code == exit_done);
  const auto kept = nlohmann::json::parse(text_of(saved.folder / "two.json"))["baselines"];
  REQUIRE(kept.size() == 2);
  CHECK(kept[0]["of"]["target"] == "toy");
  CHECK(kept[1]["of"]["target"] == "two-level");
}

TEST_CASE("a page is of one file", "[gate]") {
  const Saved saved;
  const auto rows = saved.folder.write("rows.nap", rows_text);
  check_refused(run_cli({"compare", saved.file, rows, "--target", "toy", "--format", "html"}), "E0522", "one file");
  CHECK(run_cli({"compare", saved.file, "--target", "toy", "--format", "html"}).code == exit_done);
}

TEST_CASE("GitHub gets a command beside the file for what is worse", "[gate]") {
  const Saved saved;
  CHECK(saved.against({"--format", "github"}).out.starts_with("time of product on toy: "));
  const auto worse = saved.against({"--format", "github", "--set", "a=128", "--accept", "sizes"});
  CHECK(worse.code == exit_gate);
  CHECK(worse.out.starts_with("::error file=" + saved.file + ",title=napkin%3A time of product on toy::"));
  CHECK(std::count(worse.out.begin(), worse.out.end(), '\n') == 1);
  CHECK(has(worse.out, " %25, "));
  const auto refused = saved.against({"--format", "github", "--set", "a=128"});
  CHECK(refused.code == exit_command_line);
  CHECK(refused.out.starts_with("::error title=napkin E0535::"));
}

TEST_CASE("JUnit gets a case for each gate, and an error where nothing is judged", "[gate]") {
  const Saved saved;
  const auto check = [&](const Words& options, int code, const std::string& part) {
    const auto ran = saved.against(joined({"--format", "junit"}, options));
    CAPTURE(ran.out, options);
    CHECK(ran.code == code);
    CHECK(malformed(ran.out.substr(ran.out.find('\n'))) == "");
    CHECK(has(ran.out, part));
  };
  check({}, exit_done, "<testcase classname=\"product on toy\" name=\"time\"><system-out>");
  check({"--set", "a=128", "--accept", "sizes"}, exit_gate, "<failure type=\"failure\" message=\"");
  check({"--set", "a=128"}, exit_command_line, "<error type=\"error\" message=\"the baseline of product on toy (time)");
  const auto report = saved.folder / "report.xml";
  const auto refused = saved.against({"--format", "junit", "-o", report, "--set", "a=128"});
  CHECK(refused.code == exit_command_line);
  CHECK(has(text_of(report), "E0535"));
}

TEST_CASE("a baseline of another version warns, and one of an older schema is refused", "[gate]") {
  const Saved saved;
  const auto text = text_of(saved.base);
  const auto version = nlohmann::json::parse(text)["version"].get<std::string>();
  saved.folder.write("base.json", changed(text, "\"" + version + "\"", "\"0.0.1\""));
  const auto warned = saved.against();
  CHECK(warned.code == exit_done);
  CHECK(has(warned.err, "warning[W0537]: another version of napkin wrote"));
  CHECK(!has(saved.against({"--accept", "version"}).err, "W0537"));
  saved.folder.write("base.json", R"({"schema": "napkin.baseline/1", "diagram": "product", "sizes": {}})");
  check_refused(saved.against(), "E0532", "an older napkin wrote it");
}

TEST_CASE("a baseline is not replaced by what is worse, and nothing else by a baseline", "[gate]") {
  const Saved saved;
  const auto before = text_of(saved.base);
  const auto worse = saved.against({"--set", "a=128", "--accept", "sizes", "--save-baseline", saved.base});
  CHECK(worse.code == exit_gate);
  CHECK(text_of(saved.base) == before);
  CHECK(has(worse.err, "was not replaced"));
  const auto elsewhere = saved.folder / "new.json";
  CHECK(saved.against({"--set", "a=128", "--accept", "sizes", "--save-baseline", elsewhere}).code == exit_gate);
  CHECK(text_of(elsewhere) != "");
  CHECK(saved.against({"--set", "a=32", "--accept", "sizes", "--save-baseline", saved.base}).code == exit_done);
  CHECK(text_of(saved.base) != before);
  const auto ran = run_cli(joined(saved.compare, {"--save-baseline", saved.file}));
  CHECK(ran.code == exit_input);
  CHECK(has(ran.err, "E0531"));
  CHECK(text_of(saved.file) == product_text);
}

TEST_CASE("cores that idle in a last wave are what explains a slower launch", "[gate]") {
  const Folder folder;
  const Words compare = {"compare",   example("attention"), "--target",
                         "h100-sxm5", "--partition",        "group q 128, stream x 128 at smem"};
  const auto base = folder / "base.json";
  REQUIRE(run_cli(joined(compare, {"--set", "q=16896", "--save-baseline", base})).code == exit_done);
  const auto ran =
      run_cli(joined(compare, {"--set", "q=17024", "--accept", "sizes", "--baseline", base, "--format", "json"}));
  CHECK(ran.code == exit_gate);
  const auto json = nlohmann::json::parse(ran.out);
  const auto& change = json["comparisons"][0]["gates"][0]["changes"][0];
  CHECK(change["metric"] == "time");
  const auto because = change["because"].get<std::vector<std::string>>();
  REQUIRE(because.size() == 2);  // no array, which moves less than one percent more
  CHECK(because[0].starts_with("cores idle in the last wave: 0 s -> "));
  CHECK(has(because[1], "133 blocks on 132 cores, 1 at once on each: 2 waves"));
}

TEST_CASE("the best row names a partition that may be written", "[gate][long]") {
  for (const std::string name : {"decode", "attention", "matmul"}) {
    const auto row_of = [&](const Words& options) {
      const auto ran =
          run_cli(joined({"compare", example(name), "--target", "h100-sxm5", "--format", "json"}, options));
      INFO(ran.err);
      REQUIRE(ran.code == exit_done);
      return nlohmann::json::parse(ran.out)["comparisons"][0]["rows"][0];
    };
    const auto best = row_of({});
    const auto again = row_of({"--partition", best["partition"].get<std::string>()});
    CAPTURE(name, best["partition"]);
    CHECK(again["time_s"].get<double>() == Approx(best["time_s"].get<double>()));
    CHECK(again["transfer_bytes"] == best["transfer_bytes"]);
  }
}
