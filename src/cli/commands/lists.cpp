// `napkin targets` and `napkin explain`: print the profiles and the diagnostics from their tables.
#include <fmt/format.h>

#include "cli/commands/commands.hpp"
#include "cli/files.hpp"
#include "napkin/hardware.hpp"
#include "text/escape.hpp"

namespace napkin::cli {
namespace {

std::optional<Hardware> profile(Session& session, const std::string& name) {
  const auto path = find_profile(name, session.line.find(name), session.diagnostics);
  const auto file = path ? load(session, *path) : std::nullopt;
  if (!file) return std::nullopt;
  auto machine = load_hardware(session.sources, *file, {}, session.diagnostics);
  return session.diagnostics.has_errors() ? std::nullopt : std::optional(std::move(machine));
}

std::string lines(const std::vector<std::string>& names) {
  std::string text;
  for (const auto& name : names) text += on_one_line(name) + "\n";
  return text;
}

int list_profiles(Session& session) {
  if (session.options.quiet) return deliver(session, lines(profile_names()));
  std::vector<Hardware> machines;
  for (const auto& name : profile_names()) {
    if (auto machine = profile(session, name)) machines.push_back(std::move(*machine));
  }
  return deliver(session, session.options.format == "json" ? list_json(machines) : list_text(machines));
}

std::string code_list() {
  std::string text;
  for (const auto& code : codes()) text += fmt::format("{}  {}\n", code.code, code.title);
  return text;
}

std::vector<std::string> code_names() {
  std::vector<std::string> names;
  for (const auto& code : codes()) names.emplace_back(code.code);
  return names;
}

}  // namespace

int run_targets(Session& session) {
  if (session.options.arguments.empty()) return list_profiles(session);
  const auto machine = profile(session, session.options.arguments.front());
  if (!machine) return finish(session);
  return deliver(session, session.options.format == "json" ? to_json(*machine) : to_text(*machine));
}

int run_explain(Session& session) {
  if (session.options.arguments.empty()) {
    return deliver(session, session.options.quiet ? lines(code_names()) : code_list());
  }
  auto name = session.options.arguments.front();
  for (auto& letter : name) letter = letter == 'e' ? 'E' : letter == 'w' ? 'W' : letter;
  const auto* code = find_code(name);
  const auto text = code ? napkin::explain(name) : std::nullopt;
  if (!text) {
    const auto help = did_you_mean(name, code_names());
    complain(session, "E0525", fmt::format("no diagnostic has the code `{}`", session.options.arguments.front()),
             session.options.arguments.front(), help.empty() ? "`napkin explain` lists them" : help);
    return finish(session);
  }
  return deliver(session, fmt::format("{}: {}\n\n{}", code->code, code->title, *text));
}

}  // namespace napkin::cli
