// What the phases of find_states() share: one attempt to stream columns along a wire, and questions about it.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "derive/algebra/algebra.hpp"
#include "derive/algebra/build.hpp"
#include "derive/algebra/normal.hpp"
#include "derive/algebra/ranges.hpp"
#include "derive/algebra/separate.hpp"
#include "derive/states/states.hpp"

namespace napkin {

struct StreamAttempt;

// What the algebra asks: above all, what replaces a read.
Algebra::Meaning meaning_of(StreamAttempt&);
// None if no more is known than the number format of the array says.
std::optional<Range> known_range(const StreamAttempt&, ArrayId);
// The last column that writes each array.
std::map<ArrayId, const Column*> producers_of(const std::vector<Column>&);

// A sum that is computed from its running mean.
struct MeanSum {
  std::size_t centre;  // its number
  ArrayId sum, first;  // the first moment about the centre
  Sum value;           // the value of the sum
  Factors total;       // the total of the weights
};

// It is made in place and never copied, because its algebra refers to it.
struct StreamAttempt {
  Diagram& scratch;
  const std::vector<Column>& columns;
  WireId wire;
  const Learnt& learnt;

  std::map<ArrayId, const Column*> producers = producers_of(columns);
  Algebra algebra{scratch, meaning_of(*this)};
  Kinds kinds{scratch, wire};
  Ranges ranges{scratch, [this](ArrayId array) { return known_range(*this, array); }};
  std::map<ArrayId, bool> exponentials{};  // by array: whether its column has exponentials
  bool writes_exponentials = true;         // whether pieces that are exponentials are written out

  States found{};                    // so far
  const Column* deriving = nullptr;  // the column being derived; another column may be a branch of it
  std::set<ArrayId> positive{};
  std::set<ArrayId> asked{};         // whether they are positive, while the answer is sought
  std::set<ArrayId> at_least_one{};  // sums that include the term of their reference, which is one
  std::vector<MeanSum> mean_sums{};
};

// The column's value in normal form; none if the column is a reduction.
std::optional<Sum> defined(StreamAttempt&, const Column&);
// The body of a column, which keeps the form it has in the file if it needs no separation.
Sum body_in_file(const Algebra&, const Column&, const Sum& normal);
Term read_term(Diagram&, ArrayId);

std::vector<WireId> within(const std::vector<WireId>&, const std::set<WireId>&);
// The wires that are folded with each piece, and those that finish folds because `waiting` contains them.
std::pair<std::vector<WireId>, std::vector<WireId>> parted(const std::vector<WireId>& over,
                                                           const std::set<WireId>& waiting);
std::set<WireId> wires_below(const Diagram&, ExprId);
std::set<WireId> free_of(StreamAttempt&, const Sum&);
// The wires along which finished reductions in an expression vary. They cannot be folded before those are finished.
std::set<WireId> waiting_below(const StreamAttempt&, ExprId);

Datatype count_type(const StreamAttempt&);
// The number of positions that a reduction over the wire visits; it is counted if only a piece is available.
Factors size_of(StreamAttempt&, WireId);

}  // namespace napkin
