// Tests masks before pieces, and prints what a piece computes with and without bounds checks.
#include "emit/cuda/warps/streams.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "diagram/contains.hpp"
#include "emit/cuda/warps/buffers.hpp"
#include "emit/shared/expression.hpp"
#include "emit/shared/types.hpp"

namespace napkin {
namespace {

// Prints the test of a mask in memory and returns the name of its answer. All threads of the block read the mask and
// compute the same answer.
std::string print_test(FragmentPage& page, const MaskTest& ask) {
  const auto& buffer = page.nest.at(ask.tile);
  const auto any = page.begin_ask(ask);
  auto at = corners(buffer.at, page.shared);
  int opened = 0;
  for (std::size_t k = 0; k < buffer.at.size(); ++k) {
    if (buffer.extent[k] == 1) continue;
    const auto position = page.pool.fresh("at");
    page.out.loop(position, at[k], corner(buffer.at[k], page.shared, true));
    at[k] = position;
    ++opened;
  }
  page.out.line("{0} = {1}{2} || {0};", any, ask.wanted ? "" : "!",
                filled(code_type(Language::cuda, buffer.type).read, read_once(page, buffer.array, at)));
  page.out.close(opened);
  return any;
}

// The condition that masks do not skip the current piece, after the mask tests that it needs.
std::string needed(FragmentPage& page, const For& loop) {
  std::vector<std::string> all;
  for (const auto& each : loop.needs)
    all.push_back(fmt::format("({})", code_possible(each, page.names, ends(page.shared))));
  for (const auto* ask : own_statements<MaskTest>(loop.body)) all.push_back(print_test(page, *ask));
  return joined(all, " && ");
}

// Whether ragged pieces of the wire, or masks, change what the column prints.
bool depends_on_ends(const WarpNest& warps, const Compute& compute, WireId wire) {
  if (!compute.masks.empty()) return true;
  if (const auto* product = warps.product(&compute)) return product->has_computed() && product->over == wire;
  return compute.column.fold && contains(compute.column.over, wire);
}

// The condition that a piece is whole and that its masks hold everywhere; empty if no column of the loop depends on
// that. All warps of the block must compute the same answer, because the body may contain barriers.
std::string clear_condition(const FragmentPage& page, const For& loop, const std::string& begin,
                            const WirePiece& around) {
  std::vector<std::string> all = {fmt::format("{} + {} <= {}", begin, loop.split.size, around.end)};
  bool depends = false;
  for (const auto* compute : own_statements<Compute>(loop.body)) {
    depends |= depends_on_ends(page.warps, *compute, loop.split.wire);
    for (const auto& mask : compute->masks) {
      const auto text = code_certain(mask, page.names, ends(page.shared));
      if (!contains(all, text)) all.push_back(text);
    }
  }
  return depends ? joined(all, " && ") : "";
}

}  // namespace

bool may_skip(const For& loop) { return !loop.needs.empty() || !own_statements<MaskTest>(loop.body).empty(); }

std::string declare_skip(FragmentPage& page, GroupPrinter& groups, const For& loop, const std::string& begin,
                         const WirePiece& around) {
  if (!may_skip(loop)) return "";
  auto name = page.pool.fresh("needed_" + begin);
  page.out.open("const auto {} = [&](int {})", name, begin);
  page.out.open("for (; {0} < {1}; {0} += {2})", begin, around.end, loop.split.size);
  groups.declare_end(loop, begin, around);
  page.out.line("if ({}) break;", needed(page, loop));
  page.out.close();
  page.out.line("return {};", begin);
  page.out.close("};");
  return name;
}

std::string counting_piece(const std::string& skip, const std::string& piece) {
  return skip.empty() ? piece : fmt::format("{}({})", skip, piece);
}

void print_pieces(FragmentPage& page, GroupPrinter& groups, const For& loop, const GroupPrinter::Inside& inside) {
  groups.stream(loop, [&](const WirePiece& around, const std::string& begin) {
    if (may_skip(loop)) page.out.line("if (!({})) continue;", needed(page, loop));
    inside(around, begin);
  });
}

void print_piece(FragmentPage& page, const For& loop, const std::string& begin, const WirePiece& around,
                 const std::function<void()>& print) {
  const auto condition = clear_condition(page, loop, begin, around);
  if (condition.empty()) return print();
  page.out.open("if ({})", condition);
  const auto outer = std::exchange(page.clear, loop.split.wire);
  print();
  page.clear = outer;
  page.out.otherwise();
  print();
  page.out.close();
}

}  // namespace napkin
