// A diagram says what is computed: statements over arrays of wires, with every `def` already expanded.
//
// Invariants: no stage after `resolve` sees an axis *name*, a `def` or a source type that it must still check. Every
// access stays inside its array or reads a declared halo. Equal expressions are stored once, children first. Statements
// are stored producers first.
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
  std::optional<std::int64_t> size;  // none: symbolic; numbers need `--set`
  Span span;
};

// The uses of an axis that are connected and split as one, such as `d` and, independent of it, `d'`.
struct Wire {
  AxisId axis;
  std::string name;  // unique in the diagram
};

struct Array {
  std::string name;
  Datatype type = Datatype::f32;  // format in which its values are used in computations
  std::vector<WireId> wires;      // one per dimension, slowest first (row major)
  std::optional<double> density;  // share of true entries of a bool input, if the user gives it
  Span span;
  Span typed = nowhere;  // its type in the file; empty if a statement has no type
  // For an input whose values share bytes: the format of the file, in which the whole array lies in memory. Tiles hold
  // its values one by one, as `type`.
  std::optional<Datatype> packed = {};
  // For a part of a result that several statements compute: the array of the file that it belongs to. One of the parts
  // has the id of that array. All parts lie in one memory (diagram/in_memory.hpp).
  std::optional<Id<struct ArrayTag>> part_of = {};

  Datatype stored() const { return packed.value_or(type); }
  // Bytes of one value in memory: half a byte if two values share one.
  double width() const { return static_cast<double>(row(stored()).bytes) / row(stored()).share; }
};

// floor((sum of coefficient * position + offset) / divisor); terms are sorted by wire and have no zero coefficients.
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
  Span span;  // of the first among equal expressions of the file
};

// The expressions of a diagram, in order. An expression never changes and copies share it, so a diagram is cheap to
// copy.
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
  void take_back(std::size_t size);         // removes all but the first `size`

 private:
  std::vector<std::shared_ptr<const Expr>> all_;
  std::vector<std::size_t> hashes_;
};

// `softmax[x](S[q, x])` as the user wrote it. Only messages use it; no decision depends on it.
struct Call {
  std::string def;
  Span span;
  ExprId result;
  std::vector<ExprId> arguments{};  // once for every read in the body of the `def`, at the wires of that read
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
  bool in_parts = true;  // matrix units may multiply an f32 operand in two parts; else lanes multiply it
  // The diagram whose sums rule S10 took in blocks; null if it took none.
  std::shared_ptr<const Diagram> before_blocks{};

  const Axis& at(AxisId id) const { return axes.at(id.index); }
  const Wire& at(WireId id) const { return wires.at(id.index); }
  const Array& at(ArrayId id) const { return arrays.at(id.index); }
  Array& at(ArrayId id) { return arrays.at(id.index); }
  const Expr& at(ExprId id) const { return exprs.at(id.index); }
  const Statement& at(StatementId id) const { return statements.at(id.index); }

  // The expression equal to `node` if there is one, else a new one. Constants compare by bits, so 0 and -0 differ.
  ExprId intern(ExprNode node, Span span = {});
  // The size of the wire's axis, if it has one.
  std::optional<std::int64_t> size(WireId id) const { return axes.at(wires.at(id.index).axis.index).size; }
};

// Wires along which the value of an expression varies: those of its accesses and positions, without reduced ones.
std::vector<WireId> free_wires(const Diagram&, ExprId);  // sorted
// Arrays read anywhere below an expression; sorted, each once.
std::vector<ArrayId> arrays_read(const Diagram&, ExprId);

// Sizes and types from the command line: `--set q=8192`, `--dtype f8e4m3`, `--dtype K=f8e4m3`.
struct Overrides {
  std::vector<std::pair<std::string, std::int64_t>> sizes;
  std::vector<std::pair<std::string, Datatype>> types;  // an empty name: every input
};

// Resolves names, sizes, types and wires, and expands calls of `def`s. If `diagnostics` has errors, the result must not
// be used. `prelude` is the parsed prelude (see syntax.hpp).
Diagram resolve(const ast::File& file, const ast::File& prelude, const Overrides&, Diagnostics& diagnostics);

// The prelude of `def`s, as shipped.
std::string_view prelude_text();

// Parses the file and the prelude (which is added to `sources`), and resolves.
Diagram read_diagram(Sources& sources, std::uint32_t file, const Overrides&, Diagnostics&);

// The wire of that name (`d'`). The name of an axis means its first wire.
std::optional<WireId> find_wire(const Diagram&, std::string_view name);

// The errors of a diagram (ids out of range, children after parents, readers before producers), one line each. The
// result is empty unless napkin has a bug. Tests and debug builds call it after every stage.
std::vector<std::string> verify(const Diagram&);

// An expression in the language, `exp(S[q, x] - m[q])`, with the fewest brackets.
std::string to_text(const Diagram&, ExprId);
// The same, without the indices of arrays that are read at their own place: `exp(S - m)`.
std::string to_short_text(const Diagram&, ExprId);

// Evaluates the statements as they are defined, in double. If `round` is set, casts and typed stores round to the
// declared type. This is the first oracle. Arrays are row major. Every axis needs a size.
struct Values {
  std::vector<std::vector<double>> arrays;  // by ArrayId
};
void evaluate(const Diagram&, Values& values, bool round);

}  // namespace napkin
