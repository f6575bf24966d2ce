// The bytes that cross between the levels of memory, as bands from the outermost level to the units.
#include <fmt/format.h>

#include <algorithm>

#include "chart/kinds.hpp"
#include "chart/sheet.hpp"
#include "text/quantity.hpp"

namespace napkin {
namespace chart {
namespace {

constexpr double highest = 150;  // total height of all bands between two levels
constexpr double node = 12, slot_gap = 8;

// Bytes, or values if the level counts values.
double amount(const ArrayCost& array, bool in_values) {
  return static_cast<double>(in_values ? array.transfer_values : array.transfer_bytes);
}

std::string amount_words(double number, bool in_values) {
  return in_values ? counted(number) + " values" : moved(number);
}

std::string times_words(const ArrayCost& array) {
  const auto times = array.times < 99.95 ? fmt::format("{:.3g}", array.times) : fmt::format("{:.0f}", array.times);
  const auto often = times == "1" ? std::string("once") : times + " times";
  return fmt::format("{} {}", array.saved ? "written" : "read", often);
}

class Flow {
 public:
  Flow(const Charted& charted, Sheet& sheet) : charted_(charted), sheet_(sheet), series_(charted) {
    moves_ = most_bytes(charted) > 0;
    most_ = std::max(most_bytes(charted), charted.least_bytes);
    gap_ = std::min(300.0, 900.0 / static_cast<double>(std::max<std::size_t>(1, charted.hardware.levels.size() - 1)));
  }

  bool moves() const { return moves_; }

  void draw(const ChartedKernel& one, Data& data) {
    const auto name = kernel_name(one);
    sheet_.head(fmt::format("kernel {}", name));
    const double top = sheet_.y + line_height;
    double x = margin, bottom = top;
    std::vector<std::pair<double, std::string>> nodes = {{x, charted_.hardware.levels.front().name}};
    for (const auto& level : one.cost.levels) {
      bottom = std::max(bottom, bands(level, x + node, top));
      x += node + gap_;
      nodes.emplace_back(x, charted_.hardware.levels.at(level.level).name);
      add_rows(name, level, data);
    }
    bottom = std::max(bottom, units(one.cost, x + node + 12, top));
    for (const auto& [at, words] : nodes) {
      sheet_.write(MarkKind::label, {at, top - line_height}, Anchor::start, words, gap_);
      sheet_.add(MarkKind::frame, Area{at, top - 6, node, bottom - top + 6});
    }
    sheet_.y = bottom + 16;
  }

 private:
  bool in_values(const LevelCost& level) const { return charted_.hardware.levels.at(level.level).in_values; }

  // Draws the loaded arrays, then the saved ones; returns where they end.
  double bands(const LevelCost& level, double x, double y) {
    for (const bool saved : {false, true})
      for (const auto& array : level.arrays)
        if (array.saved == saved) y = band(array, in_values(level), x, y);
    return y;
  }

  double band(const ArrayCost& array, bool values, double x, double y) {
    const double all = amount(array, values);
    const double once = array.times > 1 ? all / array.times : all;
    const double high = all / most_ * highest, high_once = once / most_ * highest;
    const auto words = fmt::format("{} {} {}, {}", array.array, array.saved ? "←" : "→", amount_words(all, values),
                                   times_words(array));
    const Of of{series_(array.array), array.array, words};
    sheet_.write(MarkKind::label, {x + 8, y + 6}, Anchor::start, words, gap_ - 16, {{}, array.array});
    sheet_.add(MarkKind::again, Area{x, y + 15, gap_, high}, of);
    sheet_.add(MarkKind::bar, Area{x, y + 15, gap_, high_once}, of);
    return y + 15 + high + slot_gap;
  }

  double units(const KernelCost& cost, double x, double y) {
    for (const auto& unit : cost.units) {
      sheet_.write(MarkKind::label, {x, y + 6}, Anchor::start,
                   fmt::format("{} {} operations", name(unit.unit), counted(unit.operations)));
      y += line_height;
    }
    return y;
  }

  void add_rows(const std::string& kernel, const LevelCost& level, Data& data) const {
    const auto& levels = charted_.hardware.levels;
    for (const auto& array : level.arrays)
      data.rows.push_back({kernel, levels.at(level.level - 1).name, levels.at(level.level).name, array.array,
                           std::string(array.saved ? "saved" : "loaded"), static_cast<double>(array.transfer_values),
                           static_cast<double>(array.transfer_bytes), array.times});
  }

  const Charted& charted_;
  Sheet& sheet_;
  ArrayColours series_;
  bool moves_ = false;
  double most_ = 0, gap_ = 0;
};

}  // namespace
}  // namespace chart

double most_bytes(const Charted& charted) {
  double most = 0;
  for (const auto& one : charted.kernels)
    for (const auto& level : one.cost.levels) {
      double sum = 0;
      for (const auto& array : level.arrays)
        sum += chart::amount(array, charted.hardware.levels.at(level.level).in_values);
      most = std::max(most, sum);
    }
  return most;
}

namespace chart {

std::optional<Chart> transfers(const Charted& charted) {
  Sheet sheet("transfers of " + charted.title, 900);
  Flow flow(charted, sheet);
  if (!flow.moves()) return std::nullopt;
  Data data{{"kernel", "outer", "inner", "array", "way", "transfer_values", "transfer_bytes", "times"}, {}};
  for (const auto& one : charted.kernels) flow.draw(one, data);
  sheet.note(
      "The height of a band is the bytes that cross. The dark part crosses once, the light part is loaded again.");
  return sheet.end("transfers", std::move(data));
}

}  // namespace chart
}  // namespace napkin
