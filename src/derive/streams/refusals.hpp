// Why a wire cannot be streamed, in the names of the file, and what would make it possible.
#pragma once

#include <string>

#include "derive/streams/kinds.hpp"

namespace napkin {

// A read at a position that another piece computes, if there is one.
std::optional<ExprId> read_elsewhere(const Diagram&, ExprId, const Kinds&);

// A column that keeps the wire but needs all of it first, or one that is computed after the pieces and reads one of
// them.
Refused refused_kept(const Diagram&, const Column&, WireId, const Kinds&);
// A reduction over the wire that is refused for the reason `why`.
Refused refused_fold(const Diagram&, const Column&, WireId, const std::string& why, const std::string& mend = "");
// A reduction over the wire in which `mixing` needs a piece and a finished reduction at once.
Refused refused_mixing(Diagram&, Algebra&, const Column&, WireId, const Kinds&, ExprId mixing);
// A reduction over the wire in which the cast of `rounded * waiting` is not equal to the cast of `rounded`, times
// `waiting`.
Refused refused_rounding(const Diagram&, const Column&, WireId, Datatype, ExprId rounded, ExprId waiting);

}  // namespace napkin
