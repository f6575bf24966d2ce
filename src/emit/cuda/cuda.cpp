// Turns a plan into CUDA files: every kernel is threaded and printed, with the launcher, the harness and a build file.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "derive/columns.hpp"
#include "diagram/assume.hpp"
#include "diagram/in_memory.hpp"
#include "emit/cuda/groups.hpp"
#include "emit/cuda/host/launch.hpp"
#include "emit/cuda/host/torch.hpp"
#include "napkin/emit.hpp"

namespace napkin {

namespace {

// The last kernel of the plan while it is printed.
struct Printing {
  CudaPlan& printed;
  CudaTarget target;
  std::string name;

  PlannedKernel& made() { return printed.kernels.back(); }
  bool has_warpgroups() { return made().warpgroups.has_value(); }
  void note(const std::string& text) { printed.notes.push_back(text); }
  void add(CudaKernel kernel, std::string_view way) {
    static_cast<CudaKernel&>(made()) = std::move(kernel);
    made().way = way;
  }
};

template <class Nest>
void note_other_tiles(Printing& printing, const Kernel& kernel, const Nest& nest, const std::string& text) {
  const auto& hardware = printing.target.hardware;
  if (const auto tiles = other_tiles(kernel, nest, hardware))
    printing.note(fmt::format("{}: {}", text, to_text(*tiles, kernel.program.scratch, hardware)));
}

// Prints the kernel for matrix units of single warps, or returns why that is impossible. The number of resident blocks
// of a fallback is not planned, so its compiler may use all registers.
std::optional<Refused> print_warps(Printing& printing, const Kernel& kernel) {
  auto distributed = distribute(kernel, printing.target.hardware);
  if (const auto* refused = std::get_if<Refused>(&distributed)) return *refused;
  auto& warps = std::get<WarpNest>(distributed);
  if (printing.has_warpgroups()) warps.blocks = 1;
  note_other_tiles(printing, kernel, warps, fmt::format("the tile of {} was adjusted for mma.sync", printing.name));
  printing.add(warp_kernel(warps, printing.target, printing.name), "warps");
  return {};
}

// Prints the kernel with rows over warps, or returns why that is impossible.
std::optional<Refused> print_rows(Printing& printing, const Kernel& kernel) {
  const auto distributed = distribute_rows(kernel, printing.target.hardware);
  if (const auto* refused = std::get_if<Refused>(&distributed)) return *refused;
  const auto& rows = std::get<RowNest>(distributed);
  note_other_tiles(printing, kernel, rows, printing.name + " assigns its rows to warps");
  printing.add(row_kernel(rows, printing.target, printing.name), "rows");
  return {};
}

// Prints the kernel for warpgroups, which is launched if it can run, or returns why that is impossible.
std::optional<Refused> print_warpgroups(Printing& printing, const Kernel& kernel) {
  const auto distributed = distribute_warpgroups(kernel, printing.target.hardware);
  if (const auto* refused = std::get_if<Refused>(&distributed)) return *refused;
  const auto& warps = std::get<WarpNest>(distributed);
  const auto& name = printing.name;
  note_other_tiles(printing, kernel, warps, fmt::format("the tile of {} was adjusted for wgmma", name));
  if (!warps.not_as_planned.empty())
    printing.note(fmt::format("{} does not overlap as planned: {}", name, warps.not_as_planned));
  printing.made().warpgroups = {warpgroup_kernel(warps, printing.target, name + "_warpgroups"),
                                tile_maps(warps),
                                store_maps(warps),
                                zero_behind(warps, printing.target.names),
                                read_in_place(warps),
                                warps.scheduler};
  add_limits(printing.printed, printing.made().warpgroups->printed.limits);
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
      const auto& kernel = printed.kernels[i];
      const bool one_each = holds(kernel.threaded) && (!kernel.warpgroups || holds(kernel.warpgroups->threaded));
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
std::optional<Refused> print_instead(Printing& printing, const Plan& plan, std::size_t number) {
  if (printing.has_warpgroups() && number < plan.instead.size() && plan.instead[number]) {
    const auto& [names, hardware, alignment] = printing.target;
    const auto single = of_single_warps(hardware);
    Printing planned{printing.printed, {names, single, alignment}, printing.name};
    if (!print_warps(planned, *plan.instead[number])) return {};
  }
  return print_warps(printing, plan.kernels[number]);
}

void print_kernel(Printing printing, const Plan& plan, std::size_t number, CudaPath path) {
  const auto& [printed, target, name] = printing;
  const auto& kernel = plan.kernels[number];
  if (path != CudaPath::reference) {
    const auto no_warpgroups =
        has_warpgroups(target.hardware, path) ? print_warpgroups(printing, kernel) : std::optional<Refused>();
    const auto no_warps = print_instead(printing, plan, number);
    if (!no_warps && no_warpgroups && !no_warpgroups->reason.empty())
      printing.note(fmt::format("{} runs without instructions of warpgroups: {}", name, no_warpgroups->reason));
    if (!no_warps) return;
    const auto no_rows = print_rows(printing, kernel);
    if (!no_rows) return;
    printing.note(fmt::format("{} runs without matrix units: {}", name, no_warps->reason));
    printing.note(fmt::format("{} does not assign rows to warps: {}", name, no_rows->reason));
  }
  printing.add(thread_kernel(kernel, target, name), "threads");
}

}  // namespace

EmittedCode emit_cuda(const Diagram& planned, const Plan& plan, const Hardware& hardware, CudaPath path,
                      CudaBinding binding, const std::string& gradient) {
  const auto diagram = with_whole_outputs(planned);
  CudaPlan printed{code_plan(Language::cuda, diagram, plan, hardware)};
  // All kernels of a file declare shared memory with the same alignment.
  const auto alignment = has_warpgroups(hardware, path) ? swizzle_pattern : ThreadedKernel{}.shared_alignment;
  for (std::size_t i = 0; i < plan.kernels.size(); ++i) {
    const auto number = plan.kernels.size() > 1 ? fmt::format("_{}", i + 1) : "";
    printed.kernels.emplace_back();
    print_kernel({printed, {printed.names, hardware, alignment}, printed.names.diagram + "_kernel" + number}, plan, i,
                 path);
    add_limits(printed, printed.kernels.back().printed.limits);
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
