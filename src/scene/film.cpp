// Draws a derivation as pictures, one for each step: the diagram; its statements apart and fused; the expanded calls;
// what each rule changed, before and after; one piece of the stream, with the carried state and what follows the last
// piece; and with a plan, the level that holds each array, and the plan.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "derive/trace.hpp"
#include "diagram/operands.hpp"
#include "scene/film_words.hpp"
#include "scene/page.hpp"

namespace napkin {
namespace {

using namespace scene;

// A diagram of some statements; arrays that they read and do not make become inputs.
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
  statements.reserve(columns.size());
  for (const auto& column : columns) statements.push_back({column.output, as_expression(scratch, column), {}});
  return excerpt(std::move(scratch), statements, outputs);
}

void add(Page& page, const Diagram& diagram) {
  const auto all = circuit(diagram);
  page.add({diagram, all, nullptr}, {});
}

// The first stream that carries a state, or else the first stream.
std::optional<WireId> told_stream(const Kernel& kernel) {
  std::optional<WireId> first;
  for (const auto& split : kernel.partition.splits) {
    if (split.kind != SplitKind::stream) continue;
    if (!first) first = split.wire;
    const auto* verdict = kernel.derivation->find(split.wire);
    const auto* stream = verdict ? std::get_if<Streamable>(&verdict->stream) : nullptr;
    if (stream && !stream->state.empty()) return split.wire;
  }
  return first;
}

// Arrays that reduce over the whole wire.
std::set<std::string> needing_all(const Derivation& derivation, WireId wire) {
  std::set<std::string> all;
  for (const auto& column : derivation.columns)
    if (std::ranges::find(column.over, wire) != column.over.end())
      all.insert(derivation.scratch.at(column.output).name);
  return all;
}

// Whether the column is a copy such as "m = n".
bool is_copy(const Diagram& scratch, const Column& column) {
  return !column.fold && std::holds_alternative<Access>(scratch.at(column.value).node);
}

// Renames a reduction that shares its name with an array computed from it, by appending the name of the reduction.
void name_apart(Diagram& scratch, const std::vector<Column>& columns) {
  for (const auto& column : columns) {
    const auto name = scratch.at(column.output).name;
    const auto again = [&](const Column& other) {
      return other.output != column.output && scratch.at(other.output).name == name && !is_copy(scratch, other);
    };
    if (column.fold && std::ranges::any_of(columns, again))
      scratch.at(column.output).name = fmt::format("{}_{}", name, column.fold->name);
  }
}

// Context for the words of a stream's steps.
struct Around {
  std::vector<Column> computed{};  // columns that the stream computes
  std::set<std::string> ends{};    // arrays that need the whole axis
  std::string axis{};
};

class Film {
 public:
  Film(const Diagram& diagram, double width) : diagram_(diagram), width_(width) {}

  void add_diagram(const Diagram& diagram) {
    auto page = begin(fmt::format("{} as it is written", diagram.name), "");
    add(page, diagram);
    for (const auto& line : reading_help(circuit(diagram))) page.add_heading(line);
    frames_.push_back(page.end());
    frames_.back().description = described(circuit(diagram));
  }

  // The diagram that the plan uses, if it differs from the file.
  void add_changed(const std::vector<std::string>& changes, const Hardware& hardware) {
    auto page = begin(fmt::format("for {}", hardware.name), "other statements give the same results faster");
    for (std::string_view change : changes) {
      for (auto end = change.find("; "); end != change.npos; end = change.find("; "))
        page.add_heading(std::string(change.substr(0, end))), change.remove_prefix(end + 2);
      page.add_heading(std::string(change));
    }
    add(page, diagram_);
    frames_.push_back(page.end());
  }

  // Draws nothing if every statement stays a kernel of its own.
  void add_fusion(const std::vector<const Derivation*>& kernels) {
    const auto fused = [](const Derivation* one) { return one->statements.size() > 1; };
    if (std::ranges::none_of(kernels, fused)) return;
    auto page = begin("fused", "an array that only the next statements read stays inside their kernel");
    page.add_heading("apart: each statement is a kernel, and its result goes through the outermost memory");
    std::set<StatementId> apart;
    for (const auto* one : kernels)
      if (fused(one)) apart.insert(one->statements.begin(), one->statements.end());
    for (const auto id : apart)
      add(page, excerpt(diagram_, std::vector<Statement>{diagram_.at(id)}, {diagram_.at(id).output}));
    for (const auto* one : kernels) {
      if (!fused(one)) continue;
      std::vector<Statement> statements;
      for (const auto id : one->statements) statements.push_back(diagram_.at(id));
      page.add_heading("fused: " + inside_words(diagram_, *one));
      add(page, excerpt(diagram_, statements, {one->outputs.begin(), one->outputs.end()}));
    }
    frames_.push_back(page.end());
  }

  // `room` says in which memories the arrays do not fit without the stream.
  void add_derivation(const Derivation& derivation, std::optional<WireId> wire, const std::vector<std::string>& room) {
    add_columns(derivation);
    add_rewritings(derivation.trace, {}, [&](const Rewriting&) { return derivation.scratch; });
    const auto* verdict = wire ? derivation.find(*wire) : nullptr;
    const auto* stream = verdict ? std::get_if<Streamable>(&verdict->stream) : nullptr;
    if (!stream) return;
    if (stream->trace.size() > 1 && !std::exchange(aimed_, true)) add_aim(derivation, *stream, *wire);
    add_rewritings(stream->trace, {stream->absorb, needing_all(derivation, *wire), diagram_.at(*wire).name},
                   [&](const Rewriting& step) { return told(derivation, *stream, step); });
    add_stream(derivation, *stream, *wire, room);
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
  // The expanded calls, array by array.
  void add_columns(const Derivation& derivation) {
    const bool more = derivation.columns.size() > derivation.statements.size();
    if (!more || !has_calls(derivation)) return;
    auto page = begin("written out", "every function becomes a few simple operations, and each makes one array");
    auto words = derivation.scratch;
    name_apart(words, derivation.columns);
    for (const auto& column : derivation.columns)
      if (!is_copy(words, column))
        page.add_heading(
            fmt::format("{} = {}", words.at(column.output).name, to_short_text(words, as_expression(words, column))));
    add(page, excerpt(words, derivation.columns, {derivation.outputs.begin(), derivation.outputs.end()}));
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

  // The purpose of the steps to a stream: the reductions over the wire must be carried.
  void add_aim(const Derivation& derivation, const Streamable& stream, WireId wire) {
    const auto& axis = diagram_.at(wire).name;
    std::vector<Column> ends;
    std::set<ArrayId> made;
    for (const auto& column : derivation.columns)
      if (std::ranges::find(column.over, wire) != column.over.end()) ends.push_back(column), made.insert(column.output);
    auto page = begin(fmt::format("the aim: {} tile by tile", axis),
                      fmt::format("then one tile along {} is held at a time{}", axis, held_words(derivation, wire)));
    page.add_heading(fmt::format("but these reductions need all of {}:", axis));
    add(page, excerpt(derivation.scratch, ends, made));
    page.add_heading(fmt::format("so {} {} carried from tile to tile", names(stream.scratch, carried(stream)),
                                 stream.state.size() == 1 ? "is" : "are"));
    page.add_heading("the next steps derive how a tile joins the carried state");
    frames_.push_back(page.end());
  }

  // Steps that differ only in names are drawn once; later kernels refer to the number of that picture.
  template <class Told>
  void add_rewritings(const std::vector<Rewriting>& steps, const Around& around, Told told) {
    std::vector<std::string> shapes;
    as_before_.clear();
    shapes.reserve(steps.size());
    for (const auto& step : steps) shapes.push_back(shape(told(step), step));
    for (std::size_t i = 0; i < steps.size(); ++i) {
      if (std::ranges::find(shapes, shapes[i]) != shapes.begin() + static_cast<std::ptrdiff_t>(i)) continue;
      const auto [drawn, fresh] = drawn_.emplace(shapes[i], frames_.size() + 1);
      if (!fresh) {
        as_before_.push_back(drawn->second);
        continue;
      }
      std::vector<std::string> alike;
      for (auto j = i + 1; j < steps.size(); ++j)
        if (shapes[j] == shapes[i]) alike.push_back(told(steps[j]).at(steps[j].array).name);
      add_rewriting(told(steps[i]), steps[i], around, alike);
    }
  }

  // A description of a step that does not depend on the names of its arrays.
  static std::string shape(Diagram scratch, const Rewriting& step) {
    scratch.at(step.array).name = "#";
    for (auto& wire : scratch.wires) wire.name = "%";
    std::size_t count = 0;
    const auto rename = [&](ExprId part) {
      if (const auto* access = std::get_if<Access>(&scratch.at(part).node))
        if (auto& name = scratch.at(access->array).name; !name.starts_with('#')) name = fmt::format("#{}", ++count);
      return false;
    };
    any_part(scratch, step.before, rename);
    any_part(scratch, step.after, rename);
    const auto before = to_short_text(scratch, step.before);
    return fmt::format("{} {} {} {}", code(step.rule), step.why, before, to_short_text(scratch, step.after));
  }

  void add_rewriting(const Diagram& scratch, const Rewriting& step, const Around& around,
                     const std::vector<std::string>& alike) {
    auto page = begin(title(scratch, step), step.why);
    page.add_heading(allowed(scratch, step));
    for (const auto& [when, value] : {std::pair("before", step.before), std::pair("after", step.after)}) {
      page.add_heading(fmt::format("{}:  {}{}", when, equation(scratch, step.array, value),
                                   value == step.after ? with_words(scratch, step, around.computed) : ""));
      add(page, excerpt(scratch, std::vector<Statement>{{step.array, value, {}}}, {step.array}));
    }
    if (const auto words = gained(scratch, step, around.ends, around.axis); !words.empty()) page.add_heading(words);
    if (!alike.empty()) page.add_heading(fmt::format("the same holds for {}", fmt::join(alike, ", ")));
    frames_.push_back(page.end());
  }

  static std::string equation(const Diagram& scratch, ArrayId array, ExprId value) {
    const auto &name = scratch.at(array).name, words = to_short_text(scratch, value);
    return words == name ? fmt::format("{} is the carried state", name) : fmt::format("{} = {}", name, words);
  }

  // Defines the names that the step newly reads, if these columns compute them.
  static std::string with_words(Diagram scratch, const Rewriting& step, const std::vector<Column>& computed) {
    const auto old = arrays_read(scratch, step.before), now = arrays_read(scratch, step.after);
    const auto has = [](const auto& all, ArrayId id) { return std::ranges::find(all, id) != all.end(); };
    std::string words;
    for (const auto& column : computed)
      if (column.output == step.array && column.carried && *column.carried != step.array)
        words += fmt::format(", where {} is the state carried so far", scratch.at(*column.carried).name);
    for (const auto& column : computed)
      if (has(now, column.output) && !has(old, column.output) && !column.carried && !is_copy(scratch, column) &&
          scratch.at(column.output).name != scratch.at(step.array).name)
        words += fmt::format("{}{} = {}", words.empty() ? ", with " : ", ", scratch.at(column.output).name,
                             to_short_text(scratch, as_expression(scratch, column)));
    return words;
  }

  void add_stream(const Derivation& derivation, const Streamable& stream, WireId wire,
                  const std::vector<std::string>& room) {
    std::set<ArrayId> state;
    for (const auto& carried : stream.state) state.insert(carried.array);
    auto page = begin(fmt::format("streamed along {}", diagram_.at(wire).name), stream_words(derivation, stream, wire));
    for (const auto& line : room) page.add_heading(line);
    if (!as_before_.empty())
      page.add_heading(
          fmt::format("this follows as in step{} {}", as_before_.size() == 1 ? "" : "s", fmt::join(as_before_, ", ")));
    auto scratch = stream.scratch;
    name_apart(scratch, stream.piece);
    auto step = stream.piece;
    step.insert(step.end(), stream.absorb.begin(), stream.absorb.end());
    page.add_heading(
        state.empty()
            ? "for each tile: nothing is carried, and a tile of the result needs only its own tile of the inputs"
            : "for each tile: the carried state enters on the left and leaves on the right");
    add(page, excerpt(scratch, step, state));
    std::set<ArrayId> finished;
    for (const auto& column : stream.finish) finished.insert(column.output);
    if (!finished.empty()) {
      page.add_heading("after the last tile");
      add(page, excerpt(stream.scratch, stream.finish, finished));
    }
    frames_.push_back(page.end());
  }

  const Diagram& diagram_;
  double width_;
  std::vector<Scene> frames_;
  bool aimed_ = false;                        // whether the purpose has been drawn, which happens once
  std::map<std::string, std::size_t> drawn_;  // descriptions of steps, and the number of their first picture
  std::vector<std::size_t> as_before_;        // earlier pictures that show steps of the current kernel
};

}  // namespace

std::vector<Scene> lay_out_derivation(const Diagram& diagram, const Derivation& derivation,
                                      std::optional<WireId> stream, double width) {
  Film film(diagram, width);
  film.add_diagram(diagram);
  film.add_fusion({&derivation});
  film.add_derivation(derivation, stream, {});
  return film.run();
}

std::vector<Scene> lay_out_derivation(const Diagram& diagram, const Plan& plan, const Cost& cost,
                                      const Hardware& hardware, Model model, double width,
                                      Configurations configurations, const Written& written) {
  Film film(diagram, width);
  film.add_diagram(written.diagram ? *written.diagram : diagram);
  if (written.diagram) film.add_changed(written.changes, hardware);
  std::vector<const Derivation*> kernels;
  for (const auto& kernel : plan.kernels) kernels.push_back(kernel.derivation.get());
  film.add_fusion(kernels);
  for (const auto& kernel : plan.kernels)
    film.add_derivation(*kernel.derivation, told_stream(kernel), room_words(kernel, hardware, model));
  film.add_scene(lay_out_memories(diagram, plan, hardware, width));
  film.add_scene(lay_out(diagram, plan, cost, hardware, model, width, configurations));
  return film.run();
}

}  // namespace napkin
