// What expressions depend on, with respect to one streamed wire, and whether they are ever negative.
//
// A normal form is an expression as a sum of terms, each a product of powers of atoms and one exponential (normal.hpp).
// It exists to answer one question about a streamed wire: does an expression separate into what a piece of the wire
// determines and what finished reductions over it determine (separate.hpp)? Sums are multiplied out only where a sum
// mixes the two; everything else stays as the user wrote it.
#pragma once

#include <functional>
#include <optional>

#include "derive/algebra/terms.hpp"
#include "napkin/diagram.hpp"

namespace napkin {

// What an expression depends on, with respect to one streamed wire.
struct Dependence {
  bool piece = false;  // the position along the wire
  bool state = false;  // a finished reduction over the wire
  bool mixed() const { return piece && state; }
  Dependence operator|(Dependence other) const { return {piece || other.piece, state || other.state}; }
};

struct Algebra {
  struct Meaning {
    WireId wire;  // the streamed one
    std::function<Dependence(const Access&)> dependence;
    std::function<std::optional<Sum>(ExprId access)> definition;  // what replaces an access, if anything does
    std::function<bool(ArrayId)> positive;                        // never negative
    std::function<bool(ExprId)> finite;                           // for all finite inputs
    std::function<bool(ExprId)> ranks{};  // a comparison that is evaluated for each piece although it reads a state
  };

  Diagram& diagram;
  Meaning meaning;
  // While sums are kept, a sum that mixes piece and state is left as it is by products, powers and casts of it.
  bool keeps_sums = false;
  // While shifts are kept, powers of sums that add a piece to finished reductions stay factors and are not multiplied
  // out.
  bool keeps_shifts = false;
};

constexpr std::size_t most_terms = 64;  // larger sums are left as they are

Dependence dependence(const Algebra&, ExprId);
Dependence dependence(const Algebra&, const Term&);
Dependence dependence(const Algebra&, const Sum&);
// Whether a value is never negative.
bool is_positive(const Algebra&, ExprId);
bool is_positive(const Algebra&, const Term&);

bool holds_exponential(const Diagram&, ExprId);  // in the expression itself; what its arrays hold does not count

}  // namespace napkin
