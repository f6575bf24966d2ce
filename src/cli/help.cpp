// CLI11's tree -> help: examples, then usage, then what there is to choose from.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <sstream>

#include "cli/options.hpp"
#include "emit/report_document.hpp"

namespace napkin::cli {
namespace {

using report::Document;

std::string program_examples() {
  return "napkin analyze attention.nap --target h100-sxm5\n"
         "napkin derive attention.nap\n"
         "napkin explain E0204";
}

std::string usage(const CLI::App& app) {
  if (!app.get_subcommands({}).empty()) return full_name(app) + " COMMAND ...";
  const auto* argument = app.get_option_no_throw("arguments");
  const auto type = argument ? argument->get_type_name() : "";
  return full_name(app) + (type.empty() ? "" : " " + type) + " [options]";
}

// "-o, --output FILE"
std::string names(const CLI::Option& option) {
  std::string text;
  for (const auto& name : option.get_snames()) text += "-" + name + ", ";
  for (const auto& name : option.get_lnames()) text += "--" + name;
  return option.get_items_expected_max() > 0 ? text + " " + option.get_type_name() : text;
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

std::string help(const CLI::App& app) {
  const bool program = !app.get_parent();
  Document document;
  document.blocks.push_back(report::Heading{1, full_name(app) + ": " + app.get_description(), ""});
  const auto examples = program ? program_examples() : app.get_footer();
  if (!examples.empty()) {
    document.blocks.push_back(report::Heading{2, "Examples", ""});
    document.blocks.push_back(report::Verbatim{examples});
  }
  add_section(document, "Usage", {{usage(app)}});

  std::vector<std::vector<std::string>> rows;
  for (const auto* command : app.get_subcommands({})) rows.push_back({command->get_name(), command->get_description()});
  add_section(document, "Commands", std::move(rows));

  rows.clear();
  for (const auto* option : app.get_options()) {
    if (!option->get_positional()) rows.push_back({names(*option), summary(*option)});
  }
  if (!rows.empty()) std::rotate(rows.begin(), rows.begin() + 1, rows.end());  // --help is CLI11's first
  add_section(document, "Options", std::move(rows));
  if (program) document.blocks.push_back(report::Verbatim{"\n`napkin COMMAND --help` says more of a command."});
  return report::to_text(document, false);
}

}  // namespace napkin::cli
