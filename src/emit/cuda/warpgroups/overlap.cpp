// Prints products that are issued before earlier ones are waited for.
#include "emit/cuda/warpgroups/overlap.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "diagram/contains.hpp"
#include "emit/cuda/warpgroups/products.hpp"
#include "emit/cuda/warpgroups/turns.hpp"
#include "emit/cuda/warps/buffers.hpp"
#include "emit/cuda/warps/streams.hpp"

namespace napkin {
namespace {

void describe_blocks(FragmentPage& page) {
  const auto blocks = page.warps.blocks, planned = page.warps.planned_blocks;
  if (planned <= 1) return;
  page.out.line("//   {:<24}  co-resident on an SM{}", fmt::format("{} block{}", blocks, blocks == 1 ? "" : "s"),
                blocks == planned ? "" : fmt::format("; {} are planned, but do not fit", planned));
}

class IterationPrinter {
 public:
  explicit IterationPrinter(MainloopPrinters& printers)
      : statements_(printers.statements),
        page_(statements_.page()),
        out_(page_.out),
        groups_(printers.groups),
        pipelines_(printers.pipelines),
        last_(printers.last) {}

  bool print_in_step(const Compute& compute) {
    const auto& step = page_.warps.step;
    const auto* known = step ? page_.warps.product(&compute) : nullptr;
    if (!known) return false;
    if (contains(step->leading, &compute)) return true;
    const bool first = &compute == step->trailing.front(), within = page_.warps.is_within();
    if (within && first) wait_for_last();
    begin_product(*known);
    if (within) return true;
    if (first) take_turn(page_);
    run_product(statements_, *known);
    return true;
  }

  void begin_iteration() {
    declare_buffers(page_, iteration());
    load_tiles();
    issue_leading();
    give_turn(page_);
    finish(page_.warps.step->leading, 0);
  }

  // The leading products of a piece are issued before the trailing ones of the piece before, which then overlap the
  // columns of this piece. So the loop is entered with a piece whose leading products are done.
  void stream_within(const GroupPrinter::Inside& body) {
    const auto& loop = *page_.warps.step->loop;
    groups_.with_piece(loop, [&](const WirePiece& around, const std::string& begin) {
      last_ = page_.pool.fresh(page_.wires[loop.split.wire.index] + "_last");
      const auto skips = declare_skip(page_, groups_, loop, begin, around);
      out_.line("int {} = {}, {} = -1;  // the tile, and the stage that running products read", begin,
                counting_piece(skips, around.begin), last_);
      out_.open("if ({} < {})", begin, around.end);
      declare_ahead();
      lead(0);
      out_.open("for (;;)");
      iteration_within(begin, around, skips, body);
      out_.close();
      trail();
      out_.close();
    });
    pipelines_.set_on_their_way({});
  }

 private:
  const LoopBody& iteration() const { return page_.warps.step->loop->body; }
  const Product& product(const Compute* compute) const { return *page_.warps.product(compute); }
  std::string slot() const { return pipelines_.slot(*pipelines_.of(*page_.warps.step->loop)); }

  void load_tiles() {
    for (const auto id : page_.warps.tiles_loaded(iteration())) pipelines_.loaded(id);
  }
  // Issues the leading products as one commit group.
  void issue_leading() {
    for (const auto* leading : page_.warps.step->leading) {
      begin_product(product(leading));
      const auto from = page_.from(*leading);
      hold_sums(page_, product(leading));
      out_.line("napkin_warpgroup_fence();");
      issue_product(statements_, product(leading));
    }
    out_.line("napkin_warpgroup_commit();");
  }
  // Waits until at most `left` commit groups are running, and finishes the products of those that are done.
  void finish(const std::vector<const Compute*>& products, int left) {
    out_.line("napkin_warpgroup_wait<{}>();", left);
    for (const auto* each : products) finish_product(statements_, product(each));
  }
  // Waits for the tiles of a product, and prints its initial sum and its operand in registers.
  void begin_product(const Product& product) {
    const auto& column = product.compute->column;
    pipelines_.wait_for_tiles_of(*product.compute);
    const auto from = page_.from(*product.compute);
    out_.line("// {}", to_text(page_.diagram, column));
    prepare_product(statements_, product);
  }

  // Declares what lives throughout the loop.
  void declare_ahead() {
    declare_buffers(page_, iteration());
    for (const auto* some : {&page_.warps.step->leading, &page_.warps.step->trailing})
      for (const auto* each : *some) declare_product_ahead(page_, product(each));
  }
  // `skips` names the function that finds the next piece that counts; empty if all pieces count.
  void iteration_within(const std::string& begin, const WirePiece& around, const std::string& skips,
                        const GroupPrinter::Inside& body) {
    const auto& loop = *page_.warps.step->loop;
    const auto next = page_.pool.fresh(begin + "_next");
    groups_.declare_end(loop, begin, around);
    declare_stages(other_columns(), slot());
    body(around, begin);
    pipelines_.wait_for_all();
    out_.line("{} = {};", last_, slot());
    pipelines_.advance(*pipelines_.of(loop));
    out_.line("const int {} = {};", next, counting_piece(skips, fmt::format("{} + {}", begin, loop.split.size)));
    out_.line("if ({} >= {}) break;", next, around.end);
    lead(1);
    out_.line("{} = {};", begin, next);
  }
  // Loads a piece and issues its leading products, with `behind` commit groups of the piece before issued after them.
  void lead(int behind) {
    load_tiles();
    take_turn(page_);
    out_.open("");
    declare_stages(page_.warps.step->leading, slot());
    issue_leading();
    out_.close();
    if (behind > 0) issue_trailing();
    give_turn(page_);
    finish(page_.warps.step->leading, behind);
  }
  // Runs the trailing products of the last piece.
  void trail() {
    take_turn(page_);
    issue_trailing();
    give_turn(page_);
    finish(page_.warps.step->trailing, 0);
    out_.line(pipelines_.release(*page_.warps.step->loop, last_));
  }
  void issue_trailing() {
    const auto& all = page_.warps.step->trailing;
    for (const auto* trailing : all) hold_sums(page_, product(trailing));
    out_.line("napkin_warpgroup_fence();");
    out_.open("");
    declare_stages(all, last_);
    for (const auto* trailing : all) issue_product(statements_, product(trailing));
    out_.close();
    out_.line("napkin_warpgroup_commit();");
  }
  void wait_for_last() {
    finish(page_.warps.step->trailing, 0);
    out_.line("if ({} >= 0) {}", last_, pipelines_.release(*page_.warps.step->loop, last_));
  }

  // Declares pointers to the stage `number` of the tiles that some columns read.
  void declare_stages(const std::vector<const Compute*>& readers, const std::string& number) {
    auto tiles = page_.warps.tiles_loaded(iteration());
    std::erase_if(tiles, [&](BufferId id) {
      return std::ranges::none_of(readers, [&](const auto* each) { return contains(tiles_read(page_, *each), id); });
    });
    napkin::declare_stages(page_, tiles, number);
  }
  // The columns of an iteration that are no products.
  std::vector<const Compute*> other_columns() const {
    auto all = own_statements<Compute>(iteration());
    std::erase_if(all, [&](const Compute* compute) { return page_.warps.product(compute) != nullptr; });
    return all;
  }

  FragmentStatements& statements_;
  FragmentPage& page_;
  Lines& out_;
  GroupPrinter& groups_;
  PipelinePrinter& pipelines_;
  std::string& last_;
};

}  // namespace

void describe_overlap(FragmentPage& page) {
  const auto& warps = page.warps;
  auto& out = page.out;
  if (!warps.not_as_planned.empty())
    out.line("//   {:<24}  is planned, but cannot run: {}", words(warps.planned), warps.not_as_planned);
  describe_blocks(page);
  if (!warps.step) return;
  const auto name = [&](const Compute* trailing) { return page.buffer(trailing->to); };
  if (warps.is_ping_pong())
    out.line("//   {:<24}  one computes while another uses the tensor cores",
             fmt::format("{} in ping-pong", warps.step->warpgroups));
  if (warps.is_within())
    out.line("//   {:<24}  products of {} overlap the other operations of the next iteration",
             words(Overlap::intra_warpgroup), listed(warps.step->trailing, ", ", name));
}

bool is_step(const WarpNest& warps, const LoopBody& block) { return warps.step && &warps.step->loop->body == &block; }
void stream_within(MainloopPrinters& printers, const GroupPrinter::Inside& body) {
  IterationPrinter(printers).stream_within(body);
}
void begin_iteration(MainloopPrinters& printers) { IterationPrinter(printers).begin_iteration(); }
bool print_in_step(MainloopPrinters& printers, const Compute& compute) {
  return IterationPrinter(printers).print_in_step(compute);
}

}  // namespace napkin
