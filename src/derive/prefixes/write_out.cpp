#include "derive/prefixes/write_out.hpp"

#include <algorithm>
#include <map>

#include "derive/columns.hpp"
#include "diagram/contains.hpp"
#include "diagram/operands.hpp"

namespace napkin {
namespace {

class WritingOut {
 public:
  explicit WritingOut(Diagram& diagram) : diagram_(diagram) {}

  void run() {
    for (auto& statement : diagram_.statements) {
      statement.value = written_out(statement.value);
      if (may_go(statement)) values_[statement.output] = statement.value;
    }
    std::erase_if(diagram_.statements, [&](const Statement& one) { return values_.contains(one.output); });
  }

 private:
  bool may_go(const Statement& statement) const {
    const auto& array = diagram_.at(statement.output);
    if (contains(diagram_.outputs, statement.output) || array.type != held_as(diagram_, statement.value)) return false;
    const auto alike = [&](WireId a, WireId b) {
      return diagram_.at(a).axis != diagram_.at(b).axis && diagram_.size(a) && diagram_.size(a) == diagram_.size(b);
    };
    return std::ranges::any_of(
        array.wires, [&](WireId a) { return std::ranges::any_of(array.wires, [&](WireId b) { return alike(a, b); }); });
  }
  ExprId written_out(ExprId e) {
    if (const auto* access = std::get_if<Access>(&diagram_.at(e).node))
      if (const auto found = values_.find(access->array); found != values_.end()) {
        if (read_whole(diagram_, access->array) == e) return found->second;
        values_.erase(found);
      }
    return with_operands(diagram_, e, [&](ExprId operand) { return written_out(operand); });
  }

  Diagram& diagram_;
  std::map<ArrayId, ExprId> values_;
};

}  // namespace

void write_out(Diagram& diagram) { WritingOut(diagram).run(); }

}  // namespace napkin
