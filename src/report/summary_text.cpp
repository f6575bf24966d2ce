// Prints a page as text: a heading, then sections with their titles in capitals at the margin.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/page/summary_page.hpp"
#include "report/quantity.hpp"
#include "report/words.hpp"
#include "text/escape.hpp"

namespace napkin::page {

using namespace report;
namespace {

constexpr std::size_t line_end = page_columns, margin = page_margin;

std::string counted_words(std::int64_t count, const std::string& unit) {
  return fmt::format("{} {}{}", count, unit, count == 1 ? "" : "s");
}

// Prints sections one below the other; lines that are too long are broken at spaces.
class Lines {
 public:
  Lines(bool color, std::size_t end) : color_(color), end_(end) {}
  void section(const std::string& title) { title_ = title, text_ += "\n"; }
  void add(const std::string& given, std::size_t further = 0) {
    const auto words = on_one_line(given);
    auto line = begun();
    std::size_t used = margin;
    for (std::size_t begin = 0; begin <= words.size();) {
      auto end = words.find(' ', begin);
      // Several spaces separate columns, so a line is not broken between them.
      while (end != std::string::npos && end + 1 < words.size() && words[end + 1] == ' ') ++end;
      end = std::min(end, words.size());
      const auto word = words.substr(begin, end - begin);
      if (used > margin + further && used + word.size() > end_) {
        close(line);
        line = std::string(margin + further, ' '), used = margin + further;
      }
      line += word + " ", used += word.size() + 1;
      begin = end + 1;
    }
    close(line);
  }
  // Text for copying stays on one line, however long.
  void copied(const std::string& words) { close(begun() + on_one_line(words)); }
  // A sentence under the heading.
  void head(const std::string& given) {
    const auto words = on_one_line(given);
    const auto cut = words.size() + 2 <= end_ ? std::string::npos : words.rfind(' ', end_ - 2);
    text_ += "  " + words.substr(0, cut) + "\n";
    if (cut != std::string::npos) text_ += "    " + words.substr(cut + 1) + "\n";
  }
  void raw(const std::string& line) { text_ += line + "\n"; }
  std::string text() && { return std::move(text_); }

 private:
  // The margin, with the section's title if this is its first line.
  std::string begun() {
    const auto title = std::exchange(title_, "");
    const auto shown = color_ && !title.empty() ? "\033[1m" + title + "\033[0m" : title;
    return shown + std::string(margin - std::min(margin, title.size()), ' ');
  }
  void close(const std::string& line) { text_ += line.substr(0, line.find_last_not_of(' ') + 1) + "\n"; }
  bool color_;
  std::size_t end_;
  std::string text_, title_;
};

std::string where_words(const std::string& bound, const std::string& core = "core") {
  if (bound == "idle cores") return fmt::format("idle {}s", core);
  const auto arrow = bound.find(" -> ");
  if (arrow == std::string::npos) return bound;
  return memory_name(bound.substr(0, arrow)) + " -> " + memory_name(bound.substr(arrow + 4));
}

// What limits the kernel that takes longest, and how much of the time the tensor cores are idle.
std::string bound_line(const Page& page) {
  const auto& longest = page.kernels[page.longest];
  const bool one = page.kernels.size() == 1 && page.of_plan > 1;
  auto text = fmt::format("{} {}, {}", lasting(page.time_s), page.overruns.empty() ? "predicted" : "if it fitted",
                          one ? fmt::format("kernel {} of {}", page.numbers[0], page.of_plan)
                              : counted_words(std::ssize(page.kernels), "kernel"));
  if (!longest.bound.empty()) text += ", bound by " + where_words(longest.bound);
  if (page.kernels.size() > 1) text += fmt::format(" (kernel {})", page.numbers[page.longest]);
  for (const auto& unit : page.units)
    if (unit.unit == Unit::tensor && *page.time_s > 0)
      text += fmt::format("; tensor cores idle {}", share(*page.time_s - unit.seconds, *page.time_s));
  return text;
}

std::string operation_words(const Operations& operations) {
  constexpr double worth_saying = 1.005;
  const auto executed = flop(operations.executed), useful = flop(operations.useful);
  if (operations.executed <= operations.useful * worth_saying || executed == useful)
    return useful + " needed and executed";
  return fmt::format("{} needed, {} executed", useful, executed);
}

// Reasons for repeated work: ": every group of d' computes S again"
std::string reason_words(const Page& page) {
  std::vector<std::string> all;
  for (const auto& kernel : page.kernels)
    for (const auto& reason : kernel.again)
      if (std::ranges::find(all, reason) == all.end()) all.push_back(reason);
  return all.empty() || page.operations.executed <= page.operations.useful * 1.005 ? "" : ": " + join(all);
}

std::string rate_line(const Page& page) {
  const double seconds = *page.time_s;
  if (page.of_products || std::ranges::any_of(page.lost, &MatrixProduct::lost)) {
    auto text = rate(page.operations.useful / seconds, "FLOP/s") + " useful";
    if (page.peak)
      text += fmt::format(", {} of the {} peak", share(page.operations.useful / seconds, *page.peak),
                          page.of_products ? "tensor" : "fma");
    return text + fmt::format(" ({}{})", operation_words(page.operations), reason_words(page));
  }
  auto text = fmt::format("{} of inputs and outputs", rate(page.compulsory_bytes / seconds, "B/s"));
  if (page.memory_peak)
    text += fmt::format(", {} of the DRAM peak", share(page.compulsory_bytes / seconds, *page.memory_peak));
  return text + fmt::format("; no matrix product ({})", operation_words(page.operations));
}

std::string shortened(const std::string& names) {
  constexpr std::size_t most = 24;
  if (names.size() <= most) return names;
  const auto end = names.rfind(", ", most - 5);
  return (end == std::string::npos ? names.substr(0, most - 5) : names.substr(0, end + 1)) + " ...";
}

void add_kernels(Lines& lines, const Page& page) {
  lines.section("KERNELS");
  std::size_t names = 0, bounds = 0;
  for (const auto& name : page.names) names = std::max(names, shortened(name).size());
  for (const auto& kernel : page.kernels) {
    bounds = std::max(bounds, where_words(kernel.bound).size());
  }
  for (std::size_t k = 0; k < page.kernels.size(); ++k) {
    const auto& kernel = page.kernels[k];
    lines.add(fmt::format("{} {:<{}}  {:>7} {:>5}  {:<{}}  {}", page.numbers[k], shortened(page.names[k]), names,
                          lasting(kernel.time_s), share(kernel.time_s.value_or(0), page.time_s.value_or(0)),
                          where_words(kernel.bound), bounds, kernel.tile.groups.empty() ? "whole" : kernel.tile.groups),
              2);
  }
}

std::string block_words(const Page& page, const BlockTile& tile) {
  auto text = fmt::format("{} on {}", counted_words(tile.blocks, "block"), counted_words(tile.cores, page.core));
  if (tile.waves > 0) {
    text += fmt::format(", {}", counted_words(tile.waves, "wave"));
    if (tile.last_wave_busy < 0.995) text += fmt::format(", the last {} full", share(tile.last_wave_busy, 1));
  }
  if (tile.cluster > 1) text += fmt::format("; clusters of {}", tile.cluster);
  return text;
}

std::string worker_words(const KernelSummary& kernel) {
  const auto& tile = kernel.tile;
  auto text = tile.warpgroups > 0 ? counted_words(tile.warpgroups, "warpgroup") : counted_words(tile.warps, "warp");
  if (tile.copies) text += tile.warpgroups == 1 ? " computes and one copies" : " compute and one copies";
  std::vector<std::string> names;
  for (const auto& product : kernel.products)
    if (!product.instruction.empty() && std::ranges::find(names, product.instruction) == names.end())
      names.push_back(product.instruction);
  if (!names.empty()) text += ", " + join(names);
  return tile.overlap.empty() ? text : text + "; " + tile.overlap;
}

std::string room_words(const Page& page, const BlockTile& tile) {
  std::vector<std::string> words;
  if (tile.registers_per_thread > 0) words.push_back(fmt::format("{} registers/thread", tile.registers_per_thread));
  if (tile.shared_bytes > 0)
    words.push_back(fmt::format("{} {}/block", held(static_cast<double>(tile.shared_bytes)), memory_name(page.memory)));
  if (tile.blocks_per_core > 0)
    words.push_back(fmt::format("{}/{} fit", counted_words(tile.blocks_per_core, "block"), page.core));
  return fmt::format("{}", fmt::join(words, "; "));
}

// The --partition text that reproduces the plan. If it is long, it has several lines, which a shell accepts.
void add_partition(Lines& lines, const std::string& partition) {
  if (partition.empty()) return;
  const std::string option = "--partition \"";
  if (margin + option.size() + partition.size() + 1 <= line_end) return lines.copied(option + partition + "\"");
  std::string left = partition;
  for (bool first = true; !left.empty(); first = false) {
    const auto bar = left.find(" | ");
    const auto part = left.substr(0, bar);
    left = bar == std::string::npos ? "" : left.substr(bar + 3);
    lines.copied((first ? option : std::string(option.size(), ' ')) + part + (left.empty() ? "\"" : " |"));
  }
}

void add_tile(Lines& lines, const Page& page) {
  const auto& kernel = page.kernels[page.longest];
  const auto& tile = kernel.tile;
  lines.section("TILE");
  auto text = tile.groups.empty() ? std::string("everything in one block") : tile.groups + " per block";
  if (!tile.streams.empty()) text += ", loop " + tile.streams;
  if (tile.warps > 0) text += ", " + counted_words(tile.stages, "stage");
  if (page.kernels.size() > 1) text += fmt::format(" (kernel {})", page.numbers[page.longest]);
  lines.add(text);
  lines.add(block_words(page, tile));
  if (tile.warps > 0) lines.add(worker_words(kernel));
  if (const auto room = room_words(page, tile); !room.empty()) lines.add(room);
  if (page.partition.empty()) return;
  if (page.kernels.size() < page.of_plan)
    lines.copied(fmt::format("its part of --partition: \"{}\"", page.partition));
  else if (page.kernels.size() > 2)
    lines.add("--partition: PLAN below has the text of all kernels, --kernel N the tile of each");
  else
    add_partition(lines, page.partition);
}

// The --partition text of a plan with many kernels is long and comes at the end of the page.
void add_plan(Lines& lines, const Page& page) {
  if (page.kernels.size() <= 2 || page.partition.empty()) return;
  lines.section("PLAN");
  add_partition(lines, page.partition);
}

void add_orders(Lines& lines, const Page& page) {
  if (page.orders.empty()) return;
  lines.section("ORDER");
  for (const auto& one : page.orders) lines.add(one, 2);
}

std::string marks(double part, double whole) {
  constexpr double length = 20;
  return std::string(static_cast<std::size_t>(std::max(0.0, std::round(length * part / whole))), '#');
}

void add_time(Lines& lines, const Page& page) {
  if (!page.time_s || *page.time_s <= 0 || page.causes.empty()) return;
  lines.section("TIME");
  std::size_t names = 0;
  for (const auto& cause : page.causes) names = std::max(names, where_words(cause.what, page.core).size());
  for (const auto& cause : page.causes)
    lines.add(fmt::format("{:<{}}  {:>8}  {:>5}  {}", where_words(cause.what, page.core), names, lasting(cause.seconds),
                          share(cause.seconds, *page.time_s), marks(cause.seconds, *page.time_s)));
}

// For example "K 134 MB (128x)"; the factor is omitted if the array moves once.
std::string array_words(const std::vector<Crossing::OfArray>& arrays) {
  constexpr double once = 1.005;
  constexpr std::size_t most = 3;
  if (arrays.empty()) return "operands of instructions";
  if (std::ranges::all_of(arrays, [](const auto& one) { return one.times <= once; })) return "each array once";
  std::vector<std::string> words;
  for (const auto& one : arrays) {
    if (words.size() == most) return join(words) + ", ...";
    words.push_back(fmt::format("{}{} {}", one.array, one.saved ? " out" : "", moved(one.bytes)) +
                    (one.times > once ? fmt::format(" ({}x)", ratio(one.times)) : ""));
  }
  return join(words);
}

void add_traffic(Lines& lines, const Page& page) {
  if (page.traffic.empty()) return;
  lines.section("TRAFFIC");
  std::size_t names = 7;
  const auto name_of = [](const Crossing& one) { return memory_name(one.from) + " -> " + memory_name(one.to); };
  for (const auto& one : page.traffic) names = std::max(names, name_of(one).size());
  for (const auto& one : page.traffic)
    lines.add(fmt::format("{:<{}}  {:>7}  {}", name_of(one), names, moved(one.bytes), array_words(one.arrays)),
              names + 11);
  if (page.kept.empty()) return;
  std::vector<std::string> words;
  double all = 0;
  for (const auto& [array, bytes] : page.kept) {
    all += bytes;
    if (words.size() < 3) words.push_back(array + " " + moved(bytes));
  }
  auto text = fmt::format("{:<{}}  {:>7}  {}{}", "on chip", names, moved(all), join(words),
                          page.kept.size() > words.size() ? ", ..." : "");
  if (page.unfused_s) text += fmt::format(" (unfused: {})", lasting(page.unfused_s));
  lines.add(text, names + 11);
}

std::string formula(const MatrixProduct& product) {
  return product.first.empty() ? product.result
                               : fmt::format("{} = {}*{}", product.result, product.first, product.second);
}

void add_operands(Lines& lines, const Page& page) {
  std::vector<const MatrixProduct*> products;
  for (const auto& kernel : page.kernels)
    for (const auto& product : kernel.products) products.push_back(&product);
  for (const auto& text : operand_words(products)) lines.add(text, 2);
}

void add_products(Lines& lines, const Page& page) {
  std::vector<std::pair<std::string, std::vector<std::string>>> by_instruction;
  for (const auto& kernel : page.kernels)
    for (const auto& product : kernel.products) {
      if (product.unit != Unit::tensor) continue;
      auto how = fmt::format("{} {}{}", product.instruction.empty() ? "tensor" : product.instruction,
                             row(product.type).name, product.parts > 1 ? " twice" : "");
      for (const auto& one : product.padded)
        how += fmt::format(", {} {} padded to {}", one.axis, one.size, one.computed);
      if (product.rows < product.of_rows) how += fmt::format(", {} of {} rows filled", product.rows, product.of_rows);
      const auto at = std::ranges::find(by_instruction, how, &std::pair<std::string, std::vector<std::string>>::first);
      auto& names =
          at == by_instruction.end() ? by_instruction.emplace_back(how, std::vector<std::string>()).second : at->second;
      if (const auto name = formula(product); std::ranges::find(names, name) == names.end()) names.push_back(name);
    }
  for (const auto& [how, names] : by_instruction) lines.add(fmt::format("{}: {}", how, join(names)), 2);
  add_operands(lines, page);
  for (const auto& product : page.lost)
    if (product.unit != Unit::tensor)
      lines.add(fmt::format("{} on {} lanes: {}", formula(product), name(product.unit), product.why), 2);
}

void add_units(Lines& lines, const Page& page) {
  lines.section("UNITS");
  std::string text;
  if (page.time_s && *page.time_s > 0)
    for (const auto& unit : page.units)
      text += fmt::format("{} {}   ", name(unit.unit), share(unit.seconds, *page.time_s));
  if (!text.empty()) lines.add(text + (page.kernels.size() > 1 ? "of the launches" : "of the launch"));
  add_products(lines, page);
}

void add_change(Lines& lines, const Page& page) {
  const auto rows = change_rows(page);
  if (rows.empty()) return;
  std::size_t names = 0;
  for (const auto& row : rows) names = std::max(names, row[0].size());
  lines.section("CHANGE");
  for (const auto& row : rows) lines.add(fmt::format("{:<{}}  {}", row[0], names, row[1]), names + 2);
}

void add_heading(Lines& lines, const Page& page, bool color) {
  const auto title = on_one_line(fmt::format("{} on {}", page.name, page.target));
  const auto facts = on_one_line(page.sizes + "   " + page.formats);
  const std::string proof = page.given_up ? "   not proven" : "";
  const auto bold = color ? "\033[1m" + title + "\033[0m" : title;
  if (title.size() + 4 + facts.size() + proof.size() <= line_end) return lines.raw(bold + "    " + facts + proof);
  lines.raw(bold + proof);
  lines.add(facts);
}

}  // namespace

std::string page_text(const Page& page, bool color, std::size_t width) {
  Lines lines(color, width);
  add_heading(lines, page, color);
  if (page.kernels.empty()) return std::move(lines).text();
  lines.raw("");
  for (const auto& overrun : page.overruns) lines.head("does not fit: " + overrun);
  if (page.time_s && *page.time_s > 0) {
    lines.head(bound_line(page));
    lines.head(rate_line(page));
  } else if (page.overruns.empty()) {
    lines.raw(fmt::format("  no time: the profile has no rates ({})", operation_words(page.operations)));
  }
  if (!page.proof.empty()) lines.head(page.proof);
  add_orders(lines, page);
  if (page.kernels.size() > 1) add_kernels(lines, page);
  add_tile(lines, page);
  add_time(lines, page);
  add_units(lines, page);
  add_change(lines, page);
  add_traffic(lines, page);
  add_plan(lines, page);
  lines.raw(page.of_plan > 1 ? "\nmore: --kernel N   --details   --explore   --format html"
                             : "\nmore: --details (tables, formulas, drawing)   --explore   --format html");
  return std::move(lines).text();
}

}  // namespace napkin::page
