// A diagram with axes cut into chunks of one length and, if the length does not divide an axis, a shorter last chunk.
//
// A wire becomes two wires, the number of the chunk and the position in it, or one wire, the positions of the last
// chunk. Everything that varies along the wire is written for both cases: an array has a part for the whole chunks and
// one for the last chunk, and a reduction combines that over the whole chunks with that over the last.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "derive/split_wire.hpp"
#include "napkin/diagram.hpp"

namespace napkin {

// Suffixes for the names of the new axes: the number of the piece, the position in a piece, and the position in the
// last.
struct NamesOfPieces {
  std::string which = "_chunk", inside = "_in_chunk", last = "_in_last";
  std::string without = "";  // an ending that `which` replaces
};

// Axes that are cut at the same positions, by the first of them.
using Alike = std::map<AxisId, AxisId>;

struct CutWire {
  SplitWire chunks;            // the whole chunks
  std::optional<WireId> last;  // the positions in the last chunk, if that is shorter
  std::int64_t begin = 0;      // where the last chunk begins
};

class CutAxes {
 public:
  virtual ~CutAxes() = default;

 protected:
  explicit CutAxes(std::int64_t length, NamesOfPieces names = {}) : length_(length), names_(std::move(names)) {}

  virtual Diagram& diagram() = 0;
  // A reduction, for the current pieces.
  virtual ExprId reduced(const Reduce& reduce, Span span) { return plainly(reduce, span); }

  void cut_wires(const Alike&);
  // Rewrites all statements, each once for every piece of its array.
  void write_statements();
  // An expression for the current pieces, and a reduction as the file has it.
  ExprId rewritten(ExprId);
  std::vector<ExprId> rewritten(std::vector<ExprId>);
  ExprId plainly(const Reduce&, Span, std::size_t from = 0);

  bool is_cut(WireId wire) const { return cuts_.contains(wire); }
  bool in_last(WireId wire) const { return last_.contains(wire); }
  const CutWire& cut(WireId wire) const { return cuts_.at(wire); }
  bool is_chunk(WireId) const;  // whether the wire numbers chunks
  // Calls `act` with a wire cut as given, in its last chunk or in a whole one. Expressions rewritten outside are not
  // reused.
  template <class Act>
  ExprId at_piece(WireId wire, const CutWire& as, bool last, const Act& act) {
    const auto cut = std::exchange(cuts_.at(wire), as);
    const auto pieces = last_;
    auto known = std::exchange(known_, {});
    last ? (void)last_.insert(wire) : (void)last_.erase(wire);
    const ExprId made = act();
    cuts_.at(wire) = cut, last_ = pieces, known_ = std::move(known);
    return made;
  }

  ExprId number(double value) { return diagram().intern(Constant{value}); }
  ExprId at(WireId wire) { return diagram().intern(Position{wire}); }
  ExprId difference(WireId a, WireId b) { return apply("-", {at(a), at(b)}); }
  ExprId size_of(WireId wire) { return diagram().intern(Size{diagram().at(wire).axis}); }
  ExprId apply(std::string_view function, std::vector<ExprId> arguments);
  ExprId joined(std::string_view function, const std::vector<ExprId>&);  // at least one
  bool varies(ExprId, const std::vector<WireId>& along);                 // along any of them
  ExprId reduction(const Reduction*, std::vector<WireId> over, ExprId body, Span span = {});
  // Distances in positions, never negative: from the current position in a chunk to the first one of the next chunk,
  // and the length of the chunks between two. Lengths are sizes of axes, because small plans have shorter chunks.
  ExprId to_next_chunk(WireId inside) { return apply("-", {size_of(inside), at(inside)}); }
  ExprId between_chunks(ExprId chunk, ExprId later, WireId inside) {
    const ExprId chunks = apply("-", {apply("-", {later, chunk}), number(1)});
    return apply("*", {size_of(inside), chunks});
  }

  std::int64_t length_;
  NamesOfPieces names_;
  Statement statement_{};           // the statement being rewritten
  ArrayId array_{};                 // the array of the file that the statement makes a part of
  std::map<ExprId, ExprId> known_;  // rewritten expressions of the statement, for the current pieces
  bool possible_ = true;            // whether every array is read where its pieces are known

 private:
  std::string which(std::string of) const;
  CutWire new_cut(WireId, const std::vector<AxisId>& axes);
  std::vector<AxisId> new_axes(AxisId whole);
  void assume(const Alike&);
  void cut_array(ArrayId);
  void write(const Statement&, std::size_t from);
  ExprId rewritten_once(ExprId);
  ExprId bound(const Reduce&, Span);
  ExprId rewritten(const Access&, Span);
  ExprId position(WireId);
  Index divided(Index) const;
  const CutWire* along(const Index&) const;
  void append(std::vector<WireId>&, WireId) const;

  std::map<WireId, CutWire> cuts_, own_cuts_;     // at the current pieces, and as cut_wires made them
  std::map<AxisId, std::vector<AxisId>> axes_;    // the new axes, by the first axis cut alike
  std::set<WireId> last_;                         // wires that are in their last chunk
  std::map<ArrayId, std::vector<WireId>> wires_;  // the wires of arrays in the file
  std::map<std::pair<ArrayId, std::vector<WireId>>, ArrayId> parts_;  // by array, and its wires in last chunks
};

}  // namespace napkin
