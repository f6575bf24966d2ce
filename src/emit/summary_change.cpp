// Page -> what could be changed, and what that gains: edits of the diagram, other tiles, other machines.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "emit/report_quantity.hpp"
#include "emit/report_tables.hpp"
#include "emit/report_words.hpp"
#include "emit/summary_page.hpp"

namespace napkin::page {

using namespace report;

namespace {

std::string percent(double now, double then) {
  const double change = std::round(100 * (then / now - 1));
  return change == 0 ? "0 %" : fmt::format("{:+.0f} %", change);
}

// "2x L2 bandwidth"
std::string doubled_words(const std::string& what) {
  const auto of = what.find(" of ");
  if (of != std::string::npos) return fmt::format("2x {} {}", memory_name(what.substr(of + 4)), what.substr(0, of));
  const std::string between = "bandwidth ";
  const auto to = what.find(" to ");
  if (!what.starts_with(between) || to == std::string::npos) return "2x " + what;
  if (what.starts_with(between + "gmem to ")) return "2x DRAM bandwidth";
  return fmt::format("2x {} -> {} bandwidth", memory_name(what.substr(between.size(), to - between.size())),
                     memory_name(what.substr(to + 4)));
}

// Of one kernel, by axis: what the next sizes of its tile take.
void list_pieces(Rows& rows, const Page& page) {
  const auto& kernel = page.kernels[page.longest];
  std::map<std::string, std::vector<std::string>> by_axis;
  std::vector<std::string> axes;
  for (const auto& piece : kernel.pieces) {
    auto& words = by_axis[piece.axis];
    if (words.empty()) axes.push_back(piece.axis);
    words.push_back(fmt::format("{}: {}", piece.size,
                                piece.time_s && kernel.time_s ? percent(*kernel.time_s, *piece.time_s) : "cannot run"));
  }
  std::vector<std::string> all;
  for (const auto& axis : axes) all.push_back(fmt::format("{} {}", axis, join(by_axis[axis])));
  if (!all.empty()) rows.push_back({"tile", fmt::format("{}", fmt::join(all, "; "))});
}

void list_divisions(Rows& rows, const Page& page) {
  for (const auto& one : page.divisions)
    if (one.time_undivided_s)
      rows.push_back({fmt::format("{} undivided", one.axis),
                      fmt::format("{} instead of {}: {} parts fill the {}s, one more kernel merges them",
                                  lasting(one.time_undivided_s), lasting(one.time_s), one.parts, page.core)});
}

void list_doubled(Rows& rows, const Page& page) {
  constexpr std::size_t most = 3;
  std::vector<std::string> words;
  for (const auto& one : page.doubled)
    if (words.size() < most)
      words.push_back(fmt::format("{}: {}", doubled_words(one.what), percent(*page.time_s, one.time_s)));
  if (!words.empty()) rows.push_back({"machine", fmt::format("{} (same tiles)", fmt::join(words, "; "))});
}

void list_mends(Rows& rows, const Page& page) {
  for (const auto& product : page.lost)
    if (!product.mend.empty())
      rows.push_back({"diagram", fmt::format("{}: {} then runs on tensor cores", product.mend, product.result)});
}

}  // namespace

Rows change_rows(const Page& page) {
  Rows rows;
  list_mends(rows, page);
  list_pieces(rows, page);
  list_divisions(rows, page);
  list_doubled(rows, page);
  return rows;
}

}  // namespace napkin::page
