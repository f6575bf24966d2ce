// Compares sizes with what instructions and copies process at a time.
#include "summary/sizes.hpp"

#include <algorithm>

#include "diagram/index.hpp"
#include "loops/formats.hpp"
#include "loops/pieces.hpp"
#include "timing/occupancy.hpp"

namespace napkin {
namespace {

// Returns the computed positions: whole pieces and the rest, each rounded up to whole instructions.
std::int64_t computed(std::int64_t size, std::int64_t piece, std::int64_t step) {
  return size / piece * round_up(piece, step) + round_up(size % piece, step);
}

// TMA copies rows of a multiple of 16 bytes, and copies that run ahead of the computation move at least 4 bytes. Values
// that share bytes are not copied by either.
void note_alignment(const Diagram& diagram, const Array& array, bool by_tma, MatrixProduct& made) {
  constexpr std::int64_t most = 16, least = 4;
  if (array.packed) return made.packed.push_back(array.name);
  const auto aligned = row_alignment(diagram, array);
  if (aligned == most || (!by_tma && aligned >= least)) return;
  const std::int64_t size = diagram.size(array.wires.back()).value_or(0), unit = most / row(array.type).bytes;
  made.unaligned.push_back(
      {array.name, diagram.at(array.wires.back()).name, size, round_up(size, unit), by_tma, aligned >= least});
}

}  // namespace

void note_padding(const Contraction& contraction, const Mainloop& mainloop, MatrixProduct& made) {
  constexpr double worth_saying = 1.02;
  const auto& shape = *contraction.instruction;
  const auto note = [&](WireId wire, std::int64_t unit) {
    const auto size = mainloop.diagram().size(wire).value_or(0), piece = mainloop.lengths[wire.index];
    if (size < 1 || piece < 1 || unit < 1) return;
    const auto all = computed(size, piece, unit);
    if (static_cast<double>(all) > worth_saying * static_cast<double>(size))
      made.padded.push_back({mainloop.diagram().at(wire).name, size, all});
  };
  note(contraction.depth, contraction.k);
  if (contraction.across) note(*contraction.across, shape.n);
}

void note_one_by_one(const MainloopOperation& column, const Mainloop& mainloop, MatrixProduct& made) {
  const auto& contraction = *column.contraction;
  for (const auto& factor : column.factors) {
    if (!factor.operand.one_by_one) continue;
    const auto& array = mainloop.diagram().at(mainloop.nest->at(factor.operand.buffer).array);
    const bool turned = !moves(factor.at.back(), contraction.depth);
    made.one_by_one.push_back({array.name, turned ? mainloop.diagram().at(contraction.depth).name : "", array.stored(),
                               contraction.mixed ? contraction.instruction->operands : array.type});
  }
}

void note_alignment(const MainloopOperation& column, const Mainloop& mainloop, MatrixProduct& made) {
  const bool by_tma = warps_of(*column.contraction->fastest) > 1;
  for (const auto& factor : column.factors)
    if (factor.operand.staged)
      note_alignment(mainloop.diagram(), mainloop.diagram().at(mainloop.nest->at(factor.operand.buffer).array), by_tma,
                     made);
}

void note_alignment(const Derivation& derivation, const Hardware* hardware, MatrixProduct& made) {
  const auto* unit = hardware ? hardware->find(Unit::tensor) : nullptr;
  const auto of_warpgroups = [](const InstructionShape& shape) { return warps_of(shape) > 1; };
  const bool by_tma = !hardware || (unit && std::ranges::any_of(unit->instructions, of_warpgroups));
  for (const auto input : derivation.inputs) {
    const auto& array = derivation.scratch.at(input);
    if (array.name == made.first || array.name == made.second) note_alignment(derivation.scratch, array, by_tma, made);
  }
}

}  // namespace napkin
