// The command line: what it takes, how it fails, where products go. Reports have tests of their own.
#include <sys/stat.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <regex>

#include "napkin/text.hpp"
#include "support/catch.hpp"
#include "support/run_cli.hpp"

using namespace napkin;
using namespace napkin::test;

namespace {

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

const std::string attention = example("attention");

struct Mistake {
  std::vector<std::string> args;
  std::string code, words;
};

}  // namespace

TEST_CASE("a wrong command line exits 2, points at the word and says what was meant", "[cli]") {
  const std::vector<Mistake> mistakes = {
      {{}, "E0520", "`napkin` needs a command"},
      {{"analyse", "a.nap"}, "E0520", "did you mean `analyze`?"},
      {{"emit"}, "E0520", "`napkin emit` needs a command"},
      {{"emit", "cda", "a.nap"}, "E0520", "did you mean `cuda`?"},
      {{"--targt", "h100"}, "E0521", "`--targt`"},
      {{"analyze", attention, "--targt", "h100-sxm5"}, "E0521", "did you mean `--target`?"},
      {{"analyze", attention, "--targt=h100-sxm5"}, "E0521", "did you mean `--target`?"},
      {{"derive", attention, "-x"}, "E0521", "`-x`"},
      {{"analyze"}, "E0522", "`napkin analyze` needs FILE"},
      {{"derive", attention, attention}, "E0522", "takes one FILE"},
      {{"derive", attention, "--format"}, "E0522", "`--format` needs a value"},
      {{"analyze", attention}, "E0522", "a target is needed"},
      {{"analyze", attention, "--target", "toy", "--target", "two-level"}, "E0522", "one target at a time"},
      {{"emit", "cuda", attention, "--target", "toy"}, "E0522", "needs a folder"},
      {{"emit", "cpp", attention, "--target", "toy"}, "E0522", "needs a folder"},
      {{"fmt", attention, attention, "-o", "x"}, "E0522", "the text of one file"},
      {{"lsp", attention}, "E0522", "`napkin lsp` takes no argument"},
      {{"lsp", "--target", "h100-sxm6"}, "E0418", "h100-sxm5"},
      {{"derive", attention, "--format", "jsn"}, "E0523", "did you mean `json`?"},
      {{"analyze", attention, "--target", "toy", "--model", "exact"}, "E0523", "one of machine, ideal"},
      {{"analyze", attention, "--target", "toy", "--top", "x"}, "E0523", "`--top` cannot be `x`"},
      {{"analyze", attention, "--target", "toy", "--patience", "-1"}, "E0523", "`--patience` cannot be `-1`"},
      {{"derive", attention, "--set", "q"}, "E0523", "write `--set NAME=VALUE`"},
      {{"derive", attention, "--set", "q=0"}, "E0523", "`0` is not a size"},
      {{"derive", attention, "--set", "q=4k"}, "E0523", "`4k` is not a size"},
      {{"derive", attention, "--set", "q=9223372036854775808"}, "E0523", "is not a size"},
      {{"derive", attention, "--dtype", "Q=f17"}, "E0523", "`f17` is not a type"},
      {{"completion", "tcsh"}, "E0523", "one of bash, zsh, fish"},
      {{"man", "analyze"}, "E0523", "the manual has no page `analyze`"},
      {{"man", "napkin-analyse"}, "E0523", "did you mean `napkin-analyze`?"},
      {{"draw", "-", "--watch"}, "E0523", "standard input cannot be watched"},
      {{"derive", attention, "--watch"}, "E0521", "`--watch`"},
      {{"explain", "E0000"}, "E0525", "no diagnostic has the code `E0000`"},
      {{"derive", attention, "--statements", "S,K"}, "E0526", "no statement `K`"},
      {{"derive", attention, "-o", "/nonexistent/x"}, "E0527", "cannot write"},
      {{"analyze", attention, "--target", "h100-sxm6"}, "E0418", "h100-sxm5"},
      {{"derive", attention, "--set", "z=3"}, "E0501", "z=3"},
  };
  for (const auto& mistake : mistakes) {
    const auto ran = run_cli(mistake.args);
    CAPTURE(mistake.args, ran.err);
    CHECK(ran.code == exit_command_line);
    CHECK(ran.out.empty());
    CHECK(has(ran.err, "error[" + mistake.code + "]"));
    CHECK(has(ran.err, mistake.words));
  }
}

TEST_CASE("a caret stands under the word of the command line", "[cli]") {
  const auto ran = run_cli({"derive", "a b.nap", "--fromat=json"});
  CHECK(ran.err ==
        "error[E0521]: `napkin derive` has no option `--fromat`\n"
        " --> <command line>:1:25\n"
        "  |\n"
        "1 | napkin derive 'a b.nap' --fromat=json\n"
        "  |                         ^^^^^^^^^^^^^\n"
        "  = help: did you mean `--format`?\n");
}

TEST_CASE("input that cannot be read exits 1", "[cli]") {
  const Folder folder;
  for (const auto& path : {folder / "missing.nap", folder / "."}) {
    const auto ran = run_cli({"derive", path});
    CAPTURE(path, ran.err);
    CHECK(ran.code == exit_input);
    CHECK(has(ran.err, "error[E0530]: cannot read"));
  }
  CHECK(run_cli({"derive", folder.write("bad.nap", "diagram")}).code == exit_input);
  CHECK(run_cli({"derive", "-"}, "diagram x\noutput y\n").code == exit_input);
}

TEST_CASE("a machine with a warning is planned on", "[cli]") {
  const auto ran = run_cli(
      {"analyze", example("softmax"), "--target", "x86-64-avx2", "--set-target", "levels.l1.bandwidth=120 GB/s"});
  CHECK(ran.code == 0);
  CHECK(has(ran.err, "W0414"));
  CHECK(has(ran.out, " predicted, "));
}

TEST_CASE("errors are a product where JSON is asked for", "[cli]") {
  for (const std::vector<std::string>& args : {std::vector<std::string>{"derive", "missing.nap", "--format", "json"},
                                               {"derive", "missing.nap", "--format=json"}}) {
    const auto ran = run_cli(args);
    CHECK(ran.code == exit_input);
    CHECK(ran.err.empty());
    const auto json = nlohmann::json::parse(ran.out);
    CHECK(json["schema"] == "napkin.diagnostics/1");
    REQUIRE(json["diagnostics"].size() == 1);
    const auto& first = json["diagnostics"][0];
    CHECK(first["code"] == "E0530");
    CHECK(first["severity"] == "error");
    CHECK(first["file"] == "<command line>");
    CHECK(first["line"] == 1);
    CHECK(first["column"] == 15);
    CHECK(first["end_column"] == 26);
  }
  const auto mistyped = run_cli({"derive", attention, "--fromat", "--format", "json"});
  CHECK(mistyped.code == exit_command_line);
  CHECK(nlohmann::json::parse(mistyped.out)["diagnostics"][0]["code"] == "E0521");
}

TEST_CASE("help leads with examples, for the program and for every command", "[cli]") {
  const auto program = run_cli({"--help"});
  CHECK(program.code == exit_done);
  CHECK(program.out.find("Examples") < program.out.find("Commands"));
  for (const std::string command : {"analyze", "derive", "pseudocode", "emit cuda", "emit cpp", "compare", "verify",
                                    "fmt", "targets", "explain", "completion", "man"}) {
    std::vector<std::string> args{command.substr(0, command.find(' '))};
    if (has(command, " ")) args.push_back(command.substr(command.find(' ') + 1));
    args.push_back("--help");
    const auto ran = run_cli(args);
    CAPTURE(command, ran.out);
    CHECK(ran.code == exit_done);
    CHECK(ran.err.empty());
    CHECK(has(program.out, args[0]));
    CHECK(ran.out.find("Examples\n  napkin " + command) < ran.out.find("Options"));
  }
}

TEST_CASE("the version", "[cli]") {
  const auto ran = run_cli({"--version"});
  CHECK(ran.code == exit_done);
  CHECK(ran.out.substr(0, 7) == "napkin ");
}

TEST_CASE("a product goes to -o, whole or not at all", "[cli]") {
  const Folder folder;
  const auto path = folder.write("out.txt", "old");
  REQUIRE(chmod(path.c_str(), 0640) == 0);
  const auto shown = run_cli({"derive", attention});
  const auto written = run_cli({"derive", attention, "-o", path});
  CHECK(written.code == exit_done);
  CHECK(written.out.empty());
  CHECK(text_of(path) == shown.out);
  CHECK(folder.files() == 1);
  struct stat status {};
  REQUIRE(stat(path.c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0640);

  CHECK(run_cli({"derive", attention, "-o", folder / "."}).code == exit_command_line);
  CHECK(run_cli({"derive", folder / "missing.nap", "-o", path}).code == exit_input);
  CHECK(text_of(path) == shown.out);
  CHECK(folder.files() == 1);
}

TEST_CASE("a link is written through, not replaced", "[cli]") {
  const Folder folder;
  const auto real = folder.write("real.txt", "");
  std::filesystem::create_symlink(real, folder / "link.txt");
  CHECK(run_cli({"explain", "-o", folder / "link.txt"}).code == exit_done);
  CHECK(std::filesystem::is_symlink(folder / "link.txt"));
  CHECK(has(text_of(real), "E0101"));
}

TEST_CASE("a full disk or a closed pipe is no crash", "[cli]") {
  std::istringstream in;
  std::ostringstream err;
  std::ostream broken(nullptr);
  const std::vector<std::string> args{"explain"};
  CHECK(run(args, in, broken, err) == exit_command_line);
  CHECK(has(err.str(), "E0527"));
}

TEST_CASE("fmt rewrites in place and only what differs", "[cli]") {
  const Folder folder;
  const std::string tidy = text_of(attention);
  const auto untidy = folder.write("untidy.nap", "\n" + tidy + "\n\n");
  const auto other = folder.write("tidy.nap", tidy);

  const auto checked = run_cli({"fmt", "--check", untidy, other});
  CHECK(checked.code == exit_gate);
  CHECK(checked.out == untidy + "\n");
  CHECK(text_of(untidy) != tidy);

  CHECK(run_cli({"fmt", "-", "-o", folder / "copy.nap"}, text_of(untidy)).code == exit_done);
  CHECK(text_of(folder / "copy.nap") == tidy);
  CHECK(run_cli({"fmt", "-"}, text_of(untidy)).out == tidy);

  const auto ran = run_cli({"fmt", untidy, other});
  CHECK(ran.code == exit_done);
  CHECK(ran.out.empty());
  CHECK(text_of(untidy) == tidy);
  CHECK(run_cli({"fmt", "--check", untidy, other}).code == exit_done);

  const auto broken = folder.write("broken.nap", "diagram x\naxis = 3\n");
  CHECK(run_cli({"fmt", broken}).code == exit_input);
  CHECK(text_of(broken) == "diagram x\naxis = 3\n");
}

TEST_CASE("explain prints the section of every code", "[cli]") {
  const auto list = run_cli({"explain"});
  for (const auto& code : codes()) {
    CAPTURE(code.code);
    CHECK(has(list.out, std::string(code.code)));
    const auto ran = run_cli({"explain", std::string(code.code)});
    CHECK(ran.code == exit_done);
    CHECK(has(ran.out, std::string(code.title)));
    CHECK(has(ran.out, "```"));
  }
  CHECK(run_cli({"explain", "e0303"}).out == run_cli({"explain", "E0303"}).out);
  CHECK(run_cli({"explain", "w0224"}).out == run_cli({"explain", "W0224"}).out);
}

TEST_CASE("targets lists the profiles and shows one", "[cli]") {
  const auto names = run_cli({"targets", "--quiet"});
  CHECK(has(names.out, "h100-sxm5\n"));
  CHECK(has(run_cli({"targets"}).out, "NVIDIA H100 SXM5"));
  CHECK(has(run_cli({"targets", "h100-sxm5"}).out, "227 KiB"));
  const auto json = nlohmann::json::parse(run_cli({"targets", "toy", "--format", "json"}).out);
  CHECK(json["schema"] == "napkin.target/1");
}

TEST_CASE("derive fuses everything, or the statements that are named", "[cli]") {
  CHECK(has(run_cli({"derive", attention}).out, "kernel S, P, O\n"));
  CHECK(has(run_cli({"derive", attention, "--statements", "P,S"}).out, "kernel S, P\n"));
  CHECK(has(run_cli({"derive", attention, "--print", "diagram"}).out, "wire d' = 128 of d\n"));
  CHECK(run_cli({"derive", attention, "--print", "syntax"}).out == text_of(attention));
  const auto fused = nlohmann::json::parse(run_cli({"derive", attention, "--format", "json"}).out);
  CHECK(fused["schema"] == "napkin.derivation/1");
  const auto& kernel = fused["kernels"][0];
  CHECK(kernel["statements"] == nlohmann::json({"S", "P", "O"}));
  CHECK(kernel["passes"]["x"] == 1);
  for (const auto& stream : kernel["streamable"]) {
    if (stream["axis"] != "x") continue;
    CHECK(stream["state"].dump() ==
          R"([{"combine":"max","name":"m"},{"combine":"sum","name":"l"},{"combine":"sum","name":"O"}])");
    CHECK(!stream["absorb"].empty());
  }
  const auto alone = nlohmann::json::parse(run_cli({"derive", example("softmax"), "--format", "json"}).out);
  CHECK(alone["kernels"][0]["passes"]["x"] == 2);
  CHECK(alone["kernels"][0]["refused"][0]["axis"] == "x");
}

TEST_CASE("completion scripts are sound where their shells are at hand", "[cli]") {
  const Folder folder;
  for (const std::string shell : {"bash", "zsh", "fish"}) {
    const auto ran = run_cli({"completion", shell});
    CAPTURE(shell);
    CHECK(ran.code == exit_done);
    for (const std::string word : {"analyze", "cuda", "target", "markdown"}) CHECK(has(ran.out, word));
    const auto path = folder.write(shell, ran.out);
    const auto present = "command -v " + shell + " >/dev/null 2>&1";
    if (std::system(present.c_str()) == 0) CHECK(std::system((shell + " -n " + path).c_str()) == 0);
  }
}

TEST_CASE("the manual has a page for the program and for every command, with what its help says", "[cli]") {
  std::istringstream pages(run_cli({"man", "--quiet"}).out);
  std::size_t count = 0;
  for (std::string name; pages >> name; ++count) {
    const auto page = run_cli({"man", name});
    CAPTURE(name, page.out);
    CHECK(page.code == exit_done);
    std::istringstream command(name.substr(name.find('-') == std::string::npos ? name.size() : name.find('-') + 1));
    std::vector<std::string> args;
    for (std::string word; std::getline(command, word, '-');) args.push_back(word);
    args.push_back("--help");
    const auto help = run_cli(args).out;
    static const std::regex option("\n  (?:-\\w, )?--([a-z]+)");
    std::size_t options = 0;
    for (std::sregex_iterator it(help.begin(), help.end(), option), end; it != end; ++it, ++options)
      CHECK(has(page.out, "\\-\\-" + it->str(1)));
    CHECK(options > 0);
    CHECK(page.out.starts_with(".TH NAPKIN"));
  }
  CHECK(count == 17);
  const auto fmt = run_cli({"man", "napkin-fmt"}).out;
  CHECK(has(fmt, ".SH NAME\nnapkin\\-fmt \\- canonical text, in place (\\(ga\\-\\(ga: from"));
  CHECK(has(fmt, ".TP\n\\fB\\-o, \\-\\-output\\fR \\fIFILE\\fR\nwrite to this file"));
}

TEST_CASE("a target that is no whole name is told, and the name of a profile is not", "[cli]") {
  const auto told = [&](const std::string& target, const std::vector<std::string>& more) {
    std::vector<std::string> args{"analyze", attention, "--target", target, "--set", "q=128", "--set", "x=128"};
    args.insert(args.end(), more.begin(), more.end());
    const auto ran = run_cli(args);
    CHECK(ran.code == exit_done);
    return ran.err;
  };
  CHECK(told("H100", {}) == "note: target H100 is h100-sxm5\n");
  CHECK(told("v100", {}) == "note: target v100 is v100-sxm2\n");
  CHECK(told("H100", {"--quiet"}) == "");
  CHECK(told("h100-sxm5", {}) == "");
}

TEST_CASE("verify prints what an error is and may be with one exponent", "[cli]") {
  const auto ran = run_cli({"verify", example("matmul"), "--target", "h100-sxm5"});
  CHECK(ran.code == exit_done);
  std::istringstream lines(ran.out);
  int rows = 0;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("  C ")) continue;
    std::istringstream words(line);
    std::string word, error, allowed;
    while (words >> word)
      if (word[0] == '0' || word.find('e', 1) != std::string::npos) {
        if (word.find_first_not_of("0123456789.e+-<") != std::string::npos) continue;
        (error.empty() ? error : allowed) = word;
        if (!allowed.empty()) break;
      }
    CAPTURE(line);
    REQUIRE(allowed.find('e') != std::string::npos);
    if (error != "0") CHECK(error.substr(error.find('e')) == allowed.substr(allowed.find('e')));
    ++rows;
  }
  CHECK(rows == 2);
}

TEST_CASE("colour only where it is asked for or seen", "[cli]") {
  CHECK(!has(run_cli({"derive", attention}).out, "\033["));
  CHECK(has(run_cli({"derive", attention, "--color", "always"}).out, "\033[1m"));
  CHECK(has(run_cli({"derive", "missing.nap", "--color", "always"}).err, "\033["));
}

TEST_CASE("what was emitted before is overwritten, what a person wrote is not", "[cli]") {
  const Folder folder;
  for (const std::string language : {"cuda", "cpp"}) {
    const auto out = folder / language;
    const std::vector<std::string> emit = {"emit",  language, example("matmul"), "--target", "toy", "--set", "a=8",
                                           "--set", "b=8",    "--set",           "c=8",      "-q",  "-o",    out};
    CHECK(run_cli(emit).code == exit_done);
    for (const auto& file : std::filesystem::directory_iterator(out))
      CHECK(has(text_of(file).substr(0, 300), "napkin"));
    CHECK(run_cli(emit).code == exit_done);
    // The first line has the plan, which may be long.
    folder.write(language + "/matmul.h", "// matmul: " + std::string(5000, 'g') + "\n//\n// Printed by napkin.\n");
    CHECK(run_cli(emit).code == exit_done);
    const auto mine = folder.write(language + "/matmul.h", "int mine;\n");
    const auto ran = run_cli(emit);
    CHECK(ran.code == exit_input);
    CHECK(has(ran.err, "error[E0531]"));
    CHECK(text_of(mine) == "int mine;\n");
  }
}

TEST_CASE("kernels are for matrix units where they fit, unless plain threads are asked for", "[cli][long]") {
  const Folder folder;
  const auto emit = [&](const std::string& name, const std::string& target, const std::string& path) {
    return run_cli({"emit", "cuda", example(name), "--target", target, "--path", path, "-o", folder / (name + path)});
  };
  const auto text = [&](const std::string& name, const std::string& path) {
    return text_of(folder / (name + path) + "/" + name + ".cu");
  };
  CHECK(emit("causal", "a100-sxm4-80", "tensor").code == exit_done);
  CHECK(has(text("causal", "tensor"), "mma.sync.aligned.m16n8k16"));
  const auto plain = emit("causal", "a100-sxm4-80", "reference");
  CHECK(plain.code == exit_done);
  CHECK(!has(plain.err, "note: "));
  CHECK(!has(text("causal", "reference"), "mma.sync"));
  const auto rows = emit("softmax", "a100-sxm4-80", "tensor");
  CHECK(rows.code == exit_done);
  CHECK(!has(rows.err, "note: "));
  CHECK(has(text("softmax", "tensor"), "softmax_planned_path(void) { return \"rows\"; }"));
  const auto without = emit("depthwise_convolution", "a100-sxm4-80", "tensor");
  const std::string kernel = "depthwise_convolution_kernel ";
  CHECK(without.code == exit_done);
  for (const auto* why : {"runs without matrix units: it has no sum of products of two arrays",
                          "does not assign rows to warps: every n reads"}) {
    CHECK(has(without.err, "note: " + kernel + why));
    CHECK(has(text("depthwise_convolution", "tensor"), "// " + kernel + why));
  }
  CHECK(emit("matmul", "h100-sxm5", "tensor").code == exit_done);
  CHECK(has(text("matmul", "tensor"), "wgmma.mma_async"));
  CHECK(has(text("matmul", "tensor"), "mma.sync.aligned.m16n8k16"));
  CHECK(emit("matmul", "h100-sxm5", "warps").code == exit_done);
  CHECK(!has(text("matmul", "warps"), "wgmma"));
  for (const auto* path : {"tensor", "warps"}) CHECK(emit("multi_head", "h100-sxm5", path).code == exit_done);
  CHECK(has(text("multi_head", "tensor"), "// multi_head: group b 1, h 1, q 128, stream x 160 at smem"));
  CHECK(has(text("multi_head", "warps"), "// multi_head: group b 1, h 1, q 64, stream x 96 at smem"));
  CHECK(emit("causal", "a100-sxm4-80", "fast").code == exit_command_line);
}
