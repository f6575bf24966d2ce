// The compute units of a profile: tables of per-clock and datasheet numbers become rates of the whole machine.
//
// A rate per clock is what the chip's designers chose and a datasheet's rate follows from it; where a profile has both
// they must agree. A clock set on the command line moves the rates, as a locked clock does on a real card.
#include "hardware/compute.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "hardware/check.hpp"

namespace napkin::profile {
namespace {

constexpr std::array unit_kinds{Unit::tensor, Unit::fma, Unit::sfu};

const Datatype* datatype_named(Reader& reader, const std::string& word, Span span) {
  if (const DatatypeRow* row = find_datatype(word)) return &row->type;
  std::vector<std::string> names;
  for (const DatatypeRow& row : datatypes()) names.emplace_back(row.name);
  reader.unknown("E0416", "datatype", word, span, names);
  return nullptr;
}

// "mnk" shapes: m16n8k16, or m64n8-256k16 where n is any multiple of 8 up to 256.
bool read_shape(std::string_view text, InstructionShape& shape) {
  const auto part = [&](char letter) -> std::optional<std::int64_t> {
    if (text.empty() || text[0] != letter) return std::nullopt;
    const std::size_t end = std::min(text.find_first_not_of("0123456789", 1), text.size());
    const std::optional<std::int64_t> value = whole_number(text.substr(1, end - 1));
    text.remove_prefix(end);
    return value;
  };
  const auto m = part('m'), n = part('n');
  const auto n_max = !text.empty() && text[0] == '-' ? part('-') : n;
  const auto k = part('k');
  if (!m || !n || !n_max || !k || !text.empty() || *n_max < *n || *n_max % *n != 0) return false;
  shape.m = *m, shape.n = *n, shape.n_max = *n_max, shape.k = *k;
  return true;
}

void read_instructions(Reader& reader, ComputeUnit& unit, const Node& node, const std::string& path) {
  reader.entries(node, path, [&](const Entry& family, const std::string& at) {
    std::optional<Sourced<double>> fraction, latency;
    const std::size_t first = unit.instructions.size();
    reader.entries(family.value, at, [&](const Entry& entry, const std::string& there) {
      if (entry.key == "fraction")
        return reader.number(fraction, Dimension::fraction, Range::fraction)(entry.value, there);
      if (entry.key == "latency") return reader.number(latency, Dimension::clocks)(entry.value, there);
      InstructionShape shape;
      shape.name = family.key;
      const Datatype* type = datatype_named(reader, entry.key, entry.key_span);
      const auto word = reader.sourced_word(entry.value, there);
      if (type == nullptr || !word) return;
      shape.operands = *type;
      if (read_shape(word->written, shape))
        unit.instructions.push_back(std::move(shape));
      else
        reader.error(
            problem("E0412", fmt::format("`{}` is no instruction shape", word->written), word->span,
                    "write it as in `m16n8k16`, or `m64n8-256k16` for every n that is a multiple of 8 up to 256"));
    });
    for (std::size_t i = first; i < unit.instructions.size(); ++i) {
      unit.instructions[i].fraction = fraction;
      unit.instructions[i].latency_clocks = latency;
    }
  });
}

// Operand and accumulator of "f16" or "f16 into f16"; no accumulator means the unit's usual one.
using Operation = std::pair<Datatype, std::optional<Datatype>>;
std::optional<Operation> read_operation(Reader& reader, const Entry& entry) {
  const std::string into = " into ";
  const std::size_t middle = entry.key.find(into);
  const Datatype* operands = datatype_named(reader, entry.key.substr(0, middle), entry.key_span);
  if (operands == nullptr) return std::nullopt;
  if (middle == std::string::npos) return Operation{*operands, std::nullopt};
  const Datatype* accumulator = datatype_named(reader, entry.key.substr(middle + into.size()), entry.key_span);
  if (accumulator == nullptr) return std::nullopt;
  return Operation{*operands, *accumulator};
}

// The tables of a unit, each a number per operation, before they become rates.
struct Tables {
  std::map<Operation, Sourced<double>> per_clock, datasheet, sustained, fraction, energy;
};

Read table(Reader& reader, std::map<Operation, Sourced<double>>& out, Dimension dimension,
           Range range = Range::positive) {
  return [&reader, &out, dimension, range](const Node& node, const std::string& path) {
    reader.entries(node, path, [&](const Entry& entry, const std::string& at) {
      const std::optional<Operation> operation = read_operation(reader, entry);
      const auto read = reader.quantity(entry.value, at, dimension, range);
      if (operation && read) out.emplace(*operation, sourced(*read));
    });
  };
}

std::string name_of(const Operation& operation) {
  const std::string operands(row(operation.first).name);
  return operation.second ? fmt::format("{} into {}", operands, row(*operation.second).name) : operands;
}

Rate& rate_of(ComputeUnit& unit, const Operation& operation) {
  return operation.second ? unit.narrow_rates[{operation.first, *operation.second}] : unit.rates[operation.first];
}

// Operations per second of the machine from those per clock of one core.
std::optional<Sourced<double>> from_clock(const Hardware& hardware, const ComputeUnit& unit,
                                          const Sourced<double>& per_clock) {
  if (!hardware.core || !unit.clock_hz) return std::nullopt;
  const std::int64_t cores = hardware.total(*hardware.core);
  const double clock = unit.clock_hz->value;
  return Sourced<double>{per_clock.value * static_cast<double>(cores) * clock, Origin::derived, per_clock.source,
                         fmt::format("{} per clock x {} x {:.6g} GHz", per_clock.value, cores, clock / 1e9)};
}

// Whether the command line changed what a rate follows from; then the datasheet's own number no longer holds.
bool overridden(const Hardware& hardware, const std::string& unit_path, const Operation& operation) {
  const auto given = [&](const std::string& path) {
    const Figure* figure = find_figure(hardware, path);
    return figure != nullptr && figure->origin == Origin::given;
  };
  bool any = given(unit_path + ".clock") || given(fmt::format("{}.per_clock.{}", unit_path, name_of(operation)));
  for (const Level& level : hardware.levels) any = any || given(fmt::format("levels.{}.count", level.name));
  return any && !given(fmt::format("{}.datasheet.{}", unit_path, name_of(operation)));
}

std::string table_path(const std::string& unit_path, std::string_view table, const Operation& operation) {
  return fmt::format("{}.{}.{}", unit_path, table, name_of(operation));
}

// A rate per clock against the datasheet's, or instead of it.
void follow_clock(Reader& reader, ComputeUnit& unit, const Operation& operation, const Sourced<double>& per_clock,
                  const std::string& path) {
  const Hardware& hardware = reader.hardware();
  const Figure from = *find_figure(hardware, table_path(path, "per_clock", operation));
  const std::optional<Sourced<double>> derived = from_clock(hardware, unit, per_clock);
  if (!derived) return;
  const Figure* written = find_figure(hardware, table_path(path, "datasheet", operation));
  if (written != nullptr && !overridden(hardware, path, operation))
    return check_agreement(*written, *derived, from, reader);
  rate_of(unit, operation).datasheet = derived;
  reader.record(table_path(path, "rate", operation), Dimension::operations, *derived, from);
}

void make_datasheet_rates(Reader& reader, ComputeUnit& unit, const Tables& tables, const std::string& path) {
  for (const auto& [operation, value] : tables.datasheet) rate_of(unit, operation).datasheet = value;
  for (const auto& [operation, value] : tables.per_clock) {
    if (!operation.second) unit.per_clock[operation.first] = value;
    follow_clock(reader, unit, operation, value, path);
  }
}

void make_sustained_rates(Reader& reader, ComputeUnit& unit, const Tables& tables, const std::string& path) {
  for (const auto& [operation, value] : tables.sustained) {
    Rate& rate = rate_of(unit, operation);
    rate.sustained = value;
    check_sustained(rate, table_path(path, "sustained", operation), reader);
  }
  for (const auto& [operation, fraction] : tables.fraction)
    sustain(rate_of(unit, operation), fraction, table_path(path, "sustained_fraction", operation), reader);
}

void read_unit(Reader& reader, Unit kind, const Node& node, const std::string& path) {
  ComputeUnit unit;
  unit.unit = kind;
  Tables tables;
  reader.fields(node, path, "a compute unit",
                {{"clock", reader.number(unit.clock_hz, Dimension::frequency)},
                 {"per_clock", table(reader, tables.per_clock, Dimension::per_clock)},
                 {"datasheet", table(reader, tables.datasheet, Dimension::operations)},
                 {"sustained", table(reader, tables.sustained, Dimension::operations)},
                 {"sustained_fraction", table(reader, tables.fraction, Dimension::fraction, Range::fraction)},
                 {"energy", table(reader, tables.energy, Dimension::energy_per_operation)},
                 {"instructions",
                  [&](const Node& value, const std::string& at) { read_instructions(reader, unit, value, at); }}});
  if (!tables.per_clock.empty() && node.find("clock") == nullptr)
    reader.error(problem("E0406", "a compute unit with rates per clock needs the key `clock`", node.span));
  make_datasheet_rates(reader, unit, tables, path);
  make_sustained_rates(reader, unit, tables, path);
  for (const auto& [operation, value] : tables.energy) unit.energy[operation.first] = value;
  reader.hardware().compute.push_back(std::move(unit));
}

}  // namespace

std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 1 || text[0] == '0') return std::nullopt;
  return value;
}

void read_compute(Reader& reader, const Node& node, const std::string& path) {
  std::vector<Field> known;
  for (const Unit kind : unit_kinds)
    known.push_back({name(kind), [&reader, kind](const Node& value, const std::string& at) {
                       read_unit(reader, kind, value, at);
                     }});
  reader.fields(node, path, "compute", known);
}

}  // namespace napkin::profile
