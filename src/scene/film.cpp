// A derivation -> pictures, one a step: the diagram; what each rule made of an array, before and after; one piece of
// the stream, with what is carried from piece to piece; and what follows after the last.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "scene/page.hpp"

namespace napkin {
namespace {

using namespace scene;

Access read_in_place(const Diagram& diagram, ArrayId array) {
  Access access{array, {}};
  for (const auto wire : diagram.at(array).wires) access.at.push_back({{{wire, 1}}, 0, 1});
  return access;
}

// What a column computes, as one expression.
ExprId meaning(Diagram& scratch, const Column& column) {
  if (!column.fold) return column.value;
  auto value = scratch.intern(Reduce{column.fold, column.over, column.value});
  if (!column.carried) return value;
  auto old = scratch.intern(read_in_place(scratch, *column.carried));
  if (column.repair) old = scratch.intern(Apply{find_pointwise("*"), {*column.repair, old}});
  return scratch.intern(Apply{column.fold->combine, {old, value}});
}

// A diagram of some statements alone: what they read and do not make is their input.
Diagram excerpt(Diagram scratch, const std::vector<Statement>& statements, std::set<ArrayId> outputs) {
  scratch.statements = statements;
  std::set<ArrayId> made, inputs;
  for (const auto& statement : statements) {
    for (const auto read : arrays_read(scratch, statement.value))
      if (!made.contains(read)) inputs.insert(read);
    made.insert(statement.output);
  }
  std::erase_if(outputs, [&](ArrayId id) { return !made.contains(id); });
  scratch.inputs.assign(inputs.begin(), inputs.end());
  scratch.outputs.assign(outputs.begin(), outputs.end());
  return scratch;
}

Diagram excerpt(Diagram scratch, const std::vector<Column>& columns, const std::set<ArrayId>& outputs) {
  std::vector<Statement> statements;
  for (const auto& column : columns) statements.push_back({column.output, meaning(scratch, column), {}});
  return excerpt(std::move(scratch), statements, outputs);
}

void add(Page& page, const Diagram& diagram) {
  const auto all = circuit(diagram);
  page.add({diagram, all, nullptr}, {});
}

class Film {
 public:
  Film(const Diagram& diagram, double width) : diagram_(diagram), width_(width) {}

  std::vector<Scene> run(const Derivation& derivation, std::optional<WireId> wire) {
    auto page = begin(fmt::format("{} as it is written", diagram_.name), "");
    add(page, diagram_);
    frames_.push_back(page.end());
    for (const auto& step : derivation.trace) add_rewriting(derivation.scratch, step);
    const auto* verdict = wire ? derivation.find(*wire) : nullptr;
    const auto* stream = verdict ? std::get_if<Streamable>(&verdict->stream) : nullptr;
    if (stream) add_stream(*stream, *wire);
    return std::move(frames_);
  }

 private:
  Page begin(const std::string& title, const std::string& why) {
    Page page(width_, fmt::format("{}. {}", frames_.size() + 1, title), why);
    if (!why.empty()) page.add_heading(why);
    return page;
  }

  void add_rewriting(const Diagram& scratch, const Rewriting& step) {
    auto page =
        begin(fmt::format("rule {}: {} in other words", code(step.rule), scratch.at(step.array).name), step.why);
    for (const auto& [when, value] : {std::pair("before", step.before), std::pair("after", step.after)}) {
      page.add_heading(fmt::format("{}:  {} = {}", when, scratch.at(step.array).name, to_short_text(scratch, value)));
      add(page, excerpt(scratch, std::vector<Statement>{{step.array, value, {}}}, {step.array}));
    }
    frames_.push_back(page.end());
  }

  void add_stream(const Streamable& stream, WireId wire) {
    for (const auto& step : stream.trace) add_rewriting(stream.scratch, step);
    std::set<ArrayId> state;
    for (const auto& carried : stream.state) state.insert(carried.array);
    auto page = begin(fmt::format("streamed along {}", diagram_.at(wire).name), carried_words(stream));
    auto step = stream.piece;
    step.insert(step.end(), stream.absorb.begin(), stream.absorb.end());
    page.add_heading("with each piece: what is carried comes in on the left and leaves on the right");
    add(page, excerpt(stream.scratch, step, state));
    std::set<ArrayId> finished;
    for (const auto& column : stream.finish) finished.insert(column.output);
    if (!finished.empty()) {
      page.add_heading("after the last piece");
      add(page, excerpt(stream.scratch, stream.finish, finished));
    }
    frames_.push_back(page.end());
  }

  static std::string carried_words(const Streamable& stream) {
    std::string text;
    for (const auto& carried : stream.state)
      text += (text.empty() ? "carried: " : ", ") + stream.scratch.at(carried.array).name;
    return text;
  }

  const Diagram& diagram_;
  double width_;
  std::vector<Scene> frames_;
};

}  // namespace

std::vector<Scene> lay_out_derivation(const Diagram& diagram, const Derivation& derivation,
                                      std::optional<WireId> stream, double width) {
  return Film(diagram, width).run(derivation, stream);
}

}  // namespace napkin
