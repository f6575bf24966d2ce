// The backward pass as it grows: the diagram of the forward pass, and statements that are added to it.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "grad/algebra.hpp"

namespace napkin::grad {

struct Backward {
  Diagram diagram;  // what is added stands behind what the file has
  Algebra algebra{diagram};
  std::vector<Statement> forward;  // of the file, without what is saved
  std::set<ArrayId> rewritten;     // results of those that do not read as in the file any more
  std::vector<ArrayId> saved;      // inputs now
  std::vector<ArrayId> seeds;      // gradients that are inputs
  std::vector<Statement> made;     // those of the gradients
  std::vector<ArrayId> results;    // and of these the ones asked for
  std::set<ArrayId> between;       // of these, neither a gradient nor a number of its own: typed as what is made of it
  std::map<ArrayId, Sum> values;   // of what is made, as the algebra has it
  std::map<ArrayId, std::string> comments;
  std::vector<std::string> steps;
  std::set<std::string> names;  // taken: of axes, arrays and defs

  explicit Backward(const Diagram& read) : diagram(read), forward(read.statements) {}
  Backward(const Backward&) = delete;
  Backward& operator=(const Backward&) = delete;

  bool is_free(const std::string& name) const;
  // The name, or with a number behind it if it is taken.
  std::string unused(const std::string& name);
  ArrayId array(const std::string& name, Datatype, const std::vector<WireId>&);
  const Statement* statement(ArrayId) const;  // of the forward pass, unless it is saved
};

// A name for each axis instead of each wire: `d` for d'.
std::string in_axes(const Diagram&, ExprId);

// `saved` is a name that the diagram has, or a new one for the logarithm of a sum of exponentials that it has. False
// where nothing is left to be saved so.
bool save(Backward&, const std::string& name);

// Sums of exponentials in what is made become statements of their logarithms, which do not overflow.
void keep_logarithms(Backward&);

// Sums of products in which a gradient is the sum of a product itself: another order of the sums may be an array that
// exists.
Sum reassociated(Backward&, const std::vector<WireId>& over, const Product&);

// Reductions that vary along fewer wires than what they stand in become statements of their own.
void set_apart(Backward&);

// Types of what lies between: as the file says of the array, else the widest of the gradients made of it.
void set_types(Backward&, const std::map<ArrayId, ArrayId>& gradient_of);

// As text, with what it needs of the file.
std::string write(const Sources&, const ast::File&, Backward&, const std::string& heading, Diagnostics&);

// Of gradients of arrays of a type.
Datatype gradient_type(Datatype);

}  // namespace napkin::grad
