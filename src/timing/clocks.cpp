// Divides operations by rates. A single addition or multiplication occupies the slot of a multiply-add, so that it
// counts as two operations on the lanes. Contractions read their tiles from the core's memory while they run.
#include "timing/clocks.hpp"

#include <algorithm>
#include <cmath>

#include "hardware/assumptions.hpp"
#include "napkin/instructions.hpp"
#include "timing/raster.hpp"
#include "timing/warp_instructions.hpp"

namespace napkin {
namespace {

// Operations of lanes on one value. An f32 value is split into two parts by an addition, a mask of its bits, a
// difference, a comparison and a selection. A 16-bit value is converted. A value that is read one by one is packed with
// others into a register, and is converted twice if its format is another one: to f32 and from f32.
constexpr double operations_of_split = 5, operations_of_widening = 1, operations_of_placing = 1;

class Counter : OnCore {
 public:
  Counter(const OnCore& on, bool cached, Detail detail, const OfLaunch& launch)
      : OnCore(on),
        cached_(cached),
        detail_(detail),
        launch_(launch),
        cores_(hardware.total(mainloop.core)),
        widest_(mainloop.widest_input()) {}

  IterationClocks run(const Passage& passage) {
    find_clock();
    all_.unhidden = unhidden(hardware.limits);
    for (const auto& column : mainloop.columns) {
      const double before = serial_;
      for (const auto& work : column.work) compute(column, work, true);
      prepare(column);
      const double time = serial_ - before;
      if (!column.contraction) {
        all_.pointwise += time;
        continue;
      }
      const bool leads = column.contraction->rows.staged;
      (leads ? all_.leading_units : all_.trailing_units) += time;
      (leads ? all_.leading : all_.trailing) += std::max(time, read(column));
    }
    copy(passage);
    wait();
    for (const auto& column : mainloop.outside) {
      for (const auto& work : column.work) compute(column, work, false);
      add_outside(Resource::fma, column.around.times * prepared(column).second);
      if (column.contraction) read_outside(column);
    }
    move_inside();
    ask_masks();
    all_.find_bound();
    return std::move(all_);
  }

 private:
  void add(const std::string& column, Resource on, double operations, double clocks, double seconds) {
    if (operations == 0) return;
    auto& total = all_.resources[static_cast<std::size_t>(on)];
    total.clocks += clocks, total.seconds += seconds;
    if (detail_ != Detail::columns) return;
    const auto same = std::ranges::find_if(
        all_.columns, [&](const ColumnClocks& other) { return other.column == column && other.on == on; });
    if (same == all_.columns.end())
      all_.columns.push_back({column, on, operations, clocks, seconds});
    else
      same->operations += operations, same->clocks += clocks, same->seconds += seconds;
  }

  // In the paper's model, lanes compute with the type of the widest input. Products for which single warps have no
  // instruction run as products of f16.
  Datatype type_of(const MainloopOperation& column, const ColumnWork& work, const ComputeUnit& unit) const {
    auto wanted = model == Model::ideal && work.unit == Unit::fma ? widest_ : work.type;
    if (work.unit == Unit::tensor && is_widened_by_warps(*column.contraction)) wanted = Datatype::f16;
    return unit.rates.contains(wanted) ? wanted : Datatype::f32;
  }
  bool is_widened_by_warps(const Contraction& made) const {
    const auto& shape = detail_ == Detail::least ? *made.fastest : *made.instruction;
    return model == Model::machine && mainloop.loads_matrices && warps_of(shape) == 1 &&
           mainloop.is_widened_by_warps(made);
  }
  // Returns the share of the chip's sustained rate that this instruction reaches.
  double reached_share(const Contraction& made, const Rate& rate) const {
    const auto& fraction = (detail_ == Detail::least ? made.fastest : made.instruction)->fraction;
    return model == Model::ideal || !fraction ? 1 : std::min(1.0, fraction->value * rate.peak() / rate.reached());
  }
  // Adds the work of a column. That outside of the mainloop is counted at the peak clock, and in seconds only.
  void compute(const MainloopOperation& column, const ColumnWork& work, bool inside) {
    const auto* unit = hardware.find(work.unit);
    if (!unit) return;
    const auto type = type_of(column, work, *unit);
    const auto rate = unit->rates.find(type);
    if (rate == unit->rates.end()) return;
    const bool on_matrices = work.unit == Unit::tensor, on_lanes = work.unit == Unit::fma;
    const bool repair = inside && on_lanes && column.contraction;  // with the addition, one multiply-add
    const double each = on_lanes && (!work.joined || repair) ? 2 : 1;
    const double operations =
        column.around.times * each * work.operations * (work.folded ? column.folded : column.kept);
    const bool has_rows = inside ? on_matrices : column.contraction.has_value();
    const double filled = has_rows ? filled_rows(*column.contraction) : 1;
    const double share = on_matrices ? reached_share(*column.contraction, rate->second) : 1;
    const double slowed = inside && !on_matrices ? clock_ : 1, times = repeats(column);
    const double seconds = times * seconds_at(operations, rate->second, cores_, model) / slowed / filled / share;
    if (on_matrices) (inside ? all_.operations : all_.operations_outside) += operations;
    if (!inside) return add_outside(resource_of(work.unit), seconds);
    const double per_second = unit->clock_hz ? unit->clock_hz->value : 0;
    const auto per_clock = unit->per_clock.find(type);
    const double clocks = per_clock == unit->per_clock.end()
                              ? times * operations * static_cast<double>(cores_) / rate->second.peak() * per_second
                              : times * operations / filled / per_clock->second.value;
    // A state is rescaled on the lanes, before the contraction adds to it.
    (repair ? all_.pointwise : serial_) += seconds;
    add(column.name, resource_of(work.unit), operations, clocks, seconds);
  }

  // Returns how many warps compute the whole column redundantly.
  double repeats(const MainloopOperation& column) const {
    const bool alone = model == Model::ideal || detail_ == Detail::least || !mainloop.is_repeated(column);
    return alone ? 1 : static_cast<double>(warpgroup.warps * warpgroup.warpgroups);
  }

  // Operations that promote sums: a matrix unit's sum of few bits is added to a sum on the lanes, with one addition per
  // value. For `Detail::least`, which holds for tiles of other sizes, the number of promotions is not rounded up.
  double promotions(const MainloopOperation& column) const {
    const auto every = column.contraction ? column.contraction->promoted : 0;
    if (every == 0 || model == Model::ideal) return 0;
    const double times = column.folded / column.kept / static_cast<double>(every);
    return 2 * column.kept * (detail_ == Detail::least ? times : std::ceil(times));
  }
  // The operations of lanes that promote sums and convert operands, and their seconds.
  std::pair<double, double> prepared(const MainloopOperation& column) const {
    const double operations = promotions(column) + conversions(column);
    const auto* unit = hardware.find(Unit::fma);
    const auto rate = unit ? unit->rates.find(Datatype::f32) : std::map<Datatype, Rate>::const_iterator();
    if (operations == 0 || !unit || rate == unit->rates.end()) return {operations, 0};
    return {operations, seconds_at(operations, rate->second, cores_, model) / clock_};
  }
  void prepare(const MainloopOperation& column) {
    const auto [operations, seconds] = prepared(column);
    if (seconds == 0) return;
    const auto& clock = hardware.find(Unit::fma)->clock_hz;
    all_.pointwise += seconds;
    add(column.name, Resource::fma, operations, clock ? seconds * clock_ * clock->value : 0, seconds);
  }
  void add_outside(Resource on, double seconds) {
    all_.outside += seconds;
    all_.outside_on[static_cast<std::size_t>(on)] += seconds;
  }

  // Operations with which lanes split f32 operands into two parts and widen the operands multiplied with them. Each
  // warp converts its own rows and all columns.
  double conversions(const MainloopOperation& column) const {
    if (!column.contraction || model == Model::ideal) return 0;
    const auto& made = *column.contraction;
    const auto rows = rows_of(column), of_warp = std::max<std::int64_t>(1, warpgroup.rows / warpgroup.warps);
    const double times = detail_ == Detail::least ? 1 : static_cast<double>(pieces_of(rows, of_warp));
    const auto of = [&](const MainloopOperand& one) {
      return made.parts > 1 ? converted(one, rows) : placed(one, made);
    };
    return 2 * (of(made.rows) + times * of(made.columns));
  }
  // Operations with which lanes pack values that they read one by one into shared registers, if the values are short,
  // and convert them for products of two types.
  double placed(const MainloopOperand& operand, const Contraction& made) const {
    if (!operand.one_by_one || (detail_ == Detail::least && !made.mixed)) return 0;
    const auto bytes = mainloop.value_bytes(operand.buffer);
    const double each = (bytes < 4 ? operations_of_placing : 0) + (made.mixed ? 2 * operations_of_widening : 0);
    return each * static_cast<double>(mainloop.step_bytes(operand.buffer) / bytes);
  }
  double converted(const MainloopOperand& operand, std::int64_t rows) const {
    const bool split = mainloop.diagram().at(mainloop.nest->at(operand.buffer).array).type == Datatype::f32;
    const auto values = operand.staged ? mainloop.step_bytes(operand.buffer) / mainloop.value_bytes(operand.buffer)
                                       : mainloop.values(operand.buffer, rows);
    return (split ? operations_of_split : operations_of_widening) * static_cast<double>(values);
  }

  // Adds the time of mask tests. Most of the tiles that run pass a mask as a whole. The time of the tests in the tiles
  // that the mask cuts is spread over all tiles.
  void ask_masks() {
    const auto masked =
        std::ranges::find_if(mainloop.columns, [](const auto& column) { return !column.compute->masks.empty(); });
    if (masked == mainloop.columns.end() || launch_.masks_by_operation_s <= 0) return;
    const double of_step = launch_.masks_by_operation_s * (all_.operations + all_.operations_outside);
    const double seconds = of_step * static_cast<double>(cores_) / clock_;
    all_.pointwise += seconds;
    const auto& unit = *hardware.find(Unit::fma);
    const double per_second = unit.clock_hz ? unit.clock_hz->value : 0;
    add(masked->name, Resource::fma, seconds * operations_per_second(unit), seconds * clock_ * per_second, seconds);
  }
  double operations_per_second(const ComputeUnit& unit) const {
    const auto rate = unit.rates.find(Datatype::f32);
    return rate == unit.rates.end() ? 0 : rate->second.reached() * clock_ / static_cast<double>(cores_);
  }

  // Returns the share of an instruction's rows that the block fills. Instructions compute all of their rows.
  double filled_rows(const Contraction& contraction) const {
    const auto rows = mainloop.lengths[mainloop.row.index], each = contraction.instruction->m;
    return model == Model::ideal || detail_ == Detail::least
               ? 1
               : static_cast<double>(rows) / static_cast<double>(round_up(rows, each));
  }

  // Returns the number of rows of the result. It is not that of the block if the block's rows are folded.
  std::int64_t rows_of(const MainloopOperation& column) const {
    const auto& contraction = *column.contraction;
    const auto rows = mainloop.lengths[mainloop.row.index];
    if (!contraction.exchanged) return rows;
    return std::max<std::int64_t>(
        1, static_cast<std::int64_t>(column.folded) / mainloop.values(contraction.columns.buffer, rows));
  }

  // Returns the bytes of a tile that are read. A value that is read by itself counts as 4 bytes.
  std::int64_t tile_bytes(const MainloopOperand& operand) const {
    const auto bytes = mainloop.step_bytes(operand.buffer);
    if (!operand.one_by_one || model == Model::ideal || detail_ == Detail::least) return bytes;
    const auto each = mainloop.value_bytes(operand.buffer);
    return each < 4 ? bytes / each * 4 : bytes;
  }
  // Returns the bytes that a contraction reads from the core's memory. A staged column operand is read once for the
  // rows of each instruction of four warps, or once per warp. A staged row operand is read once.
  std::int64_t read_bytes(const MainloopOperation& column) const {
    const auto& contraction = *column.contraction;
    const auto rows = rows_of(column);
    const bool itself = warps_of(*contraction.instruction) > 1;
    const auto at_once =
        itself ? contraction.instruction->m : std::max<std::int64_t>(1, warpgroup.rows / warpgroup.warps);
    if (repeats(column) > 1) return static_cast<std::int64_t>(repeats(column)) * whole_bytes(contraction);
    std::int64_t bytes = 0;
    if (contraction.columns.staged && detail_ == Detail::least && !contraction.columns.outlives)
      bytes += tile_bytes(contraction.columns);
    if (contraction.columns.staged && detail_ != Detail::least)
      bytes += pieces_of(rows, at_once) * tile_bytes(contraction.columns);
    if (contraction.rows.staged && !is_kept(contraction.rows)) bytes += tile_bytes(contraction.rows);
    if (contraction.exchanged && !contraction.rows.staged) bytes += 2 * mainloop.step_bytes(contraction.rows.buffer);
    return bytes + shuffled_bytes(contraction);
  }
  std::int64_t whole_bytes(const Contraction& made) const {
    return (made.rows.staged ? tile_bytes(made.rows) : 0) + (made.columns.staged ? tile_bytes(made.columns) : 0);
  }
  // Lanes exchange the 8-bit values that they computed, four to a register, in two shuffles. A shuffle takes as long as
  // a read of four bytes: 32 lanes in a clock (the CUDA programming guide's table of throughputs).
  std::int64_t shuffled_bytes(const Contraction& made) const {
    if (model == Model::ideal || !mainloop.exchanges_bytes(made)) return 0;
    return 2 * mainloop.values(made.rows.buffer, mainloop.lengths[mainloop.row.index]);
  }
  // True if the row operand is resident. For `Detail::least`, which holds for tiles of other sizes, either operand may
  // have the rows.
  bool is_kept(const MainloopOperand& rows) const { return detail_ == Detail::least ? rows.outlives : rows.kept; }
  // Returns the rate at which registers are loaded from the core's memory; null if the profile has none.
  const Rate* inner_rate() const {
    const auto below = mainloop.core + 1;
    const bool known = below < hardware.levels.size() && hardware.levels[below].bandwidth;
    return known ? &*hardware.levels[below].bandwidth : nullptr;
  }
  double read_seconds(std::int64_t bytes) const {
    const auto* rate = inner_rate();
    return rate ? seconds_at(static_cast<double>(bytes), *rate, cores_, model) / clock_ : 0;
  }
  void read_outside(const MainloopOperation& column) {
    const auto bytes = read_bytes(column);
    all_.outside_on[static_cast<std::size_t>(Resource::shared)] += column.around.times * read_seconds(bytes);
    all_.inner_bytes += column.around.times * static_cast<double>(bytes);
  }
  // Adds the tiles that are not operands of contractions and the results: each tile is read once, each result written
  // once.
  void move_inside() {
    for (const auto id : mainloop.streamed)
      if (!is_operand(id)) all_.inner_bytes += static_cast<double>(mainloop.bytes(id));
    for (const auto& edge : mainloop.edges)
      if (!is_operand(edge.buffer))
        all_.inner_bytes += (edge.inside ? 1 : edge.around.times) * static_cast<double>(mainloop.bytes(edge.buffer));
  }
  bool is_operand(BufferId id) const {
    const auto takes = [&](const MainloopOperation& column) {
      const auto& made = column.contraction;
      return made && ((made->rows.buffer == id && !made->rows.kept) || made->columns.buffer == id);
    };
    return mainloop.any(takes);
  }
  double read(const MainloopOperation& column) {
    const auto* rate = inner_rate();
    if (!rate) return 0;
    const auto bytes = read_bytes(column);
    const double seconds = read_seconds(bytes);
    all_.inner_bytes += static_cast<double>(bytes);
    add(column.name, Resource::shared, static_cast<double>(bytes),
        clocks(seconds_at(static_cast<double>(bytes), *rate, cores_, Model::ideal)), seconds);
    return seconds;
  }
  double clocks(double seconds) const {
    const auto* unit = hardware.find(Unit::tensor);
    return unit->clock_hz ? seconds * unit->clock_hz->value : 0;
  }

  // Finds the clock under sustained load, relative to the peak clock. A matrix unit sustains less than its instructions
  // reach briefly, because the chip lowers its clock. Lanes and the core's memory share this clock.
  void find_clock() {
    if (model == Model::ideal) return;
    for (const auto& column : mainloop.columns) {
      if (!column.contraction) continue;
      const auto& instruction = *column.contraction->instruction;
      const auto& rate = hardware.find(Unit::tensor)->rates.at(instruction.operands);
      const double reached = instruction.fraction ? instruction.fraction->value : 1;
      clock_ = std::min(clock_, rate.reached() / rate.peak() / reached);
    }
  }
  // Adds the latency of matrix instructions. At a handover in ping-pong, the first instruction of the next warpgroup
  // must run through before the matrix units give results again. A single warpgroup waits for the results of every
  // contraction that lanes process further, or whose operands lanes computed.
  void wait() {
    const auto* unit = hardware.find(Unit::tensor);
    if (model == Model::ideal || !unit->clock_hz) return;
    double longest = 0, all = 0;
    for (const auto& column : mainloop.columns) {
      if (!column.contraction || !column.contraction->instruction->latency_clocks) continue;
      const double clocks = column.contraction->instruction->latency_clocks->value;
      longest = std::max(longest, clocks), all += clocks;
    }
    const double clock = unit->clock_hz->value * clock_;
    all_.handover = static_cast<double>(warpgroup.warpgroups) * longest / clock;
    all_.waits = all_.pointwise > 0 ? all / clock : 0;
    if (detail_ != Detail::least) count_warp_instructions(*this, clock, all_);
  }

  void copy(const Passage& passage) {
    all_.copy = passage.seconds();
    all_.last_copy = passage.seconds(launch_.last_round);
    all_.by_cache = cached_ && cache_of(mainloop, hardware) && passage.core > passage.memory;
    if (detail_ == Detail::columns) name_copies();
    auto& resource = all_.resources[static_cast<std::size_t>(Resource::copy)];
    resource.seconds = all_.copy, resource.clocks = clocks(all_.copy);
  }
  void name_copies() {
    const CorePath path{mainloop, hardware, model, cached_};
    const auto neighbours = path.fastest_neighbours();
    const auto name = [&](BufferId id, double times, double seconds) {
      add(mainloop.diagram().at(mainloop.nest->at(id).array).name, Resource::copy, times * mainloop.moved(id, false),
          times * clocks(seconds), times * seconds);
    };
    for (const auto id : mainloop.streamed) name(id, 1, path.way_in(id, neighbours).seconds());
    for (const auto& edge : mainloop.edges) {
      if (edge.inside) name(edge.buffer, 1, path.way_out(edge.buffer).seconds());
      if (edge.reloaded) name(edge.buffer, edge.around.times, path.way_in(edge.buffer, neighbours).seconds());
    }
  }

  bool cached_;
  Detail detail_;
  OfLaunch launch_;
  std::int64_t cores_;
  Datatype widest_;
  double serial_ = 0, clock_ = 1;
  IterationClocks all_;
};

}  // namespace

Resource resource_of(Unit unit) {
  return unit == Unit::tensor ? Resource::tensor : unit == Unit::sfu ? Resource::sfu : Resource::fma;
}

IterationClocks clocks_of(const OnCore& on, const Passage& passage, const OfLaunch& launch, bool cached,
                          Detail detail) {
  return Counter(on, cached, detail, launch).run(passage);
}

}  // namespace napkin
