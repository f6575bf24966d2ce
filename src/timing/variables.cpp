// Liveness of variables in one iteration of the mainloop, whose end is followed by its beginning.
#include "timing/variables.hpp"

#include <algorithm>

#include "diagram/contains.hpp"
#include "loops/passing.hpp"
#include "loops/pieces.hpp"

namespace napkin {
namespace {

bool is_trailing(const MainloopOperation& column) { return column.contraction && !column.contraction->rows.staged; }

}  // namespace

Variables::Variables(const Mainloop& mainloop, const Partition& partition, const Hardware& hardware, Model model)
    : mainloop_(mainloop),
      partition_(partition),
      hardware_(hardware),
      model_(model),
      uniform_(mainloop.widest_input()) {
  for (std::size_t i = 0; i < mainloop.columns.size(); ++i) alive_.push_back(alive_at(i));
  for (const auto& column : mainloop.outside) alive_outside_.push_back(alive_outside(column));
}

Datatype Variables::type_of(BufferId id) const {
  return model_ == Model::ideal ? uniform_ : mainloop_.nest->at(id).type;
}

Variable Variables::variable(BufferId id, std::int64_t rows) const {
  return variable(Part{id, mainloop_.shape(id, rows), ""});
}
std::int64_t Variables::bytes(BufferId id, std::int64_t rows) const {
  return mainloop_.values(id, rows) * row(type_of(id)).bytes;
}

Variable Variables::variable(const Part& part) const {
  const auto& name = mainloop_.diagram().at(mainloop_.nest->at(part.buffer).array).name;
  const auto place = in_tensor_memory(part.buffer) ? Place::tensor_memory : Place::registers;
  return {name + part.note, part.shape, type_of(part.buffer), place, true, 1, bytes(part)};
}
std::int64_t Variables::bytes(const Part& part) const {
  return product_of(part.shape) * row(type_of(part.buffer)).bytes;
}

// If a core has memory for accumulators, it holds the results of contractions.
bool Variables::in_tensor_memory(BufferId id) const {
  if (!hardware_.limits.tensor_memory_per_sm || model_ == Model::ideal) return false;
  return std::ranges::any_of(mainloop_.columns, [&](const MainloopOperation& column) {
    return column.contraction && column.compute->to == id;
  });
}

std::vector<Variable> Variables::shared(const RowDivision& warpgroup, std::int64_t stages) const {
  std::vector<Variable> all;
  const auto add = [&](BufferId id, std::int64_t copies) {
    auto made = variable(id, warpgroup.rows);
    made.type = mainloop_.nest->at(id).type;
    made.place = Place::shared;
    made.by_warpgroup = mainloop_.has_row(id);
    made.copies = copies;
    made.bytes = copies * product_of(made.shape) * row(made.type).bytes;
    all.push_back(std::move(made));
  };
  for (const auto id : mainloop_.streamed) add(id, stages);
  for (const auto id : mainloop_.tiles) add(id, mainloop_.has_loop_of_its_own(id) ? stages : 1);
  for (const auto id : mainloop_.outputs) add(id, 1);
  return all;
}

// A buffer is alive before a column if some column from here on, around the loop, reads it before one makes it anew.
bool Variables::is_alive(std::size_t column, BufferId id) const {
  const auto n = mainloop_.columns.size();
  for (std::size_t i = 0; i < n; ++i) {
    const auto& compute = *mainloop_.columns[(column + i) % n].compute;
    if (reads(compute, id)) return true;
    if (compute.to == id) return false;
  }
  return false;
}

bool Variables::outlives(std::size_t column, BufferId id) const {
  return is_alive((column + 1) % mainloop_.columns.size(), id);
}

// Returns the buffers that columns compute or read, except tiles of inputs.
std::vector<BufferId> Variables::computed() const {
  std::vector<BufferId> all;
  const auto add = [&](BufferId id) {
    if (!mainloop_.nest->is_input(id) && !contains(all, id)) all.push_back(id);
  };
  for (const auto& column : mainloop_.columns) {
    for (const auto& read : column.compute->reads) add(read.second);
    if (column.compute->carried) add(*column.compute->carried);
    add(column.compute->to);
  }
  return all;
}

// A pointwise result may replace an operand with the same wires that is not read afterwards.
Variables::Alive Variables::alive_at(std::size_t column) const {
  const auto& compute = *mainloop_.columns[column].compute;
  Alive made;
  for (const auto id : computed())
    if (is_alive(column, id) || compute.to == id) made.buffers.push_back(id);
  if (compute.column.fold || compute.carried == compute.to) return made;
  for (const auto& [access, id] : compute.reads) {
    if (id == compute.to || outlives(column, id) || !contains(made.buffers, id)) continue;
    if (mainloop_.nest->at(id).at == mainloop_.nest->at(compute.to).at) made.replaced.push_back(id);
  }
  return made;
}

std::int64_t Variables::saved_in_place(std::size_t column, std::int64_t rows) const {
  std::int64_t most = 0;
  for (const auto id : alive_[column].replaced)
    most = std::max(most, std::min(bytes(id, rows), bytes(mainloop_.columns[column].compute->to, rows)));
  return most;
}

std::int64_t Variables::subloop(WireId wire, std::int64_t otherwise) const {
  for (const auto& split : partition_.splits)
    if (split.kind == SplitKind::stream && split.level > mainloop_.core && split.wire == wire) return split.size;
  return std::min(otherwise, mainloop_.lengths[wire.index]);
}

std::vector<std::pair<std::string, std::int64_t>> Variables::subloops() const {
  std::vector<std::pair<std::string, std::int64_t>> all;
  const auto add = [&](WireId wire, std::int64_t otherwise) {
    const std::pair one{mainloop_.diagram().at(wire).name, subloop(wire, otherwise)};
    if (one.second < mainloop_.lengths[wire.index] && !contains(all, one)) all.push_back(one);
  };
  for (const auto& column : mainloop_.columns) {
    if (!column.contraction) continue;
    add(column.contraction->depth, column.contraction->k);
    if (column.compute->column.repair && column.contraction->across)
      add(*column.contraction->across, column.contraction->instruction->n);
  }
  return all;
}

// Returns the part of a staged operand that one instruction reads from registers. Instructions of four warps read the
// core's memory directly, unless the operand must be widened, but the paper's model counts the part in any case.
std::optional<Variables::Part> Variables::fragment(const RowDivision& warpgroup) const {
  std::optional<Part> largest;
  for (const auto& column : mainloop_.columns) {
    if (!column.contraction || !column.contraction->rows.staged || column.contraction->rows.kept) continue;
    const auto& tile = mainloop_.nest->at(column.contraction->rows.buffer);
    const bool widened = tile.type != mainloop_.diagram().at(tile.array).type;
    if (model_ == Model::machine && warps_of(*column.contraction->instruction) > 1 && !widened) continue;
    const auto steps = subloop(column.contraction->depth, column.contraction->k);
    Part made{column.contraction->rows.buffer, {warpgroup.rows, steps}, " (one instruction's part)"};
    if (!largest || bytes(*largest) < bytes(made)) largest = std::move(made);
  }
  return largest;
}

// Returns the product that a contraction adds to a rescaled state. Only the paper's model counts it: the instruction
// computes it a few columns at a time.
std::optional<Variables::Part> Variables::product(const RowDivision& warpgroup) const {
  if (model_ == Model::machine) return std::nullopt;
  for (const auto& column : mainloop_.columns) {
    if (!column.contraction || !column.compute->column.repair || !column.contraction->across) continue;
    const auto across = subloop(*column.contraction->across, column.contraction->instruction->n);
    return Part{column.compute->to, {warpgroup.rows, across}, " (one instruction's part)"};
  }
  return std::nullopt;
}

void Variables::add_kept(std::vector<Part>& all, const RowDivision& warpgroup) const {
  for (const auto& column : mainloop_.columns) {
    if (!column.contraction || !column.contraction->rows.kept) continue;
    const auto id = column.contraction->rows.buffer;
    if (std::ranges::find(all, id, &Part::buffer) == all.end())
      all.push_back({id, mainloop_.shape(id, warpgroup.rows), " (resident)"});
  }
}

// Returns the parts that are alive during the whole iteration, in addition to those that liveness finds.
std::vector<Variables::Part> Variables::parts(const RowDivision& warpgroup, bool overlapped) const {
  std::vector<Part> all;
  if (auto one = fragment(warpgroup)) all.push_back(std::move(*one));
  if (auto one = product(warpgroup)) all.push_back(std::move(*one));
  add_kept(all, warpgroup);
  const auto fixed = all.size();
  for (const auto& column : mainloop_.columns) {
    if (!overlapped || !is_trailing(column)) continue;
    const auto id = column.contraction->rows.buffer;
    const bool known = std::any_of(all.begin() + static_cast<std::ptrdiff_t>(fixed), all.end(),
                                   [&](const Part& other) { return other.buffer == id; });
    if (!known) all.push_back({id, mainloop_.shape(id, warpgroup.rows), " (of the iteration before)"});
  }
  return all;
}

std::int64_t Variables::register_bytes(std::size_t column, std::int64_t rows) const {
  std::int64_t all = -saved_in_place(column, rows);
  for (const auto id : alive_[column].buffers)
    if (!in_tensor_memory(id)) all += bytes(id, rows);
  return all;
}

// Returns the buffers that are alive at a column outside the mainloop: all carried states, and what the column reads
// and computes. A pointwise result replaces an operand with the same wires.
std::vector<BufferId> Variables::alive_outside(const MainloopOperation& column) const {
  std::vector<BufferId> all;
  const auto add = [&](BufferId id) {
    if (mainloop_.nest->at(id).level == mainloop_.core || mainloop_.nest->is_input(id) || in_tensor_memory(id)) return;
    if (!contains(all, id)) all.push_back(id);
  };
  mainloop_.each([&](const MainloopOperation& one) {
    if (one.compute->carried) add(*one.compute->carried);
  });
  const auto& compute = *column.compute;
  bool replaces = false;
  for (const auto& [access, id] : compute.reads)
    add(id),
        replaces = replaces || (!compute.column.fold && mainloop_.nest->at(id).at == mainloop_.nest->at(compute.to).at);
  if (!replaces) add(compute.to);
  return all;
}

std::int64_t Variables::register_bytes(const RowDivision& warpgroup, bool overlapped) const {
  std::int64_t beside = 0, most = 0;
  for (const auto& part : parts(warpgroup, overlapped))
    if (!in_tensor_memory(part.buffer)) beside += bytes(part);
  for (std::size_t i = 0; i < mainloop_.columns.size(); ++i)
    most = std::max(most, beside + register_bytes(i, warpgroup.rows));
  if (model_ == Model::ideal) return most;
  for (const auto& buffers : alive_outside_) {
    std::int64_t bytes = 0;
    for (const auto id : buffers) bytes += this->bytes(id, warpgroup.rows);
    most = std::max(most, bytes);
  }
  return most;
}

std::vector<ColumnVariables> Variables::registers(const RowDivision& warpgroup, bool overlapped) const {
  std::vector<ColumnVariables> all;
  const auto beside = parts(warpgroup, overlapped);
  for (std::size_t i = 0; i < mainloop_.columns.size(); ++i) {
    const auto& column = mainloop_.columns[i];
    ColumnVariables made;
    made.column = column.name;
    made.value = to_text(mainloop_.diagram(), column.compute->column);
    made.on = column.contraction ? Resource::tensor : Resource::fma;
    for (const auto id : alive_[i].buffers) made.variables.push_back(variable(id, warpgroup.rows));
    for (const auto& part : beside) made.variables.push_back(variable(part));
    made.warpgroup_register_bytes = -saved_in_place(i, warpgroup.rows);
    for (const auto& variable : made.variables)
      if (variable.place == Place::registers) made.warpgroup_register_bytes += variable.bytes;
    all.push_back(std::move(made));
  }
  return all;
}

}  // namespace napkin
