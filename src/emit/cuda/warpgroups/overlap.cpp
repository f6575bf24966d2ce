// Prints products that are issued before earlier ones are waited for. A warpgroup's turn at the matrix units is a named
// barrier: all lanes of the warpgroup wait there, and the warpgroup before it arrives there.
#include "emit/cuda/warpgroups/overlap.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "derive/columns.hpp"
#include "emit/cuda/warps/tiles.hpp"

namespace napkin {

void OverlapPrinter::turn_words() {
  if (!warps_.not_as_planned.empty())
    out_.line(fmt::format("//   {:<24}  is planned, but cannot run: {}", napkin::words(warps_.planned),
                          warps_.not_as_planned));
  if (warps_.planned_blocks > 1)
    out_.line(fmt::format("//   {:<24}  co-resident on an SM{}",
                          fmt::format("{} block{}", warps_.blocks, warps_.blocks == 1 ? "" : "s"),
                          warps_.blocks == warps_.planned_blocks
                              ? ""
                              : fmt::format("; {} are planned, but do not fit", warps_.planned_blocks)));
  if (!warps_.step) return;
  std::string names;
  for (const auto* trailing : warps_.step->trailing)
    names += fmt::format("{}{}", names.empty() ? "" : ", ", page_.buffer(trailing->to));
  if (warps_.is_ping_pong())
    out_.line(fmt::format("//   {:<24}  one computes while another uses the tensor cores",
                          fmt::format("{} in ping-pong", warps_.step->warpgroups)));
  if (warps_.is_within())
    out_.line(fmt::format("//   {:<24}  products of {} overlap the other operations of the next iteration",
                          napkin::words(Overlap::intra_warpgroup), names));
}

// Turns

// The last warpgroup of those in ping-pong gives the first one its first turn.
void OverlapPrinter::begin_turns() {
  if (!warps_.is_ping_pong()) return;
  const auto warpgroups = warps_.step->warpgroups;
  const bool all = warpgroups == warps_.warps / warps_.issuing_warps;
  warpgroup_ = page_.pool.fresh("warpgroup"), turn_ = page_.pool.fresh("turn"),
  next_turn_ = page_.pool.fresh("next_turn");
  out_.line(fmt::format("const int {} = threadIdx.x / {};", warpgroup_, warps_.issuing_warps * lanes_of_warp));
  out_.line(fmt::format("const int {} = {} + 1;  // the named barrier where it waits for its turn", turn_, warpgroup_));
  out_.line(fmt::format("const int {} = {}({} + 1) % {} + 1;", next_turn_,
                        all ? "" : fmt::format("{0} / {1} * {1} + ", warpgroup_, warpgroups), warpgroup_, warpgroups));
  out_.line(
      fmt::format("if ({} % {} == {}) napkin_turn_give({});", warpgroup_, warpgroups, warpgroups - 1, next_turn_));
}
// The first warpgroup takes the last turn, so that none is left over.
void OverlapPrinter::end_turns() {
  if (!warps_.is_ping_pong()) return;
  out_.line(fmt::format("if ({} % {} == 0) napkin_turn_wait({});", warpgroup_, warps_.step->warpgroups, turn_));
}
void OverlapPrinter::take_turn() {
  if (warps_.is_ping_pong()) out_.line(fmt::format("napkin_turn_wait({});", turn_));
}
void OverlapPrinter::give_turn() {
  if (warps_.is_ping_pong()) out_.line(fmt::format("napkin_turn_give({});", next_turn_));
}

// Iterations

bool OverlapPrinter::leads(const Compute& compute) const {
  const auto& all = warps_.step->leading;
  return std::find(all.begin(), all.end(), &compute) != all.end();
}
void OverlapPrinter::load_tiles() {
  for (const auto id : tiles_of(round())) loaded(id);
}
// Issues the leading products as one commit group.
void OverlapPrinter::issue_leading() {
  for (const auto* leading : warps_.step->leading) {
    arrive(*leading);
    const auto from = out_.from(origin(page_.diagram, leading->column));
    out_.line(fmt::format("// {}", to_text(page_.diagram, leading->column)));
    columns_.prepare(product(leading));
    columns_.hold(product(leading));
    out_.line("napkin_warpgroup_fence();");
    columns_.issue(product(leading));
  }
  out_.line("napkin_warpgroup_commit();");
}
void OverlapPrinter::wait_for_leading(int left) {
  out_.line(fmt::format("napkin_warpgroup_wait<{}>();", left));
  for (const auto* leading : warps_.step->leading) columns_.arrived(product(leading));
}

bool OverlapPrinter::print_in_step(const Compute& compute) {
  const auto* known = warps_.step ? warps_.product(&compute) : nullptr;
  if (!known) return false;
  if (leads(compute)) return true;
  const bool first = &compute == warps_.step->trailing.front(), within = warps_.is_within();
  if (within && first) wait_for_last();
  prepare_trailing(*known);
  if (within) return true;
  if (first) take_turn();
  columns_.run(*known);
  return true;
}

// Without intra-warpgroup overlap

void OverlapPrinter::begin_round() {
  declare_buffers(round());
  load_tiles();
  issue_leading();
  give_turn();
  wait_for_leading(0);
}

// With intra-warpgroup overlap

// The leading products of a piece are issued before the trailing ones of the piece before, which then overlap the
// columns of this piece. So the loop is entered with a piece whose leading products are done.
void OverlapPrinter::stream_within() {
  const auto& loop = *warps_.step->loop;
  const auto own = page_.own, shared = page_.shared;
  const auto begin = groups_.begin_name(loop.split.wire);
  const auto around = own[loop.split.wire.index];
  last_ = page_.pool.fresh(page_.wires[loop.split.wire.index] + "_last");
  groups_.enter(loop, begin);
  const auto skips = may_skip(loop) ? skip(loop, begin, around) : "";
  const auto first = skips.empty() ? around.begin : fmt::format("{}({})", skips, around.begin);
  out_.line(
      fmt::format("int {} = {}, {} = -1;  // the tile, and the stage that running products read", begin, first, last_));
  out_.open(fmt::format("if ({} < {})", begin, around.end));
  declare_buffers(round());
  for (const auto* some : {&warps_.step->leading, &warps_.step->trailing})
    for (const auto* each : *some) columns_.operands(product(each));
  lead(0);
  out_.open("for (;;)");
  round_within(begin, around, skips);
  out_.close();
  take_turn();
  issue_trailing();
  give_turn();
  arrive_trailing();
  out_.line(release(loop, last_));
  out_.close();
  on_their_way_.clear();
  page_.own = own;
  page_.shared = shared;
}
// `skips` names the function that finds the next piece that counts; empty if all pieces count.
void OverlapPrinter::round_within(const std::string& begin, const WirePiece& around, const std::string& skips) {
  const auto& loop = *warps_.step->loop;
  const auto next = page_.pool.fresh(begin + "_next"), after = fmt::format("{} + {}", begin, loop.split.size);
  groups_.declare_end(loop, begin, around);
  declare_copies([&](BufferId id) { return is_read_by_others(id); }, slot(loop));
  body(loop, begin, around);
  arrive_all();
  out_.line(fmt::format("{} = {};", last_, slot(loop)));
  advance(loop);
  out_.line(fmt::format("const int {} = {};", next, skips.empty() ? after : fmt::format("{}({})", skips, after)));
  out_.line(fmt::format("if ({} >= {}) break;", next, around.end));
  lead(1);
  out_.line(fmt::format("{} = {};", begin, next));
}
// Loads a piece and issues its leading products, with `behind` commit groups of the piece before issued after them.
void OverlapPrinter::lead(int behind) {
  load_tiles();
  take_turn();
  out_.open("");
  declare_copies([&](BufferId id) { return is_read_by(id, warps_.step->leading); }, slot(*warps_.step->loop));
  issue_leading();
  out_.close();
  if (behind > 0) issue_trailing();
  give_turn();
  wait_for_leading(behind);
}
void OverlapPrinter::issue_trailing() {
  for (const auto* trailing : warps_.step->trailing) columns_.hold(product(trailing));
  out_.line("napkin_warpgroup_fence();");
  out_.open("");
  declare_copies([&](BufferId id) { return is_read_by(id, warps_.step->trailing); }, last_);
  for (const auto* trailing : warps_.step->trailing) columns_.issue(product(trailing));
  out_.close();
  out_.line("napkin_warpgroup_commit();");
}
void OverlapPrinter::arrive_trailing() {
  out_.line("napkin_warpgroup_wait<0>();");
  for (const auto* trailing : warps_.step->trailing) columns_.arrived(product(trailing));
}
void OverlapPrinter::wait_for_last() {
  arrive_trailing();
  out_.line(fmt::format("if ({} >= 0) {}", last_, release(*warps_.step->loop, last_)));
}
// Prints the initial sum and the operand in registers. The tiles have arrived by the time the product is issued.
void OverlapPrinter::prepare_trailing(const Product& product) {
  arrive(*product.compute);
  const auto from = out_.from(origin(page_.diagram, product.compute->column));
  out_.line(fmt::format("// {}", to_text(page_.diagram, product.compute->column)));
  columns_.prepare(product);
}

// Declares pointers to the stage `number` of the wanted tiles.
template <class Wanted>
void OverlapPrinter::declare_copies(Wanted wanted, const std::string& number) {
  for (const auto id : tiles_of(round()))
    if (wanted(id)) point(id, copy_of(id, number, swizzle_pattern));
}
bool OverlapPrinter::reads(const Compute& compute, BufferId tile) const {
  return std::any_of(compute.reads.begin(), compute.reads.end(), [&](const auto& read) {
    return page_.is_input(nest_.at(read.second).array) && page_.staged(read.second) == tile;
  });
}
bool OverlapPrinter::is_read_by(BufferId tile, const std::vector<const Compute*>& some) const {
  return std::any_of(some.begin(), some.end(), [&](const Compute* compute) { return reads(*compute, tile); });
}
// Whether columns other than products read the tile.
bool OverlapPrinter::is_read_by_others(BufferId tile) const {
  const auto& steps = round().steps;
  return std::any_of(steps.begin(), steps.end(), [&](const LoopStatement& step) {
    const auto* compute = std::get_if<Compute>(&step.node);
    return compute && !warps_.product(compute) && reads(*compute, tile);
  });
}

}  // namespace napkin
