// Prints looped pseudocode: the variables, then one line for each group, stream, load, compute and save, in columns.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "emit/pseudocode/steps.hpp"
#include "emit/shared/text.hpp"
#include "napkin/emit.hpp"
#include "text/quantity.hpp"

namespace napkin {
namespace {

using Row = std::vector<std::string>;

std::string shape(const std::vector<std::int64_t>& extents) { return fmt::format("[{}]", fmt::join(extents, ", ")); }

std::string operations(const std::map<Unit, double>& by_unit) {
  return listed(by_unit, ", ",
                [](const auto& one) { return fmt::format("{} {}", counted(one.second), name(one.first)); });
}

void add_rows(const std::vector<PseudoStep>& steps, std::size_t depth, std::vector<Row>& rows,
              std::vector<Span>& spans) {
  for (const auto& step : steps) {
    const auto text = std::string(depth * 2, ' ') + step.text;
    if (step.axis.empty())
      rows.push_back({text, shape(step.shape), std::string(row(step.type).name), step.level,
                      held(static_cast<double>(step.bytes)), operations(step.operations)});
    else
      rows.push_back({text, fmt::format("{} {}", step.pieces, step.pieces == 1 ? "tile" : "tiles"), "", "", "", ""});
    spans.push_back(step.span);
    add_rows(step.body, depth + 1, rows, spans);
  }
}

// Separates columns by two spaces; those in `to_the_right` are right-aligned.
std::string aligned(const std::vector<Row>& rows, std::size_t to_the_right) {
  std::vector<std::size_t> widths(rows.front().size(), 0);
  for (const auto& cells : rows)
    for (std::size_t i = 0; i < cells.size(); ++i) widths[i] = std::max(widths[i], cells[i].size());
  std::string text;
  for (const auto& cells : rows) {
    std::string line;
    for (std::size_t i = 0; i < cells.size(); ++i)
      line += i == to_the_right ? fmt::format("{:>{}}  ", cells[i], widths[i])
                                : fmt::format("{:<{}}  ", cells[i], widths[i]);
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

nlohmann::ordered_json json_of(const std::vector<PseudoStep>& steps) {
  auto list = nlohmann::ordered_json::array();
  for (const auto& step : steps) {
    nlohmann::ordered_json json{{"kind", step.kind}, {"text", step.text}, {"level", step.level}};
    if (!step.axis.empty()) {
      json.update({{"axis", step.axis}, {"size", step.size}, {"pieces", step.pieces}, {"steps", json_of(step.body)}});
    } else {
      json.update(
          {{"variable", step.variable}, {"type", row(step.type).name}, {"shape", step.shape}, {"bytes", step.bytes}});
      if (!step.from.empty()) json["from"] = step.from;
    }
    for (const auto& [unit, number] : step.operations) json["operations"][std::string(name(unit))] = number;
    list.push_back(std::move(json));
  }
  return list;
}

}  // namespace

EmittedText emit_traced_pseudocode(const LoopNest& nest, const Hardware& hardware) {
  const auto code = pseudocode(nest, hardware);
  std::vector<Row> variables = {{"variable", "shape", "type", "level", "bytes"}};
  for (const auto& each : code.variables)
    variables.push_back({each.name, shape(each.shape), std::string(row(each.type).name), each.level,
                         held(static_cast<double>(each.bytes))});
  std::vector<Row> steps = {{"step", "shape", "type", "level", "bytes", "operations"}};
  std::vector<Span> spans = {{}};  // one for each row
  add_rows(code.steps, 0, steps, spans);
  EmittedText made{fmt::format("kernel {} on {}\n\n{}\n", code.outputs, hardware.name, aligned(variables, 4))};
  const auto lines = aligned(steps, 4);
  std::size_t begin = 0;
  for (const auto& span : spans) {
    const auto end = lines.find('\n', begin) + 1, before = made.text.size();
    if (span != Span()) made.origins.push_back({before + begin, before + end, span});
    begin = end;
  }
  made.text += lines;
  return made;
}

std::string emit_pseudocode(const LoopNest& nest, const Hardware& hardware) {
  return emit_traced_pseudocode(nest, hardware).text;
}

std::string emit_pseudocode_json(const LoopNest& nest, const Hardware& hardware) {
  const auto code = pseudocode(nest, hardware);
  nlohmann::ordered_json json{{"schema", "napkin.pseudocode/1"}, {"outputs", code.outputs}, {"target", hardware.name}};
  json["variables"] = nlohmann::ordered_json::array();
  for (const auto& each : code.variables)
    json["variables"].push_back({{"name", each.name},
                                 {"array", each.array},
                                 {"level", each.level},
                                 {"type", row(each.type).name},
                                 {"shape", each.shape},
                                 {"bytes", each.bytes}});
  json["steps"] = json_of(code.steps);
  return json.dump(2) + "\n";
}

}  // namespace napkin
