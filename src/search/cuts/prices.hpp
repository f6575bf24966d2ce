// A lower bound of the price of a kernel, without a derivation: from its compulsory reads, writes and contractions.
#pragma once

#include <compare>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "napkin/search.hpp"
#include "search/cuts/cuts.hpp"
#include "search/cuts/masked.hpp"

namespace napkin {

// Plans are compared by the objective, then by transfers at the outermost level. Prices of kernels add up.
struct Price {
  double objective = 0, transfers = 0;
  auto operator<=>(const Price&) const = default;
  Price operator+(const Price& more) const { return {objective + more.objective, transfers + more.transfers}; }
  Price operator-(const Price& less) const { return {objective - less.objective, transfers - less.transfers}; }
  static Price never();  // more than any plan costs
};

// Every value that a kernel reads from outside or saves crosses every level once. Every contraction is computed once,
// on no more cores than there are blocks. There is one launch. No partition of the kernel costs less (docs/theory.md,
// cuts). Work that a mask could skip does not count.
class LeastPrices {
 public:
  LeastPrices(const Diagram&, const Hardware&, const Goal&);
  Price of(const Cut&) const;
  // What a plan is worth whose kernels move together what this one moves, without its contractions, which another form
  // of the same results may not have.
  double worth_of_transfers(const Cut&) const;

 private:
  // A sum of products of two arrays that both vary along all wires that it sums over.
  struct Contraction {
    ArrayId a, b;
    std::vector<WireId> wires;
    double operations = 0;
  };
  struct Reading {
    double values = 0;
    std::vector<WireId> wires;
  };
  // The origin of an array's values in a kernel: the loaded array, or the reduction that no rewriting takes apart along
  // any wire of the array. `bytes` is the width of the narrowest type on the way.
  struct Root {
    ArrayId array;
    ExprId sum;
    int bytes = 8;
    auto operator<=>(const Root&) const = default;
  };
  void read(std::size_t statement, ExprId);
  double reached(const Access&) const;
  std::optional<Root> root(ArrayId, const Statements& computed) const;
  double contracting(const Statements& computed, const MaskedWires&) const;  // seconds with all cores busy
  // An upper bound of the share of the cores that have a block. Blocks split wires that every result has and that
  // nothing reduces over.
  double busy(const Cut&) const;
  double rate(int bytes) const;  // upper bound of operations per second for types at least this wide
  struct Moved {
    double values = 0, bytes = 0;
  };
  Moved moved(const Cut&, const MaskedWires&) const;
  Price price(const Moved&, double seconds_contracting) const;

  const Diagram& diagram_;
  const Hardware& hardware_;
  const Goal& goal_;
  std::map<ArrayId, std::size_t> producer_;
  Masks masks_;
  // By statement: its reads of each array, and its contractions.
  std::vector<std::map<ArrayId, Reading>> reads_;
  std::vector<std::vector<Contraction>> contractions_;
  std::vector<std::set<WireId>> reduced_;  // by statement, wires that its reductions go over
};

// What every plan of these results is worth at least, in whatever form: inputs are read, outputs are written.
double least_worth(const Diagram&, const Hardware&, const Goal&);

}  // namespace napkin
