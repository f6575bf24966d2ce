// Prints a threaded loop nest as a __global__ function: block and thread numbers are decoded into groups, streams
// become loops, tiles become cooperative loads into shared memory, and every column loops over the thread's own cells.
#include "emit/cuda/kernel.hpp"

#include <fmt/format.h>

#include <utility>

#include "diagram/match.hpp"
#include "emit/cuda/groups.hpp"
#include "emit/cuda/threads/columns.hpp"
#include "emit/cuda/threads/tiles.hpp"
#include "emit/shared/expression.hpp"
#include "emit/shared/types.hpp"
#include "text/quantity.hpp"

namespace napkin {
namespace {

class ThreadPrinter {
 public:
  ThreadPrinter(const ThreadedKernel& kernel, const CodeNames& names)
      : page_(kernel, names), out_(page_.out), nest_(page_.nest), groups_(page_), passing_(passing_outputs(page_)) {}

  PrintedKernel run(const std::string& name) {
    words();
    page_.open_function(name, 1, nest_.inputs);
    declare_tiles(page_);
    groups_.blocks();
    threads();
    print(nest_.body, true);
    out_.close();
    return page_.printed(name);
  }

 private:
  // Prints comments on what the function computes, and how.
  void words() {
    out_.line("// {}, by {} threads with {} of shared memory.", page_.outputs(), page_.kernel.threads,
              held(static_cast<double>(page_.kernel.shared_bytes)));
    groups_.describe("divided among the threads of the block");
  }

  void threads() {
    const auto groups = groups_.enter(false);
    page_.any_threads = !groups.empty() || !page_.kernel.spread.empty();
    if (page_.any_threads) out_.line("const int thread = threadIdx.x;");
    std::int64_t parts = 1;
    for (const auto& each : page_.kernel.spread) parts *= each.parts;
    for (const auto& each : groups) parts *= each.most();
    Digits digits("thread", parts);
    for (const auto& each : page_.kernel.spread) spread(each, digits.next(each.parts));
    for (const auto& each : groups) groups_.print(each, digits);
    for (std::uint32_t w = 0; w < page_.own.size(); ++w) only_position(w);
    if (page_.any_threads) out_.line();
  }
  void spread(const Spread& each, const std::string& number) {
    auto& piece = page_.own[each.wire.index];
    piece.number = page_.pool.fresh(page_.wires[each.wire.index] + "_share");
    out_.declare(piece.number, number,
                 fmt::format("{} of every {} of {}", each.share, each.step, page_.diagram.at(each.wire).name));
    piece.extent = pieces_of(piece.extent, each.step) * each.share;
    piece.step = each.step;
    piece.share = each.share;
  }
  // Declares the position of a wire with only one in the piece; threads past the end repeat the last position.
  void only_position(std::uint32_t w) {
    auto& piece = page_.own[w];
    if (piece.extent != 1 || piece.is_whole() || piece.is_spread()) return;
    out_.declare(page_.wires[w], piece.by_thread ? clamped(piece.begin, piece) : piece.begin);
    piece.position = page_.wires[w];
  }

  // Steps

  void print(const LoopBody& block, bool outermost) {
    page_.declare_buffers(
        block, [&](BufferId id) { return std::string(page_.type(id).own); }, [&](BufferId id) { return declared(id); });
    for (std::size_t i = 0; i < block.steps.size(); ++i)
      match(
          block.steps[i].node, [&](const Load&) { i = loads(block, i, outermost); },
          [&](const MaskTest& ask) { print_mask_test(page_, ask, asked_); },
          [&](const Compute& compute) { print_column(page_, passing_, compute); },
          [&](const Save& save) { print_save(page_, passing_, save); }, [&](const For& loop) { stream(loop); });
  }
  // Prints all consecutive loads, between barriers; returns the index of the last one.
  std::size_t loads(const LoopBody& block, std::size_t begin, bool outermost) {
    std::vector<BufferId> tiles;
    auto end = begin;
    for (; end < block.steps.size(); ++end) {
      const auto* load = std::get_if<Load>(&block.steps[end].node);
      if (!load) break;
      if (page_.kernel.staged.contains(load->to)) tiles.push_back(load->to);
    }
    load_tiles(page_, tiles, !outermost);
    return end - 1;
  }

  void stream(const For& loop) {
    groups_.stream(loop, [&](const WirePiece& around, const std::string&) {
      const auto& pieces = loop.split.level <= page_.kernel.block_level ? page_.shared : page_.own;
      for (const auto& needed : loop.needs)
        out_.line("if (!({})) continue;  // {} nowhere here", code_possible(needed, page_.names, ends(pieces)),
                  to_text(page_.diagram, needed));
      asked_ = pieces;
      if (around.is_spread()) share(loop.split.wire, around);
      print(loop.body, false);
    });
  }

  // Declares the thread's own part of a piece that is divided among threads.
  void share(WireId wire, const WirePiece& around) {
    auto& piece = page_.own[wire.index];
    const auto stream = piece;
    piece.begin = page_.begin_name(wire);
    piece.end = piece.begin + "_end";
    piece.extent = around.share;
    piece.by_thread = true;
    const auto distance = around.is_whole() ? stream.begin : fmt::format("({} - {})", stream.begin, around.begin);
    piece.slot =
        fmt::format("{} / {}{}", distance, around.step, around.share == 1 ? "" : fmt::format(" * {}", around.share));
    const auto offset = around.share == 1 ? around.number : fmt::format("{} * {}", around.number, around.share);
    out_.declare(piece.begin, fmt::format("{} + {}", stream.begin, offset));
    out_.declare(piece.end, fmt::format("min({} + {}, {})", piece.begin, around.share, stream.end));
    only_position(wire.index);
  }

  // One of the thread's own arrays.
  std::string declared(BufferId id) {
    const auto& buffer = nest_.at(id);
    if (buffer.level != page_.leaf() || page_.is_input(buffer.array) || passing_.contains(id)) return "";
    auto text = page_.buffer(id);
    for (const auto& index : buffer.at) page_.limit(index, page_.own);
    for (const auto wire : page_.diagram.at(buffer.array).wires)
      if (const auto extent = page_.own[wire.index].extent; extent > 1) text += fmt::format("[{}]", extent);
    return text;
  }

  Page page_;
  Lines& out_;
  const LoopNest& nest_;
  GroupPrinter groups_;
  const PassingOutputs passing_;
  WirePieces asked_;  // pieces at the innermost loop, over which mask tests loop
};

}  // namespace

CudaKernel thread_kernel(const Kernel& kernel, const CudaTarget& target, const std::string& name) {
  auto threaded = thread(kernel, target.hardware);
  threaded.shared_alignment = target.shared_alignment;
  auto printed = ThreadPrinter(threaded, target.names).run(name);
  return {std::move(threaded), std::move(printed)};
}

}  // namespace napkin
