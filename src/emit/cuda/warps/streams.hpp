// Loops over the pieces of a stream in a kernel on matrix units, except those that masks skip.
#pragma once

#include <functional>
#include <string>

#include "emit/cuda/groups.hpp"
#include "emit/cuda/warps/fragments.hpp"

namespace napkin {

// Whether masks may skip pieces.
bool may_skip(const For&);
// Prints a function that returns the first piece, from a given one on, that no mask skips. Returns its name; empty if
// no mask skips any.
std::string declare_skip(FragmentPage&, GroupPrinter&, const For&, const std::string& begin, const WirePiece& around);
// The piece, or the first one from it on that no mask skips; `skip` is that function, empty if no mask skips any.
std::string counting_piece(const std::string& skip, const std::string& piece);
// Prints a loop over the pieces of a stream, except those that masks skip.
void print_pieces(FragmentPage&, GroupPrinter&, const For&, const GroupPrinter::Inside&);
// Prints what a piece computes by `print`. If most pieces have no ragged end and no mask, it is printed twice, first
// without these tests.
void print_piece(FragmentPage&, const For&, const std::string& begin, const WirePiece& around,
                 const std::function<void()>& print);

}  // namespace napkin
