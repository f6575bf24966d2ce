// `napkin emit ...`: a plan as source files in a folder.
#include "napkin/emit.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <functional>

#include "cli/commands/commands.hpp"
#include "cli/files.hpp"
#include "cli/plans.hpp"
#include "napkin/distribute.hpp"
#include "napkin/search.hpp"
#include "text/escape.hpp"

namespace napkin::cli {
namespace {

// Files that napkin writes say so in one of their first lines, the first of which has the whole plan.
bool stands_in_the_way(const std::string& path) {
  std::ifstream file(path);
  if (!file) return false;
  std::string line;
  for (int i = 0; i < 5 && std::getline(file, line); ++i)
    if (line.find("napkin") != std::string::npos) return false;
  return true;
}

bool make_folder(Session& session, const std::string& path) {
  if (mkdir(path.c_str(), 0777) == 0 || errno == EEXIST) return true;
  complain(session, "E0527", fmt::format("cannot make the folder `{}`: {}", path, std::strerror(errno)), path);
  return false;
}

// Nothing is written where one file may not be.
void write_files(Session& session, const std::vector<EmittedFile>& files) {
  const auto& folder = session.options.output;
  if (!make_folder(session, folder)) return;
  for (const auto& file : files) {
    const auto path = folder + "/" + file.name;
    if (session.options.force || !stands_in_the_way(path)) continue;
    complain(session, "E0531", fmt::format("`{}` is not a file that napkin wrote", path), folder,
             "choose another folder, or overwrite it with `--force`");
  }
  if (session.diagnostics.has_errors()) return;
  for (const auto& file : files) {
    const auto path = folder + "/" + file.name;
    if (save(session, path, file.text) && !session.options.quiet) session.err << "wrote " << on_one_line(path) << "\n";
  }
}

using Emitter = std::function<EmittedCode(const Diagram&, const Plan&, const Hardware&)>;

// Rows over warps have a partition of their own, and several warps where one cannot hold a row.
bool has_rows_over_warps(const Candidate& candidate, const Hardware& hardware) {
  return std::holds_alternative<RowNest>(distribute_rows(candidate.kernel, hardware));
}

int emit(Session& session, const char* language, const Emitter& emitter, const Excuse& excuse = {}) {
  if (session.options.output.empty()) {
    complain(session, "E0522", fmt::format("`napkin emit {}` needs a folder to write to", language), language,
             "add `-o DIR`");
    return finish(session);
  }
  const auto started = start(session, Sizes::needed, excuse);
  if (!started.analysis) return started.finished;
  if (session.diagnostics.has_errors()) return finish(session);
  const auto& analysis = *started.analysis;
  if (analysis.diagram.axes.empty()) {
    complain(session, "E0534", fmt::format("`{}` has no axis for a kernel to loop over", analysis.diagram.name),
             session.options.arguments.front(), "give its arrays an axis");
    return finish(session);
  }
  const auto emitted = emitter(analysis.diagram, plan_of(analysis), analysis.hardware);
  write_files(session, emitted.files);
  if (!session.diagnostics.has_errors() && !session.options.quiet)
    for (const auto& note : emitted.notes) session.err << "note: " << note << "\n";
  return finish(session);
}

}  // namespace

int run_emit_cuda(Session& session) {
  const auto path = session.options.path == "reference" ? CudaPath::reference
                    : session.options.path == "warps"   ? CudaPath::warps
                                                        : CudaPath::tensor;
  const auto binding = session.options.binding == "torch" ? CudaBinding::torch : CudaBinding::none;
  const auto emitter = [&](const Diagram& diagram, Plan plan, const Hardware& hardware) {
    if (path == CudaPath::tensor) plan_instead(plan, hardware);
    return emit_cuda(diagram, plan, hardware, path, binding);
  };
  return emit(session, "cuda", emitter, path != CudaPath::reference ? Excuse(has_rows_over_warps) : Excuse());
}
int run_emit_cpp(Session& session) {
  return emit(session, "cpp", [](const Diagram& diagram, const Plan& plan, const Hardware& hardware) {
    return EmittedCode{emit_cpp(diagram, plan, hardware), {}};
  });
}

}  // namespace napkin::cli
