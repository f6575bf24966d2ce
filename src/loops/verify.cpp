// Checks what must hold for every nest: buffers are used where they live and filled before they are read, and every
// output is saved once.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "diagram/match.hpp"
#include "napkin/loops.hpp"

namespace napkin {
namespace {

class Checker {
 public:
  explicit Checker(const LoopNest& nest) : nest_(nest) {}

  std::vector<std::string> run() {
    for (const auto& group : nest_.groups) check(group, SplitKind::group);
    check_order();
    check(nest_.body, 0);
    for (std::uint32_t id = 0; id < nest_.buffers.size(); ++id) check_shape({id});
    for (const auto output : nest_.outputs)
      expect(saved_[output] == 1, fmt::format("`{}` leaves {} times", name(output), saved_[output]));
    return std::move(wrong_);
  }

 private:
  void expect(bool holds, const std::string& otherwise) {
    if (!holds) wrong_.push_back(otherwise);
  }
  const std::string& name(ArrayId id) const { return nest_.scratch.at(id).name; }
  const std::string& name(BufferId id) const { return nest_.at(id).name; }

  void check(const Split& split, SplitKind kind) {
    const auto& wire = nest_.scratch.at(split.wire).name;
    expect(split.kind == kind, fmt::format("the split of `{}` is of the wrong kind", wire));
    expect(split.size >= 1, fmt::format("the pieces of `{}` are empty", wire));
    expect(split.level >= 1, fmt::format("`{}` is split at the outermost level", wire));
  }
  void check_order() {
    expect(std::is_sorted(nest_.groups.begin(), nest_.groups.end(),
                          [](const Split& a, const Split& b) { return a.level < b.level; }),
           "groups stand out of the order of their levels");
  }
  void check_shape(BufferId id) {
    const auto& buffer = nest_.at(id);
    expect(owned_.contains(id), fmt::format("`{}` belongs to no block", buffer.name));
    expect(names_.insert(buffer.name).second, fmt::format("two buffers are called `{}`", buffer.name));
    const auto dimensions = nest_.scratch.at(buffer.array).wires.size();
    expect(buffer.at.size() == dimensions && buffer.extent.size() == dimensions,
           fmt::format("`{}` has not the dimensions of `{}`", buffer.name, name(buffer.array)));
    expect(std::all_of(buffer.extent.begin(), buffer.extent.end(), [](auto e) { return e >= 1; }),
           fmt::format("`{}` is empty", buffer.name));
  }

  void check(const LoopBody& block, std::size_t outer_level) {
    for (const auto id : block.buffers) {
      expect(owned_.insert(id).second, fmt::format("`{}` belongs to two blocks", name(id)));
      scope_.insert(id);
    }
    for (const auto& step : block.steps)
      match(
          step.node, [&](const Load& load) { check(load); }, [&](const MaskTest& ask) { read(ask.tile); },
          [&](const Compute& compute) { check(compute); }, [&](const Save& save) { check(save); },
          [&](const For& loop) {
            check(loop.split, SplitKind::stream);
            expect(loop.split.level >= outer_level, "loops stand out of the order of their levels");
            check(loop.body, loop.split.level);
          });
    for (const auto id : block.buffers) scope_.erase(id);
  }

  void read(BufferId id) {
    expect(scope_.contains(id), fmt::format("`{}` is used outside of its block", name(id)));
    expect(filled_.contains(id), fmt::format("`{}` is read before it holds anything", name(id)));
  }
  void write(BufferId id) {
    expect(scope_.contains(id), fmt::format("`{}` is used outside of its block", name(id)));
    filled_.insert(id);
  }
  void check_levels(std::size_t inner, std::optional<BufferId> outer, const std::string& what) {
    const auto level = outer ? nest_.at(*outer).level : 0;
    expect(level + 1 == inner, fmt::format("`{}` skips a level", what));
  }

  void check(const Load& load) {
    if (load.from) read(*load.from);
    check_levels(nest_.at(load.to).level, load.from, name(load.to));
    write(load.to);
  }
  void check(const Save& save) {
    read(save.from);
    check_levels(nest_.at(save.from).level, save.to, name(save.from));
    if (save.to) return write(*save.to);
    ++saved_[nest_.at(save.from).array];
  }
  void check(const Compute& compute) {
    expect(compute.carried.has_value() == compute.column.carried.has_value(), "a carried value has no buffer");
    if (compute.carried) read(*compute.carried);
    for (const auto& [access, id] : compute.reads) read(id);
    write(compute.to);
    expect(nest_.at(compute.to).array == compute.column.output,
           fmt::format("`{}` is not where `{}` belongs", name(compute.to), name(compute.column.output)));
  }

  const LoopNest& nest_;
  std::vector<std::string> wrong_;
  std::set<BufferId> owned_, scope_, filled_;
  std::set<std::string> names_;
  std::map<ArrayId, int> saved_;
};

}  // namespace

std::vector<std::string> verify(const LoopNest& nest) { return Checker(nest).run(); }

}  // namespace napkin
