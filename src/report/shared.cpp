// Ways to share a diagram among joined memories: a table, the best way and its reason, and JSON.
#include "report/shared.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "report/analysis.hpp"
#include "report/quantity.hpp"
#include "report/words.hpp"

namespace napkin::report {
namespace {

std::string words(Sharing how) {
  constexpr const char* all[] = {"independent parts", "gather first, then iterate", "pass around while iterating",
                                 "merge partial results"};
  return all[static_cast<std::size_t>(how)];
}

// The advantage of the fastest way over another one.
std::string advantage(const Shared& best, const Shared& other) {
  if (best.crossing_bytes < other.crossing_bytes) return "fewer bytes cross the links";
  if (best.crossing_bytes == other.crossing_bytes)
    return best.how == Sharing::rotated ? "as many bytes cross, but while the kernel computes" : "as many bytes cross";
  return best.how == Sharing::rotated ? "more bytes cross, but while the kernel computes"
                                      : "more bytes cross, but the rest is faster";
}

std::size_t shared_level(const Hardware& hardware) {
  const auto joined = std::ranges::find_if(hardware.levels, &Level::together);
  return static_cast<std::size_t>(joined - hardware.levels.begin()) + 1;
}

// The partition of the user, next to the ways with equal parts; only its splits at that level.
std::optional<Shared> as_written(const Analysis& analysis) {
  if (!analysis.by_hand) return std::nullopt;
  const auto level = shared_level(analysis.hardware);
  Shared made;
  for (const auto& found : analysis.kernels) {
    const auto* one = reported(found);
    if (!one || !one->cost.time_s) return std::nullopt;
    made.crossing_bytes += one->cost.levels[level - 1].crossing_bytes.value_or(0);
    made.crossing_s += one->cost.levels[level - 1].time_s.value_or(0);
    made.time_s += *one->cost.time_s;
    Partition here;
    std::ranges::copy_if(one->kernel.partition.splits, std::back_inserter(here.splits),
                         [&](const Split& split) { return split.level == level; });
    if (made.labels.empty()) made.labels = to_text(here, one->kernel.derivation->scratch, analysis.hardware);
  }
  return made;
}

Table shared_table(const Analysis& analysis) {
  Table table{{{"way"}, {"partition", false, true}, {"crosses", true}, {"links", true}, {"time", true}}, {}};
  const auto add = [&](const std::string& way, const Shared& one) {
    table.rows.push_back({way, one.labels, moved(static_cast<double>(one.crossing_bytes)), lasting(one.crossing_s),
                          lasting(one.time_s)});
  };
  for (const auto& one : analysis.shared) add(words(one.how), one);
  if (const auto written = as_written(analysis)) add("as written", *written);
  return table;
}

std::string shared_text(const Analysis& analysis) {
  if (analysis.shared.size() < 2) return "";
  const auto& best = analysis.shared[0];
  std::vector<std::string> over;
  for (std::size_t i = 1; i < analysis.shared.size(); ++i)
    over.push_back(fmt::format("against \"{}\": {}, and it takes {} less", words(analysis.shared[i].how),
                               advantage(best, analysis.shared[i]), lasting(analysis.shared[i].time_s - best.time_s)));
  return fmt::format("\"{}\" is fastest; {}", words(best.how), join(over, "; "));
}

}  // namespace

void add_shared(Document& made, const Analysis& analysis) {
  if (analysis.shared.empty()) return;
  const auto& hardware = analysis.hardware;
  const auto& level = hardware.levels[shared_level(hardware)];
  made.blocks.push_back(Heading{2, fmt::format("shared by {} {}s", level.count, level.unit), ""});
  made.blocks.push_back(shared_table(analysis));
  made.blocks.push_back(Paragraph{shared_text(analysis)});
}

Json shared_json(const Analysis& analysis) {
  auto all = Json::array();
  for (const auto& one : analysis.shared)
    all.push_back({{"how", name(one.how)},
                   {"partition", one.labels},
                   {"crossing_bytes", one.crossing_bytes},
                   {"crossing_s", number(one.crossing_s)},
                   {"time_s", number(one.time_s)}});
  return all;
}

}  // namespace napkin::report
