// `napkin derive`: shows what the statements of a diagram allow when they are fused, all of them or those named.
#include <fmt/format.h>

#include "cli/commands/commands.hpp"
#include "cli/plans.hpp"
#include "cli/stages.hpp"

namespace napkin::cli {
namespace {

std::vector<std::string> statement_names(const Diagram& diagram) {
  std::vector<std::string> names;
  for (const auto& statement : diagram.statements) names.push_back(diagram.at(statement.output).name);
  return names;
}

std::vector<std::string> split_at_commas(const std::string& text) {
  std::vector<std::string> names(1);
  for (const char c : text) {
    if (c == ',') {
      names.emplace_back();
    } else if (c != ' ') {
      names.back() += c;
    }
  }
  return names;
}

// The statements are in the order of the diagram, whatever the order of the names.
std::vector<StatementId> chosen_statements(Session& session, const Diagram& diagram) {
  if (session.options.statements.empty()) return all_statements(diagram);
  const auto names = statement_names(diagram);
  std::vector<bool> chosen(names.size());
  for (const auto& name : split_at_commas(session.options.statements)) {
    const auto at = std::find(names.begin(), names.end(), name);
    if (at != names.end()) {
      chosen[static_cast<std::size_t>(at - names.begin())] = true;
      continue;
    }
    const auto help = did_you_mean(name, names);
    complain(session, "E0526", fmt::format("the diagram has no statement `{}`", name), session.options.statements,
             help.empty() ? fmt::format("it has {}", fmt::join(names, ", ")) : help);
  }
  std::vector<StatementId> ids;
  for (std::uint32_t i = 0; i < chosen.size(); ++i) {
    if (chosen[i]) ids.push_back({i});
  }
  return ids;
}

// Marks prefixes along an axis with too few positions for chunks as refused.
PrefixesInChunks uncut(const Diagram& diagram, PrefixesInChunks prefixes) {
  for (const auto& one : std::exchange(prefixes.made, {})) {
    const auto size = diagram.size(*find_wire(diagram, one.axis)).value_or(1);
    prefixes.refused.push_back({one.statement, one.axis, fmt::format("{} positions are no two chunks", size), {}});
  }
  prefixes.diagram = diagram;
  return prefixes;
}

PrefixesInChunks in_chunks(const Diagram& diagram, std::int64_t length) {
  if (length > 0) return prefixes_in_chunks(diagram, length);
  const auto lengths = chunk_lengths(diagram);
  return lengths.empty() ? uncut(diagram, prefixes_in_chunks(diagram, 1))
                         : prefixes_in_chunks(diagram, lengths.front());
}

}  // namespace

int run_derive(Session& session) {
  const auto input = read_input(session);
  if (!input) return finish(session);
  if (const auto text = print_early(session, *input)) return deliver(session, *text);
  const auto statements = chosen_statements(session, input->diagram);
  if (session.diagnostics.has_errors()) return finish(session);
  std::optional<Hardware> machine;
  if (!session.options.target.empty() && !(machine = read_machine(session))) return finish(session);
  std::vector<Derived> kernels{{napkin::derive(input->diagram, statements)}};
  std::optional<SourceText> source;
  if (!input->diagram.statements.empty()) {
    const auto file = input->diagram.statements.front().span.file;
    source = SourceText{file, session.sources.at(file).text};
  }
  kernels[0].products = products_of(kernels[0].kernel, machine ? &*machine : nullptr, source);
  kernels[0].blocks = input->blocks;
  kernels[0].orders = contractions(input->diagram);
  kernels[0].prefixes = in_chunks(input->diagram, goal(session.options).chunk);
  if (machine) kernels[0].machine = machine->name;
  return deliver(session, print(input->diagram, kernels, format(session.options), product_in_color(session)));
}

}  // namespace napkin::cli
