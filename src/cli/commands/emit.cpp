// `napkin emit ...`: writes a plan as source files into a folder.
#include "napkin/emit.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <utility>

#include "cli/commands/commands.hpp"
#include "cli/files.hpp"
#include "cli/plans.hpp"
#include "napkin/device.hpp"
#include "napkin/search.hpp"
#include "text/escape.hpp"

namespace napkin::cli {
namespace {

// Whether a file exists that napkin did not write. The files of napkin say so in one of their first five lines.
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

// Writes no file if one of them must not be overwritten.
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

using Emitter = std::function<EmittedCode(const Analysis&)>;

// Such a kernel gets a partition of its own, with several warps per row if one cannot hold a row.
bool has_rows_over_warps(const Candidate& candidate, const Hardware& hardware) {
  return std::holds_alternative<RowNest>(distribute_rows(candidate.kernel, hardware));
}

// The plan of the file, or the exit code after a problem.
Started planned(Session& session, const char* language, const Excuse& excuse) {
  if (session.options.output.empty()) {
    complain(session, "E0522", fmt::format("`napkin emit {}` needs a folder to write to", language), language,
             "add `-o DIR`");
    return {std::nullopt, finish(session)};
  }
  auto started = start(session, Sizes::needed, excuse);
  if (!started.analysis) return started;
  if (session.diagnostics.has_errors()) return {std::nullopt, finish(session)};
  if (!started.analysis->diagram.axes.empty()) return started;
  complain(session, "E0534", fmt::format("`{}` has no axis for a kernel to loop over", started.analysis->diagram.name),
           session.options.arguments.front(), "give its arrays an axis");
  return {std::nullopt, finish(session)};
}

int write(Session& session, const EmittedCode& emitted) {
  write_files(session, emitted.files);
  if (!session.diagnostics.has_errors() && !session.options.quiet)
    for (const auto& note : emitted.notes) session.err << "note: " << note << "\n";
  return finish(session);
}

int emit(Session& session, const char* language, const Emitter& emitter, const Excuse& excuse = {}) {
  const auto started = planned(session, language, excuse);
  return started.analysis ? write(session, emitter(*started.analysis)) : started.finished;
}

EmittedCode cuda(const Session& session, const Analysis& analysis, const std::string& gradient = "") {
  const auto path = session.options.path == "reference" ? CudaPath::reference
                    : session.options.path == "warps"   ? CudaPath::warps
                                                        : CudaPath::tensor;
  const auto binding = session.options.binding == "torch" ? CudaBinding::torch : CudaBinding::none;
  auto plan = plan_of(analysis);
  if (path == CudaPath::tensor) plan_instead(plan, analysis.hardware);
  return emit_cuda(analysis.diagram, plan, analysis.hardware, path, binding, gradient);
}
// The name NAME of the first file, NAME.cu.
std::string operator_of(const EmittedCode& code) {
  const auto& file = code.files.front().name;
  return file.substr(0, file.rfind('.'));
}

// Emits the operator of another file as the backward pass of this one. Only one harness is built.
int emit_with_gradient(Session& session, const Excuse& excuse) {
  const auto forward = planned(session, "cuda", excuse);
  if (!forward.analysis) return forward.finished;
  auto options = session.options;
  session.options.arguments = {options.gradient}, session.options.partition.clear();
  const auto backward = planned(session, "cuda", excuse);
  session.options = std::move(options);
  if (!backward.analysis) return backward.finished;
  auto gradient = cuda(session, *backward.analysis);
  auto code = cuda(session, *forward.analysis, operator_of(gradient));
  auto both =
      torch_autograd(forward.analysis->written, operator_of(code), backward.analysis->written, operator_of(gradient));
  if (const auto* problem = std::get_if<NoGradient>(&both)) {
    complain(session, "E0544",
             fmt::format("this is no gradient of `{}`: {}", forward.analysis->written.name, problem->reason),
             session.options.gradient, "`napkin grad` writes one");
    return finish(session);
  }
  std::erase_if(gradient.files, [](const EmittedFile& file) {
    return file.name == "CMakeLists.txt" || file.name.ends_with("_harness.cu");
  });
  std::ranges::move(gradient.files, std::back_inserter(code.files));
  std::ranges::move(gradient.notes, std::back_inserter(code.notes));
  code.files.push_back(std::move(std::get<EmittedFile>(both)));
  return write(session, code);
}

}  // namespace

int run_emit_cuda(Session& session) {
  const auto excuse = session.options.path != "reference" ? Excuse(has_rows_over_warps) : Excuse();
  const auto& gradient = session.options.gradient;
  if (gradient.empty())
    return emit(
        session, "cuda", [&](const Analysis& one) { return cuda(session, one); }, excuse);
  if (session.options.binding == "torch") return emit_with_gradient(session, excuse);
  complain(session, "E0522", "a gradient is for an operator of PyTorch", gradient, "add `--binding torch`");
  return finish(session);
}
int run_emit_cpp(Session& session) {
  return emit(session, "cpp", [](const Analysis& one) {
    return EmittedCode{emit_cpp(one.diagram, plan_of(one), one.hardware), {}};
  });
}

}  // namespace napkin::cli
