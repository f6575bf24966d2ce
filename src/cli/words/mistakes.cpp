// Turns errors of CLI11 into diagnostics. CLI11 only says that something is wrong; this finds the word, and what was
// probably meant.
#include "cli/words/mistakes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "cli/words/options.hpp"

namespace napkin::cli {
namespace {

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const auto* command : app.get_subcommands({})) names.push_back(command->get_name());
  return names;
}

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const auto* option : app.get_options()) {
    for (const auto& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

std::string or_see_help(const std::string& help, const CLI::App& app) {
  return help.empty() ? fmt::format("`{} --help` lists the options and commands", full_name(app)) : help;
}

void unexpected(Session& session, const CLI::App& app, const std::string& word) {
  if (word.starts_with("-") && word != "-") {
    const auto name = word.substr(0, word.find('='));
    complain(session, "E0521", fmt::format("`{}` has no option `{}`", full_name(app), name), word,
             or_see_help(did_you_mean(name, option_names(app)), app));
  } else {
    complain(session, "E0520", fmt::format("`{}` has no command `{}`", full_name(app), word), word,
             or_see_help(did_you_mean(word, command_names(app)), app));
  }
}

// The option that a message of CLI11 is about: "--top: 1 required", "Could not convert: --top = x".
std::string culprit(const std::string& message) {
  const auto begin = message.find("--");
  if (begin == std::string::npos) return "";
  return message.substr(begin, message.find_first_of(": =", begin) - begin);
}

const CLI::Option* find_option(const CLI::App& app, const std::string& name) {
  return name.empty() ? nullptr : app.get_option_no_throw(name);
}

void explain_value(Session& session, const CLI::App& app, const std::string& message) {
  const auto name = culprit(message);
  const auto* option = find_option(app, name);
  if (!option) {
    complain(session, "E0522", message, "");
    return;
  }
  const auto given = option->results();
  if (given.empty() || given.back().empty()) {
    complain(session, "E0522", fmt::format("`{}` needs a value", name), name,
             fmt::format("write `{} {}`", name, option->get_type_name()));
  } else {
    complain(session, "E0523", fmt::format("`{}` cannot be `{}`", name, given.back()), given.back(),
             fmt::format("{}: {}", name, option->get_description()));
  }
}

void missing_command(Session& session, const CLI::App& app) {
  complain(session, "E0520", fmt::format("`{}` needs a command", full_name(app)), "",
           fmt::format("one of {}; `{} --help` says more", fmt::join(command_names(app), ", "), full_name(app)));
}

}  // namespace

const CLI::App& named_command(const CLI::App& root) {
  const auto inner = root.get_subcommands();
  return inner.empty() ? root : named_command(*inner.front());
}

void explain_mistake(Session& session, const CLI::App& root, const CLI::ParseError& error) {
  const auto& app = named_command(root);
  const auto extras = root.remaining(true);
  if (!extras.empty()) {
    unexpected(session, app, extras.front());
  } else if (error.get_name() == "RequiredError") {
    missing_command(session, app);
  } else {
    explain_value(session, app, error.what());
  }
}

void check_arguments(Session& session, const CLI::App& root) {
  const auto& app = named_command(root);
  const auto type = app.get_option("arguments")->get_type_name();
  const auto& given = session.options.arguments;
  const auto usage = fmt::format("usage: {} {}", full_name(app), type);
  if (type.empty()) {
    if (!given.empty())
      complain(session, "E0522", fmt::format("`{}` takes no argument", full_name(app)), given.front());
  } else if (given.empty() && !type.starts_with("[")) {
    complain(session, "E0522", fmt::format("`{}` needs {}", full_name(app), type), app.get_name(), usage);
  } else if (given.size() > 1 && !type.ends_with("...")) {
    complain(session, "E0522", fmt::format("`{}` takes one {}", full_name(app), type), given[1], usage);
  }
}

namespace {

void check_choice(Session& session, const std::string& option, const std::string& value,
                  const std::vector<std::string>& names) {
  if (std::find(names.begin(), names.end(), value) != names.end()) return;
  const auto help = did_you_mean(value, names);
  complain(session, "E0523", fmt::format("`{}` cannot be `{}`", option, value), value,
           help.empty() ? fmt::format("one of {}", fmt::join(names, ", ")) : help);
}

}  // namespace

void check_choices(Session& session, const CLI::App& root) {
  for (const auto* option : named_command(root).get_options()) {
    const auto allowed = choices(*option);
    if (allowed.empty() || option->count() == 0) continue;
    std::istringstream in{std::string(allowed)};
    const std::vector<std::string> names{std::istream_iterator<std::string>(in), {}};
    for (const auto& value : option->results()) check_choice(session, option->get_name(), value, names);
  }
}

}  // namespace napkin::cli
