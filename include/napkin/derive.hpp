// Derivation: the properties of a set of fused statements, found by algebra alone.
//
// The statements become a list of columns, each of which is one pointwise function or one reduction. For each wire the
// derivation says whether the kernel may be grouped and streamed along it, with the carried state and its four
// programs, or why not. The rules S1 to S6 are proved in docs/theory.md. Nothing here knows the name of an algorithm.
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

// One column. `value` is pointwise. Without `fold` the output is `value` at every position of the output's wires. With
// `fold` the output is `value` reduced over `over`. If there is a `carried` array, its old value is rescaled by
// `repair` (if there is one) and combined with that: output = (repair * carried) (+) fold over `over` of value.
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

// One step of the derivation: a rule replaces the expression of an array.
struct Rewriting {
  Rule rule;
  ArrayId array;
  ExprId before, after;  // in the scratch diagram of the object that holds the trace
  std::string why;       // a complete sentence without its full stop
};

struct Refused {
  std::string reason;      // in the words of the file, a complete sentence without its full stop
  Span span;               // the cause in the file
  std::string mend{};      // the change that would make it possible, in the form of `reason`; empty if there is none
  bool of_a_cast = false;  // a rounding is the only obstacle
};

struct Groupable {
  bool by_merge = false;            // else woven: the pieces never meet
  std::vector<ArrayId> recomputed;  // columns without the wire, which every group computes again
};

// A carried accumulator. Merging two states rescales them as absorb does.
struct Carried {
  ArrayId array;             // in scratch
  const Reduction* combine;  // combines the old state with the reduction of a piece; null for a running mean
};

// The four programs, over the arrays of their own `scratch`. `piece` computes what depends on the piece alone. `absorb`
// then updates the state. `merge` combines the state with a second one, the arrays of `other` in the order of `state`.
struct Streamable {
  Diagram scratch;             // the derivation's diagram, with what this stream adds
  std::vector<Column> before;  // independent of the wire, needed by the pieces
  std::vector<Carried> state;
  std::vector<Column> init, piece, absorb, merge, finish;
  std::vector<ArrayId> other;
  bool in_order = false;  // every piece is one position, which reads the state that the positions before it left (S9)
  // With `in_order`: the stream is valid only if the two axes of each pair have the same size, as they have here.
  std::vector<std::pair<AxisId, AxisId>> same_size;
  std::vector<Rule> rules;
  std::vector<std::string> notes;  // such as a cast that rounds the piece
  std::vector<Rewriting> trace;    // the steps of the derivation, in order
};

struct Verdict {
  WireId wire;
  std::variant<Groupable, Refused> group;
  std::variant<Streamable, Refused> stream;
  int passes = 1;  // number of sweeps over the wire that the statements need
  const Groupable* groupable() const { return std::get_if<Groupable>(&group); }
  bool is_woven() const { return groupable() && !groupable()->by_merge; }
  bool is_merged() const { return groupable() && groupable()->by_merge; }
};

struct Derivation {
  std::vector<StatementId> statements;  // the fused statements
  Diagram scratch;                      // the diagram, with the arrays and expressions that the derivation adds
  std::size_t file_arrays = 0;          // arrays of scratch with this index or a higher one are added
  std::vector<Column> columns;          // the statements as written, with each reduction in a column of its own
  std::vector<Rewriting> trace;         // the steps from the statements to the columns
  std::vector<ArrayId> inputs;          // read, but not produced by the statements
  std::vector<ArrayId> outputs;         // produced by the statements and needed outside
  std::vector<Verdict> verdicts;        // one per wire, in the order of first use
  const Verdict* find(WireId) const;
};
// The arrays that these statements make and that are outputs of the diagram or read by its other statements.
std::vector<ArrayId> outputs_of(const Diagram&, std::span<const StatementId> statements);
// The statements must be in the order of the diagram. The function is total: a wire that cannot be grouped or streamed
// gets a refusal.
Derivation derive(const Diagram&, std::span<const StatementId> statements);
// The same with given outputs. Readers outside do not determine them, because a statement may be computed again
// outside.
Derivation derive(const Diagram&, std::span<const StatementId> statements, std::vector<ArrayId> outputs);

// `l = r * l + sum[x](p)`; arrays read at their own place are written without indices.
std::string to_text(const Diagram& scratch, const Column&);

// A condition on positions, `x <= q`, which is tested for whole pieces. It compares a linear form of the positions with
// zero and holds if the form is `below`, `at` or `above` zero, whichever of these flags are set.
struct Condition {
  std::vector<std::pair<WireId, double>> terms;  // sorted, no zero coefficients
  double offset = 0;                             // the constant of the form at the sizes of the axes
  double constant = 0;                           // the part of `offset` that does not depend on sizes
  std::vector<std::pair<AxisId, double>> sizes;  // the part that does: a coefficient for each size
  bool below = false, at = false, above = false;
  auto operator<=>(const Condition&) const = default;
  bool spares_one() const { return below && above && !at; }  // `!=`: the positions where it holds are not one range
  Condition negated() const { return {terms, offset, constant, sizes, !below, !at, !above}; }
};
std::string to_text(const Diagram&, const Condition&);  // `x <= q`

// A test of whole pieces on a mask that is an input: somewhere on a piece the mask must have the `wanted` entry.
struct Asked {
  ExprId access;
  bool wanted = true;
  auto operator<=>(const Asked&) const = default;
};

// The body of a kernel whose streamed axes are chosen: columns, and loops around them. Loops nest in the order of the
// labels. A column is at the depth at which it must be repeated.
struct Loop;
using Step = std::variant<Column, Loop>;
struct Loop {
  std::size_t label;  // index into the stream labels that the program was made with
  WireId wire;
  std::vector<Step> body;
  std::vector<Condition> needs{};  // a piece on which one of them holds nowhere does not change the state,
  std::vector<Asked> asks{};       // nor does a piece on which one of these masks has no wanted entry
};
struct Program {
  Diagram scratch;
  std::vector<Step> steps;
  std::vector<ArrayId> inputs, outputs;
};
// The loops for streaming along `wires`, outermost first. A wire may appear again, for a finer level. The result is a
// refusal if a wire is not streamable at its place.
std::variant<Program, Refused> stream(const Derivation&, std::span<const WireId> wires);

// A statement that keeps an axis and also reduces over it needs the whole axis before its first value is known. Its
// reductions over that axis become statements of their own before it, so that a cut may give each sweep a kernel.
struct Swept {
  std::string statement;            // by the name of its array
  std::vector<std::string> before;  // the arrays of the reductions that were inside it
};
struct Sweeps {
  Diagram diagram;
  std::vector<Swept> statements;  // empty: no statement needs several sweeps, and the diagram is unchanged
};
Sweeps sweeps(const Diagram&);

// A sum of a product of factors, with neither a function nor a rounding between them, as in einsum, can be contracted
// in many orders. The same is true of other pairs of operations that distribute (rule S8). `operations` counts
// multiplications and additions. `values` counts the values of intermediate arrays that are made or read.
struct ContractionForm {
  Diagram diagram;
  std::vector<std::string> made;  // arrays that it adds, in the order of its statements
  std::vector<std::string> met;   // arrays that exist in any case, and that it reads
  double operations = 0, values = 0;
};
// An order that a rounding between two sums forbids.
struct RefusedForm {
  Diagram diagram;                                   // without the rounding, in that order
  std::vector<std::string> rounded;                  // "T to f16"
  double operations = 0, operations_as_written = 0;  // of everything from the inputs of both sums to the result
  Span span;                                         // of the type, or of the cast
};
struct ContractionOrders {
  std::string statement;               // by the name of its array
  std::size_t which = 0;               // index among the products of the statement
  std::string factors;                 // "Q * K * V"
  double operations = 0, values = 0;   // in the order of the file
  std::vector<ContractionForm> forms;  // none is worse in both than the file or another; fewest operations first
  std::optional<RefusedForm> refused;
  Span span;
};
// The orders of each such product. Products with a single order are left out. The result is empty unless all axes of
// the diagram have sizes.
std::vector<ContractionOrders> contractions(const Diagram&);

// A sum of products with factors that are constant on blocks of the summed axis, as block scales are. The sum over a
// block becomes a sum of its own, which those factors multiply once (rule S10).
struct BlockedSum {
  std::string statement;            // by the name of its array
  std::string axis, block, inside;  // the wire that was summed, the wire of blocks, the wire of positions in a block
  std::int64_t length = 1;          // of a block
  std::int64_t rest = 0;            // length of the last block if it is shorter, which then is a sum of its own; else 0
};
struct SumsInBlocks {
  Diagram diagram;
  std::vector<BlockedSum> made;  // empty: no sum has such a factor, and the diagram is unchanged
};
SumsInBlocks sums_in_blocks(const Diagram&);

// A reduction over everything before a position, or after it. The axis is cut into chunks. What lies in chunks before
// (or after) is reduced once for each chunk, and only the position's own chunk for each position (rule S9).
struct PrefixReduction {
  std::string statement;            // by the name of its array
  std::string axis, chunk, inside;  // the kept wire, the wire of chunks, the wire of positions in a chunk
  std::int64_t length = 1;          // of a chunk
  std::int64_t rest = 0;            // length of the last chunk if it is shorter, which has its own wires and statements
  std::vector<std::string> states;  // the arrays of what a chunk adds and of what the chunks before it added
  bool of_groups = false;  // the positions of the axis are chunks, and each chunk of this cut is a group of them
};
struct RefusedPrefix {
  std::string statement, axis;
  std::string reason;  // why the reduction does not separate, a complete sentence without its full stop
  Span span;
};
struct PrefixesInChunks {
  Diagram diagram;
  std::vector<PrefixReduction> made;  // empty: there is no such reduction, and the diagram is unchanged
  std::vector<RefusedPrefix> refused;
};
PrefixesInChunks prefixes_in_chunks(const Diagram&, std::int64_t length);
// The same with groups of `of_group` chunks. What the chunks before a chunk have added is itself a reduction over a
// prefix, so that a kernel can take the chunks of a group in order and carry what they add. Entries for chunks in
// groups come last in `made`. `made` is empty if the number of whole chunks is not a multiple of `of_group`, or if sums
// of chunks are kept relative to maxima.
PrefixesInChunks prefixes_in_groups(const Diagram&, std::int64_t length, std::int64_t of_group);
// The lengths of chunks that divide the axes of all these reductions, and powers of two: each power for which no such
// length lies between it and the next power. Shortest first.
std::vector<std::int64_t> chunk_lengths(const Diagram&);

}  // namespace napkin
