// Prints closed forms as rows of words and as JSON.
#include "report/closed_form.hpp"

#include <fmt/format.h>

#include <tuple>

#include "report/quantity.hpp"
#include "report/words.hpp"

namespace napkin::report {
namespace {

std::string whole_text(const WholePieces& whole) {
  std::vector<std::string> pieces;
  for (const auto& [piece, size] : whole.pieces) pieces.push_back(fmt::format("{} = {}", piece, size));
  return fmt::format("best integer tile: {}; it moves {} values if tiles divide evenly", join(pieces),
                     counted(whole.values));
}

std::string room_text(const Level& level, double room) { return level.in_values ? values(room) : held(room); }

std::string length_text(const Balance::AxisLength& length, const Level& level) {
  const auto words = [](const std::optional<double>& size) {
    return size ? "at least " + ratio(*size) : std::string("no length is enough");
  };
  return fmt::format("{}: {} ({} in {})", length.axis, words(length.in_any_room), words(length.in_this_room),
                     room_text(level, level.room()));
}

std::string balance_text(const Balance& balance, const Level& level) {
  std::vector<std::string> needs;
  if (balance.least_room) needs.push_back("capacity: at least " + room_text(level, *balance.least_room));
  for (const auto& length : balance.least_lengths) needs.push_back(length_text(length, level));
  auto text = fmt::format("{} {} operations per byte from the level above", ratio(balance.operations_per_byte),
                          name(balance.unit));
  return needs.empty() ? text : fmt::format("{}; for operations to be the bound: {}", text, join(needs));
}

std::string siblings_text(const Gains::Siblings& siblings, const Level& level) {
  return fmt::format("{} {}s that multicast their loads save {:.1f} %", siblings.count, level.unit,
                     100 * siblings.saved);
}

// Gains in the time of the least transfers.
std::string gains_text(const Gains& gains, const Level& level) {
  std::vector<std::string> words;
  if (gains.half_the_bytes)
    words.push_back(fmt::format("values of half the bytes: {} times fewer transfers", ratio(*gains.half_the_bytes)));
  if (gains.twice_the_room)
    words.push_back(fmt::format("twice the capacity: {} times fewer transfers", ratio(*gains.twice_the_room)));
  for (const auto& siblings : gains.siblings) words.push_back(siblings_text(siblings, level));
  return join(words, "; ");
}

// The bound holds for all sizes of these splits within the capacity. Other splits may move less, and so may partitions
// that do not fit.
std::string bound_text(const KernelCost& cost) {
  const auto least = *cost.closed_form.bound_values;
  const auto here = static_cast<double>(cost.levels.front().transfer_values);
  const auto text =
      fmt::format("to leading order, no sizes of these splits that fit move fewer than {} values; ", counted(least));
  if (!cost.overruns.empty()) return text + fmt::format("these sizes do not fit, and move {}", counted(here));
  const auto times = ratio(here / least);
  return text + fmt::format("these sizes move {}{}", counted(here),
                            times == "1" ? "" : fmt::format(", {} times as many", times));
}

std::string every_program_text(const Level& level, const KernelCost& cost) {
  const auto& first = cost.levels.front();
  const auto words = [&](double number) { return level.in_values ? values(number) : moved(number); };
  const auto here = static_cast<double>(level.in_values ? first.transfer_values : first.transfer_bytes);
  const auto& [least, why] = std::tie(cost.every_program.moved, cost.every_program.why);
  if (!cost.overruns.empty())
    return fmt::format("every program that fits moves at least {} ({}); this one does not fit, and moves {}",
                       words(least), why, words(here));
  return fmt::format("every program moves at least {} ({}); this one moves {} times as much", words(least), why,
                     ratio(here / least));
}

Json term_json(const ClosedTerm& term) {
  return {{"alpha", term.alpha},
          {"beta", term.beta},
          {"alpha_value", term.alpha_value > 0 ? number(term.alpha_value) : Json(nullptr)}};
}

Json whole_json(const WholePieces& whole) {
  auto pieces = Json::object();
  for (const auto& [piece, size] : whole.pieces) pieces[piece] = size;
  return {{"pieces", pieces}, {"values", number(whole.values)}};
}

Json balance_json(const Balance& balance, const Level& level) {
  auto lengths = Json::array();
  for (const auto& length : balance.least_lengths)
    lengths.push_back({{"axis", length.axis},
                       {"in_any_room", number(length.in_any_room)},
                       {"in_this_room", number(length.in_this_room)}});
  return {{"unit", name(balance.unit)},
          {"operations_per_byte", balance.operations_per_byte},
          {"least_room_bytes", level.in_values ? Json(nullptr) : number(balance.least_room)},
          {"least_room_values", level.in_values ? number(balance.least_room) : Json(nullptr)},
          {"least_lengths", lengths}};
}

Json gains_json(const Gains& gains) {
  auto all = Json::array();
  for (const auto& siblings : gains.siblings)
    all.push_back({{"count", siblings.count}, {"saved", siblings.saved}, {"saved_by_term", siblings.saved_by_term}});
  return {{"half_the_bytes", number(gains.half_the_bytes)},
          {"twice_the_room", number(gains.twice_the_room)},
          {"siblings", all}};
}

}  // namespace

Rows closed_form_rows(const Hardware& hardware, const KernelCost& cost) {
  const auto& form = cost.closed_form;
  Rows rows;
  const auto row = [&](const char* name, const std::string& text) {
    if (!text.empty()) rows.push_back({name, text});
  };
  row("H  =", form.H);
  row("M  =", form.M);
  row("H* =", form.H_star);
  if (!form.dropped.empty()) row("", "H* is to leading order: it ignores these terms of M: " + join(form.dropped));
  if (form.bound_values && !cost.levels.empty()) row("bound", bound_text(cost));
  if (!cost.levels.empty() && cost.every_program.moved > 0) row("proven", every_program_text(hardware.levels[1], cost));
  const auto& level = hardware.levels[1];
  if (form.whole) row("whole", whole_text(*form.whole));
  if (form.balance) row("balance", balance_text(*form.balance, level));
  row("gains", gains_text(form.gains, level));
  return rows;
}

Json closed_form_json(const Hardware& hardware, const ClosedForm& form) {
  auto terms = Json::array();
  for (const auto& term : form.terms) terms.push_back(term_json(term));
  return {{"H", form.H},
          {"M", form.M},
          {"H_star", form.H_star},
          {"terms", terms},
          {"dropped", form.dropped},
          {"whole", form.whole ? whole_json(*form.whole) : Json(nullptr)},
          {"balance", form.balance ? balance_json(*form.balance, hardware.levels[1]) : Json(nullptr)},
          {"gains", gains_json(form.gains)}};
}

}  // namespace napkin::report
