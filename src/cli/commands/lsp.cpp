// `napkin lsp`: runs the language server on standard input and standard output, which carry only the protocol.
#include "napkin/lsp.hpp"

#include "cli/commands/commands.hpp"
#include "cli/stages.hpp"

namespace napkin::cli {
namespace {

// Reads a profile that an editor requests, with the settings of the command line.
std::variant<Hardware, std::string> read_target(const Session& asked, const std::string& name) {
  Session session{asked.options, asked.in, asked.out, asked.err, {}, {}, asked.line};
  session.options.target = {name};
  if (auto machine = read_machine(session)) return std::move(*machine);
  const auto why = session.diagnostics.sorted().front();
  return why.message + (why.help.empty() ? "" : "; " + why.help);
}

}  // namespace

int run_lsp(Session& session) {
  std::optional<Hardware> machine;
  if (!session.options.target.empty()) {
    machine = read_machine(session);
    if (!machine) return finish(session);
  }
  lsp::Session editor([&](const std::string& name) { return read_target(session, name); }, std::move(machine));
  return lsp::serve(editor, session.in, session.out);
}

}  // namespace napkin::cli
