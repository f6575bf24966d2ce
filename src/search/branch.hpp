// The best partitions of the space: branch and bound, the most promising node first.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "search/descent.hpp"
#include "search/score.hpp"
#include "search/shapes.hpp"

namespace napkin {

struct SearchStatistics {
  std::int64_t evaluated = 0;  // partitions and nodes of partitions whose figures were computed
  bool finished = true;        // else given up before everything was ruled out:
  Score left{};                // nothing that was not looked at is better than this
};

// What a climb changes at a time: one split by a step (near), or the sizes of two splits together (far).
enum class Climbs { none, near, far };
// How many partitions a search may evaluate, and how it climbs: near at its start, as `climbs` says before it gives up.
// With none it does neither, as when an earlier search of the same kernel did both.
struct Budget {
  Budget(std::int64_t most) : evaluated(most), climbs(most < least_for_far ? Climbs::near : Climbs::far) {}
  static constexpr std::int64_t least_for_far = 100'000;  // a far climb costs as much as many bounds
  std::int64_t evaluated;
  Climbs climbs;
};

class Search {
 public:
  Search(const Space&, const Scoring&, Incumbents&, SearchStatistics&, Budget);
  // Offers to the incumbents whatever may be among the best.
  void run();

 private:
  // Splits of one shape in the order in which their sizes are chosen: awkward ones first, else outermost level first.
  struct Order {
    std::vector<std::size_t> splits;
    std::size_t awkward = 0;  // so many must be chosen before a bound holds
    std::size_t settled = 0;  // after so many the number of blocks is known
    std::size_t inherited = 0;
  };
  // A node: sizes of some splits of a shape, and bounds of those still free.
  struct Node {
    Score bound;
    std::size_t shape = 0;
    std::size_t depth = 0;  // in the shape's order
    std::int64_t number = 0;
    std::vector<std::int64_t> least{}, most{};  // by split; equal where chosen
  };
  // Where a node lies that waits, with the parts of its bound that nearly always tell.
  struct Waiting {
    std::array<double, 5> parts;
    std::size_t at;
  };

  void start();
  const Order& order(std::size_t shape);
  void expand(Node);
  void choose(Node, const Order&);
  void tighten(Node&, const Order&);
  void raise(Node&, const Order&);
  std::int64_t grain(const Node&, std::size_t split) const;
  bool holds(const Node&);
  void continue_with(const Node&);
  void open_shape(Node&);
  void push(Node&, const Order&);
  Node pop();
  const Score& bound(const Waiting& one) const { return nodes_[one.at].bound; }
  bool is_less_promising(const Waiting&, const Waiting&) const;
  void descend(std::vector<std::size_t> shapes, const Width&, const Ascent&);
  void climb_again();
  std::vector<std::size_t> open_roots() const;
  void dive();
  void free_splits(Node&) const;
  bool promises(const Node&, const Order&);
  bool holds_together(const Node&);
  std::span<const std::int64_t> grains(const Node&);
  std::size_t labels(const Node&) const;
  enum class Chosen { some, groups, all };  // sizes
  Chosen chosen(const Node&) const;
  bool may_run(const Node&) const;
  Launched launched(const Node&) const;
  void offer(const Shape&, const std::vector<std::int64_t>& sizes);
  std::span<const std::int64_t> choices(const Node&, std::size_t split);

  const Space& space_;
  const Scoring& scoring_;
  Incumbents& incumbents_;
  SearchStatistics& statistics_;
  Budget budget_;
  Shapes shapes_;
  PieceSizes pieces_;
  std::vector<Order> orders_;        // by shape
  std::vector<Node> nodes_;          // those that wait, where they stay; other places are vacant
  std::vector<std::size_t> vacant_;  // those places
  std::vector<Waiting> open_;        // a heap, the most promising in front
  std::int64_t number_ = 0;
  Descent descent_;
  std::vector<std::int64_t> sizes_;
  Figures most_, least_, bound_;
  Score score_;  // of the last node asked about
};

}  // namespace napkin
