// States, and the values that finish computes from them. A sum of exponentials is kept relative to the running maximum
// of its exponent.
#pragma once

#include <optional>
#include <vector>

#include "derive/states/attempt.hpp"

namespace napkin {

// The maximum that a fold of the piece is kept relative to. `waiting` is the exponent of the factor that later
// multiplies the piece: a carried maximum that it subtracts also serves if the piece's exponent is masked. A new
// maximum is carried if the sum could overflow without one although the file does not.
std::optional<Reference> reference_for(StreamAttempt&, const Sum& piece, const std::vector<WireId>& over,
                                       const Sum& waiting);
// The same, with a step of the trace.
std::optional<Reference> referenced(StreamAttempt&, const Column&, const Sum& piece, const std::vector<WireId>& over,
                                    const Sum& waiting);
Term exponential_of(StreamAttempt&, const Reference&);
// A sum that is a single factor is written out in terms.
Sum written_out(Algebra&, const Sum& body);

// The value in finish of the fold of a body that the piece alone determines: a new or shared state, times its
// exponential.
Sum carried(StreamAttempt&, const Column&, const Sum& body, const std::vector<WireId>& over,
            const std::optional<Reference>&, bool direct);
std::size_t state_for(StreamAttempt&, const Column&, const Sum& body, const std::vector<WireId>& over,
                      const std::optional<Reference>&, bool direct, bool named = true);
// `named`: the state gets the name of the column, if no other state has it.
ArrayId state_array(StreamAttempt&, const Column&, const Sum& body, const std::vector<WireId>& over, bool named);
void mark_state(StreamAttempt&, ArrayId);
std::size_t add_state(StreamAttempt&, State);  // returns its number

// A value that finish computes from the states before it reaches the column.
ArrayId finished_array(StreamAttempt&, const Column&, const std::vector<WireId>&, ExprId value);
// The value varies along wires that the column folds too: the state keeps these wires, and finish folds over them.
Sum fold_later(StreamAttempt&, const Column&, const Sum& value, const std::vector<WireId>& over);
// Sets the value of the column, which is folded over the wires `later` first.
void finish(StreamAttempt&, const Column&, const Sum& value, const std::vector<WireId>& later);

}  // namespace napkin
