// What commands begin with: input, target and partition of the command line -> an analysis.
#pragma once

#include <functional>
#include <optional>

#include "cli/stages.hpp"
#include "report/analysis.hpp"

namespace napkin::cli {

// None, with diagnostics, if the labels are not legal.
using Analyzer = std::optional<Analysis> (*)(const AnalysisRequest&, Diagnostics&);
std::optional<Analysis> make_analysis(Session&, const Input&, const Hardware&, const std::optional<WrittenPlan>&,
                                      Analyzer = analyze);

// A warning for every kernel by hand whose tiles `emit` adjusts to its instructions.
void warn_of_other_tiles(Session&, const Analysis&);

// Adds what lies around the plan, at a glance, where nobody asked for more.
void look_around(Session&, Analysis&);

// What `--partition` takes to give the plan again; else its labels, kernel by kernel.
std::string partition_words(const Analysis&);

// Input, target and at most one `--partition` -> an analysis; what most commands begin with. `finished` holds the
// exit code where there is nothing left to do: a problem, or a stage that `--print` asked for.
struct Started {
  std::optional<Analysis> analysis;
  int finished = 0;
};
enum class Sizes { needed, or_symbolic };  // symbolic: closed forms alone, with an error that asks for sizes
// Whether a kernel that does not fit is no error all the same.
using Excuse = std::function<bool(const Candidate&, const Hardware&)>;
Started start(Session&, Sizes = Sizes::needed, const Excuse& = {});

// The text of an early stage that `--print` asks for: syntax, diagram, derivation.
std::optional<std::string> print_early(const Session&, const Input&);
// Of a later one: program, plan, nest.
std::optional<std::string> print_late(const Session&, const Analysis&);

}  // namespace napkin::cli
