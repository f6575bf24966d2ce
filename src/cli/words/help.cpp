// Prints help from CLI11's tree: examples, then usage, then the commands and options.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <sstream>

#include "cli/words/options.hpp"
#include "report/document.hpp"

namespace napkin::cli {
namespace {

using report::Document;

std::string program_examples() {
  return "napkin analyze attention.nap --target h100-sxm5\n"
         "napkin derive attention.nap\n"
         "napkin explain E0204";
}

std::string names(const CLI::Option& option) {
  std::string text;
  for (const auto& name : option.get_snames()) text += "-" + name + ", ";
  for (const auto& name : option.get_lnames()) text += "--" + name;
  return text;
}

std::string summary(const CLI::Option& option) {
  std::string text = option.get_description();
  std::istringstream names{std::string(choices(option))};
  std::string all;
  for (std::string name; names >> name;) all += (all.empty() ? "" : ", ") + name;
  if (!all.empty()) text += ": " + all;
  return text;
}

void add_section(Document& document, const std::string& title, std::vector<std::vector<std::string>> rows) {
  if (rows.empty()) return;
  document.blocks.push_back(report::Heading{2, title, ""});
  document.blocks.push_back(report::Table{{{""}, {"", false, true}}, std::move(rows)});
}

}  // namespace

std::string full_name(const CLI::App& app) {
  return app.get_parent() ? full_name(*app.get_parent()) + " " + app.get_name() : app.get_name();
}

std::string usage(const CLI::App& app) {
  if (!app.get_subcommands({}).empty()) return full_name(app) + " COMMAND ...";
  const auto* argument = app.get_option_no_throw("arguments");
  const auto type = argument ? argument->get_type_name() : "";
  return full_name(app) + (type.empty() ? "" : " " + type) + " [options]";
}

std::string examples(const CLI::App& app) { return app.get_parent() ? app.get_footer() : program_examples(); }

std::vector<OptionHelp> option_helps(const CLI::App& app) {
  std::vector<OptionHelp> helps;
  for (const auto* option : app.get_options()) {
    if (option->get_positional()) continue;
    helps.push_back(
        {names(*option), option->get_items_expected_max() > 0 ? option->get_type_name() : "", summary(*option)});
  }
  if (!helps.empty()) std::rotate(helps.begin(), helps.begin() + 1, helps.end());  // CLI11 puts --help first
  return helps;
}

std::string help(const CLI::App& app) {
  const bool program = !app.get_parent();
  Document document;
  document.blocks.push_back(report::Heading{1, full_name(app) + ": " + app.get_description(), ""});
  if (const auto text = examples(app); !text.empty()) {
    document.blocks.push_back(report::Heading{2, "Examples", ""});
    document.blocks.push_back(report::Verbatim{text});
  }
  add_section(document, "Usage", {{usage(app)}});

  std::vector<std::vector<std::string>> rows;
  for (const auto* command : app.get_subcommands({})) rows.push_back({command->get_name(), command->get_description()});
  add_section(document, "Commands", std::move(rows));

  rows.clear();
  for (const auto& option : option_helps(app))
    rows.push_back({option.names + (option.value.empty() ? "" : " " + option.value), option.summary});
  add_section(document, "Options", std::move(rows));
  if (program) document.blocks.push_back(report::Verbatim{"\n`napkin COMMAND --help` explains a command."});
  return report::to_text(document, false);
}

}  // namespace napkin::cli
