// Splits a statement that needs several sweeps over an axis into one statement per sweep.
#include <algorithm>
#include <map>
#include <utility>

#include "derive/columns.hpp"
#include "diagram/operands.hpp"
#include "napkin/derive.hpp"

namespace napkin {
namespace {

class Sweeper {
 public:
  explicit Sweeper(const Diagram& diagram) : made_{diagram, {}} {}

  Sweeps run() {
    for (const auto& statement : std::exchange(made_.diagram.statements, {})) {
      begin(statement);
      auto last = statement;
      last.value = apart(statement.value);
      made_.diagram.statements.push_back(last);
    }
    return std::move(made_);
  }

 private:
  void begin(const Statement& statement) {
    statement_ = statement;
    known_.clear();
  }
  const std::vector<WireId>& kept() const { return made_.diagram.at(statement_.output).wires; }
  bool is_kept(WireId wire) const { return std::ranges::find(kept(), wire) != kept().end(); }

  ExprId apart(ExprId id) {
    const auto whole = with_operands(made_.diagram, id, [&](ExprId operand) { return apart(operand); });
    const auto* reduce = std::get_if<Reduce>(&made_.diagram.at(whole).node);
    if (!reduce || std::ranges::none_of(reduce->over, [&](WireId wire) { return is_kept(wire); })) return whole;
    const auto known = known_.find(whole);
    return known != known_.end() ? known->second : known_[whole] = statement_of(whole, Reduce(*reduce));
  }
  ExprId statement_of(ExprId value, const Reduce& reduce) {
    auto wires = free_wires(made_.diagram, value);
    std::ranges::stable_sort(wires, {}, [&](WireId wire) { return std::ranges::find(kept(), wire) - kept().begin(); });
    const auto type = accumulator(made_.diagram, made_.diagram.at(statement_.output).type, reduce.body);
    const auto array = new_array(made_.diagram, std::string(reduce.reduction->state_name), type, std::move(wires),
                                 made_.diagram.at(statement_.output).span);
    made_.diagram.statements.push_back({array, value, statement_.span});
    note(made_.diagram.at(array).name);
    return read_whole(made_.diagram, array);
  }
  void note(const std::string& array) {
    const auto& name = made_.diagram.at(statement_.output).name;
    auto& all = made_.statements;
    if (all.empty() || all.back().statement != name) all.push_back({name, {}});
    all.back().before.push_back(array);
  }

  Sweeps made_;
  Statement statement_{};
  std::map<ExprId, ExprId> known_;  // how the array of each reduction of the statement is read
};

}  // namespace

Sweeps sweeps(const Diagram& diagram) { return Sweeper(diagram).run(); }

}  // namespace napkin
