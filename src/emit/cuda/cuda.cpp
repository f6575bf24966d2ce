// A plan becomes CUDA files: every kernel threaded and printed, with the launcher, the harness and a build file.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "derive/columns.hpp"
#include "diagram/assume.hpp"
#include "diagram/in_memory.hpp"
#include "emit/cuda/groups.hpp"
#include "emit/cuda/host/harness.hpp"
#include "emit/cuda/host/launch.hpp"
#include "emit/cuda/host/torch.hpp"
#include "emit/cuda/rows/rows.hpp"
#include "emit/cuda/warps/warps.hpp"
#include "napkin/emit.hpp"

namespace napkin {

namespace {

void note_other_tiles(CudaPlan& printed, const Kernel& kernel, const WarpNest& warps, const Hardware& hardware,
                      std::string_view name, std::string_view instruction) {
  if (const auto tiles = other_tiles(kernel, warps, hardware))
    printed.notes.push_back(fmt::format("the tile of {} was adjusted for {}: {}", name, instruction,
                                        to_text(*tiles, kernel.program.scratch, hardware)));
}

// All kernels of a file declare shared memory alike.
void add(CudaPlan& printed, ThreadedKernel kernel) {
  kernel.shared_alignment = printed.shared_alignment;
  printed.threaded.push_back(std::move(kernel));
}

// On matrix units, or why that cannot be. Nobody plans how many blocks of a fallback run beside each other, so that its
// compiler may have all registers.
std::optional<Refused> print_warps(CudaPlan& printed, const Kernel& kernel, const Hardware& hardware,
                                   const std::string& name, bool fallback = false) {
  auto distributed = distribute(kernel, hardware);
  if (const auto* refused = std::get_if<Refused>(&distributed)) return *refused;
  auto& warps = std::get<WarpNest>(distributed);
  if (fallback) warps.blocks = 1;
  note_other_tiles(printed, kernel, warps, hardware, name, "mma.sync");
  add(printed, warp_launch(warps, hardware));
  printed.kernels.push_back(warp_kernel(printed.threaded.back(), warps, printed.names, name));
  printed.ways.emplace_back("warps");
  return {};
}

// With rows over warps, or why that cannot be.
std::optional<Refused> print_rows(CudaPlan& printed, const Kernel& kernel, const Hardware& hardware,
                                  const std::string& name) {
  const auto distributed = distribute_rows(kernel, hardware);
  if (const auto* refused = std::get_if<Refused>(&distributed)) return *refused;
  const auto& rows = std::get<RowNest>(distributed);
  printed.notes.push_back(
      fmt::format("{} assigns its rows to warps: {}", name, to_text(rows.partition, kernel.program.scratch, hardware)));
  add(printed, row_launch(rows, hardware));
  printed.kernels.push_back(row_kernel(printed.threaded.back(), rows, printed.names, name));
  printed.ways.emplace_back("rows");
  return {};
}

// On teams of warps, to be launched where it can, or why that cannot be.
std::optional<Refused> print_teams(CudaPlan& printed, const Kernel& kernel, const Hardware& hardware,
                                   const std::string& name) {
  const auto distributed = distribute_teams(kernel, hardware);
  if (const auto* refused = std::get_if<Refused>(&distributed)) return *refused;
  const auto& warps = std::get<WarpNest>(distributed);
  note_other_tiles(printed, kernel, warps, hardware, name, "wgmma");
  if (!warps.not_as_planned.empty())
    printed.notes.push_back(fmt::format("{} does not overlap as planned: {}", name, warps.not_as_planned));
  auto& teams = printed.teams.back().emplace();
  teams.threaded = team_launch(warps, hardware);
  teams.threaded.shared_alignment = printed.shared_alignment;
  teams.kernel = team_kernel(teams.threaded, warps, printed.names, name + "_teams");
  teams.maps = tile_maps(warps);
  teams.stores = store_maps(warps);
  teams.conditions = zero_behind(warps, printed.names);
  teams.inputs = read_in_place(warps);
  teams.walk = warps.walk;
  add_limits(printed, teams.kernel.limits);
  return {};
}

// Whether a column needs all parts of a divided axis to be of one length, where blocks do not have one of them each.
bool needs_equal(const Diagram& diagram, const Column& column, AxisId inside, bool one_each) {
  const auto is_inside = [&](WireId wire) { return diagram.at(wire).axis == inside; };
  return reads_size(diagram, column.value, inside) ||
         (!one_each && (std::ranges::any_of(column.over, is_inside) ||
                        std::ranges::any_of(free_wires(diagram, column.value), is_inside)));
}
// Divided axes whose last part may be shorter than the others.
void find_shorter(CudaPlan& printed, const Plan& plan) {
  for (const auto& parts : divided_axes(plan.kernels.front().program.scratch)) {
    bool equal = false;
    for (std::size_t i = 0; i < plan.kernels.size(); ++i) {
      const auto holds = [&](const ThreadedKernel& kernel) {
        return single_in_block(kernel.nest, kernel.block_level, parts.part).has_value();
      };
      const auto& teams = printed.teams[i];
      const bool one_each = holds(printed.threaded[i]) && (!teams || holds(teams->threaded));
      const auto& program = plan.kernels[i].program;
      for (const auto* column : columns_in(program.steps))
        equal |= needs_equal(program.scratch, *column, parts.inside, one_each);
    }
    if (!equal) printed.shorter.push_back(parts);
  }
}

bool has_teams(const Hardware& hardware, CudaPath path) {
  return path == CudaPath::tensor && hardware.cuda_architecture == "sm_90a";
}

// Beside the kernel of teams what single warps run in its place, or as many of its pieces as they have room for.
std::optional<Refused> print_instead(CudaPlan& printed, const Plan& plan, std::size_t number, const Hardware& hardware,
                                     const std::string& name) {
  const bool planned = printed.teams.back() && number < plan.instead.size() && plan.instead[number];
  if (planned && !print_warps(printed, *plan.instead[number], of_single_warps(hardware), name, true)) return {};
  return print_warps(printed, plan.kernels[number], hardware, name, printed.teams.back().has_value());
}

void print_kernel(CudaPlan& printed, const Plan& plan, std::size_t number, const Hardware& hardware, CudaPath path,
                  const std::string& name) {
  const auto& kernel = plan.kernels[number];
  printed.teams.emplace_back();
  if (path != CudaPath::reference) {
    const auto no_teams =
        has_teams(hardware, path) ? print_teams(printed, kernel, hardware, name) : std::optional<Refused>();
    const auto no_warps = print_instead(printed, plan, number, hardware, name);
    if (!no_warps && no_teams && !no_teams->reason.empty())
      printed.notes.push_back(fmt::format("{} runs without instructions of warpgroups: {}", name, no_teams->reason));
    if (!no_warps) return;
    const auto no_rows = print_rows(printed, kernel, hardware, name);
    if (!no_rows) return;
    printed.notes.push_back(fmt::format("{} runs without matrix units: {}", name, no_warps->reason));
    printed.notes.push_back(fmt::format("{} does not assign rows to warps: {}", name, no_rows->reason));
  }
  add(printed, thread(kernel, hardware));
  printed.kernels.push_back(cuda_kernel(printed.threaded.back(), printed.names, name));
  printed.ways.emplace_back("threads");
}

}  // namespace

EmittedCode emit_cuda(const Diagram& planned, const Plan& plan, const Hardware& hardware, CudaPath path,
                      CudaBinding binding, const std::string& gradient) {
  const auto diagram = with_whole_outputs(planned);
  CudaPlan printed{code_plan(Language::cuda, diagram, plan, hardware), {}, {}, {}, {}, {}};
  if (has_teams(hardware, path)) printed.shared_alignment = swizzle_pattern;
  for (std::size_t i = 0; i < plan.kernels.size(); ++i) {
    const auto number = plan.kernels.size() > 1 ? fmt::format("_{}", i + 1) : "";
    print_kernel(printed, plan, i, hardware, path, printed.names.diagram + "_kernel" + number);
    add_limits(printed, printed.kernels.back().limits);
  }
  find_shorter(printed, plan);
  const auto& name = printed.names.diagram;
  auto source = cuda_source(printed);
  EmittedCode code{{{name + ".cu", std::move(source.text), std::move(source.origins)},
                    {name + ".h", cuda_header(printed)},
                    {name + "_harness.cu", cuda_harness(printed)},
                    {"CMakeLists.txt", cuda_build_file(printed)}},
                   printed.notes};
  if (binding == CudaBinding::none) return code;
  auto files = torch_binding(printed, gradient);
  if (files.empty()) code.notes.push_back("there is no binding: without inputs nothing says which device is meant");
  std::ranges::move(files, std::back_inserter(code.files));
  return code;
}

std::vector<EmittedFile> emit_cuda(const Diagram& diagram, const Plan& plan, const Hardware& hardware) {
  return emit_cuda(diagram, plan, hardware, CudaPath::reference).files;
}

}  // namespace napkin
