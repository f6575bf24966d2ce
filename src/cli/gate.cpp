// Baselines are found by diagram, target and metric. Every other difference is refused unless it was accepted, because
// the result of a gate that compares two different things is accidental.
#include "cli/gate.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "cli/files.hpp"
#include "text/escape.hpp"

namespace napkin::cli {
namespace {

// The best row of a target in a metric, and the basis that it was computed on.
struct Held {
  Comparison* comparison;
  Gate gate;
  Basis basis;
};

bool accepts(const Session& session, const std::string& what) {
  return std::ranges::find(session.options.accept, what) != session.options.accept.end();
}

void note(Session& session, const std::string& text) {
  if (!session.options.quiet) session.err << "note: " << on_one_line(text) << "\n";
}

std::string subject(const Basis& basis) {
  return fmt::format("{} on {} ({})", basis.diagram, basis.target, basis.metric);
}

std::vector<std::string> targets_of(const Comparison& comparison) {
  std::vector<std::string> targets;
  for (const auto& row : comparison.rows)
    if (std::ranges::find(targets, row.target) == targets.end()) targets.push_back(row.target);
  return targets;
}

void add_held(Session& session, Compared& compared, const std::string& target, const std::string& metric,
              std::vector<Held>& all) {
  auto& comparison = compared.comparison;
  const auto row = best_row(comparison, target, metric);
  if (row && find(comparison.rows[*row].metrics, metric)) {
    all.push_back({&comparison, {}, basis_of(compared.analyses.at(*row), compared.text, metric)});
    all.back().gate.metric = metric;
    all.back().gate.row = *row;
  } else if (row) {
    complain(session, "E0523",
             fmt::format("the metric `{}` of {} on {} is unknown", metric, comparison.diagram, target), metric,
             fmt::format("one of {}", fmt::join(metric_names(comparison, target), ", ")));
  } else {
    complain(session, "E0304", fmt::format("no partition of {} fits on {}", comparison.diagram, target),
             comparison.file);
  }
}

std::vector<Held> held_rows(Session& session, std::vector<Compared>& all) {
  std::vector<Held> rows;
  for (auto& compared : all)
    for (const auto& target : targets_of(compared.comparison))
      for (const auto& metric : gated_metrics(session, compared.comparison, target))
        add_held(session, compared, target, metric, rows);
  return rows;
}

// Two different machines with the same name, from profiles in two folders, would count as one target.
void check_machines(Session& session, const std::vector<Compared>& all) {
  std::map<std::string, std::string> numbers;
  for (const auto& analysis : all.front().analyses) {
    const auto& hardware = analysis.hardware;
    if (numbers.emplace(hardware.name, fingerprint(hardware)).first->second == fingerprint(hardware)) continue;
    complain(session, "E0522", fmt::format("two targets are named {}", hardware.name), session.options.target.back(),
             "give one of the profiles another name");
    return;
  }
}

// Two rows with the same subject could not be distinguished in a baseline.
bool distinct(Session& session, const std::vector<Held>& rows) {
  std::set<std::string> seen;
  for (const auto& row : rows) {
    if (seen.insert(subject(row.basis)).second) continue;
    complain(session, "E0522", fmt::format("one baseline would contain {} twice", subject(row.basis)),
             row.comparison->file, "give every diagram its own name, and name every metric once");
    return false;
  }
  return true;
}

void bad_baseline(Session& session, const std::string& what) {
  complain(session, "E0532", fmt::format("`{}` cannot serve as a baseline: {}", session.options.baseline, what),
           session.options.baseline, fmt::format("make a new one with `--save-baseline {}`", session.options.baseline));
}

void no_baseline(Session& session, const std::string& what) {
  session.diagnostics.add(
      {"E0536",
       what,
       session.line.find(session.options.baseline),
       "",
       {},
       {"without a baseline, a gate would let everything pass"},
       fmt::format("make one with the same command and `--save-baseline {0}` in place of `--baseline {0}`; add "
                   "`--accept missing` to let it pass until then",
                   session.options.baseline)});
}

// None if there is nothing to compare with; this adds a diagnostic unless it was accepted.
std::optional<Baselines> read_baselines(Session& session) {
  const auto& path = session.options.baseline;
  if (path != "-" && !std::filesystem::exists(path)) {
    if (accepts(session, "missing")) return Baselines{NAPKIN_VERSION, {}};
    no_baseline(session, fmt::format("there is no baseline `{}`", path));
    return std::nullopt;
  }
  const auto file = load(session, path);
  if (!file) return std::nullopt;
  std::string why;
  auto made = parse_baselines(session.sources.at(*file).text, why);
  if (!made) bad_baseline(session, why);
  return made;
}

void check_version(Session& session, const Baselines& baselines) {
  if (baselines.version == NAPKIN_VERSION || accepts(session, "version")) return;
  complain(session, "W0537",
           fmt::format("another version of napkin wrote `{}`: {}", session.options.baseline, baselines.version),
           session.options.baseline, "its predictions may differ: make a new baseline with `--save-baseline`");
}

// Among baselines of the same diagram, the one that shares most: the target counts more than the metric.
const Baseline* closest(const Baselines& baselines, const Basis& basis) {
  const Baseline* found = nullptr;
  int most = -1;
  for (const auto& one : baselines.all) {
    if (one.basis.diagram != basis.diagram) continue;
    const int shared = (one.basis.target == basis.target ? 2 : 0) + (one.basis.metric == basis.metric ? 1 : 0);
    if (shared > most) found = &one, most = shared;
  }
  return found;
}

bool is_of(const Baseline& baseline, const Basis& basis) { return subject(baseline.basis) == subject(basis); }

// For example "other sizes" or "another target".
std::string other(const std::string& what) { return (what.ends_with('s') ? "other " : "another ") + what; }

// The `--accept` options that would accept the differences.
std::string accepting(const std::vector<Difference>& found) {
  std::string words;
  for (const auto& one : found) words += (words.empty() ? "" : " ") + fmt::format("--accept {}", one.what);
  return words;
}

void refuse(Session& session, const Basis& basis, const std::vector<Difference>& found) {
  std::vector<std::string> what, notes;
  for (const auto& one : found) {
    what.push_back(other(one.what));
    notes.push_back(one.words);
  }
  const auto& path = session.options.baseline;
  session.diagnostics.add({"E0535",
                           fmt::format("the baseline of {} has {}", subject(basis), fmt::join(what, ", ")),
                           session.line.find(path),
                           "",
                           {},
                           std::move(notes),
                           fmt::format("make a new one with `--save-baseline {}`, or accept the difference with `{}`",
                                       path, accepting(found))});
}

// Accepted differences are noted; the others are refused.
bool same_basis(Session& session, Held& held, const Baseline& baseline) {
  auto found = differences(baseline.basis, held.basis);
  for (const auto& one : found)
    if (accepts(session, one.what)) held.gate.accepted.push_back(one.words);
  std::erase_if(found, [&](const Difference& one) { return accepts(session, one.what); });
  if (!found.empty()) refuse(session, held.basis, found);
  return found.empty();
}

void judge(Held& held, const Baseline& baseline) {
  auto& gate = held.gate;
  const auto& row = held.comparison->rows[gate.row];
  gate.baseline = baseline;
  gate.edited = baseline.basis.text != held.basis.text;
  gate.changes = changes(baseline.row, row);
  const auto before = *find(baseline.row.metrics, gate.metric), after = *find(row.metrics, gate.metric);
  gate.regressed = after > before * (1 + held.comparison->allowed);
}

void compare_with(Session& session, const Baselines& baselines, Held& held) {
  const auto* baseline = closest(baselines, held.basis);
  const bool missing = baseline == nullptr || !is_of(*baseline, held.basis);
  if (baseline == nullptr && !accepts(session, "missing")) {
    no_baseline(session, fmt::format("`{}` has no diagram `{}`", session.options.baseline, held.basis.diagram));
  } else if (missing && accepts(session, "missing")) {
    return;
  } else if (baseline != nullptr && same_basis(session, held, *baseline)) {
    if (find(baseline->row.metrics, held.gate.metric))
      judge(held, *baseline);
    else
      bad_baseline(session, fmt::format("it does not know `{}`", held.gate.metric));
  }
}

// Notes baselines that no file was compared with; a file may be missing in a list by mistake.
void tell_unused(Session& session, const Baselines& baselines, const std::vector<Held>& rows) {
  const auto is_used = [](const Baseline& one, const Held& held) {
    return held.gate.baseline && is_of(one, held.gate.baseline->basis);
  };
  for (const auto& one : baselines.all)
    if (std::ranges::none_of(rows, [&](const Held& held) { return is_used(one, held); }))
      note(session, fmt::format("{} also has {}, and no file was compared with it", session.options.baseline,
                                subject(one.basis)));
}

bool is_same_file(const std::string& a, const std::string& b) {
  std::error_code none;
  return a == b || std::filesystem::equivalent(a, b, none);
}

// A file that is not a baseline is not overwritten.
bool may_be_replaced(Session& session, const std::string& path) {
  if (!std::filesystem::is_regular_file(path) || std::filesystem::file_size(path) == 0) return true;
  const auto file = load(session, path);
  if (!file) return false;
  if (session.sources.at(*file).text.find("\"napkin.baseline/") != std::string::npos) return true;
  complain(session, "E0531", fmt::format("`{}` is not a file that napkin wrote", path), path,
           "choose another name for the baseline");
  return false;
}

void save_rows(Session& session, const std::vector<Held>& rows) {
  const auto& path = session.options.save_baseline;
  const bool worse = std::ranges::any_of(rows, [](const Held& held) { return held.gate.regressed; });
  if (worse && is_same_file(path, session.options.baseline))
    return note(session, fmt::format("{} was not replaced, because a new baseline would hide the regression", path));
  if (!may_be_replaced(session, path)) return;
  Baselines made{NAPKIN_VERSION, {}};
  for (const auto& held : rows) made.all.push_back({held.basis, held.comparison->rows[held.gate.row]});
  save(session, path, print(made));
}

}  // namespace

std::optional<std::size_t> best_row(const Comparison& comparison, const std::string& target,
                                    const std::string& metric) {
  std::optional<std::size_t> best;
  std::optional<double> least;
  for (std::size_t i = 0; i < comparison.rows.size(); ++i) {
    const auto& row = comparison.rows[i];
    if (!target.empty() && row.target != target) continue;
    const auto value = find(row.metrics, metric);
    if (!row.fits || (best && (!value || (least && *value >= *least)))) continue;
    best = i;
    least = value;
  }
  return best;
}

std::vector<std::string> metric_names(const Comparison& comparison, const std::string& target) {
  std::vector<std::string> names;
  for (const auto& row : comparison.rows) {
    if (!target.empty() && row.target != target) continue;
    for (const auto& [name, value] : row.metrics) {
      if (value && std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
  }
  return names;
}

std::vector<std::string> gated_metrics(const Session& session, const Comparison& comparison,
                                       const std::string& target) {
  if (!session.options.metric.empty()) return session.options.metric;
  const auto names = metric_names(comparison, target);
  return {names.empty() ? "time" : names.front()};
}

bool check_gate_options(Session& session) {
  const auto& options = session.options;
  const auto needs = [&](bool given, const std::string& option, const std::string& word) {
    if (given && options.baseline.empty())
      complain(session, "E0522", fmt::format("`{}` needs a baseline", option), word, "add `--baseline FILE`");
  };
  for (const auto* option : {"--baseline", "--save-baseline"}) {
    const auto& words = session.line.words;
    const auto at = std::ranges::find(words, option);
    const bool empty = (at != words.end() && at + 1 != words.end() && (at + 1)->empty()) ||
                       std::ranges::find(words, std::string(option) + "=") != words.end();
    if (empty) complain(session, "E0522", fmt::format("`{}` needs the name of a file", option), option);
  }
  needs(!options.max_regression.empty(), "--max-regression", options.max_regression);
  needs(!options.accept.empty(), "--accept", options.accept.empty() ? "" : options.accept.back());
  for (const auto* form : {"github", "junit"})
    needs(options.format == form, fmt::format("--format {}", form), options.format);
  return !session.diagnostics.has_errors();
}

bool gate(Session& session, std::vector<Compared>& all) {
  if (session.options.baseline.empty() && session.options.save_baseline.empty()) return true;
  check_machines(session, all);
  auto rows = held_rows(session, all);
  if (session.diagnostics.has_errors() || !distinct(session, rows)) return false;
  if (!session.options.baseline.empty()) {
    const auto baselines = read_baselines(session);
    if (!baselines) return false;
    check_version(session, *baselines);
    for (auto& held : rows) compare_with(session, *baselines, held);
    if (session.diagnostics.has_errors()) return false;
    tell_unused(session, *baselines, rows);
    for (const auto& held : rows) held.comparison->gates.push_back(held.gate);
  }
  if (!session.options.save_baseline.empty()) save_rows(session, rows);
  return !session.diagnostics.has_errors();
}

}  // namespace napkin::cli
