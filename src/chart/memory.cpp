// The contents of the memories when they hold most: array after array, up to the capacity.
#include <fmt/format.h>

#include <algorithm>

#include "chart/kinds.hpp"
#include "chart/sheet.hpp"
#include "text/quantity.hpp"

namespace napkin::chart {
namespace {

constexpr double names_width = 190, bars_width = 440, bar_height = 14, row_height = 20;

class Map {
 public:
  Map(Sheet& sheet, const Charted& charted, Data& data)
      : sheet_(sheet), charted_(charted), data_(data), series_(charted) {}

  void draw(const ChartedKernel& one) {
    for (const auto& level : one.cost.levels)
      if (!level.held.empty()) draw(kernel_name(one), level);
  }

 private:
  void draw(const std::string& kernel, const LevelCost& cost) {
    const auto& level = charted_.hardware.levels.at(cost.level);
    const bool values = level.in_values;
    const auto words = [values](double n) { return values ? counted(n) : held(n); };
    double all = 0;
    for (const auto& array : cost.held) all += static_cast<double>(values ? array.values : array.bytes);
    sheet_.head(fmt::format("kernel {}: {} of one {}, {}{}", kernel, level.name,
                            level.unit.empty() ? "group" : level.unit, words(all),
                            cost.capacity ? " of " + words(*cost.capacity) : ""));
    const auto scale = from_zero(std::max(all, cost.capacity.value_or(0)), margin + names_width,
                                 margin + names_width + bars_width, values ? 10 : 2);
    const double top = sheet_.y, bottom = top + row_height * static_cast<double>(cost.held.size()) + 4;
    sheet_.axis_below(scale, top, bottom, words, values ? "values" : "bytes");
    if (cost.capacity) {
      const double x = scale.at(*cost.capacity);
      sheet_.add(MarkKind::limit, Line{{{x, top}, {x, bottom}}}, {{}, "", "capacity " + words(*cost.capacity)});
    }
    double before = 0;
    for (const auto& array : cost.held) {
      const auto size = static_cast<double>(values ? array.values : array.bytes);
      draw(array.array, before, size, scale, words(size));
      data_.rows.push_back({kernel, level.name, array.array, before, size,
                            cost.capacity ? Cell(*cost.capacity) : Cell(std::string()),
                            std::string(values ? "values" : "bytes")});
      before += size;
    }
    sheet_.y = bottom + 52;
  }

  void draw(const std::string& array, double before, double size, const Scale& scale, const std::string& words) {
    const double y = sheet_.y + row_height / 2, from = scale.at(before), to = scale.at(before + size);
    sheet_.write(MarkKind::label, {scale.begin - 8, y}, Anchor::end, array + "  " + words, names_width - 8,
                 {{}, array});
    sheet_.add(MarkKind::bar, Area{from, y - bar_height / 2, to - from, bar_height},
               {series_(array), array, array + " " + words});
    sheet_.y += row_height;
  }

  Sheet& sheet_;
  const Charted& charted_;
  Data& data_;
  ArrayColours series_;
};

}  // namespace

std::optional<Chart> memory(const Charted& charted) {
  Data data{{"kernel", "level", "array", "begin", "size", "capacity", "unit"}, {}};
  Sheet sheet("memory of " + charted.title);
  Map map(sheet, charted, data);
  for (const auto& one : charted.kernels) map.draw(one);
  if (data.rows.empty()) return std::nullopt;
  return sheet.end("memory", std::move(data));
}

}  // namespace napkin::chart
