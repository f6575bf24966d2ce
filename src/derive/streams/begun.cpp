#include "derive/streams/begun.hpp"

#include <algorithm>
#include <optional>

#include "derive/columns.hpp"
#include "derive/trace.hpp"
#include "diagram/contains.hpp"
#include "diagram/operands.hpp"

namespace napkin {
namespace {

class Beginning {
 public:
  Beginning(Diagram& scratch, Streamable& all, ArrayId state, WireId wire)
      : scratch_(scratch), all_(all), state_(state), wire_(wire) {}

  void run(const std::set<ArrayId>& needed, const std::set<ArrayId>& made) {
    const auto init = std::ranges::find(all_.init, state_, &Column::output);
    const auto update = std::ranges::find(all_.absorb, state_, &Column::output);
    const auto column = only_reader();
    if (!column || init == all_.init.end() || update == all_.absorb.end() || needed.contains(column->output)) return;
    const auto first = combined_with(*column, *update);
    if (!first || contains(free_wires(scratch_, *first), wire_) || reads_any(*first, made)) return;
    all_.trace.push_back({Rule::prefix, column->output, column->value, whole(state_),
                          "the carried value begins with what is the same at every position"});
    init->value = *first;
    read_state(column->output);
  }

 private:
  ExprId whole(ArrayId array) { return read_whole(scratch_, array); }
  bool reads_it(const Column& column) const { return contains(reads(scratch_, column), state_); }
  // Returns a copy of the only column of a piece that reads the state. Nothing that comes after an update may read
  // either: it would find the state as it is by then.
  std::optional<Column> only_reader() const {
    const auto reader = [&](const Column& column) { return reads_it(column); };
    const auto found = std::ranges::find_if(all_.piece, reader);
    if (found == all_.piece.end()) return std::nullopt;
    const auto later = [&](const Column& column) {
      return contains(reads(scratch_, column), found->output) || (column.output != state_ && reads_it(column));
    };
    const bool only = std::ranges::count_if(all_.piece, reader) == 1 && std::ranges::none_of(all_.absorb, later) &&
                      std::ranges::none_of(all_.finish, later);
    return only ? std::optional(*found) : std::nullopt;
  }
  // Returns the value that the column combines with the state as the update does.
  std::optional<ExprId> combined_with(const Column& column, const Column& update) {
    const auto* both = std::get_if<Apply>(&scratch_.at(column.value).node);
    const bool same = both && !column.fold && update.fold && !update.repair && both->function == update.fold->combine &&
                      scratch_.at(column.output).type == scratch_.at(state_).type;
    if (!same) return std::nullopt;
    const auto arguments = both->arguments;
    const ExprId own = whole(state_);
    if (arguments[0] == own) return arguments[1];
    return arguments[1] == own ? std::optional(arguments[0]) : std::nullopt;
  }
  bool reads_any(ExprId value, const std::set<ArrayId>& made) const {
    return std::ranges::any_of(arrays_read(scratch_, value), [&](ArrayId array) { return made.contains(array); });
  }
  // What reads the array reads the state, and nothing makes the array.
  void read_state(ArrayId array) {
    std::erase_if(all_.piece, [&](const Column& column) { return column.output == array; });
    const ExprId before = whole(array), now = whole(state_);
    for (auto& column : all_.piece) column.value = with_reads(column.value, before, now);
  }
  ExprId with_reads(ExprId e, ExprId before, ExprId now) {
    if (e == before) return now;
    return with_operands(scratch_, e, [&](ExprId operand) { return with_reads(operand, before, now); });
  }

  Diagram& scratch_;
  Streamable& all_;
  ArrayId state_;
  WireId wire_;
};

}  // namespace

void begin_with_what_is_before(Diagram& scratch, Streamable& all, ArrayId state, WireId wire,
                               const std::set<ArrayId>& needed, const std::set<ArrayId>& made) {
  Beginning(scratch, all, state, wire).run(needed, made);
}

}  // namespace napkin
