// A nest of warps printed as a __global__ function: groups become code that decodes block and warp numbers, tiles are
// copied while the iteration before is computed, and columns run on fragments.
#include "emit/cuda/warps/warps.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "diagram/match.hpp"
#include "emit/cuda/nest.hpp"
#include "emit/cuda/warps/tiles.hpp"

namespace napkin {
namespace {

constexpr std::int64_t line_bytes = 128;  // the alignment of tiles

class WarpPrinter : NestPrinter {
 public:
  using NestPrinter::NestPrinter;

  PrintedKernel run(const std::string& name) {
    words(fmt::format("mma.sync {}", warps_.products.front().instruction->name), "");
    out_.line(fmt::format("__global__ void __launch_bounds__({}, {})", page_.kernel.threads, warps_.blocks));
    page_.open_function(name, nest_.inputs);
    declare_tiles();
    out_.line();
    groups_.blocks();
    lanes();
    warps();
    print(nest_.body, true);
    out_.close();
    return page_.printed(name);
  }

 private:
  bool is_pipelined(const For& loop) const {
    if (std::find(warps_.pipelined.begin(), warps_.pipelined.end(), &loop) == warps_.pipelined.end()) return false;
    const auto tiles = tiles_of(loop.body);
    return std::all_of(tiles.begin(), tiles.end(), [&](BufferId id) { return warps_.tiles.at(id).copies > 1; });
  }

  // Statements

  void print(const LoopBody& block, bool outermost) override {
    declare_buffers(block);
    for (const auto& step : block.steps)
      match(
          step.node,
          [&](const Load& load) {
            this->load(load, outermost);
            read_single(load);
          },
          [](const MaskTest&) {}, [&](const Compute& compute) { print(compute); },
          [&](const Save& save) { columns_.print(save); }, [&](const For& loop) { stream(loop, outermost); });
  }
  void print(const Compute& compute) {
    if (reads_tiles(compute)) arrive();
    columns_.print(compute);
  }
  bool reads_tiles(const Compute& compute) const {
    return std::any_of(compute.reads.begin(), compute.reads.end(),
                       [&](const auto& read) { return page_.is_input(nest_.at(read.second).array); });
  }

  // Tiles

  void load(const Load& load, bool outermost) {
    if (const auto tile = warps_.tiles.find(load.to); tile != warps_.tiles.end()) {
      if (tile->second.copies > 1) return;  // its loop loads it
      if (!outermost && on_their_way_.empty()) out_.line("__syncthreads();");
      copy(load.to, page_.buffer(load.to));
      out_.line("napkin_copy_commit();");
      on_their_way_.insert(load.to);
    }
    for (const auto& product : warps_.products)
      if (product.rows.kept && reads(product, load.to)) {
        arrive();
        columns_.keep(product);
      }
  }
  static bool reads(const Product& product, BufferId id) {
    return std::any_of(product.compute->reads.begin(), product.compute->reads.end(),
                       [&](const auto& read) { return read.first == product.rows.access && read.second == id; });
  }
  // Waits until all threads see the loaded tiles.
  void arrive() {
    if (on_their_way_.empty()) return;
    on_their_way_.clear();
    out_.line("napkin_copy_wait<0>();");
    out_.line("__syncthreads();");
  }

  void copy(BufferId id, const std::string& to) {
    const auto& buffer = nest_.at(id);
    const auto from = page_.from(id);
    const auto& tile = warps_.tiles.at(id);
    std::vector<std::string> at;
    for (const auto& index : buffer.at) at.push_back(corner(index, page_.shared, false));
    const auto left = [&](std::optional<std::size_t> k) {
      if (!k) return std::string("1");
      const auto past = corner(buffer.at[*k], page_.shared, true);
      page_.limit(buffer.at[*k], page_.shared);
      const auto begin = at[*k].find(' ') == std::string::npos ? at[*k] : "(" + at[*k] + ")";
      return begin == "0" ? past : fmt::format("{} - {}", past, begin);
    };
    const auto step = [&](std::optional<std::size_t> k) {
      const auto factors = k ? code_step(page_.diagram, page_.names, buffer.array, *k) : std::vector<std::string>();
      return factors.empty() ? std::string("1") : fmt::format("(long long){}", fmt::join(factors, " * "));
    };
    out_.line(fmt::format("napkin_load_tile<{}, {}, {}, {}, {}>({}, {}, {}, {}, {}, {});", tile.together,
                          tile.layout.rows, tile.layout.columns, tile.layout.bits, page_.kernel.threads, to,
                          page_.address(buffer.array, at), step(tile.row), step(tile.column), left(tile.row),
                          left(tile.column)));
  }

  // Streams

  void stream(const For& loop, bool outermost) {
    if (is_pipelined(loop)) return pipelined(loop, outermost);
    arrive();
    pieces(loop, [&](const WirePiece& around, const std::string& begin) { body(loop, begin, around); });
  }

  // Of n stages, n - 1 hold pieces to come: while one piece is computed, tiles are copied into the stage of the piece
  // before. The copies of a piece are one commit group, which is empty past the end, so the tiles of a piece have
  // arrived when n - 2 groups are still in flight.
  void pipelined(const For& loop, bool outermost) {
    const auto own = page_.own, shared = page_.shared;
    const auto begin = groups_.begin_name(loop.split.wire);
    const auto& around = own[loop.split.wire.index];
    groups_.enter(loop, begin);
    const auto copies = warps_.tiles.at(tiles_of(loop.body).front()).copies;
    const auto slot = page_.pool.fresh("slot"), next = page_.pool.fresh(begin + "_next");
    const Ahead ahead{loop, around, page_.pool.fresh("load_" + begin), may_skip(loop) ? skip(loop, begin, around) : ""};
    declare_load(ahead, begin, slot);
    if (!outermost) out_.line("__syncthreads();");
    const auto before = on_their_way_;
    auto pieces = begin_ahead(ahead, begin, copies - 1);
    const auto two = copies == 2;
    out_.open(fmt::format("for (int {0} = 0; {1} < {2}; {3})", slot, begin, around.end,
                          two ? slot + " ^= 1" : fmt::format("{0} = {0} == {1} ? 0 : {0} + 1", slot, copies - 1)));
    groups_.declare_end(loop, begin, around);
    out_.line(fmt::format("const int {} = {};", next, after(ahead, pieces.back())));
    out_.line(fmt::format("napkin_copy_wait<{}>();", copies - 2));
    out_.line("__syncthreads();");
    bring(ahead, next, two ? slot + " ^ 1" : fmt::format("{0} == 0 ? {1} : {0} - 1", slot, copies - 1));
    on_their_way_.clear();
    for (const auto id : tiles_of(loop.body)) point(id, copy_of(id, slot, line_bytes));
    body(loop, begin, around);
    pieces.push_back(next);
    for (std::size_t i = 0; i + 1 < pieces.size(); ++i) out_.line(fmt::format("{} = {};", pieces[i], pieces[i + 1]));
    out_.close();
    page_.own = own;
    page_.shared = shared;
    if (!may_skip(loop)) return;
    on_their_way_ = before;  // the case that all pieces were skipped
    arrive();
  }

  // A loop whose tiles are copied ahead, and the names of the functions that load a piece and that skip pieces by
  // masks.
  struct Ahead {
    const For& loop;
    const WirePiece& around;
    std::string load, advance;
  };
  void declare_load(const Ahead& ahead, const std::string& begin, const std::string& slot) {
    out_.open(fmt::format("const auto {} = [&](int {}, int {})", ahead.load, begin, slot));
    groups_.declare_end(ahead.loop, begin, ahead.around);
    for (const auto id : tiles_of(ahead.loop.body)) copy(id, copy_of(id, slot, line_bytes));
    out_.close("};");
  }
  // Starts loading the first pieces, before the loop begins, and returns their names.
  std::vector<std::string> begin_ahead(const Ahead& ahead, const std::string& begin, std::int64_t count) {
    std::vector<std::string> pieces = {begin};
    const auto& first = ahead.around.begin;
    out_.line(fmt::format("int {} = {};", begin, ahead.advance.empty() ? first : ahead.advance + "(" + first + ")"));
    bring(ahead, begin, "0");
    for (std::int64_t i = 1; i < count; ++i) {
      const auto piece = page_.pool.fresh(fmt::format("{}_{}", begin, i));
      out_.line(fmt::format("int {} = {};", piece, after(ahead, pieces.back())));
      bring(ahead, piece, fmt::format("{}", i));
      pieces.push_back(piece);
    }
    return pieces;
  }
  static std::string after(const Ahead& ahead, const std::string& piece) {
    const auto next = fmt::format("{} + {}", piece, ahead.loop.split.size);
    return ahead.advance.empty() ? next : fmt::format("{}({})", ahead.advance, next);
  }
  void bring(const Ahead& ahead, const std::string& piece, const std::string& slot) {
    out_.line(fmt::format("if ({} < {}) {}({}, {});", piece, ahead.around.end, ahead.load, piece, slot));
    out_.line("napkin_copy_commit();");
  }
};

}  // namespace

ThreadedKernel warp_launch(const WarpNest& warps, const Hardware& hardware) {
  return {.nest = *warps.nest,
          .hardware = hardware,
          .block_level = warps.block_level,
          .threads = warps.warps * static_cast<int>(lanes_of_warp),
          .shared_bytes = warps.shared_bytes};
}

PrintedKernel warp_kernel(const ThreadedKernel& launch, const WarpNest& warps, const CodeNames& names,
                          const std::string& name) {
  return WarpPrinter(launch, warps, names).run(name);
}

}  // namespace napkin
