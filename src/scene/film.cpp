// A derivation -> pictures, one a step: the diagram; its statements apart and fused; what calls stand for; what each
// rule made of an array, before and after; one piece of the stream, with what is carried from piece to piece, and what
// follows after the last; and with a plan, what stands in which memory, and the plan.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "diagram/operands.hpp"
#include "scene/page.hpp"
#include "text/quantity.hpp"

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

std::optional<WireId> first_stream(const Partition& partition) {
  for (const auto& split : partition.splits)
    if (split.kind == SplitKind::stream) return split.wire;
  return std::nullopt;
}

class Film {
 public:
  Film(const Diagram& diagram, double width) : diagram_(diagram), width_(width) {}

  void add_diagram() {
    auto page = begin(fmt::format("{} as it is written", diagram_.name), "");
    add(page, diagram_);
    for (const auto& line : reading_help(circuit(diagram_))) page.add_heading(line);
    frames_.push_back(page.end());
    frames_.back().description = described(circuit(diagram_));
  }

  // Nothing where every statement stays a kernel of its own.
  void add_fusion(const std::vector<const Derivation*>& kernels) {
    const auto fused = [](const Derivation* one) { return one->statements.size() > 1; };
    if (std::ranges::none_of(kernels, fused)) return;
    auto page = begin("fused", "what one statement makes and only the next ones read stays inside their kernel");
    page.add_heading("apart: each statement is a kernel, and what it makes goes through the outermost memory");
    for (const auto& statement : diagram_.statements)
      add(page, excerpt(diagram_, std::vector<Statement>{statement}, {statement.output}));
    for (const auto* one : kernels) {
      if (!fused(one)) continue;
      std::vector<Statement> statements;
      for (const auto id : one->statements) statements.push_back(diagram_.at(id));
      page.add_heading("fused: " + inside_words(*one));
      add(page, excerpt(diagram_, statements, {one->outputs.begin(), one->outputs.end()}));
    }
    frames_.push_back(page.end());
  }

  void add_derivation(const Derivation& derivation, std::optional<WireId> wire) {
    add_columns(derivation);
    add_rewritings(derivation.trace, {}, [&](const Rewriting&) { return derivation.scratch; });
    const auto* verdict = wire ? derivation.find(*wire) : nullptr;
    const auto* stream = verdict ? std::get_if<Streamable>(&verdict->stream) : nullptr;
    if (!stream) return;
    if (stream->trace.size() > 1) add_aim(derivation, *stream, *wire);
    add_rewritings(stream->trace, stream->absorb,
                   [&](const Rewriting& step) { return told(derivation, *stream, step); });
    add_stream(*stream, *wire);
  }

  void add_scene(Scene scene) {
    const auto number = fmt::format("{}. ", frames_.size() + 1);
    for (auto& mark : scene.marks)
      if (auto* words = std::get_if<Words>(&mark.shape); words && mark.kind == MarkKind::title)
        words->text = number + words->text, words->width += text_width(number) * 1.25;
    scene.title = number + scene.title;
    frames_.push_back(std::move(scene));
  }

  std::vector<Scene> run() { return std::move(frames_); }

 private:
  // What calls stand for, array by array.
  void add_columns(const Derivation& derivation) {
    const auto& scratch = derivation.scratch;
    const bool more = derivation.columns.size() > derivation.statements.size();
    if (!more || !has_calls(derivation)) return;
    auto page = begin("written out", "what is called by name is a few simple steps, each of which makes one array");
    auto words = scratch;
    for (const auto& column : derivation.columns) {
      const auto &made = scratch.at(column.output).name, value = to_short_text(words, meaning(words, column));
      if (value != made) page.add_heading(fmt::format("{} = {}", made, value));
    }
    add(page, excerpt(scratch, derivation.columns, {derivation.outputs.begin(), derivation.outputs.end()}));
    frames_.push_back(page.end());
  }
  bool has_calls(const Derivation& derivation) const {
    return std::ranges::any_of(derivation.statements, [&](StatementId id) { return calls(diagram_.at(id).value); });
  }
  bool calls(ExprId id) const {
    return any_part(diagram_, id, [&](ExprId part) {
      return std::ranges::find(diagram_.calls, part, &Call::result) != diagram_.calls.end();
    });
  }

  Page begin(const std::string& title, const std::string& why) {
    Page page(width_, fmt::format("{}. {}", frames_.size() + 1, title), why);
    if (!why.empty()) page.add_heading(why);
    return page;
  }

  // What the steps to a stream are for: what ends the wire, and so must be carried.
  void add_aim(const Derivation& derivation, const Streamable& stream, WireId wire) {
    const auto& axis = diagram_.at(wire).name;
    std::vector<Column> ends;
    std::set<ArrayId> made;
    for (const auto& column : derivation.columns)
      if (std::ranges::find(column.over, wire) != column.over.end()) ends.push_back(column), made.insert(column.output);
    auto page = begin(
        fmt::format("the aim: {} piece by piece", axis),
        fmt::format("then only a piece of what has {} is held at a time; but where {} ends, all of it is needed:", axis,
                    axis));
    add(page, excerpt(derivation.scratch, ends, made));
    page.add_heading(
        fmt::format("so {} {} carried from piece to piece; the next steps find how a piece joins what is carried",
                    names(stream), stream.state.size() == 1 ? "is" : "are"));
    frames_.push_back(page.end());
  }

  // The names of a step as the derivation has them: a stream calls its pieces like the whole.
  static Diagram told(const Derivation& derivation, const Streamable& stream, const Rewriting& step) {
    auto scratch = stream.scratch;
    auto read = arrays_read(scratch, step.before);
    std::ranges::copy(arrays_read(scratch, step.after), std::back_inserter(read));
    const auto& before = derivation.scratch.arrays;
    for (const auto id : read) {
      if (id.index >= before.size()) continue;
      const auto& name = before[id.index].name;
      const auto other = [&](ArrayId one) { return one != id && scratch.at(one).name == name; };
      if (std::ranges::none_of(read, other)) scratch.at(id).name = name;
    }
    return scratch;
  }

  // Steps that differ in the names of arrays alone are drawn once.
  template <class Told>
  void add_rewritings(const std::vector<Rewriting>& steps, const std::vector<Column>& computed, Told told) {
    std::vector<std::string> shapes;
    for (const auto& step : steps) shapes.push_back(shape(told(step), step));
    for (std::size_t i = 0; i < steps.size(); ++i) {
      if (std::ranges::find(shapes, shapes[i]) != shapes.begin() + static_cast<std::ptrdiff_t>(i)) continue;
      std::vector<std::string> alike;
      for (auto j = i + 1; j < steps.size(); ++j)
        if (shapes[j] == shapes[i]) alike.push_back(told(steps[j]).at(steps[j].array).name);
      add_rewriting(told(steps[i]), steps[i], computed, alike);
    }
  }

  // What a step does, whatever its arrays are called.
  static std::string shape(Diagram scratch, const Rewriting& step) {
    auto read = arrays_read(scratch, step.before);
    std::ranges::copy(arrays_read(scratch, step.after), std::back_inserter(read));
    scratch.at(step.array).name = "#";
    for (std::size_t i = 0; i < read.size(); ++i)
      if (!scratch.at(read[i]).name.starts_with('#')) scratch.at(read[i]).name = fmt::format("#{}", i);
    const auto before = to_short_text(scratch, step.before);
    return fmt::format("{} {} {} {}", code(step.rule), step.why, before, to_short_text(scratch, step.after));
  }

  void add_rewriting(const Diagram& scratch, const Rewriting& step, const std::vector<Column>& computed,
                     const std::vector<std::string>& alike) {
    auto page =
        begin(fmt::format("rule {}: {} in other words", code(step.rule), scratch.at(step.array).name), step.why);
    for (const auto& [when, value] : {std::pair("before", step.before), std::pair("after", step.after)}) {
      page.add_heading(fmt::format("{}:  {} = {}{}", when, scratch.at(step.array).name, to_short_text(scratch, value),
                                   value == step.after ? with_words(scratch, step, computed) : ""));
      add(page, excerpt(scratch, std::vector<Statement>{{step.array, value, {}}}, {step.array}));
    }
    if (!alike.empty()) page.add_heading(fmt::format("{} in the same way", fmt::join(alike, ", ")));
    frames_.push_back(page.end());
  }

  // What the step reads anew, where these columns compute it.
  static std::string with_words(Diagram scratch, const Rewriting& step, const std::vector<Column>& computed) {
    const auto old = arrays_read(scratch, step.before), now = arrays_read(scratch, step.after);
    const auto has = [](const auto& all, ArrayId id) { return std::ranges::find(all, id) != all.end(); };
    std::string words;
    for (const auto& column : computed)
      if (has(now, column.output) && !has(old, column.output) && !column.carried)
        words += fmt::format("{}{} = {}", words.empty() ? ", with " : ", ", scratch.at(column.output).name,
                             to_short_text(scratch, meaning(scratch, column)));
    return words;
  }

  void add_stream(const Streamable& stream, WireId wire) {
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

  // "S and P stay inside".
  std::string inside_words(const Derivation& derivation) const {
    std::vector<std::string> inside;
    double values = 0;  // 0 while sizes are open
    for (const auto id : derivation.statements) {
      const auto array = diagram_.at(id).output;
      if (std::ranges::find(derivation.outputs, array) != derivation.outputs.end()) continue;
      inside.push_back(diagram_.at(array).name);
      double size = 1;
      for (const auto wire : diagram_.at(array).wires) size *= static_cast<double>(diagram_.size(wire).value_or(0));
      values += size;
    }
    if (inside.empty()) return "what is read is read once for all of them";
    const auto stay = fmt::format("{} {} inside", fmt::join(inside, ", "), inside.size() == 1 ? "stays" : "stay");
    return values == 0 ? stay : fmt::format("{}: {} values are never written to that memory", stay, counted(values));
  }

  static std::string names(const Streamable& stream) {
    std::string text;
    for (const auto& carried : stream.state) text += (text.empty() ? "" : ", ") + stream.scratch.at(carried.array).name;
    return text;
  }
  static std::string carried_words(const Streamable& stream) {
    return stream.state.empty() ? "" : "carried: " + names(stream);
  }

  const Diagram& diagram_;
  double width_;
  std::vector<Scene> frames_;
};

}  // namespace

std::vector<Scene> lay_out_derivation(const Diagram& diagram, const Derivation& derivation,
                                      std::optional<WireId> stream, double width) {
  Film film(diagram, width);
  film.add_diagram();
  film.add_fusion({&derivation});
  film.add_derivation(derivation, stream);
  return film.run();
}

std::vector<Scene> lay_out_derivation(const Diagram& diagram, const Plan& plan, const Cost& cost,
                                      const Hardware& hardware, Model model, double width,
                                      Configurations configurations) {
  Film film(diagram, width);
  film.add_diagram();
  std::vector<const Derivation*> kernels;
  for (const auto& kernel : plan.kernels) kernels.push_back(kernel.derivation.get());
  film.add_fusion(kernels);
  for (const auto& kernel : plan.kernels) film.add_derivation(*kernel.derivation, first_stream(kernel.partition));
  film.add_scene(lay_out_memories(diagram, plan, hardware, width));
  film.add_scene(lay_out(diagram, plan, cost, hardware, model, width, configurations));
  return film.run();
}

}  // namespace napkin
