// `napkin grad`: writes the diagram of the gradients of a diagram.
#include "napkin/grad.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "cli/commands/commands.hpp"
#include "cli/stages.hpp"

namespace napkin::cli {
namespace {

// Splits names at commas, each with its place on the command line.
std::vector<ast::Name> names(const Session& session, const std::string& text) {
  std::vector<ast::Name> all;
  std::string name;
  const auto take = [&] {
    if (!name.empty()) all.push_back({name, session.line.find(text)});
    name.clear();
  };
  for (const char c : text) {
    if (c == ',') {
      take();
    } else if (c != ' ') {
      name += c;
    }
  }
  take();
  return all;
}

// The command that reproduces the file, with only the name of the input file.
std::string command(const Options& options, const std::string& path) {
  auto text = "napkin grad " + std::filesystem::path(path).filename().string();
  const auto add = [&](std::string_view option, const std::string& value) {
    if (!value.empty()) text += fmt::format(" {} {}", option, value);
  };
  add("--of", options.of);
  add("--wrt", options.wrt);
  add("--save", options.save);
  return text;
}

}  // namespace

int run_grad(Session& session) {
  const auto input = read_input(session);
  if (!input) return finish(session);
  const auto& options = session.options;
  const Wanted wanted{names(session, options.of), names(session, options.wrt), names(session, options.save)};
  const auto gradient = differentiate(session.sources, input->syntax, input->written, wanted,
                                      command(options, input->path), session.diagnostics);
  return gradient ? deliver(session, gradient->text) : finish(session);
}

}  // namespace napkin::cli
