// What napkin says of mistakes. Each file of errors/ is a case, with its answer beside it as .txt; a first line
// `# --set q=0 --dtype K=f16` sets overrides. A case that ends in .labels is a diagram with partitions, read too; one
// that ends in .args is a line of words after `napkin`, run in the source tree. Texts too large to keep are made here.
// Every code of the table must have a case that raises it, in some answer of the folder, and a section in
// docs/diagnostics.md.
#include <algorithm>
#include <filesystem>
#include <map>
#include <sstream>

#include "napkin/partition.hpp"
#include "support/catch.hpp"
#include "support/golden.hpp"
#include "support/machine.hpp"
#include "support/read.hpp"
#include "support/run_cli.hpp"

using namespace napkin;
namespace fs = std::filesystem;

namespace {

const std::string folder = NAPKIN_SOURCE_DIR "/tests/golden/errors/";

Overrides first_line_overrides(const std::string& text) {
  Overrides overrides;
  std::istringstream line(text.substr(0, text.find('\n')));
  std::string word;
  while (line >> word) {
    std::string pair;
    if (word == "--set" && line >> pair)
      overrides.sizes.emplace_back(pair.substr(0, pair.find('=')), std::stoll(pair.substr(pair.find('=') + 1)));
    if (word == "--dtype" && line >> pair)
      overrides.types.emplace_back(pair.substr(0, pair.find('=')),
                                   find_datatype(pair.substr(pair.find('=') + 1))->type);
  }
  return overrides;
}

std::string read_nap(const std::string& name, const std::string& text) {
  Sources sources;
  Diagnostics diagnostics;
  read_diagram(sources, sources.add(name, text), first_line_overrides(text), diagnostics);
  return render_text(sources, diagnostics, false);
}

// A profile; its first line may be `# --set-target levels.smem.capacity=4_KiB`, a space written `_`.
std::string read_yaml(const std::string& name, const std::string& text) {
  Sources sources;
  Diagnostics diagnostics;
  Settings settings;
  std::istringstream line(text.substr(0, text.find('\n')));
  for (std::string word; line >> word;) {
    const auto equals = word.find('=');
    if (equals == std::string::npos) continue;
    std::replace(word.begin(), word.end(), '_', ' ');
    settings.emplace_back(word.substr(0, equals), word.substr(equals + 1));
  }
  load_hardware(sources, sources.add(name, text), settings, diagnostics);
  return render_text(sources, diagnostics, false);
}

// Names of targets, one to a line.
std::string read_targets(const std::string&, const std::string& text) {
  std::string answer;
  std::istringstream lines(text);
  for (std::string name; std::getline(lines, name);) {
    Diagnostics diagnostics;
    find_profile(name, nowhere, diagnostics);
    answer += render_text({}, diagnostics, false);
  }
  return answer;
}

// The partitions of a file, each on its own target.
std::string read_labels(const std::string& name, const std::string& text) {
  Sources sources;
  Diagnostics diagnostics;
  const auto file = sources.add(name, text);
  const auto diagram = read_diagram(sources, file, {}, diagnostics);
  std::vector<StatementId> all;
  for (std::uint32_t i = 0; i < diagram.statements.size(); ++i) all.push_back({i});
  const auto derivation = derive(diagram, all);
  for (const auto& declaration : parse(sources, file, diagnostics).declarations) {
    const auto* labels = std::get_if<ast::Partition>(&declaration.node);
    if (labels == nullptr) continue;
    const auto path = NAPKIN_SOURCE_DIR "/hardware_profiles/" + labels->target->text + ".yaml";
    const auto hardware = load_hardware(sources, sources.add(path, read_file(path)), {}, diagnostics);
    const auto partition = resolve_partition(*labels, diagram, hardware, diagnostics);
    if (!diagnostics.has_errors()) report_illegal(*labels, derivation, hardware, partition, diagnostics);
  }
  return render_text(sources, diagnostics, false);
}

// The words of a command line; '...' keeps spaces.
std::vector<std::string> words_of(const std::string& line) {
  std::vector<std::string> words(1);
  bool quoted = false;
  for (const char c : line)
    if (c == '\'')
      quoted = !quoted;
    else if (c == ' ' && !quoted)
      words.emplace_back();
    else if (c != '\n')
      words.back() += c;
  return words;
}

// A command line that says what is wrong with it or with what it names.
std::string read_args(const std::string&, const std::string& text) {
  const auto here = fs::current_path();
  fs::current_path(NAPKIN_SOURCE_DIR);
  const auto ran = test::run_cli(words_of(text));
  fs::current_path(here);
  return ran.err;
}

// How a case is read, by the extension of its file.
using Reader = std::string (*)(const std::string& name, const std::string& text);
const std::map<std::string, Reader> readers = {{".nap", read_nap},
                                               {".labels", read_labels},
                                               {".yaml", read_yaml},
                                               {".target", read_targets},
                                               {".args", read_args}};

std::string repeated(const std::string& text, std::size_t times) {
  std::string all;
  for (std::size_t i = 0; i < times; ++i) all += text;
  return all;
}

std::string numbered(const std::string& before, const std::string& after, int count) {
  std::string all;
  for (int i = 0; i < count; ++i) all += before + std::to_string(i) + after;
  return all;
}

const std::map<std::string, std::string>& made_cases() {
  const std::string head = "diagram d\naxis q = 4\n", tail = "\noutput A\n";
  static const std::map<std::string, std::string> cases = {
      {"bad_E0601_errors", "diagram d\n" + numbered("axis a", " = 0\n", 150)},
      {"bad_E0602_file", head + repeated("# comment\n", 30'000)},
      {"bad_E0604_brackets", head + "A[q] = " + repeated("(", 300) + "q" + repeated(")", 300) + tail},
      {"bad_E0604_chain", head + "A[q] = q" + repeated(" + q", 300) + tail},
      {"bad_E0604_defs", head +
                             [] {
                               std::string defs;
                               for (int i = 99; i > 0; --i)  // each before the one it calls
                                 defs += "def g" + std::to_string(i) + "(s) = g" + std::to_string(i - 1) + "(s) + 1\n";
                               return defs;
                             }() +
                             "def g0(s) = s\nA[q] = g99(q)" + tail},
      {"bad_E0604_expanded", head + "def deep(s) = " + repeated("-(", 90) + "s" + repeated(")", 90) +
                                 "\nA[q] = deep(deep(deep(deep(deep(q)))))" + tail},
      {"bad_E0605_list", head + "A[q] = max(" + repeated("q, ", 100) + "q)" + tail},
      {"bad_E0605_axes",
       "diagram d\n" + numbered("axis a", " = 1; ", 20) + "\nA[" + numbered("a", ", ", 19) + "a19] = 1" + tail},
      {"bad_E0606_declarations", "diagram d\n" + numbered("axis a", "\n", 3000)},
      {"bad_E0606_axes", "diagram d\n" + numbered("axis a", "\n", 300)},
      {"bad_E0606_statements", head + numbered("A", "[q] = q\n", 600) + "output A3\n"},
  };
  return cases;
}

}  // namespace

TEST_CASE("each mistake is answered as its golden says") {
  for (const auto& entry : fs::directory_iterator(folder)) {
    const auto reader = readers.find(entry.path().extension().string());
    if (reader == readers.end()) continue;
    const auto answer = reader->second(entry.path().filename().string(), read_file(entry.path().string()));
    check_golden(fs::path(entry.path()).replace_extension(".txt").string(), answer);
  }
  for (const auto& [name, text] : made_cases()) {
    const auto answer = read_nap(name + ".nap", text);
    constexpr std::size_t enough = 1000;  // the end of a hundred errors will do
    const auto from = answer.size() <= enough ? 0 : answer.find("error[", answer.size() - enough);
    check_golden(folder + name + ".txt", answer.substr(from));
  }
}

namespace {

Diagnostics mistakes(const std::string& text, const Overrides& overrides) {
  Sources sources;
  Diagnostics diagnostics;
  read_diagram(sources, sources.add("-", text), overrides, diagnostics);
  return diagnostics;
}

std::string mended(std::string text, const Fix& fix) {
  auto edits = fix.edits;
  std::ranges::sort(edits, std::greater{}, [](const Edit& edit) { return edit.span.begin; });
  for (const auto& edit : edits) text.replace(edit.span.begin, edit.span.end - edit.span.begin, edit.text);
  return text;
}

std::size_t count(const Diagnostics& all, const Diagnostic& one) {
  const auto sorted = all.sorted();
  return static_cast<std::size_t>(std::ranges::count_if(
      sorted, [&](const Diagnostic& other) { return other.code == one.code && other.message == one.message; }));
}

}  // namespace

TEST_CASE("every fix that a diagnostic carries mends it") {
  std::size_t fixes = 0;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() != ".nap") continue;
    const auto text = read_file(entry.path().string());
    const auto overrides = first_line_overrides(text);
    const auto before = mistakes(text, overrides);
    for (const auto& diagnostic : before.sorted())
      for (const auto& fix : diagnostic.fixes) {
        CAPTURE(entry.path().filename().string(), diagnostic.message, fix.title);
        CHECK(!diagnostic.help.empty());
        CHECK(count(mistakes(mended(text, fix), overrides), diagnostic) < count(before, diagnostic));
        ++fixes;
      }
  }
  CHECK(fixes > 40);
}

TEST_CASE("every code has a case that raises it") {
  std::string answers;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().extension() == ".txt") answers += read_file(entry.path().string());
  for (const auto& row : codes()) {
    CAPTURE(row.code);
    CHECK(answers.find("[" + std::string(row.code) + "]") != std::string::npos);
  }
}

TEST_CASE("a case is named after a code that it raises") {
  for (const auto& entry : fs::directory_iterator(folder)) {
    const auto name = entry.path().filename().string();
    if (entry.path().extension() != ".txt") continue;
    const auto code = name.substr(name.find('_') + 1, 5);
    CAPTURE(name);
    CHECK(find_code(code) != nullptr);
    CHECK(read_file(entry.path().string()).find("[" + code + "]") != std::string::npos);
  }
}
