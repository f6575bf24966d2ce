// Sums of powers of a difference, `sum of u * (w + v)^k`, w of the piece and v of finished reductions.
//
// Multiplied out they would be raw moments of w, which cancel where w is large and its spread small. Instead the
// moments about the running mean of w are carried; when the mean moves they are repaired by the binomial theorem
// (docs/theory.md, moments).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "derive/algebra.hpp"
#include "derive/columns.hpp"

namespace napkin {

// The running mean of `body`, and how many positions of `over` it is the mean of. Both are carried.
struct Centre {
  ArrayId count, mean;
  Sum body;
  std::vector<WireId> over;
};

// What makes a state a moment: (w - mean)^power joins its body as a factor, inside its cast where `rounded`. `lower`
// are the moments of lower powers, none where it is zero whatever the data.
struct Moment {
  std::size_t centre;
  int power;
  bool rounded;
  std::vector<std::optional<ArrayId>> lower;
};

// A term taken apart as state * piece * (body + offset)^power.
struct Shifted {
  Term piece, state;
  Sum body, offset;
  int power = 1;
  bool rounded = false;
};
// None where the term has no such power, or something else in it mixes piece and state. The algebra must keep shifts.
std::optional<Shifted> shifted(Algebra&, const Term&);

double choose(int n, int k);  // binomial coefficient

Centre new_centre(Diagram& scratch, const Sum& body, std::vector<WireId> over, std::vector<WireId> wires, Datatype);

// Writes what becomes of centres and moments into the programs of a stream.
class MomentWriter {
 public:
  MomentWriter(Diagram& scratch, Algebra& algebra, Streamable& to) : scratch_(scratch), algebra_(algebra), to_(to) {}

  void carry(const Centre&);  // count and mean join the state
  void move(const Centre&);   // the mean of what there was and a piece, or another state
  void update(ArrayId moment, const Term& body, const Moment&, const std::vector<WireId>& over);
  void settle();  // the new means are the means

 private:
  struct Moved {
    Centre centre;
    ArrayId count, mean;    // the new ones
    ArrayId shift, theirs;  // old mean - new mean, of the state and of the other one
  };
  ArrayId other(ArrayId state) const;
  ArrayId next(ArrayId like, const char* name);
  ExprId read(ArrayId array) { return read_whole(scratch_, array); }
  ExprId power(ExprId base, int exponent);
  // The moment about the new mean, of moments about the old.
  ExprId repaired(ExprId moment, const Moment&, ArrayId shift, bool theirs);

  Diagram& scratch_;
  Algebra& algebra_;
  Streamable& to_;
  std::vector<Moved> moved_;
};

}  // namespace napkin
