// A step of a derivation -> a text that says what it did, why it is allowed and what it gains, for readers who know
// only matrix products.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "napkin/cost.hpp"
#include "napkin/derive.hpp"

namespace napkin::scene {

// "m leaves the sum of l".
std::string title(const Diagram& scratch, const Rewriting&);
// "allowed by rule S5: a * x + a * y = a * (x + y)".
std::string allowed(const Diagram& scratch, const Rewriting&);
// What the step gains, with numbers if sizes are known; empty if the next steps say it. `ends` are the arrays that need
// all of the axis.
std::string gained(const Diagram& scratch, const Rewriting&, const std::set<std::string>& ends,
                   const std::string& axis);

std::vector<ArrayId> carried(const Streamable&);
// "m, l, O".
std::string names(const Diagram&, const std::vector<ArrayId>&);

// What a fused kernel keeps inside: "S, P stay inside: 33.6 M values, 101 MB, are ...".
std::string inside_words(const Diagram&, const Derivation&);
// ": of S, 4.10 k values for each position of x, instead of 16.8 M"; for the largest array that has the wire.
std::string held_words(const Derivation&, WireId);
// What a pass over the wire saves, and what is carried from piece to piece.
std::string stream_words(const Derivation&, const Streamable&, WireId);
// What each memory would have to hold without streams, if that exceeds its capacity.
std::vector<std::string> room_words(const Kernel&, const Hardware&, Model);

}  // namespace napkin::scene
