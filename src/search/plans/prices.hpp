// What a kernel costs at least, told without deriving anything: from what it must read, write and contract.
#pragma once

#include <compare>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "napkin/search.hpp"
#include "search/plans/cuts.hpp"

namespace napkin {

// What a plan is compared by: the objective, then transfers at the outermost level. Prices of kernels add up.
struct Price {
  double objective = 0, transfers = 0;
  auto operator<=>(const Price&) const = default;
  Price operator+(const Price& more) const { return {objective + more.objective, transfers + more.transfers}; }
  Price operator-(const Price& less) const { return {objective - less.objective, transfers - less.transfers}; }
  static Price never();  // more than any plan costs
};

// Whatever a kernel reads from outside crosses every level once, and so does whatever it saves; every contraction is
// done once, on no more cores than there are blocks; there is one launch. No partition of it costs less than that
// (docs/theory.md, cuts). What a mask could leave out does not count.
class LeastPrices {
 public:
  LeastPrices(const Diagram&, const Hardware&, const Goal&);
  Price of(const Cut&) const;

 private:
  // A sum of products of two arrays that both vary along all that it sums over.
  struct Contraction {
    ArrayId a, b;
    std::vector<WireId> wires;
    double operations = 0;
  };
  struct Reading {
    double values = 0;
    std::vector<WireId> wires;
  };
  // Where an array's values come from in a kernel: the loaded array or the reduction that no rewriting takes apart
  // along any wire of the array. `bytes` of the narrowest type on the way.
  struct Root {
    ArrayId array;
    ExprId sum;
    int bytes = 8;
    auto operator<=>(const Root&) const = default;
  };
  void read(std::size_t statement, ExprId);
  double reached(const Access&) const;
  std::optional<Root> root(ArrayId, const Statements& computed) const;
  bool is_masked(const std::vector<WireId>&, const Statements& computed) const;
  double contracting(const Statements& computed) const;  // seconds, all cores at work
  // Of the cores, as many as have a block at most: along wires that every result has and nothing reduces over.
  double busy(const Cut&) const;
  double rate(int bytes) const;  // operations per second at most, of types as wide or wider
  Price price(double values, double bytes, double seconds) const;

  const Diagram& diagram_;
  const Hardware& hardware_;
  const Goal& goal_;
  std::map<ArrayId, std::size_t> producer_;
  // By statement: what it reads of each array, its contractions, and the wires whose positions it asks for.
  std::vector<std::map<ArrayId, Reading>> reads_;
  std::vector<std::vector<Contraction>> contractions_;
  std::vector<std::set<WireId>> positions_;
  std::vector<std::set<WireId>> reduced_;  // by statement, wires that its reductions go over
};

}  // namespace napkin
