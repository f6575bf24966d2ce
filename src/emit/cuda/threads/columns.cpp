// Prints columns and saves of one thread as loops over its own cells.
#include "emit/cuda/threads/columns.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "diagram/contains.hpp"
#include "diagram/match.hpp"
#include "emit/cuda/threads/tiles.hpp"
#include "emit/shared/statements.hpp"
#include "emit/shared/types.hpp"

namespace napkin {
namespace {

// An array stays in registers only if all loops over it are unrolled. Loops with more cells, or more copies of the
// body, are not unrolled.
constexpr std::int64_t most_unrolled_cells = 256, most_unrolled = 1024;

// The position of one of the thread's cells if positions are spread over threads.
std::string spread_place(const WirePiece& piece, const std::string& counter) {
  return fmt::format("{1} / {3} * {2} + {0} * {3} + {1} % {3}", piece.number, counter, piece.step, piece.share);
}

// Finds outputs that are read, folded or saved later, and so cannot be stored directly when they are computed.
void study(const LoopBody& block, PassingOutputs& passing) {
  const Compute* last = nullptr;
  for (const auto& step : block.steps) {
    const auto* compute = std::get_if<Compute>(&step.node);
    match(
        step.node, [](const Load&) {}, [](const MaskTest&) {},
        [&](const Compute& column) {
          if (column.column.fold) passing.erase(column.to);
          if (column.carried) passing.erase(*column.carried);
          for (const auto& [access, id] : column.reads) passing.erase(id);
        },
        [&](const Save& save) {
          if (!last || last->to != save.from) passing.erase(save.from);
        },
        [&](const For& loop) { study(loop.body, passing); });
    // After another step or a second computation, the array cannot be stored directly.
    if (last && !compute && !std::holds_alternative<Save>(step.node)) passing.erase(last->to);
    if (last && compute) passing.erase(last->to);
    last = compute;
  }
  if (last) passing.erase(last->to);
}

// Every column loops over the thread's own cells. In ragged pieces, positions past the end are clamped to the last one,
// computed and not saved; folds stop at the end.
class ColumnPrinter : public StatementPrinter<Page, OpenLoops> {
 public:
  ColumnPrinter(Page& page, const PassingOutputs& passing) : StatementPrinter(page, {}), passing_(passing) {}

  void print(const Compute& compute) {
    const auto from = page_.from(compute);
    out_.line("// {}{}", to_text(page_.diagram, compute.column), extents(compute));
    if (!is_stored(compute.to))
      pass(compute);
    else if (compute.column.fold)
      fold(compute);
    else
      pointwise(compute);
  }

  void print(const Save& save) {
    const auto from = page_.from(save.from);
    const auto& buffer = page_.nest.at(save.from);
    if (buffer.level != page_.leaf() || !is_stored(save.from)) return;
    out_.line("// save {}", page_.diagram.at(buffer.array).name);
    OpenLoops here;
    const int opened = open_cells(page_.diagram.at(buffer.array).wires, Edge::guard, here);
    store(buffer.array, slot(save.from, here), here);
    out_.close(opened);
  }

  void print(const MaskTest& ask, const WirePieces& pieces) {
    const auto& buffer = page_.nest.at(ask.tile);
    const auto any = page_.begin_ask(ask);
    std::vector<std::string> at;
    for (std::size_t k = 0; k < buffer.at.size(); ++k) {
      at.push_back(fmt::format("at{}", k));
      out_.loop(at[k], corner(buffer.at[k], pieces, false), corner(buffer.at[k], pieces, true));
    }
    out_.line("{0} = {0} || {1}{2};", any, ask.wanted ? "" : "!", input_element(ask.tile, at).text);
    out_.close(static_cast<int>(at.size()));
    out_.line("if (!{}) continue;", any);
  }

 private:
  using Here = OpenLoops;
  enum class Edge { repeat, guard };  // what cells past the end do: repeat the last one, or nothing

  // Whether the buffer needs storage.
  bool is_stored(BufferId id) const { return !passing_.contains(id); }

  void pass(const Compute& compute) {
    Here here;
    const int opened = open_cells(wires(compute), Edge::guard, here);
    store(compute.column.output, value(compute, here), here);
    out_.close(opened);
  }

  void fold(const Compute& compute) {
    begin(compute);
    Here here;
    int opened = 0;
    auto unrolled = cells(wires(compute));
    for (const auto wire : compute.column.over) opened += open_fold(compute, wire, unrolled, here);
    opened += open_cells(compute, here);
    absorb(compute, slot(compute.to, here), here);
    out_.close(opened);
    round(compute);
  }

  // Loops

  int open_cells(const std::vector<WireId>& of, Edge past_end, Here& here) {
    const bool unroll = cells(of) <= most_unrolled_cells;
    int opened = 0;
    std::vector<std::string> guard;
    for (const auto wire : of) {
      const auto& piece = page_.own[wire.index];
      const bool single = piece.extent == 1 && !piece.is_spread();
      const auto& counter = here.counter[wire] = single ? "0" : page_.counters[wire.index];
      const auto& position = here.position[wire] = single ? piece.position : page_.wires[wire.index];
      page_.limit_whole(wire);
      if (single && piece.by_thread) guard.push_back(fmt::format("{} < {}", piece.begin, piece.end));
      if (single) continue;
      if (unroll) out_.line("#pragma unroll");
      out_.loop(counter, piece.extent);
      const auto place = sum(piece.begin, piece.is_spread() ? spread_place(piece, counter) : counter);
      out_.declare(position, past_end == Edge::guard ? place : clamped(place, piece));
      guard.push_back(fmt::format("{} < {}", position, piece.end));
      if (piece.is_spread())
        guard.push_back(
            fmt::format("{} * {} + {} % {} < {}", piece.number, piece.share, counter, piece.share, piece.step));
      ++opened;
    }
    if (!page_.any_threads) guard.push_back("threadIdx.x == 0");
    if (past_end == Edge::repeat || guard.empty()) return opened;
    out_.open("if ({})", joined(guard, " && "));
    return opened + 1;
  }

  int open_cells(const Compute& compute, Here& here) override {
    return open_cells(wires(compute), edge(compute.to), here);
  }

  // Opens a loop over one folded wire, with a constant length if that keeps an array of the thread in registers.
  int open_fold(const Compute& compute, WireId wire, std::int64_t& unrolled, Here& here) {
    const auto& piece = page_.own[wire.index];
    const auto& counter = page_.counters[wire.index];
    const auto& position = page_.wires[wire.index];
    const bool own = reads_own(compute, wire);
    if (piece.extent == 1 || own) page_.limit_whole(wire);
    if (piece.extent == 1) {
      here.position[wire] = piece.position;
      here.counter[wire] = "0";
      return 0;
    }
    here.position[wire] = position;
    if (!own || unrolled * piece.extent > most_unrolled) {
      here.counter[wire] = distance(position, piece.begin);
      out_.loop(position, piece.begin, piece.end);
      return 1;
    }
    unrolled *= piece.extent;
    here.counter[wire] = counter;
    out_.line("#pragma unroll");
    out_.loop(counter, piece.extent);
    out_.declare(position, sum(piece.begin, counter));
    out_.open("if ({} < {})", position, piece.end);
    return 2;
  }

  bool reads_own(const Compute& compute, WireId wire) const {
    return std::any_of(compute.reads.begin(), compute.reads.end(), [&](const auto& read) {
      const auto array = page_.nest.at(read.second).array;
      return !page_.is_input(array) && contains(page_.diagram.at(array).wires, wire);
    });
  }

  // Values

  // The element of a thread's own array that holds a cell.
  std::string slot(BufferId id, const std::vector<Index>& at, const Here& here) const {
    const auto& wires = page_.diagram.at(page_.nest.at(id).array).wires;
    std::string text = page_.buffer(id);
    for (std::size_t k = 0; k < wires.size(); ++k)
      if (page_.scope.at(id)[wires[k].index].extent > 1)
        text += fmt::format("[{}]", slot(page_.scope.at(id)[wires[k].index], wires[k], at[k], here));
    return text;
  }
  std::string slot(BufferId id, const Here& here) const override { return slot(id, page_.nest.at(id).at, here); }
  std::string slot(const WirePiece& scope, WireId wire, const Index& at, const Here& here) const {
    const auto& now = page_.own[wire.index];
    if (plain_wire(at) == wire && here.counter.contains(wire)) {
      if (scope.begin == now.begin) return here.counter.at(wire);
      if (scope.is_spread()) return here.counter.at(wire) == "0" ? now.slot : now.slot + " + " + here.counter.at(wire);
    }
    const auto place = code_index(at, [&](WireId w) { return here.position.at(w); });
    return distance(place, scope.begin);
  }
  // Cells past the end may repeat the last one, unless they would overwrite its element.
  Edge edge(BufferId id) const {
    for (const auto wire : page_.diagram.at(page_.nest.at(id).array).wires) {
      const auto& scope = page_.scope.at(id)[wire.index];
      if (scope.begin != page_.own[wire.index].begin && !scope.is_spread()) return Edge::guard;
    }
    return Edge::repeat;
  }

  Typed read(const Compute& compute, ExprId access_id, const Here& here) override {
    const auto& from = access(page_.diagram, access_id);
    const auto id = compute.read_from(access_id);
    if (!page_.is_input(from.array)) return {slot(id, from.at, here), NumberKind::real};
    return input_element(id, places(from.at, here));
  }

  // Reads from shared memory if the block's tile is there.
  Typed input_element(BufferId id, const std::vector<std::string>& at) const {
    id = page_.staged(id);
    const auto array = page_.nest.at(id).array;
    const auto element = page_.kernel.staged.contains(id) ? tile_element(page_, id, at) : page_.element(array, at);
    return page_.read(array, element);
  }

  const PassingOutputs& passing_;
};

}  // namespace

PassingOutputs passing_outputs(const Page& page) {
  PassingOutputs passing;
  for (const auto id : page.nest.outputs)
    for (std::uint32_t b = 0; b < page.nest.buffers.size(); ++b)
      if (page.nest.buffers[b].array == id && page.nest.buffers[b].level == page.leaf()) passing.insert({b});
  study(page.nest.body, passing);
  return passing;
}

void print_column(Page& page, const PassingOutputs& passing, const Compute& compute) {
  ColumnPrinter(page, passing).print(compute);
}
void print_save(Page& page, const PassingOutputs& passing, const Save& save) {
  ColumnPrinter(page, passing).print(save);
}
void print_mask_test(Page& page, const MaskTest& ask, const WirePieces& pieces) {
  ColumnPrinter(page, {}).print(ask, pieces);
}

}  // namespace napkin
