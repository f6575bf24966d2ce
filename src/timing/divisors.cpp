// Finds of which numbers the pieces of each wire should be multiples: reasons are collected by wire and joined by their
// least common multiple.
#include "timing/divisors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "diagram/contains.hpp"
#include "timing/launch_configs.hpp"
#include "timing/mainloop/rows.hpp"

namespace napkin {
namespace {

using Reasons = std::map<WireId, std::vector<std::pair<std::int64_t, std::string>>>;

void add(Reasons& all, WireId wire, std::int64_t size, std::string why) {
  if (size <= 1) return;
  auto& reasons = all[wire];
  const std::pair one{size, std::move(why)};
  if (!contains(reasons, one)) reasons.push_back(one);
}
// The innermost axis of a tile that matrix units read is loaded in whole lines.
void add_line(Reasons& all, const Mainloop& mainloop, BufferId id, double line) {
  const auto& buffer = mainloop.nest->at(id);
  if (buffer.at.empty() || buffer.at.back().terms.size() != 1) return;
  const auto& array = mainloop.diagram().at(buffer.array);
  const auto& type = row(array.stored());
  const auto values = static_cast<std::int64_t>(line) / type.bytes * type.share;
  add(all, buffer.at.back().terms[0].first, values,
      fmt::format("a line of {} B holds {} values of {}", static_cast<std::int64_t>(line), values, array.name));
}
Reasons reasons_of_contractions(const Mainloop& mainloop, const std::optional<Sourced<double>>& line) {
  Reasons all;
  for (const auto& column : mainloop.columns) {
    if (!column.contraction) continue;
    const auto& made = *column.contraction;
    add(all, made.depth, made.k, fmt::format("{} contracts {} positions", made.instruction->name, made.k));
    if (made.across) add(all, *made.across, made.instruction->n, fmt::format("columns of {}", made.instruction->name));
  }
  for (const auto& column : mainloop.columns)
    for (const auto& factor : column.factors)
      if (line && factor.operand.staged) add_line(all, mainloop, factor.operand.buffer, line->value);
  return all;
}

}  // namespace

std::vector<Divisor> divisors_of(const Mainloop& mainloop, const Hardware& hardware, std::int64_t warps_of_warpgroup) {
  auto found = reasons_of_contractions(mainloop, hardware.levels[mainloop.core].granularity);
  for (const auto& column : mainloop.columns) {
    if (!column.contraction) continue;
    const auto& shape = *column.contraction->instruction;
    const auto rows = shape.m / warps_of(shape);
    add(found, mainloop.row, rows * warps_of_warpgroup,
        fmt::format("{} warps of {} rows each, by {}", warps_of_warpgroup, rows, shape.name));
  }
  std::vector<Divisor> all;
  for (const auto& [wire, reasons] : found) {
    Divisor made{mainloop.diagram().at(wire).name, 1, reasons};
    for (const auto& reason : made.reasons) made.size = std::lcm(made.size, reason.first);
    all.push_back(std::move(made));
  }
  return all;
}

std::map<WireId, std::int64_t> core_divisors(const Mainloop& mainloop, const Hardware& hardware, Fineness fineness) {
  std::map<WireId, std::int64_t> all;
  const auto join = [&](WireId wire, std::int64_t size) {
    auto& divisor = all.try_emplace(wire, 1).first->second;
    divisor = std::lcm(divisor, size);
  };
  const bool lines = fineness == Fineness::lines;
  const auto& memory = hardware.levels[mainloop.core];
  for (const auto& [wire, reasons] : reasons_of_contractions(mainloop, lines ? memory.granularity : memory.sector))
    for (const auto& reason : reasons) join(wire, reason.first);
  const auto rows = row_wires(mainloop);
  const auto& shape = *first_contraction(mainloop).instruction;
  const auto of_warp = shape.m / warps_of(shape);
  // If several wires may have the rows, each must fill the rows of one warp, or the columns of an instruction.
  const auto of_rows = rows.size() == 1 ? (lines ? shape.m : of_warp) : lines ? of_warp : std::gcd(of_warp, shape.n);
  for (const auto wire : rows) join(wire, of_rows);
  return all;
}

std::int64_t rows_of_warpgroup(const Mainloop& mainloop, const Hardware& hardware) {
  const auto& shape = *first_contraction(mainloop).instruction;
  return shape.m / warps_of(shape) * static_cast<std::int64_t>(hardware.limits.register_partitions->value);
}

bool fills_warpgroups(const Mainloop& mainloop, const Hardware& hardware) {
  const auto rows = mainloop.lengths[mainloop.row.index], of_warpgroup = rows_of_warpgroup(mainloop, hardware);
  const auto& shape = *first_contraction(mainloop).instruction;
  const bool filled = rows % (warps_of(shape) == 1 ? shape.m : of_warpgroup) == 0;
  return filled || mainloop.diagram().size(mainloop.row).value_or(1) <= of_warpgroup;
}

}  // namespace napkin
