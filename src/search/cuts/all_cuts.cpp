// The slow twin of the cuts: tries every choice of recomputed statements and every partition of the others into
// kernels, and searches every kernel.
#include <algorithm>
#include <map>
#include <set>

#include "search/cuts/cuts.hpp"
#include "search/kernels.hpp"

namespace napkin {
namespace {

using Block = std::set<std::size_t>;  // statements

class AllCuts {
 public:
  AllCuts(const Diagram& diagram, const Hardware& hardware, const Goal& goal)
      : diagram_(diagram), hardware_(hardware), goal_(goal), count_(diagram.statements.size()) {}

  std::optional<std::pair<double, double>> run() {
    for (std::size_t choice = 0; choice < (std::size_t{1} << count_); ++choice) {
      recomputed_.clear();
      for (std::size_t i = 0; i < count_; ++i)
        if (choice >> i & 1U) recomputed_.insert(i);
      if (!std::ranges::all_of(recomputed_, [&](std::size_t i) { return is_recomputable(i); })) continue;
      blocks_.clear();
      partition(0);
    }
    return best_;
  }

 private:
  bool reads(std::size_t reader, std::size_t statement) const {
    const auto all = arrays_read(diagram_, diagram_.statements[reader].value);
    return std::ranges::find(all, diagram_.statements[statement].output) != all.end();
  }
  bool is_output(std::size_t i) const {
    return std::ranges::find(diagram_.outputs, diagram_.statements[i].output) != diagram_.outputs.end();
  }
  bool is_needed(std::size_t i) const {
    if (is_output(i)) return true;
    for (auto reader = i + 1; reader < count_; ++reader)
      if (reads(reader, i) && is_needed(reader)) return true;
    return false;
  }
  bool is_recomputable(std::size_t i) const {
    return may_be_recomputed(diagram_, diagram_.statements[i]) && !is_output(i);
  }

  // Tries every block for statement `next`, and a new block.
  void partition(std::size_t next) {
    if (next == count_) return consider();
    if (recomputed_.contains(next) || !is_needed(next)) return partition(next + 1);
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
      blocks_[i].insert(next);
      partition(next + 1);
      blocks_[i].erase(next);
    }
    blocks_.push_back({next});
    partition(next + 1);
    blocks_.pop_back();
  }
  // Returns the block with the statements that it recomputes.
  Block computed(const Block& block) const {
    Block all = block;
    for (std::size_t i = count_; i-- > 0;)
      if (recomputed_.contains(i) && std::ranges::any_of(all, [&](std::size_t reader) { return reads(reader, i); }))
        all.insert(i);
    return all;
  }
  void consider() {
    std::vector<Block> kernels;
    for (const auto& block : blocks_) kernels.push_back(computed(block));
    std::vector<Block> saved(blocks_.size());
    std::vector<std::set<std::size_t>> waits(blocks_.size());  // for other kernels
    for (std::size_t k = 0; k < kernels.size(); ++k)
      for (const auto statement : blocks_[k]) {
        if (is_output(statement)) saved[k].insert(statement);
        for (std::size_t other = 0; other < kernels.size(); ++other)
          if (other != k &&
              std::ranges::any_of(kernels[other], [&](std::size_t reader) { return reads(reader, statement); }))
            saved[k].insert(statement), waits[other].insert(k);
      }
    if (!can_run(waits)) return;
    std::pair<double, double> sum{};
    for (std::size_t k = 0; k < kernels.size(); ++k) {
      const auto one = price(kernels[k], saved[k]);
      if (!one) return;
      sum.first += one->first, sum.second += one->second;
    }
    best_ = std::min(best_.value_or(sum), sum);
  }
  static bool can_run(const std::vector<std::set<std::size_t>>& waits) {
    std::set<std::size_t> done;
    for (bool more = true; more;) {
      more = false;
      for (std::size_t k = 0; k < waits.size(); ++k)
        if (!done.contains(k) && std::ranges::includes(done, waits[k])) more = done.insert(k).second;
    }
    return done.size() == waits.size();
  }
  std::optional<std::pair<double, double>> price(const Block& computed, const Block& saved) {
    const auto [known, fresh] = known_.try_emplace({computed, saved});
    if (!fresh) return known->second;
    std::vector<StatementId> statements;
    std::vector<ArrayId> outputs;
    for (const auto i : computed) statements.push_back({static_cast<std::uint32_t>(i)});
    for (const auto i : saved) outputs.push_back(diagram_.statements[i].output);
    const auto derivation = std::make_shared<const Derivation>(derive(diagram_, statements, outputs));
    const auto ranking = rank(make_space(derivation, hardware_, goal_), goal_, Incumbents(1, 1), false, INT64_MAX / 2);
    if (ranking.incumbents.best().empty()) return std::nullopt;
    const auto& parts = ranking.incumbents.best().front().score.parts;
    return known->second = std::pair(parts[0], parts[1]);
  }

  const Diagram& diagram_;
  const Hardware& hardware_;
  const Goal& goal_;
  std::size_t count_;
  Block recomputed_;
  std::vector<Block> blocks_;
  std::map<std::pair<Block, Block>, std::optional<std::pair<double, double>>> known_;
  std::optional<std::pair<double, double>> best_;
};

}  // namespace

std::optional<std::pair<double, double>> search_all_cuts(const Diagram& diagram, const Hardware& hardware,
                                                         const Goal& goal) {
  return AllCuts(diagram, hardware, goal).run();
}

}  // namespace napkin
