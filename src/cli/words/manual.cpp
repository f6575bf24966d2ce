// Turns CLI11's tree into manual pages in roff: one for the program and one for each command, from the rows of
// `--help`.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <sstream>

#include "cli/commands/commands.hpp"

namespace napkin::cli {
namespace {

// Escapes a text so that every character is printed as typed and an option can be copied from a page.
std::string roff(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '\\':
        out += "\\e";
        break;
      case '-':
        out += "\\-";
        break;
      case '`':
        out += "\\(ga";
        break;
      case '\'':
        out += "\\(aq";
        break;
      case '^':
        out += "\\(ha";
        break;
      case '~':
        out += "\\(ti";
        break;
      default:
        out += c;
    }
  }
  return out.starts_with('.') ? "\\&" + out : out;
}

std::string bold(std::string_view text) { return "\\fB" + roff(text) + "\\fR"; }
std::string italic(std::string_view text) { return "\\fI" + roff(text) + "\\fR"; }

struct Entry {
  std::string head;  // header of the page, in roff
  std::string_view text;
};

std::string section(std::string_view title, const std::vector<Entry>& entries) {
  if (entries.empty()) return "";
  auto text = fmt::format(".SH {}\n", title);
  for (const auto& entry : entries) text += fmt::format(".TP\n{}\n{}\n", entry.head, roff(entry.text));
  return text;
}

// "napkin emit cuda" becomes "napkin-emit-cuda".
std::string page_name(const CLI::App& app) {
  auto name = full_name(app);
  std::ranges::replace(name, ' ', '-');
  return name;
}

std::string title(const CLI::App& app) {
  auto name = page_name(app);
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return fmt::format(".TH {} 1 \"\" \"napkin {}\" \"napkin manual\"\n.SH NAME\n{} \\- {}\n", roff(name), NAPKIN_VERSION,
                     roff(page_name(app)), roff(app.get_description()));
}

std::string synopsis(const CLI::App& app) {
  const auto name = full_name(app);
  return fmt::format(".SH SYNOPSIS\n{}{}\n", bold(name), roff(usage(app).substr(name.size())));
}

std::string command_section(const CLI::App& app) {
  std::vector<std::string> summaries;
  std::vector<Entry> entries;
  const auto commands = app.get_subcommands({});
  for (const auto* command : commands) summaries.push_back(command->get_description());
  for (std::size_t i = 0; i < commands.size(); ++i)
    entries.push_back({fmt::format("{}(1)", bold(page_name(*commands[i]))), summaries[i]});
  return section("COMMANDS", entries);
}

std::string option_section(const CLI::App& app) {
  const auto helps = option_helps(app);
  std::vector<Entry> entries;
  for (const auto& help : helps)
    entries.push_back({bold(help.names) + (help.value.empty() ? "" : " " + italic(help.value)), help.summary});
  return section("OPTIONS", entries);
}

std::string example_section(const CLI::App& app) {
  std::istringstream lines(examples(app));
  std::string text;
  for (std::string line; std::getline(lines, line);) text += roff(line) + "\n";
  return text.empty() ? "" : ".SH EXAMPLES\n.EX\n" + text + ".EE\n";
}

std::string exit_section() {
  constexpr std::pair<int, std::string_view> meanings[] = {
      {exit_done, "The command succeeded."},
      {exit_input, "The input is wrong, or nothing fits."},
      {exit_command_line, "The command line is wrong, or a baseline is missing or does not match."},
      {exit_gate, "A gate failed: compare against a baseline, fmt --check, or verify."},
      {exit_bug, "The program has a bug."},
      {exit_interrupted, "The program was interrupted."}};
  std::vector<Entry> entries;
  for (const auto& [code, meaning] : meanings) entries.push_back({bold(std::to_string(code)), meaning});
  return section("EXIT STATUS", entries);
}

std::string environment_section() {
  return section("ENVIRONMENT",
                 {{bold("NAPKIN_PROFILES"), "a folder of profiles that is searched before the installed ones"},
                  {bold("NO_COLOR"), "turns colours off if it is set and not empty, unless --color asks for them"}});
}

std::string page(const CLI::App& app) {
  auto text = title(app) + synopsis(app) + command_section(app) + option_section(app) + example_section(app);
  if (!app.get_parent()) return text + exit_section() + environment_section();
  return text + ".SH SEE ALSO\n" + bold(page_name(*app.get_parent())) + "(1)\n";
}

// Collects the program and every command, in the order of `--help`.
void collect(const CLI::App& app, std::vector<const CLI::App*>& all) {
  all.push_back(&app);
  for (const auto* command : app.get_subcommands({})) collect(*command, all);
}

std::string list(const std::vector<const CLI::App*>& pages, bool bare) {
  std::string text;
  for (const auto* app : pages)
    text += bare ? page_name(*app) + "\n" : fmt::format("{:<18} {}\n", page_name(*app), app->get_description());
  return text;
}

}  // namespace

int run_man(Session& session) {
  CLI::App root;
  Options options;
  const Command* command = nullptr;
  declare(root, options, command);
  std::vector<const CLI::App*> pages;
  collect(root, pages);
  if (session.options.arguments.empty()) return deliver(session, list(pages, session.options.quiet));
  const auto& wanted = session.options.arguments.front();
  std::vector<std::string> names;
  for (const auto* app : pages) {
    if (page_name(*app) == wanted) return deliver(session, page(*app));
    names.push_back(page_name(*app));
  }
  const auto help = did_you_mean(wanted, names);
  complain(session, "E0523", fmt::format("the manual has no page `{}`", wanted), wanted,
           help.empty() ? "`napkin man` lists the pages" : help);
  return finish(session);
}

}  // namespace napkin::cli
