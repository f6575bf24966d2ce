// Finds the format to which both operands of matrix units are widened.
#include "loops/formats.hpp"

#include <algorithm>

#include "diagram/match.hpp"
#include "loops/work.hpp"

namespace napkin {
namespace {

// f16 and bf16 represent all 8-bit numbers exactly.
Datatype widened(Datatype a, Datatype b) {
  const bool narrow = row(a).bytes == 1 && row(b).bytes == 1;
  return narrow ? Datatype::f16 : wider(a, b);
}

void widen(LoopNest& nest, BufferId id, Datatype type) {
  auto& buffer = nest.buffers.at(id.index);
  const bool is_tile = std::ranges::find(nest.inputs, buffer.array) != nest.inputs.end();
  if (is_tile && row(type).bytes > row(buffer.type).bytes) buffer.type = type;
}

// True if the machine multiplies numbers in parts. Both parts are in registers, so that single warps issue the
// instruction, and it must be faster than lanes.
bool multiplies_parts(const ComputeUnit& unit, int parts, const Hardware& hardware) {
  const auto rate = unit.rates.find(Datatype::tf32);
  const auto of_warp = [](const InstructionShape& shape) {
    return shape.operands == Datatype::tf32 && warps_of(shape) == 1;
  };
  if (rate == unit.rates.end() || std::ranges::none_of(unit.instructions, of_warp)) return false;
  const auto* lanes = hardware.find(Unit::fma);
  const auto f32 = lanes ? lanes->rates.find(Datatype::f32) : rate;
  return !lanes || f32 == lanes->rates.end() || rate->second.peak() > parts * f32->second.peak();
}

void set_formats(LoopNest& nest, const LoopBody& block, const Hardware& hardware) {
  for (const auto& step : block.steps)
    match(
        step.node,
        [&](const Compute& compute) {
          const auto factors =
              contracts(nest.scratch, compute.column) ? factors_of(nest.scratch, compute.column) : std::nullopt;
          if (!factors) return;
          const auto [a, b] = types_of(nest.scratch, *factors);
          const auto type = multiplied_as(nest.scratch, {a, b}, hardware);
          if (!type || parts_of(a, b) > 1) return;
          for (const auto& [access, id] : compute.reads)
            if (access == factors->first || access == factors->second) widen(nest, id, *type);
        },
        [&](const For& loop) { set_formats(nest, loop.body, hardware); }, [](const auto&) {});
}

}  // namespace

Datatype wider(Datatype a, Datatype b) {
  if (a == b) return a;
  if (row(a).bytes == row(b).bytes) return Datatype::f32;
  return row(a).bytes > row(b).bytes ? a : b;
}

int parts_of(Datatype a, Datatype b) {
  const auto is_half = [](Datatype type) { return type == Datatype::f16 || type == Datatype::bf16; };
  return (a == Datatype::f32 && is_half(b)) || (b == Datatype::f32 && is_half(a)) ? 2 : 1;
}

std::optional<Datatype> multiplied_as(Datatype a, Datatype b, const Hardware& hardware) {
  const auto* unit = hardware.find(Unit::tensor);
  if (!unit) return std::nullopt;
  if (a == b && unit->rates.contains(a)) return a;
  if (a == Datatype::f8e8m0 || b == Datatype::f8e8m0) return std::nullopt;  // powers that f16 does not hold
  if (const int parts = parts_of(a, b); parts > 1)
    return multiplies_parts(*unit, parts, hardware) ? std::optional(Datatype::tf32) : std::nullopt;
  const auto type = widened(a, b);
  return unit->rates.contains(type) ? std::optional(type) : std::nullopt;
}

std::optional<Datatype> multiplied_as(const Diagram& diagram, std::pair<Datatype, Datatype> operands,
                                      const Hardware& hardware) {
  const auto [a, b] = operands;
  return diagram.in_parts || parts_of(a, b) == 1 ? multiplied_as(a, b, hardware) : std::nullopt;
}

// A machine without a core level has no registers either: its innermost memory holds arrays as they are stored.
void set_formats(LoopNest& nest, const Hardware& hardware) {
  if (hardware.core && *hardware.core + 1 < hardware.levels.size()) set_formats(nest, nest.body, hardware);
}

}  // namespace napkin
