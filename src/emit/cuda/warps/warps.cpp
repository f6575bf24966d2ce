// A nest of warps printed as a __global__ function: groups become code that decodes block and warp numbers, tiles are
// copied while the iteration before is computed, and columns run on fragments.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "diagram/contains.hpp"
#include "diagram/match.hpp"
#include "emit/cuda/kernel.hpp"
#include "emit/cuda/warps/buffers.hpp"
#include "emit/cuda/warps/columns.hpp"
#include "emit/cuda/warps/head.hpp"
#include "emit/cuda/warps/products.hpp"
#include "emit/cuda/warps/streams.hpp"

namespace napkin {
namespace {

class WarpPrinter {
 public:
  WarpPrinter(const ThreadedKernel& kernel, const WarpNest& warps, const CodeNames& names)
      : page_(kernel, warps, names), out_(page_.out), warps_(warps), groups_(page_), statements_(page_) {}

  PrintedKernel run(const std::string& name) {
    describe_warps(page_, groups_, fmt::format("mma.sync {}", warps_.products.front().instruction->name), "");
    page_.open_function(name, warps_.blocks, page_.nest.inputs);
    declare_shared_tiles(page_);
    out_.line();
    groups_.blocks();
    declare_lanes(page_);
    declare_warps(page_, groups_);
    print(page_.body(), true);
    out_.close();
    return page_.printed(name);
  }

 private:
  bool is_pipelined(const For& loop) const {
    if (!contains(warps_.pipelined, &loop)) return false;
    return std::ranges::all_of(warps_.tiles_loaded(loop.body),
                               [&](BufferId id) { return warps_.tiles.at(id).copies > 1; });
  }

  // Statements

  void print(const LoopBody& block, bool outermost) {
    declare_buffers(page_, block);
    for (const auto& step : block.steps)
      match(
          step.node,
          [&](const Load& load) {
            this->load(load, outermost);
            read_single(page_, load);
          },
          [](const MaskTest&) {}, [&](const Compute& compute) { print(compute); },
          [&](const Save& save) { print_save(statements_, save); }, [&](const For& loop) { stream(loop, outermost); });
  }
  void print(const Compute& compute) {
    if (!tiles_read(page_, compute).empty()) arrive();
    print_column(statements_, compute, [&](const Product& product) { print_product(statements_, product); });
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
      if (product.rows.kept && product.compute->read_from(product.rows.access) == load.to) {
        arrive();
        keep_operand(statements_, product);
      }
  }
  // Waits until all threads see the loaded tiles.
  void arrive() {
    if (on_their_way_.empty()) return;
    on_their_way_.clear();
    out_.line("napkin_copy_wait<0>();");
    out_.line("__syncthreads();");
  }

  // All threads of the block copy the tile together.
  void copy(BufferId id, const std::string& to) {
    const auto from = page_.from(id);
    const auto& array = page_.nest.at(id).array;
    const auto& tile = warps_.tiles.at(id);
    const auto at = corners(page_.nest.at(id).at, page_.shared);  // where the tile begins in the array
    out_.line("napkin_load_tile<{}, {}, {}, {}, {}>({}, {}, {}, {}, {}, {});", tile.together, tile.layout.rows,
              tile.layout.columns, tile.layout.bits, page_.kernel.threads, to, page_.address(array, at),
              step(array, tile.row), step(array, tile.column), left(id, tile.row, at), left(id, tile.column, at));
  }
  // The distance in memory from one place along the dimension to the next.
  std::string step(ArrayId array, std::optional<std::size_t> dimension) const {
    if (!dimension) return "1";
    const auto factors = code_step(page_.diagram, page_.names, array, *dimension);
    return factors.empty() ? "1" : fmt::format("(long long){}", fmt::join(factors, " * "));
  }
  // How many places along the dimension are left from where the tile begins.
  std::string left(BufferId id, std::optional<std::size_t> dimension, const std::vector<std::string>& at) {
    if (!dimension) return "1";
    const auto& index = page_.nest.at(id).at[*dimension];
    const auto past = corner(index, page_.shared, true);
    page_.limit(index, page_.shared);
    return distance(past, at[*dimension]);
  }

  // Streams

  void stream(const For& loop, bool outermost) {
    if (is_pipelined(loop)) return pipelined(loop, outermost);
    arrive();
    print_pieces(page_, groups_, loop,
                 [&](const WirePiece& around, const std::string& begin) { body(loop, begin, around); });
  }

  void body(const For& loop, const std::string& begin, const WirePiece& around) {
    const auto on_their_way = on_their_way_;
    print_piece(page_, loop, begin, around, [&] {
      on_their_way_ = on_their_way;
      print(loop.body, false);
    });
  }

  // A loop whose tiles are copied ahead: its first piece, its current stage, and the functions that load a piece and
  // that skip pieces by masks.
  struct Ahead {
    const For& loop;
    const WirePiece& around;
    std::int64_t copies;
    std::string begin, slot, load, skip;
  };
  // Of n stages, n - 1 hold pieces to come: while one piece is computed, tiles are copied into the stage of the piece
  // before. The copies of a piece are one commit group, which is empty past the end, so the tiles of a piece have
  // arrived when n - 2 groups are still in flight.
  void pipelined(const For& loop, bool outermost) {
    const auto before = on_their_way_;
    groups_.with_piece(loop, [&](const WirePiece& around, const std::string& begin) {
      const auto copies = warps_.tiles.at(warps_.tiles_loaded(loop.body).front()).copies;
      const auto slot = page_.pool.fresh("slot"), next = page_.pool.fresh(begin + "_next");
      const auto load = page_.pool.fresh("load_" + begin);
      const auto skip = declare_skip(page_, groups_, loop, begin, around);
      const Ahead ahead{loop, around, copies, begin, slot, load, skip};
      declare_load(ahead);
      if (!outermost) out_.line("__syncthreads();");
      iterate(ahead, begin_ahead(ahead), next);
    });
    if (!may_skip(loop)) return;
    on_their_way_ = before;  // the case that all pieces were skipped
    arrive();
  }
  void declare_load(const Ahead& ahead) {
    out_.open("const auto {} = [&](int {}, int {})", ahead.load, ahead.begin, ahead.slot);
    groups_.declare_end(ahead.loop, ahead.begin, ahead.around);
    for (const auto id : warps_.tiles_loaded(ahead.loop.body)) copy(id, stage_address(page_, id, ahead.slot));
    out_.close("};");
  }
  // Starts loading the first pieces, before the loop begins, and returns their names.
  std::vector<std::string> begin_ahead(const Ahead& ahead) {
    std::vector<std::string> pieces = {ahead.begin};
    out_.line("int {} = {};", ahead.begin, counting_piece(ahead.skip, ahead.around.begin));
    bring(ahead, ahead.begin, "0");
    for (std::int64_t i = 1; i + 1 < ahead.copies; ++i) {
      const auto piece = page_.pool.fresh(fmt::format("{}_{}", ahead.begin, i));
      out_.line("int {} = {};", piece, after(ahead, pieces.back()));
      bring(ahead, piece, fmt::format("{}", i));
      pieces.push_back(piece);
    }
    return pieces;
  }
  // Prints the loop. `pieces` are those that are loaded when an iteration begins, and `next` is the one after them.
  void iterate(const Ahead& ahead, std::vector<std::string> pieces, const std::string& next) {
    const auto& [loop, around, copies, begin, slot, load, skip] = ahead;
    const bool two = copies == 2;
    out_.open("for (int {0} = 0; {1} < {2}; {3})", slot, begin, around.end,
              two ? slot + " ^= 1" : fmt::format("{0} = {0} == {1} ? 0 : {0} + 1", slot, copies - 1));
    groups_.declare_end(loop, begin, around);
    out_.line("const int {} = {};", next, after(ahead, pieces.back()));
    out_.line("napkin_copy_wait<{}>();", copies - 2);
    out_.line("__syncthreads();");
    bring(ahead, next, two ? slot + " ^ 1" : fmt::format("{0} == 0 ? {1} : {0} - 1", slot, copies - 1));
    on_their_way_.clear();
    declare_stages(page_, warps_.tiles_loaded(loop.body), slot);
    body(loop, begin, around);
    pieces.push_back(next);
    for (std::size_t i = 0; i + 1 < pieces.size(); ++i) out_.line("{} = {};", pieces[i], pieces[i + 1]);
    out_.close();
  }
  static std::string after(const Ahead& ahead, const std::string& piece) {
    return counting_piece(ahead.skip, fmt::format("{} + {}", piece, ahead.loop.split.size));
  }
  void bring(const Ahead& ahead, const std::string& piece, const std::string& slot) {
    out_.line("if ({} < {}) {}({}, {});", piece, ahead.around.end, ahead.load, piece, slot);
    out_.line("napkin_copy_commit();");
  }

  FragmentPage page_;
  Lines& out_;
  const WarpNest& warps_;
  GroupPrinter groups_;
  FragmentStatements statements_;
  std::set<BufferId> on_their_way_;  // tiles whose loads nobody has waited for yet
};

}  // namespace

CudaKernel warp_kernel(const WarpNest& warps, const CudaTarget& target, const std::string& name) {
  return printed_by<WarpPrinter>(warps, target, name, warps.warps);
}

}  // namespace napkin
