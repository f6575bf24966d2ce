// Partitions that trade time against memory and against transfers.
#include <fmt/format.h>

#include <algorithm>

#include "chart/kinds.hpp"
#include "chart/sheet.hpp"
#include "text/quantity.hpp"

namespace napkin::chart {
namespace {

constexpr double plot_width = 560, plot_height = 240;

struct Traded {
  double seconds, held, moved;
  std::string partition;
};
struct Trades {
  std::string level, from;
  bool in_values;
  std::vector<Traded> all;  // sorted, the fastest first
};

Trades trades(const Front& front, const Hardware& hardware) {
  const auto& level = hardware.levels.at(front.level);
  Trades made{level.name, hardware.levels.at(front.level - 1).name, level.in_values, {}};
  for (const auto& one : front.candidates) {
    const auto& cost = one.cost.levels.at(front.level - 1);
    if (!one.cost.time_s) continue;
    made.all.push_back({*one.cost.time_s, static_cast<double>(level.in_values ? cost.memory_values : cost.memory_bytes),
                        static_cast<double>(level.in_values ? cost.transfer_values : cost.transfer_bytes),
                        to_text(one.kernel.partition, one.kernel.derivation->scratch, hardware)});
  }
  return made;
}

double most(const Trades& trades, double Traded::*what) { return std::ranges::max(trades.all, {}, what).*what; }
double least(const Trades& trades, double Traded::*what) { return std::ranges::min(trades.all, {}, what).*what; }

void draw(Sheet& sheet, const Trades& trades, double Traded::*what, const Scale& across,
          const std::function<std::string(double)>& words, const std::string& title) {
  const double top = sheet.y + 52, bottom = top + plot_height;
  const auto up = decades(least(trades, &Traded::seconds), most(trades, &Traded::seconds), bottom, top);
  sheet.axis_below(across, top, bottom, words, title);
  sheet.axis_beside(up, across.begin, across.end, lasting, "time");
  for (auto i = trades.all.size(); i-- > 0;) {
    const auto& one = trades.all[i];
    const auto about = fmt::format("{}: {}, {}", one.partition, lasting(one.seconds), words(one.*what));
    sheet.add(MarkKind::point, Line{{{across.at(one.*what), up.at(one.seconds)}}},
              {i == 0 ? series_of_results : series_of_losses, "", about});
  }
  const auto& fastest = trades.all.front();
  constexpr double half_word = 24;
  // Words stay between the ends of the axis.
  const double x = std::clamp(across.at(fastest.*what), across.begin + half_word, across.end - half_word);
  sheet.write_near(MarkKind::label, {x, up.at(fastest.seconds) + 14}, Anchor::middle, "fastest", 15);
  sheet.y = bottom + 52;
}

void draw(Sheet& sheet, const Trades& trades) {
  const auto memory = [&](double n) { return trades.in_values ? counted(n) : held(n); };
  const auto transfers = [&](double n) { return trades.in_values ? counted(n) : moved(n); };
  const double begin = margin + 80, end = begin + plot_width;
  draw(sheet, trades, &Traded::held, from_zero(most(trades, &Traded::held), begin, end, trades.in_values ? 10 : 2),
       memory, fmt::format("held by one tile in {}", trades.level));
  draw(sheet, trades, &Traded::moved, decades(least(trades, &Traded::moved), most(trades, &Traded::moved), begin, end),
       transfers, fmt::format("moved between {} and {}", trades.from, trades.level));
}

}  // namespace

std::optional<Chart> front(const Charted& charted) {
  Data data{{"kernel", "partition", "time_s", "held", "moved"}, {}};
  Sheet sheet("trade-offs of " + charted.title);
  for (const auto& one : charted.kernels) {
    if (!one.explored) continue;
    const auto all = trades(one.explored->front, charted.hardware);
    if (all.all.empty()) continue;
    for (const auto& trade : all.all)
      data.rows.push_back({kernel_name(one), trade.partition, trade.seconds, trade.held, trade.moved});
    const auto& front = one.explored->front;
    sheet.head(fmt::format("kernel {}: no other partition is more than {:.0f} % better than {} in all respects{}",
                           kernel_name(one), 100 * front.tolerance,
                           all.all.size() == 1 ? "this one" : fmt::format("one of these {}", all.all.size()),
                           front.complete ? "" : "; not proven, because the search gave up"));
    draw(sheet, all);
  }
  if (data.rows.empty()) return std::nullopt;
  return sheet.end("front", std::move(data));
}

}  // namespace napkin::chart
