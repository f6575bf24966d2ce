// A diagram with axes cut into chunks of one length and, where that does not divide them, a last chunk that is shorter.
//
// A wire becomes two, which chunk and where in it, or else one, the positions of the last chunk. What varies along it
// is written down for both: an array has a part for the whole chunks and one for the last, and a reduction is that over
// the whole chunks combined with that over the last.
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

// What becomes of the name of an axis: which piece, where in one, and where in the last.
struct NamesOfPieces {
  std::string which = "_chunk", inside = "_in_chunk", last = "_in_last";
  std::string without = "";  // this at the end makes way for `which`
};

// Axes that are cut in the same places, by the first of them.
using Alike = std::map<AxisId, AxisId>;

struct CutWire {
  SplitWire chunks;            // the whole ones
  std::optional<WireId> last;  // positions in the last one, if that is shorter
  std::int64_t begin = 0;      // of the last
};

class CutAxes {
 public:
  virtual ~CutAxes() = default;

 protected:
  explicit CutAxes(std::int64_t length, NamesOfPieces names = {}) : length_(length), names_(std::move(names)) {}

  virtual Diagram& diagram() = 0;
  // A reduction, at the pieces at hand.
  virtual ExprId reduced(const Reduce& reduce, Span span) { return plainly(reduce, span); }

  void cut_wires(const Alike&);
  // All statements again, each for every piece of its array.
  void write_statements();
  // An expression at the pieces at hand, and the reduction as the file has it.
  ExprId rewritten(ExprId);
  ExprId plainly(const Reduce&, Span, std::size_t from = 0);

  bool is_cut(WireId wire) const { return cuts_.contains(wire); }
  bool in_last(WireId wire) const { return last_.contains(wire); }
  const CutWire& cut(WireId wire) const { return cuts_.at(wire); }
  bool is_chunk(WireId) const;  // tells which chunk
  // With a wire cut as given, in its last chunk or in a whole one. Nothing is known there of what is rewritten outside.
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
  ExprId reduction(const Reduction*, std::vector<WireId> over, ExprId body, Span span = {});
  // Distances in positions, none of them negative: from the position at hand in a chunk to the first of the next one;
  // and the length of the chunks between two. Lengths are those of axes, because small plans have shorter chunks.
  ExprId to_next_chunk(WireId inside) { return apply("-", {size_of(inside), at(inside)}); }
  ExprId between_chunks(ExprId chunk, ExprId later, WireId inside) {
    const ExprId chunks = apply("-", {apply("-", {later, chunk}), number(1)});
    return apply("*", {size_of(inside), chunks});
  }

  std::int64_t length_;
  NamesOfPieces names_;
  Statement statement_{};           // the one that is written
  ArrayId array_{};                 // the file's, of which that makes a part
  std::map<ExprId, ExprId> known_;  // of the statement, at the pieces at hand
  bool possible_ = true;            // every array is read where its pieces are known

 private:
  std::string which(std::string of) const;
  CutWire new_cut(WireId, const std::vector<AxisId>& axes);
  std::vector<AxisId> new_axes(AxisId whole);
  void assume(const Alike&);
  void cut_array(ArrayId);
  void write(const Statement&, std::size_t from);
  ExprId rewritten_once(ExprId);
  ExprId rewritten(const Access&, Span);
  ExprId position(WireId);
  Index divided(Index) const;
  const CutWire* along(const Index&) const;
  void append(std::vector<WireId>&, WireId) const;

  std::map<WireId, CutWire> cuts_;
  std::map<AxisId, std::vector<AxisId>> axes_;                        // by the first of those cut alike
  std::set<WireId> last_;                                             // wires whose last chunk is at hand
  std::map<ArrayId, std::vector<WireId>> wires_;                      // of arrays, as the file has them
  std::map<std::pair<ArrayId, std::vector<WireId>>, ArrayId> parts_;  // by array, and its wires in last chunks
};

}  // namespace napkin
