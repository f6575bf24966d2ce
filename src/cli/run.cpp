// Turns arguments into a command and an exit code. Every exception stops here.
#include <CLI/CLI.hpp>
#include <exception>
#include <ostream>

#include "cli/commands/commands.hpp"
#include "cli/session.hpp"
#include "cli/words/mistakes.hpp"
#include "cli/words/options.hpp"

namespace napkin {
namespace {

// `--format json` also applies to errors of the command line, so it is looked for before anything is parsed.
std::string requested_format(std::span<const std::string> args) {
  for (std::size_t i = 0; i < args.size(); ++i)
    for (const std::string form : {"json", "github", "junit"})
      if (args[i] == "--format=" + form || (args[i] == "--format" && i + 1 < args.size() && args[i + 1] == form))
        return form;
  return "text";
}

int parse_and_run(cli::Session& session, std::span<const std::string> args) {
  CLI::App root;
  const cli::Command* command = nullptr;
  cli::declare(root, session.options, command);
  try {
    root.parse(std::vector<std::string>(args.rbegin(), args.rend()));
  } catch (const CLI::CallForHelp&) {
    return cli::deliver(session, cli::help(cli::named_command(root)));
  } catch (const CLI::CallForVersion& version) {
    return cli::deliver(session, std::string(version.what()) + "\n");
  } catch (const CLI::ParseError& error) {
    session.options.format = requested_format(args);
    cli::explain_mistake(session, root, error);
    return cli::finish(session);
  }
  cli::check_arguments(session, root);
  cli::check_choices(session, root);
  if (session.diagnostics.has_errors()) return cli::finish(session);
  return session.options.watch ? cli::watch(session, *command) : command->run(session);
}

}  // namespace

int run(std::span<const std::string> args, std::istream& in, std::ostream& out, std::ostream& err) {
  cli::Session session{{}, in, out, err, {}, {}, {}};
  session.line = cli::command_line(session.sources, args);
  try {
    return parse_and_run(session, args);
  } catch (const std::exception& bug) {
    err << "napkin: a bug: " << bug.what() << "\nPlease report it with the input that shows it.\n";
    return exit_bug;
  }
}

}  // namespace napkin
