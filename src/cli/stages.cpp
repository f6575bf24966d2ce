// Turns files, overrides and names on the command line into diagrams, machines and partitions.
#include "cli/stages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <ostream>
#include <utility>

#include "cli/files.hpp"
#include "text/escape.hpp"

namespace napkin::cli {
namespace {

using Pair = std::pair<std::string, std::string>;

std::optional<Pair> split_at_equals(Session& session, const std::string& option, const std::string& word) {
  const auto at = word.find('=');
  if (at != std::string::npos && at > 0) return Pair{word.substr(0, at), word.substr(at + 1)};
  complain(session, "E0523", fmt::format("`{}` cannot be `{}`", option, word), word,
           fmt::format("write `{} NAME=VALUE`", option));
  return std::nullopt;
}

void add_size(Session& session, Overrides& overrides, const std::string& word) {
  const auto pair = split_at_equals(session, "--set", word);
  if (!pair) return;
  std::int64_t size = 0;
  const auto* end = pair->second.data() + pair->second.size();
  const auto [stop, problem] = std::from_chars(pair->second.data(), end, size);
  if (problem == std::errc() && stop == end && size > 0) {
    overrides.sizes.emplace_back(pair->first, size);
  } else {
    complain(session, "E0523", fmt::format("`{}` is not a size", pair->second), pair->second,
             "a size is a whole number from 1 up to 2^63 - 1");
  }
}

void add_type(Session& session, Overrides& overrides, const std::string& word) {
  const auto at = word.find('=');
  const auto name = at == std::string::npos ? word : word.substr(at + 1);
  if (const auto* type = find_datatype(name)) {
    overrides.types.emplace_back(at == std::string::npos ? "" : word.substr(0, at), type->type);
    return;
  }
  std::vector<std::string> names;
  for (const auto& type : datatypes()) names.emplace_back(type.name);
  complain(session, "E0523", fmt::format("`{}` is not a type", name), name,
           fmt::format("one of {}", fmt::join(names, " ")));
}

Overrides overrides(Session& session) {
  Overrides made;
  for (const auto& word : session.options.set) add_size(session, made, word);
  for (const auto& word : session.options.dtype) add_type(session, made, word);
  return made;
}

std::vector<Pair> settings(Session& session) {
  std::vector<Pair> made;
  for (const auto& word : session.options.set_target) {
    if (auto pair = split_at_equals(session, "--set-target", word)) made.push_back(std::move(*pair));
  }
  return made;
}

// Says which profile was used if the name is not the profile's own.
void tell_target(Session& session, const std::string& name, const std::string& path) {
  const auto own = std::filesystem::path(path).stem().string();
  if (path == name || own == name || session.options.quiet) return;
  session.err << "note: target " << on_one_line(name) << " is " << on_one_line(own) << "\n";
}

std::optional<Hardware> read_machine(Session& session, const std::string& name) {
  const auto path = find_profile(name, session.line.find(name), session.diagnostics);
  if (!path) return std::nullopt;
  tell_target(session, name, *path);
  const auto file = load(session, *path);
  if (!file) return std::nullopt;
  Diagnostics found;
  auto machine = load_hardware(session.sources, *file, settings(session), found);
  for (auto& one : found.sorted()) session.diagnostics.add(std::move(one));
  if (found.has_errors()) return std::nullopt;  // a machine with warnings is usable
  return session.options.path == "warps" ? of_single_warps(std::move(machine)) : std::move(machine);
}

std::vector<std::string> partition_names(const ast::File& file) {
  std::vector<std::string> names;
  for (const auto& declaration : file.declarations) {
    if (const auto* partition = std::get_if<ast::Partition>(&declaration.node)) names.push_back(partition->name.text);
  }
  return names;
}

const ast::Partition* find_partition(const ast::File& file, const std::string& name) {
  for (const auto& declaration : file.declarations) {
    const auto* partition = std::get_if<ast::Partition>(&declaration.node);
    if (partition && partition->name.text == name) return partition;
  }
  return nullptr;
}

bool declares_axis(const ast::File& file, const std::string& name) {
  return std::ranges::any_of(file.declarations, [&](const auto& declaration) {
    const auto* axis = std::get_if<ast::Axis>(&declaration.node);
    return axis != nullptr && axis->name.text == name;
  });
}

bool declares_input(const ast::File& file, const std::string& name) {
  return std::ranges::any_of(file.declarations, [&](const auto& declaration) {
    const auto* input = std::get_if<ast::Input>(&declaration.node);
    return input != nullptr && input->name.text == name;
  });
}

// Removes changes of names that this file does not declare and another file does; they apply to the other file.
Overrides those_of(const ast::File& file, const std::vector<Input>& all, Overrides changes) {
  const auto elsewhere = [&](const std::string& name, bool (*declares)(const ast::File&, const std::string&)) {
    return !declares(file, name) &&
           std::ranges::any_of(all, [&](const Input& other) { return declares(other.syntax, name); });
  };
  std::erase_if(changes.sizes, [&](const auto& change) { return elsewhere(change.first, declares_axis); });
  std::erase_if(changes.types,
                [&](const auto& change) { return !change.first.empty() && elsewhere(change.first, declares_input); });
  return changes;
}

std::vector<Input> read(Session& session, const std::vector<std::string>& paths) {
  const auto changes = overrides(session);
  std::vector<Input> inputs;
  for (const auto& path : paths) {
    const auto file = load(session, path);
    if (file) inputs.push_back({path, parse(session.sources, *file, session.diagnostics), {}, {}, {}});
  }
  const auto prelude_file = session.sources.add("<prelude>", std::string(prelude_text()));
  const auto prelude = parse(session.sources, prelude_file, session.diagnostics);
  for (auto& input : inputs) {
    input.written = resolve(input.syntax, prelude, those_of(input.syntax, inputs, changes), session.diagnostics);
    auto made = sums_in_blocks(input.written);
    input.diagram = std::move(made.diagram), input.blocks = std::move(made.made);
  }
  return session.diagnostics.has_errors() || inputs.size() != paths.size() ? std::vector<Input>{} : std::move(inputs);
}

// Labels contain sizes and so several words; a single word is a name.
bool is_name(const std::string& text) { return text.find_first_of(" \t\n:|") == std::string::npos; }

}  // namespace

std::optional<Input> read_input(Session& session) {
  auto inputs = read(session, {session.options.arguments.at(0)});
  return inputs.empty() ? std::nullopt : std::optional(std::move(inputs.front()));
}

std::vector<Input> read_inputs(Session& session) { return read(session, session.options.arguments); }

std::vector<Hardware> read_machines(Session& session) {
  std::vector<Hardware> machines;
  for (const auto& name : session.options.target) {
    if (auto machine = read_machine(session, name)) machines.push_back(std::move(*machine));
  }
  if (session.options.target.empty()) {
    complain(session, "E0522", "a target is needed", session.options.arguments.at(0),
             "name the machine, such as `--target h100-sxm5`; `napkin targets` lists all");
  }
  return machines.size() == session.options.target.size() ? machines : std::vector<Hardware>{};
}

std::optional<Hardware> read_machine(Session& session) {
  if (session.options.target.size() > 1) {
    complain(session, "E0522", "one target at a time", session.options.target.back(),
             "`napkin compare` compares several");
    return std::nullopt;
  }
  auto machines = read_machines(session);
  return machines.empty() ? std::nullopt : std::optional(std::move(machines.front()));
}

Goal goal(const Options& options) {
  const std::pair<std::string, Objective> objectives[] = {
      {"time", Objective::time}, {"transfers", Objective::transfers}, {"energy", Objective::energy}};
  Goal made;
  for (const auto& [name, objective] : objectives) {
    if (options.objective == name) made.objective = objective;
  }
  made.model = options.model == "ideal" ? Model::ideal : Model::machine;
  made.top = std::max<std::size_t>(1, options.top);
  constexpr std::size_t most_patience = 100'000;  // days
  constexpr std::size_t longest_axis = std::size_t{1} << 60;
  made.chunk = static_cast<std::int64_t>(std::min<std::size_t>(options.chunks, longest_axis));
  made.patience = static_cast<double>(std::clamp<std::size_t>(options.patience, 1, most_patience));
  return made;
}

bool has_sizes(Session& session, const Diagram& diagram) {
  std::vector<std::string> names, settings_needed;
  std::optional<Span> first;
  for (const auto& axis : diagram.axes) {
    if (axis.size) continue;
    if (!first) first = axis.span;
    names.push_back("`" + axis.name + "`");
    settings_needed.push_back("--set " + axis.name + "=SIZE");
  }
  if (!first) return true;
  session.diagnostics.add({"E0533",
                           fmt::format("numbers need the size of {}", fmt::join(names, ", ")),
                           *first,
                           "",
                           {},
                           {},
                           fmt::format("add {}", fmt::join(settings_needed, " "))});
  return false;
}

std::optional<WrittenPlan> read_partition(Session& session, const Input& input, const std::string& text) {
  if (is_name(text)) {
    if (const auto* found = find_partition(input.syntax, text)) return WrittenPlan{text, {{{}, *found, found->span}}};
    const auto help = did_you_mean(text, partition_names(input.syntax));
    complain(session, "E0524", fmt::format("the file has no partition `{}`", text), text,
             help.empty() ? "labels read like 'group q 128, stream x 64 at smem'" : help);
    return std::nullopt;
  }
  const auto before = session.diagnostics.size();
  const auto file = session.sources.add("--partition", text);
  auto kernels = parse_plan(session.sources, file, session.diagnostics);
  return session.diagnostics.size() == before ? std::optional(WrittenPlan{text, std::move(kernels)}) : std::nullopt;
}

std::vector<StatementId> all_statements(const Diagram& diagram) {
  std::vector<StatementId> ids;
  for (std::uint32_t i = 0; i < diagram.statements.size(); ++i) ids.push_back({i});
  return ids;
}

}  // namespace napkin::cli
