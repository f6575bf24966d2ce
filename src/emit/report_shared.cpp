// Ways to share a diagram among joined memories -> a table, which is best and why, and JSON.
#include "emit/report_shared.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "emit/report_quantity.hpp"
#include "emit/report_words.hpp"

namespace napkin::report {
namespace {

std::string words(Sharing how) {
  constexpr const char* all[] = {"apart", "all at once, then steps", "around, beside the steps", "parts, then merged"};
  return all[static_cast<std::size_t>(how)];
}

// What the fastest way has over another.
std::string advantage(const Shared& best, const Shared& other) {
  if (best.crossing_bytes < other.crossing_bytes) return "less crosses";
  if (best.crossing_bytes == other.crossing_bytes)
    return best.how == Sharing::rotated ? "as much crosses, but beside the steps" : "as much crosses";
  return best.how == Sharing::rotated ? "more crosses, but beside the steps" : "more crosses, but the rest takes less";
}

Table shared_table(const Analysis& analysis) {
  Table table{{{"way"}, {"partition", false, true}, {"crosses", true}, {"links", true}, {"time", true}}, {}};
  for (const auto& one : analysis.shared)
    table.rows.push_back({words(one.how), one.labels, moved(static_cast<double>(one.crossing_bytes)),
                          lasting(one.crossing_s), lasting(one.time_s)});
  return table;
}

std::string shared_text(const Analysis& analysis) {
  if (analysis.shared.size() < 2) return "";
  const auto& best = analysis.shared[0];
  std::vector<std::string> over;
  for (std::size_t i = 1; i < analysis.shared.size(); ++i)
    over.push_back(fmt::format("against {}: {}, {} less", words(analysis.shared[i].how),
                               advantage(best, analysis.shared[i]), lasting(analysis.shared[i].time_s - best.time_s)));
  return fmt::format("{} is fastest; {}", words(best.how), join(over, "; "));
}

}  // namespace

void add_shared(Document& made, const Analysis& analysis) {
  if (analysis.shared.empty()) return;
  const auto& hardware = analysis.hardware;
  const auto joined = std::ranges::find_if(hardware.levels, &Level::together);
  const auto& unit = std::next(joined)->unit;
  made.blocks.push_back(Heading{2, fmt::format("shared by {} {}s", std::next(joined)->count, unit), ""});
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
