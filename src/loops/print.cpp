// Prints a nest for people and golden tests, one line per group, buffer, load, column, save and loop.
#include <fmt/format.h>

#include "diagram/match.hpp"
#include "napkin/loops.hpp"

namespace napkin {
namespace {

class Printer {
 public:
  Printer(const LoopNest& nest, const Hardware& hardware) : nest_(nest), hardware_(hardware) {}

  std::string run() {
    for (const auto& group : nest_.groups) line("group " + split(group));
    print(nest_.body);
    return std::move(text_);
  }

 private:
  void line(const std::string& words) { text_ += fmt::format("{:{}}{}\n", "", depth_ * 2, words); }
  const std::string& level(std::size_t index) const { return hardware_.levels.at(index).name; }
  std::string split(const Split& split) const {
    return fmt::format("{} {} at {}", nest_.scratch.at(split.wire).name, split.size, level(split.level));
  }
  std::string needs(const For& loop) const {
    std::string text;
    for (const auto& condition : loop.needs)
      text += (text.empty() ? ", where " : " and ") + to_text(nest_.scratch, condition);
    return text;
  }
  const std::string& name(BufferId id) const { return nest_.at(id).name; }

  void print(const LoopBody& block) {
    for (const auto id : block.buffers) print(nest_.at(id));
    for (const auto& step : block.steps)
      match(
          step.node, [&](const Load& load) { print(load); }, [&](const MaskTest& ask) { print(ask); },
          [&](const Compute& compute) { line(to_text(nest_.scratch, compute.column)); },
          [&](const Save& save) { print(save); },
          [&](const For& loop) {
            line("stream " + split(loop.split) + needs(loop));
            ++depth_;
            print(loop.body);
            --depth_;
          });
  }
  void print(const Buffer& buffer) {
    line(fmt::format("hold {} {}[{}] at {}", buffer.name, row(buffer.type).name, fmt::join(buffer.extent, ", "),
                     level(buffer.level)));
  }
  void print(const Load& load) {
    const auto& array = nest_.scratch.at(nest_.at(load.to).array).name;
    line(fmt::format("load {} from {}", name(load.to), load.from ? name(*load.from) : array));
  }
  void print(const MaskTest& ask) {
    line(fmt::format("skip unless {} is {} somewhere in {}", to_text(nest_.scratch, ask.access), ask.wanted,
                     name(ask.tile)));
  }
  void print(const Save& save) {
    const auto& array = nest_.scratch.at(nest_.at(save.from).array).name;
    line(fmt::format("save {} to {}", name(save.from), save.to ? name(*save.to) : array));
  }

  const LoopNest& nest_;
  const Hardware& hardware_;
  std::size_t depth_ = 0;
  std::string text_;
};

}  // namespace

std::string to_text(const LoopNest& nest, const Hardware& hardware) { return Printer(nest, hardware).run(); }

}  // namespace napkin
