// Finds the columns that sum products of two arrays, with the unit on which each runs and its instruction, or the
// reason why it has none.
#include "summary/products.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "diagram/operands.hpp"
#include "loops/formats.hpp"
#include "loops/work.hpp"
#include "napkin/instructions.hpp"
#include "napkin/summary.hpp"
#include "summary/instructions.hpp"
#include "summary/sizes.hpp"
#include "summary/split_sum.hpp"
#include "timing/labels.hpp"
#include "timing/launch_configs.hpp"
#include "timing/occupancy.hpp"

namespace napkin {
namespace {

// Returns the name of the array that a factor reads or computes.
std::string factor_name(const Derivation& derivation, ExprId factor) {
  const auto& diagram = derivation.scratch;
  const auto* access = std::get_if<Access>(&diagram.at(factor).node);
  if (!access) {
    const auto read = arrays_read(diagram, factor);
    const auto of_file = [&](ArrayId array) { return array.index < derivation.file_arrays; };
    const auto first = std::ranges::find_if(read, of_file);
    return std::ranges::all_of(read, of_file) || first == read.end() ? to_text(diagram, factor)
                                                                     : fmt::format("f({})", diagram.at(*first).name);
  }
  if (access->array.index < derivation.file_arrays) return diagram.at(access->array).name;
  // Arrays that the derivation adds have no name in the file.
  for (const auto& column : derivation.columns)
    if (column.output == access->array)
      if (const auto read = arrays_read(diagram, column.value); !read.empty())
        return fmt::format("f({})", diagram.at(read.front()).name);
  return diagram.at(access->array).name;
}

bool reads_arrays(const Diagram& diagram, ExprId id) { return !arrays_read(diagram, id).empty(); }

// Returns the two sides of the summed expression if both read arrays: for `(Q - K)^2`, those of the difference.
std::optional<FactorPair> sides_of(const Diagram& diagram, ExprId value) {
  const auto* apply = std::get_if<Apply>(&diagram.at(value).node);
  if (!apply) return {};
  if (const auto power = small_power(diagram, *apply); power > 1) return sides_of(diagram, apply->arguments[0]);
  if (apply->arguments.size() != 2) return {};
  const auto a = apply->arguments[0], b = apply->arguments[1];
  return reads_arrays(diagram, a) && reads_arrays(diagram, b) ? std::optional(FactorPair{a, b}) : std::nullopt;
}

// True if the result has a wire of one operand that the other operand lacks.
bool has_one_alone(const Diagram& diagram, const Column& column, ExprId one, ExprId other) {
  const auto a = free_wires(diagram, one), b = free_wires(diagram, other);
  return std::ranges::any_of(diagram.at(column.output).wires, [&](WireId wire) {
    return std::ranges::binary_search(a, wire) && !std::ranges::binary_search(b, wire);
  });
}

std::string formats_of(const ComputeUnit& unit) {
  std::string all;
  for (const auto& [type, rate] : unit.rates) all += (all.empty() ? "" : ", ") + std::string(row(type).name);
  return all;
}

bool is_whole(Datatype type) { return row(type).round(0.5) != 0.5; }

// Returns the widest format of the matrix units that is at most as wide as this one; an integer format for integers.
std::optional<Datatype> nearest(Datatype type, const ComputeUnit& unit) {
  std::optional<Datatype> best;
  for (const auto& [other, rate] : unit.rates)
    if (is_whole(other) == is_whole(type) && row(other).bytes <= row(type).bytes &&
        (!best || row(other).bytes > row(*best).bytes))
      best = other;
  return best;
}

class Explaining {
 public:
  Explaining(const Diagram& diagram, const Derivation& derivation, const Hardware& hardware)
      : diagram_(diagram), derivation_(derivation), hardware_(hardware), unit_(hardware.find(Unit::tensor)) {}

  void explain(const Column& column, const FactorPair& factors, MatrixProduct& made) const {
    if (!unit_) return void(made.why = "the machine has no matrix units");
    if (!factors_of(diagram_, column)) return no_product(column, factors, made);
    if (!contracts(diagram_, column)) return no_matrix(column, factors, made);
    const auto [a, b] = types_of(diagram_, factors);
    a == b ? no_format(factors, a, made) : mixed(factors, a, b, made);
  }

 private:
  bool is_computed(ExprId access) const {
    const auto array = std::get<Access>(diagram_.at(access).node).array;
    return std::ranges::find(derivation_.inputs, array) == derivation_.inputs.end();
  }
  // Explains that the column is no product for matrix units, which read arrays in a format of their own.
  void no_product(const Column& column, const FactorPair& factors, MatrixProduct& made) const {
    const auto* apply = std::get_if<Apply>(&diagram_.at(column.value).node);
    if (!apply || apply->function->role != Role::multiply) {
      made.why = fmt::format("it sums {}, which is no product of two arrays", to_text(diagram_, column.value));
      made.first.clear(), made.second.clear();
      return;
    }
    const bool first = !std::holds_alternative<Access>(diagram_.at(factors.first).node);
    const auto& inner = first ? made.first : made.second;
    made.why = fmt::format("{} is computed inside the sum, but matrix units read arrays", inner);
    made.mend = {
        fmt::format("give {} a statement of its own, in a format of the matrix units ({})", inner, formats_of(*unit_)),
        {}};
  }
  void no_matrix(const Column& column, const FactorPair& factors, MatrixProduct& made) const {
    if (!sums_products(diagram_, column, factors))
      return void(made.why = "the two share no axis of the sum that is longer than 1");
    const bool first = has_one_alone(diagram_, column, factors.first, factors.second);
    const auto &matrix = first ? made.first : made.second, &vector = first ? made.second : made.first;
    made.why =
        fmt::format("{} has no axis of the result that {} lacks, so this is no product of matrices", vector, matrix);
  }
  // The edit of a factor. A factor without a name first needs a statement of its own.
  Fix edit(ExprId factor, const std::string& array, Datatype type) const {
    if (array.starts_with("f("))
      return {fmt::format("give {} a statement of its own in {}", array, row(type).name), {}};
    Fix made{fmt::format("write {}: {}", array, row(type).name), {}};
    const auto typed = diagram_.at(std::get<Access>(diagram_.at(factor).node).array).typed;
    const bool written = typed.begin < typed.end;
    if (typed.file != nowhere.file) made.edits = {{typed, (written ? "" : ": ") + std::string(row(type).name)}};
    return made;
  }
  static Fix both(Fix a, const Fix& b) {
    const bool of_text = !a.edits.empty() && !b.edits.empty();
    if (a.title != b.title) a.title += " and " + b.title;
    if (!of_text) a.edits.clear();
    if (of_text && a.edits[0].span != b.edits[0].span) a.edits.push_back(b.edits[0]);
    return a;
  }
  static void say_if_narrower(Datatype type, Datatype other, Fix& made) {
    if (is_whole(type) && row(other).bytes < row(type).bytes) made.title += ", if the numbers fit";
  }
  void no_format(const FactorPair& factors, Datatype type, MatrixProduct& made) const {
    made.why = fmt::format("{} and {} are {}, and the matrix units multiply {}", made.first, made.second,
                           row(type).name, formats_of(*unit_));
    if (const auto other = nearest(type, *unit_)) {
      made.mend = both(edit(factors.first, made.first, *other), edit(factors.second, made.second, *other));
      say_if_narrower(type, *other, made.mend);
    }
  }
  void mixed(const FactorPair& factors, Datatype a, Datatype b, MatrixProduct& made) const {
    made.why = fmt::format("{} is {} and {} {}", made.first, row(a).name, made.second, row(b).name);
    if (!diagram_.in_parts && parts_of(a, b) > 1 && multiplied_as(a, b, hardware_))
      made.why += ", and two products of tf32 would take longer";
    // A computed factor is written in the format of the factor that the kernel reads.
    const bool first = is_computed(factors.first) == is_computed(factors.second) ? row(a).bytes > row(b).bytes
                                                                                 : is_computed(factors.first);
    const auto wanted =
        unit_->rates.contains(first ? b : a) ? std::optional(first ? b : a) : nearest(first ? b : a, *unit_);
    if (!wanted) return;
    made.mend = edit(first ? factors.first : factors.second, first ? made.first : made.second, *wanted);
    say_if_narrower(first ? a : b, *wanted, made.mend);
  }

  const Diagram& diagram_;
  const Derivation& derivation_;
  const Hardware& hardware_;
  const ComputeUnit* unit_;
};

bool reads(const Diagram& diagram, const Column& column, ArrayId array) {
  const auto all = arrays_read(diagram, column.value);
  return std::ranges::find(all, array) != all.end();
}

// Returns the name of the result. For an array that the derivation adds, it is that of the statement to which it
// belongs.
std::string result_name(const Derivation& derivation, const Column& column) {
  const auto& diagram = derivation.scratch;
  const auto name = without_sum(diagram.at(column.output).name);
  auto array = column.output;
  for (const auto& later : derivation.columns) {
    if (array.index < derivation.file_arrays) break;
    if (reads(diagram, later, array)) array = later.output;
  }
  const auto& whole = diagram.at(array).name;
  return array.index >= derivation.file_arrays || name == whole ? name : "part of " + whole;
}

// The columns of the derivation have the names that a person wrote. The columns of a stream have other names.
MatrixProduct product_of(const Column& column, const FactorPair& factors, const Derivation& derivation) {
  const auto& diagram = derivation.scratch;
  MatrixProduct made;
  made.column = without_sum(diagram.at(column.output).name);
  made.result = result_name(derivation, column);
  made.first = factor_name(derivation, factors.first), made.second = factor_name(derivation, factors.second);
  return made;
}

// Returns the factors that a column sums if it is a product or could be one. Squares of a row and the like are
// excluded.
std::optional<FactorPair> summed(const Diagram& diagram, const Column& column) {
  if (!column.fold || column.fold->combine->role != Role::add) return {};
  const auto sides = sides_of(diagram, column.value);
  if (!sides) return {};
  const bool first = has_one_alone(diagram, column, sides->first, sides->second);
  const bool second = has_one_alone(diagram, column, sides->second, sides->first);
  const bool product = factors_of(diagram, column).has_value();
  return (first && second) || (product && (first || second)) ? sides : std::nullopt;
}

// Returns the number of products on matrix units that make up each product; 0 if it runs on lanes.
int parts_on_matrix_units(const Diagram& diagram, const Column& column, const Hardware& hardware) {
  const auto all = work_of(diagram, column, hardware);
  const auto found = std::ranges::find(all, Unit::tensor, &ColumnWork::unit);
  return found == all.end() ? 0 : found->parts;
}

// The stream that turns a sum into a product of two arrays, although the sum as written is none; the one with fewest
// parts.
struct StreamOfProduct {
  WireId wire;
  int parts = 0;
};
StreamOfProduct stream_of_product(const Derivation& derivation, const std::string& column, const Hardware& hardware) {
  StreamOfProduct best;
  for (const auto& verdict : derivation.verdicts) {
    const auto* stream = std::get_if<Streamable>(&verdict.stream);
    if (!stream) continue;
    for (const auto* columns : {&stream->piece, &stream->absorb})
      for (const auto& one : *columns) {
        if (without_sum(stream->scratch.at(one.output).name) != column) continue;
        const int parts = parts_on_matrix_units(stream->scratch, one, hardware);
        if (parts > 0 && (best.parts == 0 || parts < best.parts)) best = {verdict.wire, parts};
      }
  }
  return best;
}
// True if a stream already makes the product, so that nothing needs to change.
bool spare(MatrixProduct& made, const Derivation& derivation, const Hardware& hardware) {
  const auto found = stream_of_product(derivation, made.column, hardware);
  if (found.parts == 0) return false;
  made.lost = false;
  made.why += fmt::format("; a stream along {} moves it out of the sum", derivation.scratch.at(found.wire).name);
  if (found.parts > 1) made.unit = Unit::tensor, made.type = Datatype::tf32, made.parts = found.parts;
  if (found.parts == 1) made.mend = {};
  return found.parts == 1;
}

std::string join_and(const std::vector<std::string>& words) { return fmt::format("{}", fmt::join(words, " and ")); }

// A sum over more than two arrays becomes a sum over two if a statement in front of it computes one operand.
void mend_by(MatrixProduct& made, SplitSum found) {
  made.lost = made.parts == 1;
  made.first = found.operands[0], made.second = found.operands[1];
  made.why = fmt::format("{} {} computed inside the sum, but matrix units read arrays", join_and(found.computed),
                         found.computed.size() == 1 ? "is" : "are");
  made.mend = std::move(found.fix);
}

class AllProducts {
 public:
  AllProducts(const Derivation& derivation, const Hardware& hardware, const std::optional<SourceText>& source)
      : derivation_(derivation), hardware_(hardware), source_(source), explaining_(diagram_, derivation, hardware) {}

  std::vector<MatrixProduct> list() const {
    std::vector<MatrixProduct> all;
    for (const auto& column : derivation_.columns)
      if (auto made = of(column)) all.push_back(std::move(*made));
    return all;
  }

 private:
  std::optional<MatrixProduct> of(const Column& column) const {
    if (!column.fold || column.fold->combine->role != Role::add) return {};
    const auto factors = summed(diagram_, column);
    const auto work = work_of(diagram_, column, hardware_).front();
    const bool on_lanes = work.unit != Unit::tensor || !factors;
    const bool in_parts = !on_lanes && work.parts > 1;
    auto found = on_lanes || in_parts ? split_of(column) : std::nullopt;
    if (!factors && !found) return {};
    auto made = factors ? product_of(column, *factors, derivation_) : nameless(column);
    made.span = diagram_.at(column.output).span;
    made.unit = work.unit, made.type = work.type;
    made.parts = work.parts;
    if (!on_lanes && !in_parts) return made;
    made.lost = on_lanes && (found || sums_matrices(diagram_, column));
    if (factors) explaining_.explain(column, *factors, made);
    if (made.lost && spare(made, derivation_, hardware_)) return made;
    if (found) mend_by(made, std::move(*found));
    return made;
  }
  std::optional<SplitSum> split_of(const Column& column) const {
    const auto* unit = hardware_.find(Unit::tensor);
    return unit ? split_sum(derivation_, column, *unit, source_) : std::nullopt;
  }
  // The summed expression is not a product of two arrays, such as a quotient.
  MatrixProduct nameless(const Column& column) const {
    MatrixProduct made;
    made.column = without_sum(diagram_.at(column.output).name);
    made.result = result_name(derivation_, column);
    return made;
  }

  const Derivation& derivation_;
  const Hardware& hardware_;
  const std::optional<SourceText>& source_;
  const Diagram& diagram_ = derivation_.scratch;
  Explaining explaining_;
};

std::vector<MatrixProduct> all_products(const Derivation& derivation, const Hardware& hardware,
                                        const std::optional<SourceText>& source = {}) {
  return AllProducts(derivation, hardware, source).list();
}

// Returns a machine that has only matrix units, with all known matrix instructions.
Hardware of_all_instructions() {
  ComputeUnit unit;
  unit.unit = Unit::tensor;
  for (const auto& instruction : matrix_instructions()) {
    unit.rates[instruction.operands];
    unit.instructions.push_back(
        {"mma.sync", instruction.operands, instruction.m, instruction.n, instruction.k, instruction.n, {}, {}});
  }
  Hardware made;
  made.compute.push_back(std::move(unit));
  return made;
}

}  // namespace

std::string without_sum(std::string name) {
  constexpr std::string_view sum = "_sum";
  if (name.ends_with(sum)) name.resize(name.size() - sum.size());
  return name;
}

bool sums_matrices(const Diagram& diagram, const Column& column) {
  const auto sides = summed(diagram, column);
  return sides && has_one_alone(diagram, column, sides->first, sides->second) &&
         has_one_alone(diagram, column, sides->second, sides->first);
}

std::vector<MatrixProduct> products_of(const Derivation& derivation, const Hardware* hardware,
                                       const std::optional<SourceText>& source) {
  const auto every = of_all_instructions();
  auto all = all_products(derivation, hardware ? *hardware : every, source);
  for (auto& made : all)
    if (made.unit == Unit::tensor) note_alignment(derivation, hardware, made);
  return all;
}

std::vector<MatrixProduct> matrix_products(const Kernel& asked, const Hardware& hardware, Model model) {
  const auto kernel = without_idle_labels(asked);
  const auto configs =
      hardware.core && hardware.find(Unit::tensor) ? LaunchConfigs::of(kernel, hardware, model) : nullptr;
  const LaunchConfig config = configs ? configs->best(demand_of(kernel, hardware)) : LaunchConfig{};
  auto all = all_products(*asked.derivation, hardware);
  if (configs) name_instructions(configs->as(config).mainloop(), all);
  return all;
}

std::vector<MatrixProduct> slow_products(const Derivation& derivation, const Hardware& hardware,
                                         const std::optional<SourceText>& source) {
  auto all = all_products(derivation, hardware, source);
  std::erase_if(all, [](const MatrixProduct& one) { return one.unit == Unit::tensor && one.parts == 1; });
  return all;
}

}  // namespace napkin
