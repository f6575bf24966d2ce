// Why a wire cannot be streamed, in the words of the file, and what would mend it.
#pragma once

#include <string>

#include "derive/streams/kinds.hpp"

namespace napkin {

// A read at a position that another piece computes.
std::optional<ExprId> read_elsewhere(const Diagram&, ExprId, const Kinds&);

// What keeps the wire but needs all of it first, or is computed behind the pieces and reads one of them.
Refused refused_kept(const Diagram&, const Column&, WireId, const Kinds&);
// A reduction over the wire that does what `why` says.
Refused refused_fold(const Diagram&, const Column&, WireId, const std::string& why, const std::string& mend = "");
// A reduction over the wire in which `mixing` needs a piece and a finished reduction at once.
Refused refused_mixing(Diagram&, Algebra&, const Column&, WireId, const Kinds&, ExprId mixing);
// A reduction over the wire in which the cast of `rounded * waiting` is another number than that of `rounded`, times
// `waiting`.
Refused refused_rounding(const Diagram&, const Column&, WireId, Datatype, ExprId rounded, ExprId waiting);

}  // namespace napkin
