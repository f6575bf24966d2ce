// Queries on a diagram: sharing of equal expressions, the wires that a value varies along, the arrays that it reads.
#include "napkin/diagram.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <set>

#include "diagram/match.hpp"

namespace napkin {
namespace {

bool equal(const ExprNode& a, const ExprNode& b) {
  if (a.index() != b.index()) return false;
  return std::visit(
      [&](const auto& x) {
        using T = std::decay_t<decltype(x)>;
        const auto& y = std::get<T>(b);
        if constexpr (std::is_same_v<T, Constant>)
          return std::bit_cast<std::uint64_t>(x.value) == std::bit_cast<std::uint64_t>(y.value);
        else if constexpr (std::is_same_v<T, Position>)
          return x.wire == y.wire;
        else if constexpr (std::is_same_v<T, Size>)
          return x.axis == y.axis;
        else if constexpr (std::is_same_v<T, Access>)
          return x.array == y.array && x.at == y.at;
        else if constexpr (std::is_same_v<T, Apply>)
          return x.function == y.function && x.arguments == y.arguments;
        else if constexpr (std::is_same_v<T, Cast>)
          return x.type == y.type && x.value == y.value;
        else
          return x.reduction == y.reduction && x.over == y.over && x.body == y.body;
      },
      a);
}

// Equal nodes have equal hashes.
class Hash {
 public:
  explicit Hash(const ExprNode& node) : value_(node.index()) {
    match(
        node, [&](const Constant& c) { add(std::bit_cast<std::uint64_t>(c.value)); },
        [&](const Position& p) { add(p.wire.index); }, [&](const Size& s) { add(s.axis.index); },
        [&](const Access& a) { add(a); },
        [&](const Apply& a) {
          add(a.function);
          for (const auto argument : a.arguments) add(argument.index);
        },
        [&](const Cast& c) { add(static_cast<std::size_t>(c.type)), add(c.value.index); },
        [&](const Reduce& r) {
          add(r.reduction), add(r.body.index);
          for (const auto wire : r.over) add(wire.index);
        });
  }
  std::size_t value() const { return value_; }

 private:
  void add(std::size_t more) { value_ = (value_ ^ more) * 0x9e3779b97f4a7c15U, value_ ^= value_ >> 29U; }
  void add(const void* row) { add(reinterpret_cast<std::size_t>(row)); }
  void add(const Access& access) {
    add(access.array.index);
    for (const auto& index : access.at) {
      for (const auto& [wire, coefficient] : index.terms) add(wire.index), add(static_cast<std::size_t>(coefficient));
      add(static_cast<std::size_t>(index.offset)), add(static_cast<std::size_t>(index.divisor));
    }
  }

  std::size_t value_;
};

void collect_free(const Diagram& diagram, ExprId id, std::set<WireId>& free) {
  match(
      diagram.at(id).node, [](const Constant&) {}, [](const Size&) {}, [&](const Position& p) { free.insert(p.wire); },
      [&](const Access& a) {
        for (const auto& index : a.at)
          for (const auto& term : index.terms) free.insert(term.first);
      },
      [&](const Apply& a) {
        for (const auto argument : a.arguments) collect_free(diagram, argument, free);
      },
      [&](const Cast& c) { collect_free(diagram, c.value, free); },
      [&](const Reduce& r) {
        std::set<WireId> inner;
        collect_free(diagram, r.body, inner);
        for (const auto wire : r.over) inner.erase(wire);
        free.merge(inner);
      });
}

void collect_reads(const Diagram& diagram, ExprId id, std::set<ArrayId>& read) {
  match(
      diagram.at(id).node, [](const Constant&) {}, [](const Size&) {}, [](const Position&) {},
      [&](const Access& a) { read.insert(a.array); },
      [&](const Apply& a) {
        for (const auto argument : a.arguments) collect_reads(diagram, argument, read);
      },
      [&](const Cast& c) { collect_reads(diagram, c.value, read); },
      [&](const Reduce& r) { collect_reads(diagram, r.body, read); });
}

class Checker {
 public:
  explicit Checker(const Diagram& diagram) : diagram_(diagram) {}
  std::vector<std::string> run() {
    for (std::size_t i = 0; i < diagram_.exprs.size(); ++i) check_expr(i);
    std::set<ArrayId> ready(diagram_.inputs.begin(), diagram_.inputs.end());
    for (const auto& statement : diagram_.statements) check_statement(statement, ready);
    for (const auto output : diagram_.outputs) expect(ready.contains(output), "an output is never produced");
    return wrong_;
  }

 private:
  void expect(bool holds, std::string what) {
    if (!holds) wrong_.push_back(std::move(what));
  }
  void check_child(std::size_t parent, ExprId child) {
    expect(child.index < parent, fmt::format("expression {} stands before its part {}", parent, child.index));
  }
  void check_expr(std::size_t i) {
    match(
        diagram_.exprs[i].node, [](const Constant&) {}, [](const Size&) {}, [](const Position&) {},
        [&](const Access& access) {
          expect(access.array.index < diagram_.arrays.size(), "an access to no array");
          expect(access.at.size() == diagram_.at(access.array).wires.size(), "an access with missing indices");
        },
        [&](const Apply& apply) {
          expect(static_cast<int>(apply.arguments.size()) == apply.function->arity, "wrong number of arguments");
          for (const auto argument : apply.arguments) check_child(i, argument);
        },
        [&](const Cast& cast) { check_child(i, cast.value); },
        [&](const Reduce& reduce) { check_child(i, reduce.body); });
  }
  void check_statement(const Statement& statement, std::set<ArrayId>& ready) {
    const auto& output = diagram_.at(statement.output);
    for (const auto array : arrays_read(diagram_, statement.value))
      expect(ready.contains(array), fmt::format("`{}` reads an array that is not there yet", output.name));
    for (const auto wire : free_wires(diagram_, statement.value))
      expect(std::count(output.wires.begin(), output.wires.end(), wire) == 1,
             fmt::format("`{}` lacks wire `{}`", output.name, diagram_.at(wire).name));
    expect(ready.insert(statement.output).second, fmt::format("`{}` is produced twice", output.name));
  }

  const Diagram& diagram_;
  std::vector<std::string> wrong_;
};

}  // namespace

void Expressions::push_back(Expr expr) {
  hashes_.push_back(Hash(expr.node).value());
  all_.push_back(std::make_shared<const Expr>(std::move(expr)));
}

std::size_t Expressions::find(const ExprNode& node) const {
  const auto hash = Hash(node).value();
  for (std::size_t i = 0; i < all_.size(); ++i)
    if (hashes_[i] == hash && equal(all_[i]->node, node)) return i;
  return all_.size();
}

void Expressions::take_back(std::size_t size) {
  all_.resize(size);
  hashes_.resize(size);
}

ExprId Diagram::intern(ExprNode node, Span span) {
  const auto at = exprs.find(node);
  if (at == exprs.size()) exprs.push_back({std::move(node), span});
  return {static_cast<std::uint32_t>(at)};
}

std::vector<WireId> free_wires(const Diagram& diagram, ExprId id) {
  std::set<WireId> free;
  collect_free(diagram, id, free);
  return {free.begin(), free.end()};
}

std::vector<ArrayId> arrays_read(const Diagram& diagram, ExprId id) {
  std::set<ArrayId> read;
  collect_reads(diagram, id, read);
  return {read.begin(), read.end()};
}

std::vector<std::string> verify(const Diagram& diagram) { return Checker(diagram).run(); }

}  // namespace napkin
