#include "report/statements.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "report/analysis.hpp"

namespace napkin::report {
namespace {

bool is_within(Span inner, Span outer) {
  return inner != Span() && inner.file == outer.file && outer.begin <= inner.begin && inner.end <= outer.end;
}

// The input or statement whose declaration contains the span; empty if there is none.
std::string declared_at(const Diagram& written, Span span) {
  for (const auto id : written.inputs)
    if (is_within(span, written.at(id).span)) return written.at(id).name;
  for (const auto& statement : written.statements)
    if (is_within(span, statement.span)) return written.at(statement.output).name;
  return "";
}

std::string axes_text(const Diagram& diagram, const Array& array) {
  std::string text;
  for (const auto wire : array.wires) text += (text.empty() ? "" : ", ") + diagram.at(diagram.at(wire).axis).name;
  return text.empty() ? "" : "[" + text + "]";
}

std::string input_text(const Diagram& diagram, const Array& array) {
  return fmt::format("input {}: {}{}", array.name, row(array.stored()).name, axes_text(diagram, array));
}

// The statement as the file has it, on one line.
std::string statement_text(const Analysis& analysis, const Statement& statement) {
  const auto [file, begin, end] = statement.span;
  if (begin < end && end <= analysis.source.size()) {
    auto text = analysis.source.substr(begin, end - begin);
    const auto both_blank = [](char a, char b) { return (a == ' ' || a == '\n') && (b == ' ' || b == '\n'); };
    text.erase(std::unique(text.begin(), text.end(), both_blank), text.end());
    std::ranges::replace(text, '\n', ' ');
    return text;
  }
  const auto& array = analysis.written.at(statement.output);
  return fmt::format("{}{} = {}", array.name, axes_text(analysis.written, array),
                     to_text(analysis.written, statement.value));
}

// Names of arrays in drawings, tables and programs, by the statement or input that declares them.
std::map<std::string, std::set<std::string>> arrays_by_statement(const Analysis& analysis) {
  std::map<std::string, std::set<std::string>> all;
  const auto add = [&](const Diagram& diagram) {
    for (const auto& array : diagram.arrays)
      if (const auto name = declared_at(analysis.written, array.span); !name.empty()) all[name].insert(array.name);
  };
  add(analysis.written);
  add(analysis.diagram);
  for (const auto& candidate : chosen(analysis)) add(candidate.kernel.program.scratch);
  return all;
}

}  // namespace

Statements statements_of(const Analysis& analysis) {
  const auto& written = analysis.written;
  auto arrays = arrays_by_statement(analysis);
  Statements made;
  const auto add = [&](const std::string& name, std::string text) {
    const auto& of = arrays[name];
    made.all.push_back({name, std::move(text), {of.begin(), of.end()}});
  };
  for (const auto id : written.inputs) add(written.at(id).name, input_text(written, written.at(id)));
  for (const auto& statement : written.statements)
    add(written.at(statement.output).name, statement_text(analysis, statement));
  return made;
}

std::vector<Code::Part> parts_of(const std::vector<Traced>& lines, const Analysis& analysis) {
  std::vector<Code::Part> parts;
  for (const auto& one : lines) {
    auto name = declared_at(analysis.written, one.span);
    if (name.empty()) continue;
    if (!parts.empty() && parts.back().end == one.begin && parts.back().of == name)
      parts.back().end = one.end;
    else
      parts.push_back({one.begin, one.end, std::move(name)});
  }
  return parts;
}

}  // namespace napkin::report
