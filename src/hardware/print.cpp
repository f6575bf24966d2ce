// A profile as people and scripts read it: every number under the dotted path that `--set-target` takes.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "hardware/units.hpp"
#include "napkin/hardware.hpp"

namespace napkin {
namespace {

using Json = nlohmann::ordered_json;
using Cells = std::vector<std::string>;

// Rows of equally many cells as aligned columns; an empty row stays an empty line.
std::string align(const std::vector<Cells>& rows) {
  std::vector<std::size_t> widths;
  for (const Cells& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string out;
  for (const Cells& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) line += fmt::format("{:<{}}  ", row[i], widths[i]);
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  return out;
}

// Numbers of one section stand together: those of a level, of a unit; power limits among themselves.
std::string section(const Figure& figure) {
  const std::size_t dot = figure.path.find('.');
  const std::string first = dot == std::string::npos ? "" : figure.path.substr(0, dot);
  return first == "levels" || first == "compute" ? figure.path.substr(0, figure.path.find('.', dot + 1)) : first;
}

Cells row_of(const Figure& figure) {
  return {"  " + figure.path, figure.written, std::string(name(figure.origin)),
          fmt::format("{}", fmt::join(figure.sources, ", ")), figure.how};
}

std::vector<Cells> figure_rows(const std::vector<Figure>& figures) {
  std::vector<Cells> rows;
  for (std::size_t i = 0; i < figures.size(); ++i) {
    if (i > 0 && section(figures[i]) != section(figures[i - 1])) rows.emplace_back();
    rows.push_back(row_of(figures[i]));
  }
  return rows;
}

std::string level_names(const Hardware& hardware) {
  std::vector<std::string> names;
  for (const Level& level : hardware.levels) names.push_back(level.name);
  return fmt::format("{}", fmt::join(names, " > "));
}

// The bandwidth out of the outermost level and the rate of the widest unit: what a roofline is drawn from.
std::string feed(const Hardware& hardware) {
  for (const Level& level : hardware.levels)
    if (level.bandwidth) return profile::in_words(level.bandwidth->peak(), profile::Dimension::bandwidth);
  return "-";
}

std::string peak(const Hardware& hardware) {
  for (const Datatype type : {Datatype::f16, Datatype::f32})
    for (const ComputeUnit& unit : hardware.compute)
      if (const auto rate = unit.rates.find(type); rate != unit.rates.end())
        return fmt::format("{} {}", profile::in_words(rate->second.peak(), profile::Dimension::operations),
                           row(type).name);
  return "-";
}

Json json_of(const Figure& figure) {
  Json json = {{"path", figure.path}, {"written", figure.written}};
  if (figure.unit != "shape") json["value"] = figure.value;
  json["unit"] = figure.unit;
  json["origin"] = name(figure.origin);
  json["sources"] = figure.sources;
  if (!figure.how.empty()) json["how"] = figure.how;
  return json;
}

Json level_json(const Hardware& hardware) {
  Json levels = Json::array();
  for (const Level& level : hardware.levels)
    levels.push_back({{"name", level.name}, {"unit", level.unit}, {"count", level.count}, {"shared", level.shared}});
  return levels;
}

}  // namespace

std::string to_text(const Hardware& hardware) {
  std::string out = fmt::format("{}: {}\n", hardware.name, hardware.description);
  if (!hardware.aliases.empty()) out += fmt::format("also called: {}\n", hardware.aliases);
  out += fmt::format("levels: {}\n", level_names(hardware));
  if (!hardware.cuda_architecture.empty()) out += fmt::format("cuda: {}\n", hardware.cuda_architecture);
  if (!hardware.figures.empty()) out += "\nnumbers\n" + align(figure_rows(hardware.figures));
  std::vector<Cells> parameters, sources;
  for (const auto& [word, path] : hardware.parameters) parameters.push_back({"  " + word, path});
  for (const auto& [key, citation] : hardware.sources) sources.push_back({"  " + key, citation});
  if (!parameters.empty()) out += "\nparameters\n" + align(parameters);
  if (!sources.empty()) out += "\nsources\n" + align(sources);
  return out;
}

std::string to_json(const Hardware& hardware) {
  Json json = {{"schema", "napkin.target/1"}, {"target", hardware.name}, {"description", hardware.description}};
  json["aliases"] = hardware.aliases;
  json["cuda_architecture"] = hardware.cuda_architecture;
  json["levels"] = level_json(hardware);
  json["numbers"] = Json::array();
  for (const Figure& figure : hardware.figures) json["numbers"].push_back(json_of(figure));
  json["parameters"] = hardware.parameters;
  json["sources"] = hardware.sources;
  return json.dump(2) + "\n";
}

std::string list_text(const std::vector<Hardware>& machines) {
  std::vector<Cells> rows;
  for (const Hardware& machine : machines)
    rows.push_back({machine.name, level_names(machine), feed(machine), peak(machine), machine.description});
  return align(rows);
}

std::string list_json(const std::vector<Hardware>& machines) {
  Json json = {{"schema", "napkin.targets/1"}, {"targets", Json::array()}};
  for (const Hardware& machine : machines)
    json["targets"].push_back(
        {{"target", machine.name}, {"description", machine.description}, {"levels", level_json(machine)}});
  return json.dump(2) + "\n";
}

}  // namespace napkin
