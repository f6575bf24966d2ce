// What columns compute at one place of fragments, and statements on the values that lanes hold there.
#pragma once

#include <map>
#include <string>

#include "emit/cuda/warps/fragments.hpp"
#include "emit/shared/statements.hpp"

namespace napkin {

class FragmentStatements : public StatementPrinter<FragmentPage, OpenFragments> {
 public:
  explicit FragmentStatements(FragmentPage&);

  // A lane's value of a computed array in its registers.
  std::string slot(BufferId, const OpenFragments&) const override;
  // The same, or what is computed in its place if registers do not hold the array.
  std::string held_value(BufferId, const OpenFragments&);
  bool is_rounded(BufferId) const override;

 private:
  int open_cells(const Compute&, OpenFragments&) override;
  Typed read(const Compute&, ExprId access, const OpenFragments&) override;
  std::string stored(const Compute&, ExprId access, const OpenFragments&) const override;
  ExprId value_of(const Compute&) const override;

  std::map<ExprId, bool> known_;  // values of mask entries that are only read to test whether a piece counts
};

}  // namespace napkin
