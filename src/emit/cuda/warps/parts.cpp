// Splits or widens the numbers of operands. The functions in instructions/parts.cpp give the place of each register.
#include <fmt/format.h>

#include "emit/cuda/warps/operands.hpp"
#include "emit/shared/types.hpp"

namespace napkin {
namespace {

// Widens an operand: each loaded register holds two neighbouring numbers.
void widen(FragmentStatements& statements, const OperandSide& side, const std::string& to) {
  auto& page = statements.page();
  const auto narrow = page.pool.fresh("narrow");
  const auto fragment = side.fragment();
  const int pair = fragment.values / fragment.registers;
  page.out.line("unsigned {}[{}];", narrow, fragment.registers);
  side.operand().computed ? pack(statements, side, narrow) : load_fragment(statements, side, narrow);
  for (int r = 0; r < fragment.registers; ++r) {
    const auto at = fragment.at(0, r * pair);
    page.out.line("napkin_widen_pair<{0}>({1}[{2}], {3}[{4}], {3}[{5}]);", code_storage(Language::cuda, side.format()),
                  narrow, r, to, part_register(side.rows, at, 0), part_register(side.rows, at, 1));
  }
}

// The registers of one of the two parts.
int registers_of_part(const OperandSide& side) { return side.registers() / 2; }

// Splits an operand from shared memory, one number at a time.
void split(FragmentPage& page, const OperandSide& side, const std::string& to) {
  const auto i = page.pool.fresh("i");
  const FragmentIndex at{page.lanes.group, page.lanes.quad, i, ""};
  const auto own = first_of_fragment(page, side, accumulator_tile.rows) + part_row(side.rows, at);
  const auto step =
      fmt::format("{} * {} + {}", page.lanes.step, side.product.instruction->k, part_position(side.rows, at));
  const auto registers = registers_of_part(side);
  page.loop(i, registers);
  page.out.line("napkin_split(napkin_shared_read({0}), {1}[{2}], {1}[{3} + {2}]);",
                operand_address(page, side.operand(), own, step), to, i, registers);
  page.out.close();
}

// Splits an operand that the warp computed, without moving it between lanes.
void split_computed(FragmentStatements& statements, const OperandSide& side, const std::string& to) {
  each_register(statements, side, [&](const Fragment::Place& at, const std::vector<std::string>& numbers) {
    for (std::size_t n = 0; n < numbers.size(); ++n) {
      const int upper = part_register(side.rows, at, static_cast<int>(n));
      statements.page().out.line("napkin_split({0}, {1}[{2}], {1}[{3}]);", numbers[n], to, upper,
                                 upper + registers_of_part(side));
    }
  });
}

}  // namespace

void load_parts(FragmentStatements& statements, const OperandSide& side, const std::string& to) {
  if (!side.is_split()) return widen(statements, side, to);
  side.operand().computed ? split_computed(statements, side, to) : split(statements.page(), side, to);
}

}  // namespace napkin
