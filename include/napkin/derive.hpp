// Derivation: what holds of a set of fused statements, found by algebra alone.
//
// From the statements comes a list of columns (each one pointwise function or one reduction); for each wire whether
// the kernel may be grouped and streamed along it, with the carried state and its four programs, or why not. The
// rules S1 to S6 are proved in docs/theory.md. Nothing here knows the name of an algorithm.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "napkin/diagram.hpp"

namespace napkin {

// One function column. `value` is pointwise. Without `fold` the output is `value` for every position of the
// output's wires. With it the output is `value` reduced over `over`, after the old value of `carried`, multiplied by
// `repair` where there is one: output = (repair * carried) (+) fold over `over` of value.
struct Column {
  ArrayId output;
  ExprId value;
  const Reduction* fold = nullptr;
  std::vector<WireId> over;
  std::optional<ArrayId> carried;
  std::optional<ExprId> repair;
};

enum class Rule { weave, reduction, composition, finish, cascade, invariant, prefix, cast, moments };
std::string_view code(Rule);  // "S1" .. "S6", "S9", "cast", "moments": as docs/theory.md names them

// One step of the derivation: what stood for an array, and what the rule made of it.
struct Rewriting {
  Rule rule;
  ArrayId array;
  ExprId before, after;  // in the scratch of what holds the trace
  std::string why;       // complete as a sentence without its full stop
};

struct Refused {
  std::string reason;      // in the words of the file, complete as a sentence without its full stop
  Span span;               // what in the file makes it so
  std::string mend{};      // what would make it possible, where something would; as reason
  bool of_a_cast = false;  // a rounding alone stands in the way
};

struct Groupable {
  bool by_merge = false;            // else woven: the pieces never meet
  std::vector<ArrayId> recomputed;  // columns without the wire, done again by every group
};

// A carried accumulator. Two states merge with the same repair that absorb uses.
struct Carried {
  ArrayId array;             // in scratch
  const Reduction* combine;  // how the old state and a piece's own reduction join; none for a running mean
};

// The four programs, over arrays of their own `scratch`. `piece` computes what the piece alone determines; `absorb`
// then updates the state; `merge` joins the state with a second one (arrays of `other`, in the order of `state`).
struct Streamable {
  Diagram scratch;             // the derivation's, and what this stream adds
  std::vector<Column> before;  // independent of the wire, needed by the pieces
  std::vector<Carried> state;
  std::vector<Column> init, piece, absorb, merge, finish;
  std::vector<ArrayId> other;
  bool in_order = false;  // every piece is one position, which reads what those before it have left (rule S9)
  std::vector<std::pair<AxisId, AxisId>>
      same_size;  // in order: true where these axes are of one size, as they are here
  std::vector<Rule> rules;
  std::vector<std::string> notes;  // such as a cast that rounds the piece
  std::vector<Rewriting> trace;    // the steps that led here, in the order they were taken
};

struct Verdict {
  WireId wire;
  std::variant<Groupable, Refused> group;
  std::variant<Streamable, Refused> stream;
  int passes = 1;  // sweeps over the wire that the statements need
};

struct Derivation {
  std::vector<StatementId> statements;  // true of these, fused
  Diagram scratch;                      // the diagram, and the arrays and expressions that the derivation adds
  std::size_t file_arrays = 0;          // arrays of scratch from here on are the derivation's own
  std::vector<Column> columns;          // the plain meaning: statements with their reductions taken apart
  std::vector<Rewriting> trace;         // the steps from the statements to the columns
  std::vector<ArrayId> inputs;          // read, produced by none of the statements
  std::vector<ArrayId> outputs;         // produced and needed outside
  std::vector<Verdict> verdicts;        // one per wire, in the order of first use
  const Verdict* find(WireId) const;
};
// The statements must stand in the diagram's order. Total: it always answers, with a refusal where nothing holds.
Derivation derive(const Diagram&, std::span<const StatementId> statements);
// The same where others than the readers outside decide what must leave: a statement may be computed outside again.
Derivation derive(const Diagram&, std::span<const StatementId> statements, std::vector<ArrayId> outputs);

// `l = r * l + sum[x](p)`; arrays read at their own place stand without indices.
std::string to_text(const Diagram& scratch, const Column&);

// A condition on positions, `x <= q`: a linear form of them compared with zero, asked of whole pieces. It holds where
// the form is below, at or above zero, as the three say.
struct Condition {
  std::vector<std::pair<WireId, double>> terms;  // sorted, no zero coefficients
  double offset = 0;                             // at the sizes of the axes
  double constant = 0;                           // what of it no size makes
  std::vector<std::pair<AxisId, double>> sizes;  // and what sizes make
  bool below = false, at = false, above = false;
  auto operator<=>(const Condition&) const = default;
  bool spares_one() const { return below && above && !at; }  // `!=`: where it holds is no range
  Condition negated() const { return {terms, offset, constant, sizes, !below, !at, !above}; }
};
std::string to_text(const Diagram&, const Condition&);  // `x <= q`

// A mask that is an input, asked of whole pieces: somewhere on a piece its entry must be true, or false.
struct Asked {
  ExprId access;
  bool wanted = true;
  auto operator<=>(const Asked&) const = default;
};

// A kernel's body once its streamed axes are chosen: columns, and loops around them. Loops nest in the order of the
// labels; a column stands at the depth where it must be redone.
struct Loop;
using Step = std::variant<Column, Loop>;
struct Loop {
  std::size_t label;  // index into the stream labels that the program was made with
  WireId wire;
  std::vector<Step> body;
  std::vector<Condition> needs{};  // a piece on which one of them holds nowhere leaves the state as it was,
  std::vector<Asked> asks{};       // and so does one on which one of these masks has no such entry
};
struct Program {
  Diagram scratch;
  std::vector<Step> steps;
  std::vector<ArrayId> inputs, outputs;
};
// The loops for streaming along `wires`, outermost first; a wire may appear again, for a finer level. Refused where
// a wire is not streamable there.
std::variant<Program, Refused> stream(const Derivation&, std::span<const WireId> wires);

// What keeps an axis and also reduces over it needs all of it before the first of its values is known. Its reductions
// over that axis become statements of their own in front of it, so that a cut may give each sweep a kernel.
struct Swept {
  std::string statement;            // by the name of its array
  std::vector<std::string> before;  // the arrays of the reductions that were inside it
};
struct Sweeps {
  Diagram diagram;
  std::vector<Swept> statements;  // empty: none needs several sweeps, and the diagram is the same
};
Sweeps sweeps(const Diagram&);

// A product of factors that is summed, with neither a function nor a rounding between them, as in einsum: it can be
// contracted in many orders, and the same holds of other pairs of operations that distribute (rule S8). Operations
// count multiplications and additions; values are those of arrays between, which are made or read.
struct ContractionForm {
  Diagram diagram;
  std::vector<std::string> made;  // arrays that it adds, in the order of its statements
  std::vector<std::string> met;   // arrays that are there anyway, and that it reads
  double operations = 0, values = 0;
};
// An order that a rounding between two sums forbids.
struct RefusedForm {
  Diagram diagram;                                   // without the rounding, in that order
  std::vector<std::string> rounded;                  // "T to f16"
  double operations = 0, operations_as_written = 0;  // of all that is between the inputs of both sums and the result
  Span span;                                         // of the type, or of the cast
};
struct ContractionOrders {
  std::string statement;               // by the name of its array
  std::size_t which = 0;               // of the statement's
  std::string factors;                 // "Q * K * V"
  double operations = 0, values = 0;   // in the order of the file
  std::vector<ContractionForm> forms;  // none is worse than the file or another in both; fewest operations first
  std::optional<RefusedForm> refused;
  Span span;
};
// Of a diagram all of whose axes have sizes; empty otherwise. Those that have one order alone are left out.
std::vector<ContractionOrders> contractions(const Diagram&);

// A sum of products in which factors are constant on blocks of what is summed, as block scales are: the sum over a
// block is a sum of its own, which those factors multiply once (rule S10).
struct BlockedSum {
  std::string statement;            // by the name of its array
  std::string axis, block, inside;  // the wire that was summed, which block, and where in one
  std::int64_t length = 1;          // of a block
  std::int64_t rest = 0;            // of the last one, if that is shorter: a sum of its own
};
struct SumsInBlocks {
  Diagram diagram;
  std::vector<BlockedSum> made;  // empty: no sum has such a factor, and the diagram is the same
};
SumsInBlocks sums_in_blocks(const Diagram&);

// A reduction of all that lies before a position, or behind it: with the axis cut into chunks, what lies in chunks
// before is reduced once for each chunk, and only the chunk itself for each position (rule S9).
struct PrefixReduction {
  std::string statement;            // by the name of its array
  std::string axis, chunk, inside;  // the kept wire, which chunk, and where in one
  std::int64_t length = 1;          // of a chunk
  std::int64_t rest = 0;            // of the last one, if that is shorter: it has wires and statements of its own
  std::vector<std::string> states;  // the arrays of what a chunk adds and of what came before it
  bool of_groups = false;           // the axis counts chunks, and what stands here as a chunk is a group of them
};
struct RefusedPrefix {
  std::string statement, axis;
  std::string reason;  // why the reduction does not come apart, complete as a sentence without its full stop
  Span span;
};
struct PrefixesInChunks {
  Diagram diagram;
  std::vector<PrefixReduction> made;  // empty: nothing is reduced so, and the diagram is the same
  std::vector<RefusedPrefix> refused;
};
PrefixesInChunks prefixes_in_chunks(const Diagram&, std::int64_t length);
// The same with `of_group` chunks in each group: what chunks before have added is again a reduction of what lies before
// each chunk, so that a kernel can take those of a group in order and carry what they add. Of `made`, those of chunks
// in groups come last. None where the number of whole chunks is not a multiple, or sums of chunks are kept relative to
// maxima.
PrefixesInChunks prefixes_in_groups(const Diagram&, std::int64_t length, std::int64_t of_group);
// The lengths of chunks that divide the axes of all of them, and where none does between one power of two and the next,
// that power; shortest first.
std::vector<std::int64_t> chunk_lengths(const Diagram&);

}  // namespace napkin
