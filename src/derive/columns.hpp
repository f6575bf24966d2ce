// Lists of columns: splitting statements into columns, and queries on lists.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "napkin/derive.hpp"

namespace napkin {

// One column per reduction and per pointwise function; equal subexpressions share one. Appends arrays to `scratch`.
std::vector<Column> columns_of(Diagram& scratch, const std::vector<StatementId>& statements,
                               std::vector<Rewriting>& trace);

// Gives every fold at most two plain operands, and computes every shared subexpression once, in a column of its own
// before its first use.
std::vector<Column> tidy(Diagram& scratch, std::vector<Column> columns);

// The columns of a program's steps, including those inside loops.
std::vector<const Column*> columns_in(const std::vector<Step>&);

std::vector<ArrayId> reads(const Diagram&, const Column&);  // including the carried state and its repair
std::set<WireId> wires_of(const Diagram&, const Column&);   // the wires of output, value and fold
bool involves(const Diagram&, const Column&, WireId);
// Drops columns whose output is not needed.
void drop_unused(const Diagram&, std::vector<Column>&, const std::set<ArrayId>& needed);

// A new array; a number makes its name unique. `span` is that of the array of the file that it is a part of.
ArrayId new_array(Diagram&, const std::string& name, Datatype, std::vector<WireId> wires, Span span = {});
// Where the file declares the array that a column computes a part of; an empty span if that is unknown.
Span origin(const Diagram&, const Column&);
ArrayId twin(Diagram&, ArrayId, const char* mark);  // a copy under another name
ExprId read_whole(Diagram&, ArrayId);               // A[i, j] at its own wires
// Renumbers the names of derived arrays, in order of `used`, so that dropped arrays leave no gaps.
void settle_names(Diagram&, std::size_t from_file, const std::vector<ArrayId>& used);
// The type of a result's accumulator: f32, unless the result is wider.
Datatype accumulator(Datatype result);
// The type of the accumulator for a reduction of these values: as wide as the values and the result. A sum whose result
// is a whole number is not rounded to one before the end.
Datatype accumulator(const Diagram&, Datatype result, ExprId value);
// The type of a value without a name: f64 if it is made of f64 numbers, else f32.
Datatype held_as(const Diagram&, ExprId value);

}  // namespace napkin
