// Normal forms: an expression as a sum of terms, each a product of powers of atoms and one exponential.
//
// The normal form exists to answer one question about a streamed wire: does an expression separate into what a piece
// of the wire determines and what finished reductions over it determine? Sums are multiplied out only where a sum
// mixes the two; everything else stays as the user wrote it.
#pragma once

#include <functional>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

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

class Algebra {
 public:
  struct Meaning {
    WireId wire;  // the streamed one
    std::function<Dependence(const Access&)> dependence;
    std::function<std::optional<Sum>(ExprId access)> definition;  // what replaces an access, if anything does
    std::function<bool(ArrayId)> positive;                        // never negative
    std::function<bool(ExprId)> ranks{};  // a comparison that is evaluated for each piece although it reads a state
  };
  Algebra(Diagram& diagram, Meaning meaning) : diagram_(diagram), meaning_(std::move(meaning)) {}

  Sum normal(ExprId);
  ExprId build(const Sum&);
  ExprId build(const Term&);
  // The parts of a product: the factors of the numerator, and those that divide it.
  struct Product {
    std::vector<ExprId> over, under;
  };
  Product parts(const Term&);
  ExprId apply(std::string_view function, std::vector<ExprId> arguments);
  ExprId product(const Product&);

  bool holds_exponential(ExprId) const;  // in the expression itself; what its arrays hold does not count

  ExprId cast_to(Datatype, ExprId);  // does nothing if an array has the type already

  Dependence dependence(ExprId) const;
  Dependence dependence(const Term&) const;
  Dependence dependence(const Sum&) const;
  bool positive(const Term&) const;
  bool positive(ExprId) const;

  // While sums are kept, a sum that mixes piece and state is left as it is by products, powers and casts of it.
  void keep_sums(bool keep) { keeps_sums_ = keep; }
  // While shifts are kept, powers of sums that add a piece to finished reductions stay factors and are not multiplied
  // out.
  void keep_shifts(bool keep) { keeps_shifts_ = keep; }
  struct Shift {
    ExprId base;
    double power;
    bool rounded;  // whether it is inside the term's cast
  };
  // u * v with u determined by the piece and v by finished reductions, and possibly shifts as further factors; or, if
  // the term does not separate, the expression that mixes them.
  struct Separated {
    Term piece, state;
    std::vector<Shift> shifts{};
    Guards guards{};
  };
  std::variant<Separated, ExprId> separate(const Term&);
  // For a sum of products of pieces and finished reductions: the factor, the same at every position, that multiplies
  // everything that varies with the piece.
  std::optional<Factors> common_factor(const Sum&) const;
  bool is_shift(const Sum&);
  // Treats exponentials that the piece alone determines as factors like any other.
  Sum with_exponentials_as_factors(Sum);

  ExprId all_of(const Guards&);
  Guards either(const Guards&, const Guards&);  // for a sum of terms with the same finished factors

 private:
  Sum atom(ExprId, std::vector<Moved> moved = {});
  Sum atom(const Sum& sum) { return atom(build(sum), moved_in(sum)); }
  Sum wrapped(const Sum&);
  std::optional<Term> factored(const Sum&);
  bool may_cancel(const Sum&) const;
  Sum normal_apply(ExprId, const Apply&);
  Sum multiplied(const Sum&, const Sum&);
  Term multiplied(const Term&, const Term&);
  Term with_cast_as_factor(const Term&);
  Sum inverted(const Sum&);
  Sum raised(const Sum&, double power);
  Factors roots(const Factors&, double power);
  Sum raised_apart(const Term&, double power);
  Sum rooted(const Apply&, const Sum&, double power);
  Sum exponential(const Sum&, double scale);
  Sum logarithm(const Apply&, const Sum&);
  std::optional<Sum> logarithm_apart(const Apply&, const Sum&);
  Sum homogeneous(ExprId, const Apply&);
  Sum magnitude(ExprId, const Apply&, const Sum&);
  Sum chosen(ExprId, const Apply&);
  Sum kept_where(ExprId condition, const Sum&, bool when);
  Sum cast(ExprId, Datatype, const Sum&);
  Sum cast_distance(Datatype, Term);
  Sum left_out(Datatype, const Sum&);
  Sum opaque(ExprId, const Apply&);
  ExprId powered(ExprId base, double power);
  ExprId without_sign(const Term&);
  bool is_infinite(ExprId) const;
  Factors with_quotients(const Factors&);
  bool is_shift(ExprId);
  std::optional<Factors> waiting_factors(const Term&) const;

  Diagram& diagram_;
  Meaning meaning_;
  bool keeps_shifts_ = false, keeps_sums_ = false;
};

}  // namespace napkin
