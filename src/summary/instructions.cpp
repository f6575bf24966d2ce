// Matches the columns of a mainloop to the products of the file.
#include "summary/instructions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "summary/products.hpp"
#include "summary/sizes.hpp"

namespace napkin {
namespace {

// An instruction of four warps computes as many columns of its piece as possible. Instructions of single warps have one
// shape.
void name_instruction(const Contraction& contraction, const Mainloop& mainloop, MatrixProduct& made) {
  const auto& shape = *contraction.instruction;
  auto columns = shape.n;
  if (shape.n_max > shape.n && contraction.across) {
    const auto length = mainloop.lengths[contraction.across->index];
    columns = std::clamp((length + shape.n - 1) / shape.n * shape.n, shape.n, shape.n_max);
  }
  made.instruction = fmt::format("{} m{}n{}k{}", shape.name, shape.m, columns, shape.k);
  made.of_rows = shape.m;
  made.rows = contraction.exchanged ? shape.m : std::min(shape.m, mainloop.lengths[mainloop.row.index]);
  note_padding(contraction, mainloop, made);
}

// A stream moves factors out of sums, which may leave a product of two arrays.
void move_to_matrix_units(const Contraction& contraction, MatrixProduct& made) {
  made.unit = Unit::tensor, made.type = contraction.instruction->operands, made.parts = contraction.parts;
  made.lost = false;
  made.why.clear(), made.mend = {};
}

class Matching {
 public:
  Matching(const Mainloop& mainloop, const std::vector<MatrixProduct>& products) : mainloop_(mainloop) {
    for (const auto& one : products) names_.insert(one.column);
    for (const auto* columns : {&mainloop.outside, &mainloop.columns})
      for (const auto& column : *columns)
        if (column.contraction) columns_.push_back(&column);
  }
  // Finds the column by its name. A sum that a stream adds to its carried state has the name of the state, and the same
  // operands.
  const MainloopOperation* column_of(const MatrixProduct& made) const {
    const auto named = [&](const MainloopOperation* one) { return without_sum(one->name) == made.column; };
    if (const auto* found = last(named)) return found;
    return last([&](const MainloopOperation* one) {
      return !names_.contains(without_sum(one->name)) && multiplies(*one, made);
    });
  }

 private:
  template <class Is>
  const MainloopOperation* last(const Is& is) const {
    const auto found = std::find_if(columns_.rbegin(), columns_.rend(), is);
    return found == columns_.rend() ? nullptr : *found;
  }
  bool multiplies(const MainloopOperation& column, const MatrixProduct& made) const {
    std::multiset<std::string> operands;
    for (const auto& factor : column.factors)
      operands.insert(mainloop_.diagram().at(mainloop_.nest->at(factor.operand.buffer).array).name);
    return operands == std::multiset{made.first, made.second};
  }

  const Mainloop& mainloop_;
  std::set<std::string> names_;
  std::vector<const MainloopOperation*> columns_;
};

}  // namespace

void name_instructions(const Mainloop& mainloop, std::vector<MatrixProduct>& products) {
  const Matching matching(mainloop, products);
  for (auto& made : products) {
    const auto* column = matching.column_of(made);
    if (!column) continue;
    const auto& contraction = *column->contraction;
    if (made.unit != Unit::tensor || made.parts != contraction.parts) move_to_matrix_units(contraction, made);
    if (contraction.mixed) made.type = contraction.instruction->operands;
    name_instruction(contraction, mainloop, made);
    note_alignment(*column, mainloop, made);
    note_one_by_one(*column, mainloop, made);
  }
}

}  // namespace napkin
