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
  // Partitions, and nodes of the tree, whose figures were computed; each cost model that was made counts as many.
  std::int64_t evaluated = 0;
  bool finished = true;  // false: it gave up before everything was ruled out
  Score left{};          // if it gave up: no partition that was skipped is better than this
};

// What one step of a climb changes: the size of one split by one (near), or the sizes of two splits together (far).
enum class Climbs { none, near, far };
// The number of partitions that a search may evaluate, and how it climbs: near when it starts, and as `climbs` says
// before it gives up. With Climbs::none it does not climb at all, because an earlier search of the same kernel did.
struct Budget {
  Budget(std::int64_t most) : evaluated(most), climbs(most < least_for_far ? Climbs::near : Climbs::far) {}
  static constexpr std::int64_t least_for_far = 100'000;  // a far climb costs as much as many bounds
  std::int64_t evaluated;
  Climbs climbs;
};

class Search {
 public:
  Search(const Space&, const Scoring&, Incumbents&, SearchStatistics&, Budget);
  // Offers every partition that may be among the best to the incumbents.
  void run();

 private:
  // The splits of one shape in the order in which their sizes are chosen: awkward ones first, the others by level from
  // the outermost.
  struct Order {
    std::vector<std::size_t> splits;
    std::size_t awkward = 0;  // the number of splits that must be chosen before a bound holds
    std::size_t settled = 0;  // the number of splits after which the number of blocks is known
    std::size_t inherited = 0;
  };
  // A node: sizes of some splits of a shape, and bounds of those still free.
  struct Node {
    Score bound;
    std::size_t shape = 0;
    std::size_t depth = 0;  // in the shape's order
    std::int64_t number = 0;
    std::vector<std::int64_t> least{}, most{};  // by split; equal if chosen
  };
  // The place of a waiting node, with the parts of its bound that nearly always decide a comparison.
  struct Waiting {
    std::array<double, 5> parts;
    std::size_t at;
  };

  // Partitions that are evaluated while a cost model is made: 2 us and 0.14 ms in `gated_linear_attention`, h100-sxm5.
  static constexpr std::int64_t of_model = 64;

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
  std::int64_t models_ = space_.kernels->models();  // when the last node was tested
  PieceSizes pieces_;
  std::vector<Order> orders_;        // by shape
  std::vector<Node> nodes_;          // waiting nodes, which do not move; other places are vacant
  std::vector<std::size_t> vacant_;  // the vacant places
  std::vector<Waiting> open_;        // a heap, the most promising in front
  std::int64_t number_ = 0;
  Descent descent_;
  std::vector<std::int64_t> sizes_;
  Figures most_, least_, bound_;
  Score score_;  // of the last node tested
};

}  // namespace napkin
