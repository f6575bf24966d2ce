// Prints a loop nest as two C++ functions: one loops over the groups, the first of them in parallel; the other computes
// one group. Streams become loops.
//
// A tile is copied once, at the first level, and read there. Caches and registers take the place of the deeper levels.
#include "emit/cpp/kernel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "diagram/match.hpp"
#include "emit/cpp/columns.hpp"
#include "emit/shared/expression.hpp"

namespace napkin {
namespace {

class KernelPrinter {
 public:
  KernelPrinter(const LoopNest& nest, const Hardware& hardware, const CodeNames& names)
      : page_(nest, names), out_(page_.out), nest_(page_.nest), hardware_(hardware), columns_(page_) {}

  PrintedKernel run(const std::string& name) {
    enter_groups();
    out_.deepen();
    for (const auto& each : groups_) count(each);
    print(nest_.body);
    out_.close();
    const auto body = out_.text();
    for (const auto& each : groups_)
      if (mentions(body, each.piece.begin)) begins_.push_back(each.piece.begin);
    EmittedText made{group_head(name, body)};
    append(made, body, out_.origins());
    append(made, "\n" + loops(name));
    return {name, std::move(made.text), page_.limits, std::move(made.origins)};
  }

 private:
  std::string words(const Split& split) const { return to_text(Partition{{split}}, page_.diagram, hardware_); }

  // Groups

  // One group, the piece that it splits, and its own piece.
  struct Entered {
    const Split* group;
    CppPiece around, piece;
  };
  void enter_groups() {
    for (const auto& group : nest_.groups) {
      auto& own = page_.own[group.wire.index];
      groups_.push_back({&group, own, split(group, own)});
      own = groups_.back().piece;
    }
  }
  CppPiece split(const Split& split, const CppPiece& around) {
    const auto begin = page_.begin_name(split.wire);
    return {begin, split.size == 1 ? "1" : begin + "_n", std::min(around.extent, split.size)};
  }
  std::string counted(const Split& split, const CppPiece& around, const CppPiece& piece) const {
    return fmt::format("std::min({}, {} - {})", split.size, around.end(), piece.begin);
  }
  void count(const Entered& each) {
    const auto& [group, around, piece] = each;
    if (group->size == 1) return;
    out_.declare(piece.count, fmt::format("full ? {} : {}", group->size, counted(*group, around, piece)),
                 words(*group));
  }

  std::vector<std::string> parameters() const {
    std::vector<std::string> all = {fmt::format("const {}_sizes& n", page_.names.diagram)};
    std::ranges::move(page_.parameters(nest_.inputs, "__restrict"), std::back_inserter(all));
    return all;
  }

  std::string group_head(const std::string& name, const std::string& body) const {
    Lines out;
    out.line("// One group; `full` where all its pieces are as long as they can be.");
    auto all = parameters();
    if (!mentions(body, "n")) all[0] = "[[maybe_unused]] " + all[0];
    for (const auto& begin : begins_) all.push_back("int " + begin);
    out.line("template <bool full>");
    out.list(fmt::format("static void {}_group(", name), all, ") {");
    out.deepen();
    for (const auto& [id, place] : page_.places) out.line(page_.declaration(id));
    return out.text();
  }

  std::string loops(const std::string& name) const {
    Lines out;
    for (const auto& group : nest_.groups) out.line("//   " + words(group));
    for (const auto* loop : all_statements<For>(nest_.body)) out.line("//   " + words(loop->split));
    out.list(fmt::format("static void {}(", name), parameters(), ") {");
    out.deepen();
    std::string arguments = "n", full;
    for (const auto* list : {&nest_.inputs, &nest_.outputs})
      for (const auto id : *list) arguments += ", " + page_.array(id);
    if (const auto parallel = independent(); parallel > 0)
      out.line("#pragma omp parallel for collapse({}) schedule(dynamic)", parallel);
    for (const auto& [group, around, piece] : groups_) {
      const auto last = around.is_whole() ? around.count : outer_end(*group, around);
      out.steps(piece.begin, around.begin, last, group->size);
      full += fmt::format("{}{} + {} <= {}", full.empty() ? "" : " && ", piece.begin, group->size, last);
    }
    for (const auto& begin : begins_) arguments += ", " + begin;
    if (full.empty()) full = "true";
    out.line("if ({})", full);
    out.line("  {}_group<true>({});", name, arguments);
    out.line("else");
    out.line("  {}_group<false>({});", name, arguments);
    out.close(static_cast<int>(groups_.size()) + 1);
    return out.text();
  }
  // The number of leading groups that split wires which no earlier group splits.
  std::size_t independent() const {
    std::set<WireId> seen;
    std::size_t count = 0;
    while (count < groups_.size() && seen.insert(groups_[count].group->wire).second) ++count;
    return count;
  }
  // The end of a piece of a wire that several groups split, as an expression of where their pieces begin.
  std::string outer_end(const Split& group, const CppPiece& around) const {
    for (const auto& outer : groups_)
      if (outer.group->wire == group.wire && outer.piece.begin == around.begin)
        return fmt::format("std::min({} + {}, {})", around.begin, outer.group->size,
                           outer.around.is_whole() ? outer.around.count : outer_end(*outer.group, outer.around));
    return around.count;
  }
  // Steps

  void print(const LoopBody& block) {
    for (const auto id : block.buffers)
      if (nest_.at(id).level == hardware_.levels.size() - 1 && !page_.is_input(nest_.at(id).array)) page_.place(id);
    for (const auto& step : block.steps)
      match(
          step.node, [&](const Load& load) { columns_.print(load); }, [&](const MaskTest& ask) { columns_.print(ask); },
          [&](const Compute& compute) { columns_.print(compute); }, [&](const Save& save) { columns_.print(save); },
          [&](const For& loop) { stream(loop); });
  }

  // The first or the last position of the current piece.
  std::string end(WireId wire, bool last) const {
    const auto& piece = page_.own[wire.index];
    return !last || piece.count == "1" ? piece.begin : fmt::format("({} - 1)", piece.end());
  }

  void stream(const For& loop) {
    const auto around = page_.own[loop.split.wire.index];
    const auto piece = split(loop.split, around);
    out_.steps(piece.begin, around.begin, around.end(), loop.split.size);
    if (loop.split.size > 1) out_.declare(piece.count, counted(loop.split, around, piece), words(loop.split));
    page_.own[loop.split.wire.index] = piece;
    for (const auto& needed : loop.needs)
      out_.line("if (!({})) continue;  // {} nowhere here",
                code_possible(needed, page_.names, [&](WireId wire, bool last) { return end(wire, last); }),
                to_text(page_.diagram, needed));
    print(loop.body);
    page_.own[loop.split.wire.index] = around;
    out_.close();
  }

  CppPage page_;
  Lines& out_;
  const LoopNest& nest_;
  const Hardware& hardware_;
  CppColumns columns_;
  std::vector<Entered> groups_;
  std::vector<std::string> begins_;  // where the groups begin that the text of one group mentions; its parameters
};

}  // namespace

PrintedKernel cpp_kernel(const LoopNest& nest, const Hardware& hardware, const CodeNames& names,
                         const std::string& name) {
  return KernelPrinter(nest, hardware, names).run(name);
}

}  // namespace napkin
