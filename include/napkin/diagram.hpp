// A diagram: what is computed. Statements over arrays of wires, with every `def` already expanded.
//
// Invariants: no stage after `resolve` sees an axis *name*, a `def` or a source type it must still check; every
// access stays inside its array or reads a declared halo; expressions are shared (equal ones once) and stored
// children first; statements are stored producers first.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "napkin/functions.hpp"
#include "napkin/text.hpp"

namespace napkin {

namespace ast {
struct File;
}

template <class Tag>
struct Id {
  std::uint32_t index = 0;
  auto operator<=>(const Id&) const = default;
};
using AxisId = Id<struct AxisTag>;
using WireId = Id<struct WireTag>;
using ArrayId = Id<struct ArrayTag>;
using ExprId = Id<struct ExprTag>;
using StatementId = Id<struct StatementTag>;

struct Axis {
  std::string name;
  std::optional<std::int64_t> size;  // none: symbolic, numbers need `--set`
  Span span;
};

// The uses of an axis that meet: `d`, and apart from them `d'`. Split and partitioned as one.
struct Wire {
  AxisId axis;
  std::string name;  // unique in the diagram
};

struct Array {
  std::string name;
  Datatype type = Datatype::f32;  // of its numbers, wherever they are computed with
  std::vector<WireId> wires;      // one per dimension, slowest first (row major)
  std::optional<double> density;  // share of true entries of a bool input, where the user knows it
  Span span;
  Span typed = nowhere;  // its type in the file; without bytes where a statement lacks one
  // Of an input whose numbers share bytes: the format of the file, in which the whole array lies in memory. Tiles hold
  // its numbers one by one, as `type`.
  std::optional<Datatype> packed = {};
  // Of a result that statements make in parts: the array of the file that this is a part of, whose id one of the parts
  // has. They lie in one memory (diagram/in_memory.hpp).
  std::optional<Id<struct ArrayTag>> part_of = {};

  Datatype stored() const { return packed.value_or(type); }
  // Bytes of one value in memory: a half of one where two share a byte.
  double width() const { return static_cast<double>(row(stored()).bytes) / row(stored()).share; }
};

// floor((sum of coefficient * position + offset) / divisor); terms sorted by wire, no zero coefficients.
struct Index {
  std::vector<std::pair<WireId, std::int64_t>> terms;
  std::int64_t offset = 0;
  std::int64_t divisor = 1;
  auto operator<=>(const Index&) const = default;
};

struct Constant {
  double value;
};
struct Position {  // the position along a wire read as a number: `x <= q`
  WireId wire;
};
struct Size {  // size(axis), kept symbolic
  AxisId axis;
};
struct Access {
  ArrayId array;
  std::vector<Index> at;  // one per wire of the array
};
struct Apply {
  const Pointwise* function;
  std::vector<ExprId> arguments;
};
struct Cast {
  Datatype type;
  ExprId value;
};
struct Reduce {
  const Reduction* reduction;
  std::vector<WireId> over;  // sorted
  ExprId body;
};
using ExprNode = std::variant<Constant, Position, Size, Access, Apply, Cast, Reduce>;

struct Expr {
  ExprNode node;
  Span span;  // where the first of the equal ones stands
};

// The expressions of a diagram, in order. None ever changes, and copies share them: a diagram is cheap to copy.
class Expressions {
 public:
  class Iterator {
   public:
    using value_type = Expr;
    using difference_type = std::ptrdiff_t;
    using pointer = const Expr*;
    using reference = const Expr&;
    using iterator_category = std::forward_iterator_tag;
    Iterator() = default;
    explicit Iterator(const std::shared_ptr<const Expr>* at) : at_(at) {}
    reference operator*() const { return **at_; }
    pointer operator->() const { return at_->get(); }
    Iterator& operator++() { return ++at_, *this; }
    Iterator operator++(int) { return Iterator(at_++); }
    bool operator==(const Iterator&) const = default;

   private:
    const std::shared_ptr<const Expr>* at_ = nullptr;
  };
  Iterator begin() const { return Iterator(all_.data()); }
  Iterator end() const { return Iterator(all_.data() + all_.size()); }
  std::size_t size() const { return all_.size(); }
  const Expr& operator[](std::size_t i) const { return *all_[i]; }
  const Expr& at(std::size_t i) const { return *all_.at(i); }
  void push_back(Expr);
  std::size_t find(const ExprNode&) const;  // the first equal one; size() if there is none
  void take_back(std::size_t size);         // all but the first so many

 private:
  std::vector<std::shared_ptr<const Expr>> all_;
  std::vector<std::size_t> hashes_;
};

// `softmax[x](S[q, x])` as the user wrote it, for words only: no stage decides by it.
struct Call {
  std::string def;
  Span span;
  ExprId result;
  std::vector<ExprId> arguments{};  // each as often as the body reads it, every time at its own wires
};

struct Statement {
  ArrayId output;
  ExprId value;
  Span span;
};

struct Diagram {
  std::string name;
  std::vector<Axis> axes;
  std::vector<Wire> wires;
  std::vector<Array> arrays;
  Expressions exprs;
  std::vector<Call> calls;
  std::vector<Statement> statements;
  std::vector<ArrayId> inputs, outputs;
  bool in_parts = true;  // matrix units may take an operand of f32 in two parts; else lanes multiply it

  const Axis& at(AxisId id) const { return axes.at(id.index); }
  const Wire& at(WireId id) const { return wires.at(id.index); }
  const Array& at(ArrayId id) const { return arrays.at(id.index); }
  Array& at(ArrayId id) { return arrays.at(id.index); }
  const Expr& at(ExprId id) const { return exprs.at(id.index); }
  const Statement& at(StatementId id) const { return statements.at(id.index); }

  // The expression equal to `node` if there is one, else a new one. Constants compare by bits, so 0 and -0 stay apart.
  ExprId intern(ExprNode node, Span span = {});
  // The size of the wire's axis, if it has one.
  std::optional<std::int64_t> size(WireId id) const { return axes.at(wires.at(id.index).axis.index).size; }
};

// Wires that the value of an expression varies along: those of its accesses and positions, less those reduced.
std::vector<WireId> free_wires(const Diagram&, ExprId);  // sorted
// Arrays read anywhere below an expression; sorted, each once.
std::vector<ArrayId> arrays_read(const Diagram&, ExprId);

// Overridden from the command line: `--set q=8192`, `--dtype f8e4m3`, `--dtype K=f8e4m3`.
struct Overrides {
  std::vector<std::pair<std::string, std::int64_t>> sizes;
  std::vector<std::pair<std::string, Datatype>> types;  // an empty name: every input
};

// Names, sizes, types and wires; `def` calls become expressions. With errors in `diagnostics` the result must not
// be used. `prelude` is the parsed prelude (see syntax.hpp).
Diagram resolve(const ast::File& file, const ast::File& prelude, const Overrides&, Diagnostics& diagnostics);

// The prelude of `def`s, as shipped.
std::string_view prelude_text();

// All of the above: parses the file and the prelude (which joins `sources`), and resolves.
Diagram read_diagram(Sources& sources, std::uint32_t file, const Overrides&, Diagnostics&);

// The wire of that name (`d'`); a name that is an axis means its first wire.
std::optional<WireId> find_wire(const Diagram&, std::string_view name);

// What is wrong with a diagram (ids out of range, children after parents, readers before producers), one line each.
// Empty unless napkin has a bug; tests and debug builds call it after every stage.
std::vector<std::string> verify(const Diagram&);

// An expression in the language's words, `exp(S[q, x] - m[q])`, with the fewest brackets.
std::string to_text(const Diagram&, ExprId);
// The same with arrays read at their own place written without indices: `exp(S - m)`.
std::string to_short_text(const Diagram&, ExprId);

// The plain meaning, in double, rounded to the declared type at casts and typed stores when `round` is set: the
// first oracle. Arrays are row major. Every axis needs a size.
struct Values {
  std::vector<std::vector<double>> arrays;  // by ArrayId
};
void evaluate(const Diagram&, Values& values, bool round);

}  // namespace napkin
