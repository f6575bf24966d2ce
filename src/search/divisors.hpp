// The units in which a machine computes and moves -> the divisors of pieces.
#pragma once

#include "search/space.hpp"

namespace napkin {

// At every level: multiples of the smallest matrix instruction, or of vectors if there is no matrix unit.
void divide_by_instructions(Space&);
// If the profile describes how cores run the contractions of this kernel, launches are timed. Then, down to the core, a
// piece is a whole number of instructions of a warpgroup and of lines of memory, if there are several of them and such
// pieces fit.
void time_launches(Space&);
// If launches are not timed: multiples of whole sectors along the innermost axis of an array, but for small arrays. If
// the cores could hold more blocks than these give, fourths of sectors are tried after them, and then any pieces. Not
// if masks compare positions, since their bounds take long for pieces whose divisors differ by level.
void cut_between_sectors(Space&);
// If no pieces of such multiples fit, allows pieces of any size: first down to the core, then at every level. Only for
// a kernel of one statement: a kernel of several can be replaced by other cuts.
void divide_where_it_fits(Space&);

}  // namespace napkin
