// Turns a plan into CUDA files: every kernel is threaded and printed, with the launcher, the harness and a build file.
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
#include "emit/cuda/warpgroups/warpgroups.hpp"
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

// All kernels of a file declare shared memory with the same alignment.
void add(CudaPlan& printed, ThreadedKernel kernel) {
  kernel.shared_alignment = printed.shared_alignment;
  printed.threaded.push_back(std::move(kernel));
}

// Prints the kernel for matrix units of single warps, or returns why that is impossible. The number of resident blocks
// of a fallback is not planned, so its compiler may use all registers.
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

// Prints the kernel with rows over warps, or returns why that is impossible.
std::optional<Refused> print_rows(CudaPlan& printed, const Kernel& kernel, const Hardware& hardware,
                                  const std::string& name) {
  const auto distributed = distribute_rows(kernel, hardware);
  if (const auto* refused = std::get_if<Refused>(&distributed)) return *refused;
  const auto& rows = std::get<RowNest>(distributed);
  if (other_tiles(kernel, rows, hardware))
    printed.notes.push_back(fmt::format("{} assigns its rows to warps: {}", name,
                                        to_text(rows.partition, kernel.program.scratch, hardware)));
  add(printed, row_launch(rows, hardware));
  printed.kernels.push_back(row_kernel(printed.threaded.back(), rows, printed.names, name));
  printed.ways.emplace_back("rows");
  return {};
}

// Prints the kernel for warpgroups, which is launched if it can run, or returns why that is impossible.
std::optional<Refused> print_warpgroups(CudaPlan& printed, const Kernel& kernel, const Hardware& hardware,
                                        const std::string& name) {
  const auto distributed = distribute_warpgroups(kernel, hardware);
  if (const auto* refused = std::get_if<Refused>(&distributed)) return *refused;
  const auto& warps = std::get<WarpNest>(distributed);
  note_other_tiles(printed, kernel, warps, hardware, name, "wgmma");
  if (!warps.not_as_planned.empty())
    printed.notes.push_back(fmt::format("{} does not overlap as planned: {}", name, warps.not_as_planned));
  auto& warpgroups = printed.warpgroups.back().emplace();
  warpgroups.threaded = warpgroup_launch(warps, hardware);
  warpgroups.threaded.shared_alignment = printed.shared_alignment;
  warpgroups.kernel = warpgroup_kernel(warpgroups.threaded, warps, printed.names, name + "_warpgroups");
  warpgroups.maps = tile_maps(warps);
  warpgroups.stores = store_maps(warps);
  warpgroups.conditions = zero_behind(warps, printed.names);
  warpgroups.inputs = read_in_place(warps);
  warpgroups.scheduler = warps.scheduler;
  add_limits(printed, warpgroups.kernel.limits);
  return {};
}

// Whether a column needs all parts of a divided axis to have one length. If each block has one part, loops along the
// part may end early.
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
      const auto& warpgroups = printed.warpgroups[i];
      const bool one_each = holds(printed.threaded[i]) && (!warpgroups || holds(warpgroups->threaded));
      const auto& program = plan.kernels[i].program;
      for (const auto* column : columns_in(program.steps))
        equal |= needs_equal(program.scratch, *column, parts.inside, one_each);
    }
    if (!equal) printed.shorter.push_back(parts);
  }
}

bool has_warpgroups(const Hardware& hardware, CudaPath path) {
  return path == CudaPath::tensor && has_warpgroup_instructions(hardware.cuda_architecture);
}

// Prints the kernel that runs in place of a warpgroup kernel: the one planned for single warps, or else the same tiles,
// adjusted if they do not fit.
std::optional<Refused> print_instead(CudaPlan& printed, const Plan& plan, std::size_t number, const Hardware& hardware,
                                     const std::string& name) {
  const bool planned = printed.warpgroups.back() && number < plan.instead.size() && plan.instead[number];
  if (planned && !print_warps(printed, *plan.instead[number], of_single_warps(hardware), name, true)) return {};
  return print_warps(printed, plan.kernels[number], hardware, name, printed.warpgroups.back().has_value());
}

void print_kernel(CudaPlan& printed, const Plan& plan, std::size_t number, const Hardware& hardware, CudaPath path,
                  const std::string& name) {
  const auto& kernel = plan.kernels[number];
  printed.warpgroups.emplace_back();
  if (path != CudaPath::reference) {
    const auto no_warpgroups =
        has_warpgroups(hardware, path) ? print_warpgroups(printed, kernel, hardware, name) : std::optional<Refused>();
    const auto no_warps = print_instead(printed, plan, number, hardware, name);
    if (!no_warps && no_warpgroups && !no_warpgroups->reason.empty())
      printed.notes.push_back(
          fmt::format("{} runs without instructions of warpgroups: {}", name, no_warpgroups->reason));
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
  if (has_warpgroups(hardware, path)) printed.shared_alignment = swizzle_pattern;
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
