// Finds of which numbers the pieces of each wire should be multiples: reasons are collected by wire and joined by their
// least common multiple.
#include "timing/divisors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "timing/launch_configs.hpp"
#include "timing/mainloop/rows.hpp"

namespace napkin {
namespace {

class Collector {
 public:
  Collector(const Mainloop& mainloop, const Sourced<double>* line) : mainloop_(mainloop), line_(line) {}

  using Reasons = std::map<WireId, std::vector<std::pair<std::int64_t, std::string>>>;
  const Reasons& reasons() const { return reasons_; }
  void add_contractions() {
    for (const auto& column : mainloop_.columns)
      if (column.contraction) add(*column.contraction);
    if (!line_) return;
    for (const auto& column : mainloop_.columns)
      for (const auto& factor : column.factors)
        if (factor.operand.staged) add_line(factor.operand.buffer, *line_);
  }
  void add_rows(std::int64_t warps_of_warpgroup) {
    for (const auto& column : mainloop_.columns) {
      if (!column.contraction) continue;
      const auto& shape = *column.contraction->instruction;
      const auto rows = shape.m / warps_of(shape);
      add(mainloop_.row, rows * warps_of_warpgroup,
          fmt::format("{} warps of {} rows each, by {}", warps_of_warpgroup, rows, shape.name));
    }
  }

 private:
  void add(WireId wire, std::int64_t size, std::string why) {
    if (size <= 1) return;
    auto& reasons = reasons_[wire];
    const std::pair one{size, std::move(why)};
    if (std::ranges::find(reasons, one) == reasons.end()) reasons.push_back(one);
  }
  void add(const Contraction& contraction) {
    const auto& shape = *contraction.instruction;
    add(contraction.depth, contraction.k, fmt::format("{} contracts {} positions", shape.name, contraction.k));
    if (contraction.across) add(*contraction.across, shape.n, fmt::format("columns of {}", shape.name));
  }
  // The innermost axis of a tile that matrix units read is loaded in whole lines.
  void add_line(BufferId id, const Sourced<double>& line) {
    const auto& buffer = mainloop_.nest->at(id);
    if (buffer.at.empty() || buffer.at.back().terms.size() != 1) return;
    const auto& type = row(mainloop_.diagram().at(buffer.array).stored());
    const auto values = static_cast<std::int64_t>(line.value) / type.bytes * type.share;
    add(buffer.at.back().terms[0].first, values,
        fmt::format("a line of {} B holds {} values of {}", static_cast<std::int64_t>(line.value), values,
                    mainloop_.diagram().at(buffer.array).name));
  }

  const Mainloop& mainloop_;
  const Sourced<double>* line_;
  Reasons reasons_;
};

const Sourced<double>* known(const std::optional<Sourced<double>>& one) { return one ? &*one : nullptr; }

}  // namespace

std::vector<Divisor> divisors_of(const Mainloop& mainloop, const Hardware& hardware, std::int64_t warps_of_warpgroup) {
  std::vector<Divisor> all;
  Collector collector(mainloop, known(hardware.levels[mainloop.core].granularity));
  collector.add_contractions();
  collector.add_rows(warps_of_warpgroup);
  for (const auto& [wire, reasons] : collector.reasons()) {
    Divisor made{mainloop.diagram().at(wire).name, 1, reasons};
    for (const auto& reason : made.reasons) made.size = std::lcm(made.size, reason.first);
    all.push_back(std::move(made));
  }
  return all;
}

std::map<WireId, std::int64_t> core_divisors(const Mainloop& mainloop, const Hardware& hardware, Fineness fineness) {
  std::map<WireId, std::int64_t> all;
  const auto add = [&](WireId wire, std::int64_t size) {
    auto& divisor = all.try_emplace(wire, 1).first->second;
    divisor = std::lcm(divisor, size);
  };
  const bool lines = fineness == Fineness::lines;
  const auto& memory = hardware.levels[mainloop.core];
  Collector collector(mainloop, known(lines ? memory.granularity : memory.sector));
  collector.add_contractions();
  for (const auto& [wire, reasons] : collector.reasons())
    for (const auto& reason : reasons) add(wire, reason.first);
  const auto rows = row_wires(mainloop);
  const auto& shape = *first_contraction(mainloop).instruction;
  const auto of_warp = shape.m / warps_of(shape);
  // If several wires may have the rows, each must fill the rows of one warp, or the columns of an instruction.
  const auto of_rows = rows.size() == 1 ? (lines ? shape.m : of_warp) : lines ? of_warp : std::gcd(of_warp, shape.n);
  for (const auto wire : rows) add(wire, of_rows);
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
