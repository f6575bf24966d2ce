// The analysis behind find_states(): one pass over the columns that separates the bodies of reductions and names what
// is carried. Its members are defined in states.cpp (columns, sums), branches.cpp, extremes.cpp, orders.cpp,
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

  // Whether the array's column shows that it is never negative.
  bool positive(ArrayId array) const;

  // The value that replaces a read: the definition of a mixed column, or the finished value of a reduction.
  std::optional<Sum> definition(ExprId e);
  // Whether the column has exponentials, in its value or in what it reads.
  bool has_exponentials(const Column&);
  // A piece that is an exponential is written out to expose its exponent.
  std::optional<Sum> exponential(const Column& column);
  std::optional<Sum> defined(const Column& column);

  // Analyses one column.
  void derive(std::size_t i);
  void reduce(const Column& column);

  // Choices by conditions that finished reductions alone decide: each branch is reduced separately.
  std::optional<ExprId> late_condition(ExprId body);
  void reduce_branches(const Column& column, ExprId body, ExprId condition);
  ExprId branch(const Column& column, ExprId body, const std::vector<WireId>& over);
  // The body that the column reduces, with sums unchanged and mixed columns written out.
  ExprId written_body(const Column& column);

  // Sums.
  // Pieces that are exponentials are written out to expose their exponents. If no maximum is kept, they are read
  // unchanged.
  bool takes_reference(const Column& column, const Sum& body);
  Sum as_written(const Column& column);
  void reduce_sum(const Column& column, const Sum& body);
  // u * v, or the sum of all u with the same v and the same exponential.
  struct Share {
    Sum piece;
    Term state;
    Guards guards;
  };
  std::optional<std::vector<Share>> shares_of(const Column& column, const Sum& body);
  // Whether the body is a sum of pieces and of values that are known before the sweep and added to each piece.
  bool stays_inside(const Column& column, const Sum& body);
  std::optional<Sum> summed(const Column& column, const Sum& body, bool alone = true);
  Term with_common_exponential(Term a, Term b);
  // The fold of u * v over the column's wires: v is applied in finish, and so are the folds over wires that v varies
  // along.
  Sum folded(const Column& column, const Share& share, bool single);
  // The fold over wires along which v does not vary. `waiting`: the factor that an empty sum would be multiplied by.
  struct Folded {
    Sum value, waiting;
  };
  std::optional<Folded> folded_now(const Column& column, const Share& share, const std::vector<WireId>& now,
                                   bool direct);
  static bool trivial(const Term& term);
  static bool trivial_piece(const Sum& piece) { return piece.size() == 1 && trivial(piece[0]) && !piece[0].cast; }
  // Relative to its greatest value, an exponential without factors is one at that value.
  static bool holds_greatest(const Sum& piece) {
    return piece.size() == 1 && piece[0].coefficient >= 1 && piece[0].factors.empty() && piece[0].rounded.empty();
  }
  Sum times(const Sum& a, const Term& b);
  // v varies along wires that the column folds too: the state keeps these wires, and finish folds over them.
  Sum fold_later(const Column& column, const Sum& value, const std::vector<WireId>& over);

  // Sums of products of shifts, u (w + v)^k (w' + v')^j ..: moments about centres of the w; finish shifts them to the
  // -v.
  std::optional<Sum> about_centres(const Column& column);
  std::optional<Shifted> shifted(const Term&);
  // Separates a sum into pieces, their common factor and the values added to them.
  Shifted::Part shift_in(const Sum& sum, int power);
  std::optional<Term> divided(const Term& term, const Term& by);
  std::optional<Shifted> subtracted(const Column& column, Sum& plain);
  // Values applied in finish may not vary along the folded wires.
  bool can_centre(const Column& column, const Shifted& found);
  bool scales_alike(const Shifted& found, const Shifted::Part& part) const;
  std::vector<std::optional<std::size_t>> scales_for(const Column& column, const Shifted& found);
  Term scale_after(const Term& piece, std::size_t state);
  Term restored(const Shifted& found, const Moment& greatest, const Powers& powers, ArrayId array);
  Sum about_centre(const Column& column, const Shifted& found);
  // The distances from the centres, raised to the difference of `greatest` and `powers`; none if one distance is zero.
  std::optional<Term> distances(const std::vector<Sum>& off, const Powers& greatest, const Powers& powers);
  Sum never_below_zero(const Column& column, const Sum& value);
  // A value that finish computes from the states before it reaches the column.
  ArrayId finished_array(const Column& column, const std::vector<WireId>& wires, ExprId value);
  Term read_term(ArrayId array);
  Term exponential_of(const Reference& reference);

  std::size_t centre_for(const Column& column, const Shifted& found, const Shifted::Part& part);
  // `waiting`: the exponent of the factor that finish multiplies the sum by.
  std::size_t mean_for(const Column& column, const Averaged& of, const Sum& waiting);
  std::size_t state_of(ArrayId array) const;
  static Term weight_of(Term piece);
  static bool counts(const Term& piece) { return trivial(piece) && piece.rounded.empty(); }
  // The weights for the running mean of a shift's pieces.
  Term weight_for(const Term& piece, const Shifted::Part& part);
  // The factors of a piece that are never negative.
  Term never_negative(const Term& piece);
  bool subtracts_mean(const Shifted::Part& part, const Term& weight);
  static std::optional<double> ratio(const Sum& a, const Sum& b);  // b / a, of either sign
  // For logarithms from which the logarithm of a finished reduction is subtracted: the greatest magnitude of each
  // argument.
  std::vector<Centre::Extreme> logarithms_in(const Column& column, const Shifted& found, const Shifted::Part& part);
  std::optional<ExprId> logarithm_of(const Term& term) const;
  Sum off_logarithms(const Centre& centre, Sum offset);
  Sum quotient_logarithm(const Centre::Extreme& extreme, std::optional<ExprId> beside);
  ExprId magnitude_where_counted(ExprId base, const Term& piece);
  // The carried extremes that a sum of finished reductions subtracts, with their factors.
  std::vector<Centre::Extreme> extremes_in(const Sum& offset);
  // The distance of the centre from the value that the file subtracts, with the factor of the shift and without it.
  Sum off_centre(std::size_t centre, const Shifted::Part& part);
  Sum off_without_factor(std::size_t centre, const Shifted::Part& part);

  // All moments of powers up to the greatest.
  std::map<Powers, ArrayId> moments_for(const Column& column, const Moment& greatest, const Term& piece,
                                        const std::vector<WireId>& over, const Sum& waiting);
  ArrayId moment_for(const Column& column, const Moment& moment, const Term& piece, const std::vector<WireId>& over,
                     const Sum& waiting, bool named);
  ArrayId add_state(ArrayId array, const Column& column, const Term& body, const std::vector<WireId>& over,
                    std::optional<Reference> reference, std::optional<Moment> moment);

  // A sum of u * w, where w has the known centre c: c times the sum of u, plus the sum of u * (w - c).
  std::optional<Sum> sum_about_centre(const Column& column, const Sum& piece, const std::vector<WireId>& over,
                                      const Sum& waiting);
  // A sum that is computed from a centre.
  struct Made {
    std::size_t centre;
    ArrayId sum, first;  // the first moment about the centre
    Sum value;           // the value of the sum
    Factors total;       // the total of the weights
  };
  const Made& sum_for(const Column& column, const Averaged& known, const std::vector<WireId>& over, const Sum& waiting);
  // Separates choices between a value and zero into a factor for the condition and the value.
  Sum spread(const Sum& sum);
  static std::vector<WireId> within(const std::vector<WireId>& wires, const std::set<WireId>& set);
  // The number of positions that a reduction over the wire visits; it is counted if only a piece is available.
  Factors size_of(WireId wire);

  // Values that count for nothing if their guards hold nowhere along the wires.
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
  // The value in finish of a maximum or minimum, or none and a refusal. All folds inside it are over wires of the
  // column along which no finished reduction varies; `column.fold` may be the opposite of the one in the file.
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
  // The extreme of `e` over the positions where `condition` holds; none if `e` counts for nothing.
  std::optional<Sum> extreme_where(const Column& column, ExprId condition, ExprId e);
  ExprId any_holds(const Column& column, ExprId condition);
  std::optional<Sum> ordered(const Column& column, ExprId e, Order order, const Function& f);
  std::optional<Sum> by_sign(const Column& column, const Term& u, const Term& v, const Extreme& of);
  std::optional<Sum> product_with(const std::optional<Sum>& value, const Term& v);
  static Column opposite_of(const Column& column);
  bool settled(const Column& column, ExprId e) const;
  std::set<WireId> wires_below(ExprId e) const;
  std::set<WireId> waiting_below(ExprId e) const;

  // Reductions that depend on how a position ranks among those whose extreme is carried.
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
  // The wires that are folded with each piece, and those that finish folds because `waiting` contains them.
  static std::pair<std::vector<WireId>, std::vector<WireId>> parted(const std::vector<WireId>& over,
                                                                    const std::set<WireId>& waiting);
  void finish(const Column& column, const Sum& value, const std::vector<WireId>& later);
  // A body that needs no separation keeps the form it has in the file.
  Sum algebra_original(const Column& column);

  // States, and the values in finish that are computed from them.
  void is_state(ArrayId array);
  // `waiting` is the exponent of the factor that later multiplies the piece.
  std::optional<Reference> referenced(const Column& column, const Sum& piece, const std::vector<WireId>& over,
                                      const Sum& waiting);
  std::optional<Reference> reference_for(const Sum& piece, const std::vector<WireId>& over, const Sum& waiting);
  // A carried maximum of the exponent; with `waiting`, also that of an exponent that this one masks and that the file
  // subtracts.
  std::optional<Reference> carried_maximum(const Sum& exponent, const std::vector<WireId>& along, const Sum& waiting);
  Sum unmasked(const Sum& exponent);
  Sum written_out(const Sum& body);
  // `needed`: the file subtracts something from the exponent, so without the maximum the sum could overflow although
  // the file does not.
  Reference add_reference(const Sum& exponent, const std::vector<WireId>& over, const std::set<WireId>& free,
                          bool needed);
  // Sums of powers that a finished factor scales: they are kept relative to the greatest magnitude of the base.
  std::optional<Reference> scaled(const Column& column, const Sum& piece, const std::vector<WireId>& over,
                                  const Term& waiting);
  std::optional<Reference> scale_of(const Term& piece, const std::vector<WireId>& over, const Term& waiting) const;
  std::optional<Reference> scale_by(std::size_t state, const Term& piece, const std::vector<WireId>& over) const;
  std::size_t greatest_of(const Column& column, ExprId magnitude, const std::vector<WireId>& over);
  Reference add_scale(const Column& column, std::pair<ExprId, double> factor, const std::vector<WireId>& over);
  bool needs_scale(const Term& piece, const Reference& scale) const;
  // `sum`, relative to the scale, times `waiting`: the scale and its divisor are put under one power.
  Sum rescaled(const Sum& sum, const Reference& scale, const Term& waiting);
  // The value in finish of the fold of a body that the piece alone determines: a new or shared state, times its
  // exponential.
  Sum carried(const Column& column, const Sum& body, const std::vector<WireId>& over,
              std::optional<Reference> reference, bool direct);
  std::size_t state_for(const Column& column, const Sum& body, const std::vector<WireId>& over,
                        std::optional<Reference> reference, bool direct, bool named = true);
  // `named`: the state gets the name of the column, if no other state has it.
  ArrayId state_array(const Column& column, const Sum& body, const std::vector<WireId>& over, bool named);
  Datatype type(const Column& column) const { return scratch_.at(column.output).type; }
  Datatype type_of(const Column&, const Sum& body);  // the type of a state of the column with this body
  Datatype count_type() const;
  std::set<WireId> free_of(const Sum& sum);
  void note_rules(const Sum& piece, const Term& state);
  // Whether roundings of pieces that were moved past finished factors give the same results as before.
  bool rounds_alike(const Column& column, const Sum& piece, const std::optional<Reference>& reference);
  bool rounds_alike(Datatype kept, const Moved& moved) const;
  // `moved` after the piece is made relative to the reference.
  Moved relative(Moved moved, const Term& piece, const std::optional<Reference>& reference);
  std::optional<Range> known(ArrayId array) const;
  void note_casts(const Term&);
  void note_cast(Datatype cast);
  void note(std::string);

  // The trace.
  // The fold of a part of a column's body, for display.
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
  std::map<ArrayId, bool> exponentials_;  // by array: whether its column has exponentials
  const Column* deriving_ = nullptr;      // the column being derived; another column may be a branch of it
  std::optional<ExprId> counted_;         // inside choices: the condition on positions that an extreme is taken over
  std::set<ArrayId> positive_;
  std::set<ArrayId> at_least_one_;  // sums that include the term of their reference, which is one
  Ranges ranges_;
  Finite finite_;
  std::map<ArrayId, Ends> ends_;  // computed so far
  std::vector<Made> made_;
  bool writes_exponentials_ = true;
  States found_;
};

}  // namespace napkin
