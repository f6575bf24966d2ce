// Lists of columns: statements taken apart into them, and the questions a list answers.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "napkin/derive.hpp"

namespace napkin {

// One column per reduction and per pointwise function, equal subexpressions once. Appends arrays to `scratch`.
std::vector<Column> columns_of(Diagram& scratch, const std::vector<StatementId>& statements,
                               std::vector<Rewriting>& trace);

// Gives every fold at most two plain operands and computes every shared subexpression once, each in a column of its
// own in front of its first use.
std::vector<Column> tidy(Diagram& scratch, std::vector<Column> columns);

// The columns of a program's steps, loops opened.
std::vector<const Column*> columns_in(const std::vector<Step>&);

std::vector<ArrayId> reads(const Diagram&, const Column&);  // carried and repair included
std::set<WireId> wires_of(const Diagram&, const Column&);   // of output, value and fold
bool involves(const Diagram&, const Column&, WireId);
// Drops columns whose output nobody needs.
void drop_unused(const Diagram&, std::vector<Column>&, const std::set<ArrayId>& needed);

// A new array; its name is made unique by a number. `span` is that of the array of the file that it is a part of.
ArrayId new_array(Diagram&, const std::string& name, Datatype, std::vector<WireId> wires, Span span = {});
// Where the file declares what a column computes a part of; an empty span where that is not known.
Span origin(const Diagram&, const Column&);
ArrayId twin(Diagram&, ArrayId, const char* mark);  // the same under another name
ExprId read_whole(Diagram&, ArrayId);               // A[i, j] at its own wires
// Numbers the names of derived arrays anew, in order of `used`, so that arrays that were dropped leave no gaps.
void settle_names(Diagram&, std::size_t from_file, const std::vector<ArrayId>& used);
// The type that a result's sums are kept in: f32, unless the result is wider.
Datatype accumulator(Datatype result);
// The type that a reduction of these values is kept in: as wide as they are and as its result. What is summed into a
// whole number is not rounded to one before the end.
Datatype accumulator(const Diagram&, Datatype result, ExprId value);
// The type that a nameless value is kept in: f64 where it is made of numbers in f64, else f32.
Datatype held_as(const Diagram&, ExprId value);

}  // namespace napkin
