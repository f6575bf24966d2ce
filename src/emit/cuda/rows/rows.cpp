// Prints a nest of rows as a __global__ function: block and warp numbers are decoded into groups, rows and pieces are
// processed in order, and columns run on the values that lanes hold.
#include <fmt/format.h>

#include <algorithm>

#include "diagram/match.hpp"
#include "emit/cuda/groups.hpp"
#include "emit/cuda/kernel.hpp"
#include "emit/cuda/rows/row_columns.hpp"
#include "emit/cuda/rows/row_reads.hpp"
#include "emit/shared/expression.hpp"

namespace napkin {
namespace {

class RowPrinter {
 public:
  RowPrinter(const ThreadedKernel& kernel, const RowNest& rows, const CodeNames& names)
      : page_(kernel, rows, names), out_(page_.out), rows_(rows), nest_(*rows.nest), groups_(page_) {}

  PrintedKernel run(const std::string& name) {
    words();
    page_.open_function(name, rows_.blocks, nest_.inputs);
    if (rows_.shared_bytes > 0) page_.declare_shared();
    declare_rows(page_);
    groups_.blocks();
    lanes();
    print(nest_.body);
    out_.close();
    return page_.printed(name);
  }

 private:
  void words() {
    const auto held = rows_.staged
                          ? fmt::format("in shared memory, {} values of each lane at a time", rows_.vector)
                          : fmt::format("{} {} of each lane", rows_.values(), rows_.values() == 1 ? "value" : "values");
    out_.line("// {}, by {}, {} along {}.", page_.outputs(),
              rows_.warps_of_row > 1 ? fmt::format("rows of {} warps", rows_.warps_of_row)
                                     : fmt::format("{} warps with a row each", rows_.warps),
              held, page_.diagram.at(rows_.lanes).name);
    groups_.describe("one tile for each warp");
  }

  // If a row has fewer warps than the block, each set of warps has rows of its own and needs no barriers.
  void lanes() {
    const auto all = page_.lanes_of_row();
    out_.declare(page_.lane, fmt::format("threadIdx.x % {}", all));
    if (rows_.shared_bytes > 0 && rows_.warps_of_row > 1)
      out_.line("int {} = 0;  // of the partial results of warps", page_.part);
    for (const auto& each : groups_.enter(false)) {
      groups_.print(each, fmt::format("(int)threadIdx.x / {}", all));
      out_.line("if ({} >= {}) return;", each.begin, each.around.end);
    }
    out_.line();
  }

  // Steps

  void print(const LoopBody& block) {
    page_.declare_buffers(
        block, [&](BufferId id) { return page_.type_of(id); }, [&](BufferId id) { return declared(page_, id); });
    for (const auto& step : loads_first(block))
      match(
          step->node, [&](const Load& load) { print_load(page_, load); }, [](const MaskTest&) {},
          [&](const Compute& compute) { print_column(page_, compute); },
          [&](const Save& save) { print_save(page_, save); }, [&](const For& loop) { stream(loop); });
  }
  // Loads move before the columns between two streams, so that all are issued before the first lane waits.
  static std::vector<const LoopStatement*> loads_first(const LoopBody& block) {
    std::vector<const LoopStatement*> all;
    for (const auto& step : block.steps) all.push_back(&step);
    const auto is_loop = [](const LoopStatement* step) { return std::holds_alternative<For>(step->node); };
    const auto is_load = [](const LoopStatement* step) { return std::holds_alternative<Load>(step->node); };
    for (auto begin = all.begin(); begin != all.end();) {
      const auto end = std::find_if(begin, all.end(), is_loop);
      std::stable_partition(begin, end, is_load);
      begin = end == all.end() ? end : std::next(end);
    }
    return all;
  }
  void stream(const For& loop) {
    groups_.stream(loop, [&](const WirePiece&, const std::string&) {
      for (const auto& needed : loop.needs)
        out_.line("if (!({})) continue;", code_possible(needed, page_.names, ends(page_.own)));
      print(loop.body);
    });
  }

  RowPage page_;
  Lines& out_;
  const RowNest& rows_;
  const LoopNest& nest_;
  GroupPrinter groups_;
};

}  // namespace

CudaKernel row_kernel(const RowNest& rows, const CudaTarget& target, const std::string& name) {
  return printed_by<RowPrinter>(rows, target, name, rows.warps);
}

}  // namespace napkin
