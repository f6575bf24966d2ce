// Times the stages on every example, its gradient and target, and the whole program as a child process: medians of
// several runs, beside counts that do not depend on the machine. usage: napkin_bench [TARGET...]
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "napkin/search.hpp"
#include "napkin/syntax.hpp"

namespace {

using namespace napkin;
namespace fs = std::filesystem;

constexpr double enough_seconds = 0.3;  // per figure: stop repeating after this
constexpr std::size_t most_runs = 21;

template <class Action>
double seconds(const Action& action) {
  const auto begin = std::chrono::steady_clock::now();
  action();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

double median(std::vector<double> times) {
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

// The median over a few runs of what `measure` returns; long ones run once.
template <class Measure>
double median_of(const Measure& measure) {
  std::vector<double> times;
  const auto begin = std::chrono::steady_clock::now();
  while (times.size() < most_runs &&
         std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() < enough_seconds)
    times.push_back(measure());
  return median(times);
}

[[noreturn]] void stop(const std::string& why) {
  fmt::print(stderr, "napkin_bench: {}\n", why);
  std::exit(1);
}

std::string text_of(const fs::path& path) {
  std::ifstream in(path);
  if (!in) stop("cannot read " + path.string());
  return {std::istreambuf_iterator<char>(in), {}};
}

void expect_none(const Sources& sources, const Diagnostics& diagnostics) {
  if (diagnostics.has_errors()) stop("unexpected errors:\n" + render_text(sources, diagnostics, false));
}

Diagram diagram_of(const std::string& name, const std::string& text) {
  Sources sources;
  Diagnostics diagnostics;
  auto diagram = read_diagram(sources, sources.add(name, text), {}, diagnostics);
  expect_none(sources, diagnostics);
  return diagram;
}

Hardware hardware_of(const std::string& target) {
  Sources sources;
  Diagnostics diagnostics;
  const auto path = find_profile(target, nowhere, diagnostics);
  expect_none(sources, diagnostics);
  auto hardware = load_hardware(sources, sources.add(*path, text_of(*path)), {}, diagnostics);
  expect_none(sources, diagnostics);
  return hardware;
}

Derivation derive_all(const Diagram& diagram) {
  std::vector<StatementId> all;
  for (std::uint32_t i = 0; i < diagram.statements.size(); ++i) all.push_back({i});
  return derive(diagram, all);
}

// Whether the plan is proven, or what a better one could save at most.
std::string proof(const FoundPlan& found) {
  if (found.optimal) return "proven";
  return found.gap ? fmt::format("{:.1f} %", *found.gap * 100) : "open";
}

// `napkin analyze FILE --target TARGET` as a process of its own.
struct Process {
  double wall_seconds = 0;
  double peak_mebibytes = 0;
  int exit_code = 0;
};
Process analyze(const std::string& file, const std::string& target) {
  Process process;
  rusage usage{};
  int status = 0;
  process.wall_seconds = seconds([&] {
    const pid_t child = fork();
    if (child == 0) {
      if (!std::freopen("/dev/null", "w", stdout)) _exit(127);
      execl(NAPKIN_PROGRAM, "napkin", "analyze", file.c_str(), "--target", target.c_str(), nullptr);
      _exit(127);
    }
    wait4(child, &status, 0, &usage);
  });
  process.peak_mebibytes = static_cast<double>(usage.ru_maxrss) / 1024;
  process.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128;
  return process;
}

constexpr double long_s = 2;  // what a search shall take at most

struct Searched {
  std::string diagram;
  double seconds;
};

Searched print_row(const fs::path& file, const std::string& target, const Hardware& hardware) {
  const auto text = text_of(file);
  const auto diagram = diagram_of(file.string(), text);
  FoundPlan found;
  const double parse_s = median_of([&] { return seconds([&] { diagram_of(file.string(), text); }); });
  const double derive_s = median_of([&] { return seconds([&] { derive_all(diagram); }); });
  const double search_s = median_of([&] { return seconds([&] { found = search(diagram, hardware, Goal{}); }); });
  Process process;
  const double process_s = median_of([&] { return (process = analyze(file.string(), target)).wall_seconds; });
  fmt::print("{:<38} {:>5} {:>9.3f} {:>9.3f} {:>10.2f} {:>7} {:>10} {:>7} {:>10.1f} {:>6.1f} {:>5}\n",
             file.stem().string(), diagram.statements.size(), parse_s * 1e3, derive_s * 1e3, search_s * 1e3,
             found.plan.kernels.size(), found.evaluated, proof(found), process_s * 1e3, process.peak_mebibytes,
             process.exit_code);
  std::fflush(stdout);
  return {file.stem().string(), search_s};
}

std::vector<fs::path> diagrams() {
  std::vector<fs::path> files;
  for (const auto& folder : {"examples", "bench"})
    for (const auto& entry : fs::directory_iterator(fs::path(NAPKIN_SOURCE_DIR) / folder))
      if (entry.path().extension() == ".nap") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

// The gradients of the examples that have one, as files of their own in a folder.
std::vector<fs::path> gradients(const std::vector<fs::path>& files, const fs::path& folder) {
  std::vector<fs::path> made;
  for (const auto& file : files) {
    const auto to = folder / (file.stem().string() + "_backward.nap");
    const auto command = fmt::format("'{}' grad '{}' > '{}' 2> /dev/null", NAPKIN_PROGRAM, file.string(), to.string());
    if (std::system(command.c_str()) == 0) made.push_back(to);
  }
  return made;
}

void print_table(const std::string& target, const std::vector<fs::path>& files) {
  const auto hardware = hardware_of(target);
  fmt::print("{} (times in ms; `process` is the whole of `napkin analyze`)\n", target);
  fmt::print("{:<38} {:>5} {:>9} {:>9} {:>10} {:>7} {:>10} {:>7} {:>10} {:>6} {:>5}\n", "diagram", "stmts", "parse",
             "derive", "search", "kernels", "evaluated", "gap", "process", "MiB", "exit");
  std::vector<Searched> all;
  for (const auto& file : files) all.push_back(print_row(file, target, hardware));
  std::sort(all.begin(), all.end(), [](const Searched& a, const Searched& b) { return a.seconds > b.seconds; });
  fmt::print("searched for more than {} s:", long_s);
  for (const auto& one : all)
    if (one.seconds > long_s) fmt::print(" {} {:.1f} s", one.diagram, one.seconds);
  fmt::print("\n\n");
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> targets(argv + 1, argv + argc);
  for (const auto& target : targets) {
    if (!target.starts_with("-")) continue;
    fmt::print(stderr, "napkin_bench: unknown option `{}`\nusage: napkin_bench [TARGET...]\n", target);
    return 2;
  }
  if (targets.empty()) targets = {"h100-sxm5", "two-level"};
  const auto folder = fs::temp_directory_path() / fmt::format("napkin_bench_{}", getpid());
  fs::create_directories(folder);
  auto files = diagrams();
  const auto more = gradients(files, folder);
  files.insert(files.end(), more.begin(), more.end());
  for (const auto& target : targets) print_table(target, files);
  fs::remove_all(folder);
}
