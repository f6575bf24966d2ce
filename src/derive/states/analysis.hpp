// The analysis behind find_states(): one pass over the columns that separates the bodies of reductions and names what
// is carried. Its members stand in states.cpp (columns, sums), branches.cpp, extremes.cpp, orders.cpp,
// ranking.cpp, shifts.cpp, centring.cpp, logarithms.cpp, scales.cpp, guards.cpp, rounding.cpp and carried.cpp.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "derive/algebra/finite.hpp"
#include "derive/algebra/ranges.hpp"
#include "derive/states/states.hpp"
#include "diagram/order.hpp"

namespace napkin {

class StateAnalysis {
 public:
  StateAnalysis(Diagram& scratch, const std::vector<Column>& columns, WireId wire, const std::set<ArrayId>& needed,
                const Learnt& learnt);
  States run();

 private:
  Dependence depends(const Column& column) const;

  // Never negative, as far as its column says.
  bool positive(ArrayId array) const;

  // What stands in place of a read: the definition of a mixed column, the finished value of a reduction.
  std::optional<Sum> definition(ExprId e);
  // In its value, or in what it reads.
  bool has_exponentials(const Column&);
  // A piece that is an exponential is written out, so that its exponent is seen.
  std::optional<Sum> exponential(const Column& column);
  std::optional<Sum> defined(const Column& column);

  // One column at a time.
  void derive(std::size_t i);
  void reduce(const Column& column);

  // Choices by conditions that finished reductions alone decide: each branch is reduced by itself.
  std::optional<ExprId> late_condition(ExprId body);
  void reduce_branches(const Column& column, ExprId body, ExprId condition);
  ExprId branch(const Column& column, ExprId body, const std::vector<WireId>& over);
  // What the column reduces, sums as they stand and mixed columns written out.
  ExprId written_body(const Column& column);

  // Sums.
  // Pieces that are exponentials are written out for the sake of their exponents. Where no maximum is kept they are
  // read as they stand.
  bool takes_reference(const Column& column, const Sum& body);
  Sum as_written(const Column& column);
  void reduce_sum(const Column& column, const Sum& body);
  // u * v, or a sum of all u that have the same v and the same exponential.
  struct Share {
    Sum piece;
    Term state;
    Guards guards;
  };
  std::optional<std::vector<Share>> shares_of(const Column& column, const Sum& body);
  // Pieces, and what is there before the sweep and is added to each.
  bool stays_inside(const Column& column, const Sum& body);
  std::optional<Sum> summed(const Column& column, const Sum& body, bool alone = true);
  Term with_common_exponential(Term a, Term b);
  // The fold of u * v over the column's wires: v waits, and so do the wires that v varies along.
  Sum folded(const Column& column, const Share& share, bool single);
  // Over wires along which nothing waits. `waiting`: what a sum of nothing would be multiplied with.
  struct Folded {
    Sum value, waiting;
  };
  std::optional<Folded> folded_now(const Column& column, const Share& share, const std::vector<WireId>& now,
                                   bool direct);
  static bool trivial(const Term& term);
  static bool trivial_piece(const Sum& piece) { return piece.size() == 1 && trivial(piece[0]) && !piece[0].cast; }
  // Relative to its greatest an exponential by itself is one there.
  static bool holds_greatest(const Sum& piece) {
    return piece.size() == 1 && piece[0].coefficient >= 1 && piece[0].factors.empty() && piece[0].rounded.empty();
  }
  Sum times(const Sum& a, const Term& b);
  // v varies along wires that the column folds too: the state keeps them, and finish folds.
  Sum fold_later(const Column& column, const Sum& value, const std::vector<WireId>& over);

  // Sums of products of shifts, u (w + v)^k (w' + v')^j ..: moments about centres of the w, and in finish about the -v.
  std::optional<Sum> about_centres(const Column& column);
  std::optional<Shifted> shifted(const Term&);
  // Taken apart into pieces, their common factor and what is added to them.
  Shifted::Part shift_in(const Sum& sum, int power);
  std::optional<Term> divided(const Term& term, const Term& by);
  std::optional<Shifted> subtracted(const Column& column, Sum& plain);
  // What waits may not vary along the wires that are folded.
  bool can_centre(const Column& column, const Shifted& found);
  bool scales_alike(const Shifted& found, const Shifted::Part& part) const;
  std::vector<std::optional<std::size_t>> scales_for(const Column& column, const Shifted& found);
  Term scale_after(const Term& piece, std::size_t state);
  Term restored(const Shifted& found, const Moment& greatest, const Powers& powers, ArrayId array);
  Sum about_centre(const Column& column, const Shifted& found);
  // The distances from the centres, to what the powers lack of the greatest; none where one is zero.
  std::optional<Term> distances(const std::vector<Sum>& off, const Powers& greatest, const Powers& powers);
  Sum never_below_zero(const Column& column, const Sum& value);
  // A number that finish makes of the states before it comes to the column.
  ArrayId finished_array(const Column& column, const std::vector<WireId>& wires, ExprId value);
  Term read_term(ArrayId array);
  Term exponential_of(const Reference& reference);

  std::size_t centre_for(const Column& column, const Shifted& found, const Shifted::Part& part);
  // `waiting`: the exponent of what the sum is multiplied with in finish.
  std::size_t mean_for(const Column& column, const Averaged& of, const Sum& waiting);
  std::size_t state_of(ArrayId array) const;
  static Term weight_of(Term piece);
  static bool counts(const Term& piece) { return trivial(piece) && piece.rounded.empty(); }
  // Which weights the running mean of a shift's pieces has.
  Term weight_for(const Term& piece, const Shifted::Part& part);
  // The factors of a piece that are never negative.
  Term never_negative(const Term& piece);
  bool subtracts_mean(const Shifted::Part& part, const Term& weight);
  static std::optional<double> ratio(const Sum& a, const Sum& b);  // of b to a, of either sign
  // Of logarithms from which one of a finished reduction is subtracted: the greatest of what they are of, each.
  std::vector<Centre::Extreme> logarithms_in(const Column& column, const Shifted& found, const Shifted::Part& part);
  std::optional<ExprId> logarithm_of(const Term& term) const;
  Sum off_logarithms(const Centre& centre, Sum offset);
  Sum quotient_logarithm(const Centre::Extreme& extreme, std::optional<ExprId> beside);
  ExprId magnitude_where_counted(ExprId base, const Term& piece);
  // The carried extremes that a sum of finished reductions subtracts, with their factors.
  std::vector<Centre::Extreme> extremes_in(const Sum& offset);
  // How far the centre is from what the file subtracts, with the factor of the shift and without.
  Sum off_centre(std::size_t centre, const Shifted::Part& part);
  Sum off_without_factor(std::size_t centre, const Shifted::Part& part);

  // All moments of powers up to the greatest.
  std::map<Powers, ArrayId> moments_for(const Column& column, const Moment& greatest, const Term& piece,
                                        const std::vector<WireId>& over, const Sum& waiting);
  ArrayId moment_for(const Column& column, const Moment& moment, const Term& piece, const std::vector<WireId>& over,
                     const Sum& waiting, bool named);
  ArrayId add_state(ArrayId array, const Column& column, const Term& body, const std::vector<WireId>& over,
                    std::optional<Reference> reference, std::optional<Moment> moment);

  // A sum of u * w, w of a known centre c: c times the sum of u, and the sum of u * (w - c).
  std::optional<Sum> sum_about_centre(const Column& column, const Sum& piece, const std::vector<WireId>& over,
                                      const Sum& waiting);
  // A sum that is made of a centre.
  struct Made {
    std::size_t centre;
    ArrayId sum, first;  // the first moment about the centre
    Sum value;           // what the sum is made of
    Factors total;       // of the weights
  };
  const Made& sum_for(const Column& column, const Averaged& known, const std::vector<WireId>& over, const Sum& waiting);
  // Choices with zero taken apart into a condition that counts and what is counted.
  Sum spread(const Sum& sum);
  static std::vector<WireId> within(const std::vector<WireId>& wires, const std::set<WireId>& set);
  // Positions that a reduction over the wire takes: counted where only a piece is at hand.
  Factors size_of(WireId wire);

  // Values that count for nothing where their guards hold nowhere over the wires.
  Sum guarded(const Column& column, const Sum& value, const Sum& waiting, const Guards& guards,
              const std::vector<WireId>& over);
  ExprId holds_somewhere(const Column& column, ExprId condition, const std::vector<WireId>& over);
  bool says_whether(const State& state, ExprId condition);
  std::vector<ExprId> masks_of(const Term& part);
  Ends ends_of(ArrayId array);
  Ends held_ends(ArrayId array);
  Ends ends_of(const Sum& value);
  Ends ends_of(const State& state);
  Ends ends_of(const Column& column);
  static Ends folded_ends(const Reduction& reduction, Ends each);
  std::optional<Range> known_unmasked(ArrayId array);

  // max, min.
  void reduce_extreme(const Column& column);
  // The value at finish of a maximum or minimum, or none and a refusal. Below it every fold is over the column's wires,
  // along which no finished reduction varies; `column.fold` may be the opposite of what the file asks for.
  using Extreme = std::function<std::optional<Sum>(const Column&)>;
  using Function = std::function<ExprId(ExprId)>;
  std::optional<Sum> extreme(const Column& column, const Sum& body);
  Guards counted_among(const Guards& guards) const;
  Sum extreme_of_piece(const Column& column, const Sum& piece);
  std::optional<Sum> extreme_of_term(const Column& column, const Term& term);
  std::optional<Sum> extreme_of_product(const Column& column, const Term& piece, const Sum& waiting);
  double raised_together(const Term& u, const Term& v);
  std::optional<Sum> extreme_of_raised(const Column& column, const Term& u, const Term& v, double power);
  std::optional<Sum> extreme_of_power(const Column& column, std::pair<ExprId, double> factor);
  std::optional<Sum> extreme_of(const Column& column, ExprId e);
  std::optional<Sum> extreme_of_function(const Column& column, ExprId e, const Apply& apply);
  std::optional<Sum> extreme_of_choice(const Column& column, const Apply& choice);
  // Of `e` at the positions where `condition` holds; none where it counts for nothing.
  std::optional<Sum> extreme_where(const Column& column, ExprId condition, ExprId e);
  ExprId any_holds(const Column& column, ExprId condition);
  std::optional<Sum> ordered(const Column& column, ExprId e, Order order, const Function& f);
  std::optional<Sum> by_sign(const Column& column, const Term& u, const Term& v, const Extreme& of);
  std::optional<Sum> product_with(const std::optional<Sum>& value, const Term& v);
  static Column opposite_of(const Column& column);
  bool settled(const Column& column, ExprId e) const;
  std::set<WireId> wires_below(ExprId e) const;
  std::set<WireId> waiting_below(ExprId e) const;

  // Reductions that ask how a position ranks among those whose extreme is carried.
  std::optional<RankCondition> rank_condition(ExprId e);
  std::optional<ArrayId> level_read(ExprId level, ExprId value);
  std::map<ExprId, RankCondition> rank_conditions(ExprId value);
  Sum ranked(const Column& column, ExprId value, const std::vector<WireId>& over);
  bool is_identity(const Column& column, ExprId value);
  std::optional<ExprId> next_level(const Column& column, std::size_t number, const std::vector<ExprId>& values,
                                   const std::vector<WireId>& over);
  Sum ranks_joined(const Column& column, std::size_t number, ExprId value, const std::vector<ExprId>& values,
                   const std::vector<WireId>& over, bool first_of_ties);
  ArrayId array_of_rank(const Column& column, RankedFold fold, std::size_t rank, ExprId value);

  // prod.
  void reduce_product(const Column& column, const Sum& body);
  // The wires that are folded with each piece, and those that must wait because what waits varies along them.
  static std::pair<std::vector<WireId>, std::vector<WireId>> parted(const std::vector<WireId>& over,
                                                                    const std::set<WireId>& waiting);
  void finish(const Column& column, const Sum& value, const std::vector<WireId>& later);
  // A body that is whole keeps the words of the file.
  Sum algebra_original(const Column& column);

  // States, and the values at finish that are made of them.
  void is_state(ArrayId array);
  // `waiting` is the exponent of what the piece is multiplied by later.
  std::optional<Reference> referenced(const Column& column, const Sum& piece, const std::vector<WireId>& over,
                                      const Sum& waiting);
  std::optional<Reference> reference_for(const Sum& piece, const std::vector<WireId>& over, const Sum& waiting);
  // A maximum of the exponent; with `waiting` one of an exponent that this one masks, and that the file subtracts.
  std::optional<Reference> carried_maximum(const Sum& exponent, const std::vector<WireId>& along, const Sum& waiting);
  Sum unmasked(const Sum& exponent);
  Sum written_out(const Sum& body);
  // `needed`: the file subtracts something from the exponent, so that leaving the maximum out could overflow where the
  // file does not.
  Reference add_reference(const Sum& exponent, const std::vector<WireId>& over, const std::set<WireId>& free,
                          bool needed);
  // Sums of powers that a finished factor scales: relative to the greatest magnitude of what is raised.
  std::optional<Reference> scaled(const Column& column, const Sum& piece, const std::vector<WireId>& over,
                                  const Term& waiting);
  std::optional<Reference> scale_of(const Term& piece, const std::vector<WireId>& over, const Term& waiting) const;
  std::optional<Reference> scale_by(std::size_t state, const Term& piece, const std::vector<WireId>& over) const;
  std::size_t greatest_of(const Column& column, ExprId magnitude, const std::vector<WireId>& over);
  Reference add_scale(const Column& column, std::pair<ExprId, double> factor, const std::vector<WireId>& over);
  bool needs_scale(const Term& piece, const Reference& scale) const;
  // `sum`, relative to the scale, times `waiting`: the scale and what divides it stand under one power.
  Sum rescaled(const Sum& sum, const Reference& scale, const Term& waiting);
  // The value, at finish, of the fold of a piece-determined body: a state, new or shared, times its exponential.
  Sum carried(const Column& column, const Sum& body, const std::vector<WireId>& over,
              std::optional<Reference> reference, bool direct);
  std::size_t state_for(const Column& column, const Sum& body, const std::vector<WireId>& over,
                        std::optional<Reference> reference, bool direct, bool named = true);
  // `named`: after the column, if no other state is.
  ArrayId state_array(const Column& column, const Sum& body, const std::vector<WireId>& over, bool named);
  Datatype type(const Column& column) const { return scratch_.at(column.output).type; }
  Datatype type_of(const Column&, const Sum& body);  // that a state of the column's with this body is kept in
  Datatype count_type() const;
  std::set<WireId> free_of(const Sum& sum);
  void note_rules(const Sum& piece, const Term& state);
  // Whether the roundings of pieces that were moved past what finished reductions determine round no more there.
  bool rounds_alike(const Column& column, const Sum& piece, const std::optional<Reference>& reference);
  bool rounds_alike(Datatype kept, const Moved& moved) const;
  // `moved` once the piece is kept relative to the reference.
  Moved relative(Moved moved, const Term& piece, const std::optional<Reference>& reference);
  std::optional<Range> known(ArrayId array) const;
  void note_casts(const Term&);
  void note_cast(Datatype cast);
  void note(std::string);

  // The trace.
  // The fold of a part of a column's body, to be shown.
  Sum reduction(const Column& column, const Sum& body);
  void step(Rule rule, const Column& column, const Sum& before, const Sum& after, std::string why);
  void show_written_out(const Column& column, const Sum& body);
  void note_step(Rule rule, ExprId before, ExprId after, std::string why);

  // Refusals.
  void refuse(const std::string& why, const std::string& mend = "");
  void refuse_mixing(ExprId mixing);
  void check_needed();

  Diagram& scratch_;
  const std::vector<Column>& columns_;
  WireId wire_;
  const std::set<ArrayId>& needed_;
  const Learnt& learnt_;
  Algebra algebra_;
  Kinds kinds_;

  std::map<ArrayId, const Column*> producer_;
  std::map<ArrayId, bool> exponentials_;  // whether what makes them has any
  const Column* deriving_ = nullptr;      // whose branch a column may be
  std::optional<ExprId> counted_;         // within choices: the condition on positions that an extreme is taken over
  std::set<ArrayId> positive_;
  std::set<ArrayId> at_least_one_;  // sums that hold the term of their reference
  Ranges ranges_;
  Finite finite_;
  std::map<ArrayId, Ends> ends_;  // asked for already
  std::vector<Made> made_;
  bool writes_exponentials_ = true;
  States found_;
};

}  // namespace napkin
