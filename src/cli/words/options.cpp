// Turns the rows of commands and options into CLI11's tree.
#include "cli/words/options.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <variant>

#include "cli/commands/commands.hpp"

namespace napkin::cli {
namespace {

constexpr int most_arguments = 1 << 20;  // more than anybody types; check_arguments() counts them

// Sets of options that a command has.
enum Set : unsigned {
  everywhere = 1,
  product = 2,   // has a product that may go to a file
  formats = 4,   // prints the product in several formats
  diagram = 8,   // reads a diagram
  machine = 16,  // uses a target
  plan = 32,     // uses a partition
  ranked = 64,   // shows runners-up
  deriving = 128,
  comparing = 256,
  formatting = 512,
  emitting = 1024,
  drawing = 2048,
  charting = 4096,
  paged = 8192,  // also prints a page
  for_gpu = 16384,
  gated = 32768,  // also prints for continuous integration
  watching = 65536,
  differentiating = 131072,
};

using Field =
    std::variant<bool Options::*, std::size_t Options::*, std::string Options::*, std::vector<std::string> Options::*>;
struct Row {
  unsigned sets;
  std::string_view names;
  std::string_view value;  // name of the value; empty for a flag
  std::string_view summary;
  std::string_view choices;
  Field field;
};

const Row rows[] = {
    {machine, "--target", "NAME|PATH", "the machine: a profile's name or a YAML file", "", &Options::target},
    {machine, "--set-target", "PATH=VALUE", "change a number of the profile, such as M=10000 (repeatable)", "",
     &Options::set_target},
    {diagram, "--set", "AXIS=SIZE", "change the size of an axis (repeatable)", "", &Options::set},
    {diagram, "--dtype", "[INPUT=]TYPE", "change the type of every input, or of one (repeatable)", "", &Options::dtype},
    {plan, "--partition", "NAME|LABELS", "a partition of the file, or labels: 'group q 128, stream x 64 at smem'", "",
     &Options::partition},
    {plan, "--objective", "WHAT", "what the search minimises", "time transfers energy", &Options::objective},
    {plan, "--model", "MODEL", "machine, or ideal: the paper's model, with only capacities and bandwidths",
     "machine ideal", &Options::model},
    {plan, "--patience", "N",
     "search N times as many partitions before giving up; 1 takes seconds, with four memory levels up to a minute", "",
     &Options::patience},
    {plan | deriving, "--chunks", "N",
     "reduce what lies before each position in chunks of N positions, which otherwise the search chooses", "",
     &Options::chunks},
    {ranked, "--details", "", "print all tables, formulas and the drawing after the page", "", &Options::details},
    {ranked, "--kernel", "N", "print the page of one kernel of the plan, counted from 1", "", &Options::kernel},
    {ranked, "--top", "N", "show the N best partitions, in the details", "", &Options::top},
    {ranked, "--timings", "", "say how long the search took (the output then differs between runs)", "",
     &Options::timings},
    {ranked, "--explore", "",
     "search around the plan: trade-offs, transfers by capacity, other tile sizes, larger machines", "",
     &Options::explore},
    {deriving, "--statements", "NAMES", "fuse only these statements: S,P", "", &Options::statements},
    {differentiating, "--of", "NAMES", "results whose gradients are given: O (default: every output)", "",
     &Options::of},
    {differentiating, "--wrt", "NAMES", "arrays to take gradients of: Q,K,V (default: every input that has one)", "",
     &Options::wrt},
    {differentiating, "--save", "NAMES",
     "what the forward pass keeps: statements, or a new name for the logarithm of a sum of exponentials", "",
     &Options::save},
    {comparing, "--baseline", "FILE",
     "compare with a file of --save-baseline; exit 3 if worse, 2 if the file is missing or does not match", "",
     &Options::baseline},
    {comparing, "--save-baseline", "FILE",
     "write the best rows of all files and targets for later runs to compare with", "", &Options::save_baseline},
    {comparing, "--max-regression", "SHARE", "accept up to this much worse, such as 2%", "", &Options::max_regression},
    {comparing, "--metric", "METRIC",
     "what the gate compares: time, ideal_time, energy, gmem.transfer_bytes, ... (repeatable)", "", &Options::metric},
    {comparing, "--accept", "DIFFERENCE", "compare with a baseline that differs in this (repeatable)",
     "sizes types target model objective metric version missing", &Options::accept},
    {formatting, "--check", "", "change nothing; list the files that differ and exit 3", "", &Options::check},
    {emitting, "--force", "", "overwrite files that napkin did not write", "", &Options::force},
    {for_gpu, "--path", "PATH",
     "tensor: use matrix units if a kernel fits them; warps: plan only for the instructions of single warps; "
     "reference: use plain threads",
     "tensor warps reference", &Options::path},
    {for_gpu, "--binding", "BINDING", "torch: also write an operator of PyTorch, torch.ops.napkin.NAME", "none torch",
     &Options::binding},
    {for_gpu, "--gradient", "FILE",
     "with `--binding torch`: a file of `napkin grad`, whose kernels become the operator's backward pass", "",
     &Options::gradient},
    {diagram, "--print", "STAGE", "print the result of a stage and stop", "syntax diagram derivation program plan nest",
     &Options::print},
    {formats, "--format", "FORMAT", "the form of the output", "text json markdown", &Options::format},
    {paged, "--format", "REPORT", "the form of the output", "text json markdown html", &Options::format},
    {gated, "--format", "COMPARED", "the form of the output; github and junit are for continuous integration",
     "text json markdown html github junit", &Options::format},
    {charting, "--plot", "CHART",
     "draw a chart instead: SVG, PDF, PNG or its numbers as CSV, by the ending of the file",
     "transfers roofline time memory timeline loops neighbours pieces front rooms machine", &Options::plot},
    {drawing, "--derivation", "", "draw one picture for each step of the derivation: numbered files, or a page (.html)",
     "", &Options::derivation},
    {drawing, "--format", "PICTURE", "the form of the picture, if the ending of the file does not say it",
     "text svg tikz pdf png html", &Options::picture},
    {watching, "--watch", "",
     "run again whenever the diagram or the profile is saved, until Ctrl-C; an open HTML page reloads itself", "",
     &Options::watch},
    {product, "-o,--output", "FILE", "write to this file instead of standard output", "", &Options::output},
    {emitting, "-o,--output", "DIR", "the folder to write to", "", &Options::output},
    {everywhere, "--color", "WHEN", "use colours and bold text", "auto always never", &Options::color},
    {everywhere, "-q,--quiet", "", "print no progress and no notes; `targets`, `explain` and `man` list bare names", "",
     &Options::quiet},
};

const Command command_rows[] = {
    {"analyze", "the best partition of a diagram on a machine, and what it costs", "FILE",
     product | paged | diagram | machine | plan | ranked | charting | watching,
     "napkin analyze attention.nap --target h100-sxm5\n"
     "napkin analyze attention.nap --target h100-sxm5 --partition 'group q 128, stream x 64 at smem'\n"
     "napkin analyze attention.nap --target two-level --set-target M=98304 --model ideal --set q=8192\n"
     "napkin analyze attention.nap --target h100-sxm5 --plot roofline -o roofline.svg\n"
     "napkin analyze attention.nap --target h100-sxm5 --explore\n"
     "napkin analyze attention.nap --target h100-sxm5 --format html -o report.html",
     run_analyze},
    {"derive", "which axes group and stream, with the carried state, and why the others do not", "FILE",
     product | formats | diagram | machine | deriving,
     "napkin derive attention.nap\n"
     "napkin derive attention.nap --target h100-sxm5\n"
     "napkin derive attention.nap --statements S,P",
     run_derive},
    {"pseudocode", "the looped pseudocode: variables, sizes, transfers and operations", "FILE",
     product | formats | diagram | machine | plan, "napkin pseudocode attention.nap --target h100-sxm5",
     run_pseudocode},
    {"emit cuda", "a CUDA kernel, its launcher, and a harness that checks and times it", "FILE",
     emitting | for_gpu | diagram | machine | plan,
     "napkin emit cuda attention.nap --target h100-sxm5 -o attention_cuda\n"
     "napkin emit cuda attention.nap --target h100-sxm5 --binding torch -o attention_cuda",
     run_emit_cuda},
    {"emit cpp", "the same loop nest in portable C++, with a harness that checks and times it", "FILE",
     emitting | diagram | machine | plan, "napkin emit cpp attention.nap --target x86-64-avx2 -o attention_cpp",
     run_emit_cpp},
    {"compare", "several partitions or machines side by side, or a gate against a baseline", "FILE...",
     product | gated | diagram | machine | plan | comparing,
     "napkin compare attention.nap --target h100-sxm5 --partition flash2 --partition 'group q 64 at smem'\n"
     "napkin compare attention.nap --target a100-sxm4-80 --target h100-sxm5\n"
     "napkin compare attention.nap --target a100-sxm4-80 --target h100-sxm5 --format html -o compared.html\n"
     "napkin compare *.nap --target h100-sxm5 --save-baseline base.json\n"
     "napkin compare *.nap --target h100-sxm5 --baseline base.json --max-regression 2%\n"
     "napkin compare *.nap --target h100-sxm5 --baseline base.json --format junit -o napkin.xml",
     run_compare},
    {"draw", "the diagram as a picture: SVG, PDF, PNG, TikZ or HTML by the name of the file, else plain text", "FILE",
     product | drawing | diagram | machine | plan | watching,
     "napkin draw attention.nap\n"
     "napkin draw attention.nap -o attention.svg\n"
     "napkin draw attention.nap --target h100-sxm5 --partition flash2 -o attention.svg\n"
     "napkin draw attention.nap --derivation -o attention.html\n"
     "napkin draw attention.nap --watch -o attention.svg",
     run_draw},
    {"verify", "run the plan at small sizes: results against the definition, counts against the prediction", "FILE",
     product | formats | diagram | machine | plan,
     "napkin verify attention.nap --target h100-sxm5\n"
     "napkin verify attention.nap --target toy --partition 'group q 4, stream x 4 at smem' --set q=13",
     run_verify},
    {"grad", "the diagram of the gradients, in reverse mode", "FILE", product | differentiating,
     "napkin grad attention.nap -o attention_gradient.nap\n"
     "napkin grad attention.nap --save L\n"
     "napkin grad attention.nap --of O --wrt Q,K",
     run_grad},
    {"fmt", "canonical text, in place (`-`: from standard input to standard output)", "FILE...", product | formatting,
     "napkin fmt *.nap\n"
     "napkin fmt --check *.nap",
     run_fmt},
    {"lsp", "a language server for editors, over standard input and output", "", machine,
     "napkin lsp\n"
     "napkin lsp --target h100-sxm5",
     run_lsp},
    {"targets", "the machines, or one with its numbers and sources", "[NAME]", product | formats,
     "napkin targets\n"
     "napkin targets h100-sxm5",
     run_targets},
    {"explain", "a diagnostic at length, with a failing and a corrected example", "[CODE]", product,
     "napkin explain E0204", run_explain},
    {"completion", "a completion script for a shell", "bash|zsh|fish", product,
     "napkin completion bash > ~/.local/share/bash-completion/completions/napkin\n"
     "napkin completion zsh > ~/.zfunc/_napkin\n"
     "napkin completion fish > ~/.config/fish/completions/napkin.fish",
     run_completion},
    {"man", "the pages of the manual, or one of them for `man -l`", "[PAGE]", product,
     "napkin man\n"
     "napkin man napkin-analyze | man -l -",
     run_man},
};

struct Adder {
  CLI::App& app;
  Options& options;
  const Row& row;

  CLI::Option* operator()(bool Options::*field) const {
    return app.add_flag(std::string(row.names), options.*field, std::string(row.summary));
  }
  CLI::Option* operator()(std::vector<std::string> Options::*field) const {
    return value(options.*field)->allow_extra_args(false);
  }
  CLI::Option* operator()(std::string Options::*field) const { return value(options.*field)->take_last(); }
  // Numbers from 1 on.
  CLI::Option* operator()(std::size_t Options::*field) const {
    return value(options.*field)->take_last()->check(CLI::PositiveNumber);
  }

  template <class T>
  CLI::Option* value(T& to) const {
    return app.add_option(std::string(row.names), to, std::string(row.summary))->type_name(std::string(row.value));
  }
};

void add_options(CLI::App& app, Options& options, unsigned sets) {
  for (const auto& row : rows) {
    if (row.sets & (sets | everywhere)) std::visit(Adder{app, options, row}, row.field);
  }
}

// Adds a command. For `emit cuda`, the outer command `emit` is made at its first use.
CLI::App& place(CLI::App& root, std::string_view name) {
  const auto space = name.find(' ');
  if (space == std::string_view::npos) return *root.add_subcommand(std::string(name));
  const std::string outer(name.substr(0, space));
  const auto made = root.get_subcommands([&](CLI::App* app) { return app->get_name() == outer; });
  if (!made.empty()) return *made.front()->add_subcommand(std::string(name.substr(space + 1)));
  auto* parent = root.add_subcommand(outer, "code for a machine");
  parent->require_subcommand(1);
  return *parent->add_subcommand(std::string(name.substr(space + 1)));
}

void add_command(CLI::App& root, const Command& command, Options& options, const Command*& chosen) {
  auto& app = place(root, command.name);
  app.description(std::string(command.summary));
  app.footer(std::string(command.examples));
  app.add_option("arguments", options.arguments)->type_name(std::string(command.argument))->expected(0, most_arguments);
  add_options(app, options, command.takes);
  app.callback([&command, &chosen] { chosen = &command; });
}

}  // namespace

std::span<const Command> commands() { return command_rows; }

std::string_view choices(const CLI::Option& option) {
  const auto* found = std::find_if(std::begin(rows), std::end(rows), [&](const Row& row) {
    return !option.get_lnames().empty() && row.names.ends_with("--" + option.get_lnames().front()) &&
           row.value == option.get_type_name();
  });
  return found == std::end(rows) ? std::string_view() : found->choices;
}

void declare(CLI::App& root, Options& options, const Command*& chosen) {
  root.name("napkin");
  root.description("from the mathematics of a kernel to its best partition, its costs and its code");
  root.require_subcommand(1);
  root.set_version_flag("--version", std::string("napkin ") + NAPKIN_VERSION, "the version of napkin");
  root.set_help_flag("-h,--help", "this help");
  root.formatter_fn([](const CLI::App* app, const std::string&, CLI::AppFormatMode) { return help(*app); });
  for (const auto& command : command_rows) add_command(root, command, options, chosen);
}

}  // namespace napkin::cli
