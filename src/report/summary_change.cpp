// Lists possible changes of a page's plan and their gain: edits of the diagram, other tiles, other machines.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/orders/orders.hpp"
#include "report/page/summary_page.hpp"
#include "report/quantity.hpp"
#include "report/tables.hpp"
#include "report/words.hpp"

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

// For example "256, 320: cannot run (not enough registers)"; consecutive sizes with the same reason share it.
std::string pieces_words(const std::vector<const OtherPiece*>& pieces, double now) {
  std::vector<std::string> words;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const auto& piece = *pieces[i];
    const bool like_next =
        !piece.time_s && i + 1 < pieces.size() && !pieces[i + 1]->time_s && piece.why_not == pieces[i + 1]->why_not;
    const auto why = piece.why_not.empty() ? "" : fmt::format(" ({})", piece.why_not);
    words.push_back(std::to_string(piece.size) + (like_next      ? ""
                                                  : piece.time_s ? ": " + percent(now, *piece.time_s)
                                                                 : ": cannot run" + why));
  }
  return join(words);
}

// Lists, by split, the effect of the next tile sizes of the longest kernel.
void list_pieces(Rows& rows, const Page& page) {
  const auto& kernel = page.kernels[page.longest];
  std::vector<std::pair<std::string, std::vector<const OtherPiece*>>> by_split;
  for (const auto& piece : kernel.pieces) {
    const auto words = piece_words(kernel.pieces, piece);
    auto at = std::ranges::find(by_split, words, &std::pair<std::string, std::vector<const OtherPiece*>>::first);
    if (at == by_split.end()) at = by_split.insert(at, {words, {}});
    at->second.push_back(&piece);
  }
  std::vector<std::string> all;
  for (const auto& [words, pieces] : by_split)
    all.push_back(fmt::format("{} {}", words, pieces_words(pieces, kernel.time_s.value_or(0))));
  if (!all.empty()) rows.push_back({"tile", fmt::format("{}", fmt::join(all, "; "))});
}

void list_divisions(Rows& rows, const Page& page) {
  for (const auto& one : page.divisions)
    if (one.time_undivided_s)
      rows.push_back(
          {fmt::format("{} undivided", one.axis),
           fmt::format("{} instead of {}: {} parts fill the {}s, {} more {} them", lasting(one.time_undivided_s),
                       lasting(one.time_s), one.parts, page.core, one.merges == 1 ? "one" : std::to_string(one.merges),
                       one.merges == 1 ? "kernel merges" : "kernels merge")});
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
    if (!product.mend.title.empty())
      rows.push_back({"diagram", fmt::format("{}: {} then {}", product.mend.title, product.result,
                                             product.parts > 1 ? "takes one product on tensor cores in place of two"
                                                               : "runs on tensor cores")});
}

void list_orders(Rows& rows, const Page& page) {
  for (const auto& one : page.refused_orders) rows.push_back({"diagram", refused_order_words(one)});
}

void list_roundings(Rows& rows, const Page& page) {
  for (const auto& [axis, refused] : page.roundings)
    rows.push_back({"diagram", fmt::format("a rounding prevents a stream of {}: {}", axis, refusal(refused))});
}

}  // namespace

void find_roundings(Page& page, const Analysis& analysis) {
  std::vector<StatementId> all;
  for (std::uint32_t s = 0; s < analysis.written.statements.size(); ++s) all.push_back(StatementId{s});
  const auto derivation = derive(analysis.written, all);
  for (const auto& verdict : derivation.verdicts)
    if (const auto* refused = std::get_if<Refused>(&verdict.stream); refused && refused->of_a_cast)
      page.roundings.emplace_back(wire_name(derivation, verdict.wire), *refused);
}

Rows change_rows(const Page& page) {
  Rows rows;
  list_mends(rows, page);
  list_orders(rows, page);
  list_roundings(rows, page);
  list_pieces(rows, page);
  list_divisions(rows, page);
  list_doubled(rows, page);
  return rows;
}

}  // namespace napkin::page
