// What machines take at a time -> the multiples of which pieces are.
#pragma once

#include "search/space.hpp"

namespace napkin {

// At every level, of the least matrix instruction; of vectors, where there is no matrix unit.
void divide_by_instructions(Space&);
// Down to the core a piece is a whole number of instructions of a warpgroup, and of lines of memory, where there are
// several and such pieces fit: where the machine knows how its cores run the contractions of this kernel. There
// launches are timed.
void time_launches(Space&);
// Elsewhere, of whole sectors along the innermost axis of an array; not where masks compare positions, whose bounds
// take long for pieces with divisors that differ by level.
void cut_between_sectors(Space&);
// Where no pieces of such multiples fit, pieces of any size: first down to the core, then at every level. Only for a
// statement alone: for kernels of several there are others in their place.
void divide_where_it_fits(Space&);

}  // namespace napkin
