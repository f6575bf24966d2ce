// The parts of kernels on matrix units that do not depend on which threads copy tiles.
#include "emit/cuda/nest.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "emit/cuda/warps/tiles.hpp"
#include "emit/shared/expression.hpp"
#include "emit/shared/types.hpp"
#include "text/quantity.hpp"

namespace napkin {

NestPrinter::NestPrinter(const ThreadedKernel& kernel, const WarpNest& warps, const CodeNames& names)
    : page_(kernel, names), out_(page_.out), warps_(warps), nest_(*warps.nest), groups_(page_), columns_(page_, warps) {
  each_step(nest_.body, [&](const LoopStatement& step) {
    if (const auto* ask = std::get_if<MaskTest>(&step.node)) asked_.insert(ask->tile);
  });
  limit_undivided();
}
// Tiles and fragments have the planned extent of a wire that nothing splits, so the wire must not be longer.
void NestPrinter::limit_undivided() {
  std::set<WireId> cut;
  for (const auto& group : nest_.groups) cut.insert(group.wire);
  each_step(nest_.body, [&](const LoopStatement& step) {
    if (const auto* loop = std::get_if<For>(&step.node)) cut.insert(loop->split.wire);
  });
  for (const auto& buffer : nest_.buffers)
    for (const auto& index : buffer.at)
      for (const auto& term : index.terms)
        if (!cut.contains(term.first)) page_.limit(term.first);
}

// The kernel's head

// `by` names the instructions, and `filled` says which threads fill the pipeline stages of tiles.
void NestPrinter::words(const std::string& by, const std::string& filled) {
  out_.line(fmt::format("// {}, by {} warps with {} of shared memory, products by {}.", page_.outputs(), warps_.warps,
                        held(static_cast<double>(warps_.shared_bytes)), by));
  out_.line(fmt::format(
      "// Planned registers of a thread: {}, of which {} for values and operands and {} for the rest; at most {}.",
      warps_.registers, warps_.registers - warps_.registers_beside, warps_.registers_beside, warps_.most_registers));
  constexpr auto rows = accumulator_tile.rows;
  const auto of_warps = [&](const Split& group) {
    return warps_.issuing_warps > 1 && group.size > rows
               ? fmt::format("for each warp, {} of every {}", rows, rows * warps_.issuing_warps)
               : std::string("one tile for each warp");
  };
  for (const auto& group : nest_.groups)
    out_.line(fmt::format("//   {:<24}  {}", groups_.words(group),
                          !groups_.is_block(group)
                              ? of_warps(group)
                              : std::string(warps_.scheduler.persistent ? "each block takes one tile at a time"
                                                                        : "one tile for each block")));
  print_streams(nest_.body, filled);
}
void NestPrinter::print_streams(const LoopBody& block, const std::string& filled) {
  for (const auto& step : block.steps)
    if (const auto* loop = std::get_if<For>(&step.node)) {
      std::int64_t copies = 1;
      for (const auto id : tiles_of(loop->body)) copies = std::max(copies, warps_.tiles.at(id).copies);
      const auto ahead = copies > 1 ? fmt::format(", {} stages{}", copies, filled) : "";
      out_.line(fmt::format("//   {:<24}  one tile after another{}", groups_.words(loop->split), ahead));
      print_streams(loop->body, filled);
    }
}

void NestPrinter::declare_tiles() {
  page_.declare_shared();
  for (const auto& [id, tile] : warps_.tiles)
    page_.declare_in_shared(page_.storage(nest_.at(id).array), page_.buffer(id), tile.begin,
                            fmt::format("{}[{}][{}]", tile.copies > 1 ? fmt::format("[{}]", tile.copies) : "",
                                        tile.layout.rows, tile.layout.columns));
}

void NestPrinter::lanes() {
  const auto& lanes = columns_.lanes;
  out_.declare(lanes.warp, fmt::format("threadIdx.x / {}", lanes_of_warp));
  out_.declare(lanes.lane, fmt::format("threadIdx.x % {}", lanes_of_warp));
  out_.declare(lanes.group, fmt::format("{} / {}", lanes.lane, accumulator_tile.quads()),
               "the lane's rows of fragments");
  out_.declare(lanes.quad, fmt::format("{} % {}", lanes.lane, accumulator_tile.quads()), "and its columns");
}
void NestPrinter::warps() {
  const auto& lanes = columns_.lanes;
  const auto groups = groups_.enter(false);
  std::int64_t faster = warps_.warps;
  for (const auto& each : groups) {
    const bool slowest = faster == warps_.warps;
    faster /= each.most();
    auto number = faster == 1 ? lanes.warp : fmt::format("{} / {}", lanes.warp, faster);
    if (!slowest) number += fmt::format(" % {}", each.most());
    if (each.around.is_whole()) page_.limit(each.group->wire);
    if (warps_.issuing_warps > 1 && each.group->size > accumulator_tile.rows) {
      rows_of_warpgroup(each);
      continue;
    }
    groups_.print(each, each.group->size == 1 || number == lanes.warp ? number : "(" + number + ")");
  }
  for (std::uint32_t w = 0; w < page_.own.size(); ++w) only_position(w);
  out_.line();
}
// The rows of a warpgroup are consecutive. Each instruction covers the next rows, and each warp has one tile of them.
void NestPrinter::rows_of_warpgroup(const GroupPrinter::Entered& rows) {
  const auto together = accumulator_tile.rows * warps_.issuing_warps, all = rows.group->size * warps_.issuing_warps;
  const auto offset = fmt::format("{0} / {1} * {2} + {0} % {1} * {3}", columns_.lanes.warp, warps_.issuing_warps, all,
                                  accumulator_tile.rows);
  groups_.print(rows, offset, all - together + accumulator_tile.rows);
}
void NestPrinter::only_position(std::uint32_t w) {
  auto& piece = page_.own[w];
  if (piece.extent != 1 || piece.is_whole()) return;
  piece.position = piece.by_thread ? fmt::format("min({}, {} - 1)", piece.begin, piece.end) : piece.begin;
}

// Steps

void NestPrinter::declare_buffers(const LoopBody& block) {
  Page::NamesByType by_type;
  for (const auto id : block.buffers) {
    page_.enter_scope(id);
    if (columns_.is_stored(id)) by_type[type(id)].push_back(columns_.declared(id));
    const auto tile = warps_.tiles.find(id);
    if (tile != warps_.tiles.end() && tile->second.copies == 1) point(id, page_.buffer(id));
  }
  page_.declare(by_type);
}

void NestPrinter::point(BufferId id, const std::string& place) {
  out_.line(fmt::format("const {}* const {} = {};", page_.storage(nest_.at(id).array), tile_pointer(page_, id), place));
}

std::string NestPrinter::type(BufferId id) const {
  return std::string(warps_.is_integer(id) ? "int" : code_type(Language::cuda, nest_.at(id).type).own);
}

std::vector<BufferId> NestPrinter::tiles_of(const LoopBody& block) const {
  std::vector<BufferId> all;
  for (const auto& step : block.steps)
    if (const auto* load = std::get_if<Load>(&step.node); load && warps_.tiles.contains(load->to))
      all.push_back(load->to);
  return all;
}

// A single value of an array, read once for all threads of the block.
std::string NestPrinter::read_once(const Buffer& buffer, const std::vector<std::string>& at) const {
  return fmt::format("napkin_read_once<{}>({})", page_.kernel.threads, page_.address(buffer.array, at));
}
void NestPrinter::read_single(const Load& load) {
  const auto& buffer = nest_.at(load.to);
  if (buffer.level != page_.kernel.block_level || warps_.tiles.contains(load.to) || warps_.scheduler.cluster > 1 ||
      !columns_.is_single(load.to) || asked_.contains(load.to))
    return;
  std::vector<std::string> at;
  for (const auto& index : buffer.at) at.push_back(corner(index, page_.shared, false));
  const auto& name = columns_.single[load.to] = page_.pool.fresh(page_.buffer(load.to) + "_one");
  out_.line(
      fmt::format("[[maybe_unused]] const {} {} = {};", page_.storage(buffer.array), name, read_once(buffer, at)));
}

std::string NestPrinter::copy_of(BufferId id, const std::string& number, std::int64_t alignment) const {
  const auto& layout = warps_.tiles.at(id).layout;
  const auto step = round_up(layout.size_bytes(), alignment) / layout.bytes;
  return fmt::format("{} + {} * {}", page_.buffer(id), number, step);
}

// Streams

bool NestPrinter::may_skip(const For& loop) {
  return !loop.needs.empty() ||
         std::any_of(loop.body.steps.begin(), loop.body.steps.end(),
                     [](const LoopStatement& step) { return std::holds_alternative<MaskTest>(step.node); });
}
std::string NestPrinter::needed(const For& loop) {
  std::vector<std::string> all;
  for (const auto& each : loop.needs)
    all.push_back(fmt::format("({})", code_possible(each, page_.names, ends(page_.shared))));
  for (const auto& step : loop.body.steps)
    if (const auto* ask = std::get_if<MaskTest>(&step.node)) all.push_back(asked(*ask));
  return fmt::format("{}", fmt::join(all, " && "));
}
// All threads of the block read the mask in memory and compute the same answer.
std::string NestPrinter::asked(const MaskTest& ask) {
  const auto& buffer = nest_.at(ask.tile);
  const auto any = page_.begin_ask(ask);
  std::vector<std::string> at;
  int opened = 0;
  for (std::size_t k = 0; k < buffer.at.size(); ++k) {
    at.push_back(corner(buffer.at[k], page_.shared, false));
    if (buffer.extent[k] == 1) continue;
    const auto position = page_.pool.fresh("at");
    out_.loop(position, at.back(), corner(buffer.at[k], page_.shared, true));
    at.back() = position;
    ++opened;
  }
  out_.line(fmt::format("{0} = {1}{2} || {0};", any, ask.wanted ? "" : "!",
                        filled(code_type(Language::cuda, buffer.type).read, read_once(buffer, at))));
  out_.close(opened);
  return any;
}

std::string NestPrinter::skip(const For& loop, const std::string& begin, const WirePiece& around) {
  const auto name = page_.pool.fresh("needed_" + begin);
  out_.open(fmt::format("const auto {} = [&](int {})", name, begin));
  out_.open(fmt::format("for (; {0} < {1}; {0} += {2})", begin, around.end, loop.split.size));
  groups_.declare_end(loop, begin, around);
  out_.line(fmt::format("if ({}) break;", needed(loop)));
  out_.close();
  out_.line(fmt::format("return {};", begin));
  out_.close("};");
  return name;
}

void NestPrinter::pieces(const For& loop, const GroupPrinter::Inside& inside) {
  groups_.stream(loop, [&](const WirePiece& around, const std::string& begin) {
    if (may_skip(loop)) out_.line(fmt::format("if (!({})) continue;", needed(loop)));
    inside(around, begin);
  });
}

// Prints the body of a piece. If most pieces have no ragged end and no mask, it is printed twice, first without these
// tests.
void NestPrinter::body(const For& loop, const std::string& begin, const WirePiece& around) {
  const auto clear = clear_piece(loop, begin, around);
  if (clear.empty()) return print(loop.body, false);
  const auto on_their_way = on_their_way_;
  out_.open(fmt::format("if ({})", clear));
  const auto outer = columns_.set_clear(loop.split.wire);
  print(loop.body, false);
  columns_.set_clear(outer);
  out_.close("} else {");
  out_.deepen();
  on_their_way_ = on_their_way;
  print(loop.body, false);
  out_.close();
}
// The condition that a piece is whole and that its masks hold everywhere; empty if no column of the loop depends on
// that. All warps of the block must compute the same answer, because the body may contain barriers.
std::string NestPrinter::clear_piece(const For& loop, const std::string& begin, const WirePiece& around) const {
  std::vector<std::string> all = {fmt::format("{} + {} <= {}", begin, loop.split.size, around.end)};
  bool minds = false;
  for (const auto& step : loop.body.steps) {
    const auto* compute = std::get_if<Compute>(&step.node);
    if (!compute) continue;
    minds |= columns_.minds(*compute, loop.split.wire);
    for (const auto& mask : compute->masks) {
      const auto text = code_certain(mask, page_.names, ends(page_.shared));
      if (std::find(all.begin(), all.end(), text) == all.end()) all.push_back(text);
    }
  }
  return minds ? fmt::format("{}", fmt::join(all, " && ")) : "";
}
}  // namespace napkin
