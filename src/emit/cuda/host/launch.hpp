// What the files of a plan are printed from: the kernels with their C interface, and a program that checks and times
// them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "emit/cuda/host/warpgroup_launch.hpp"
#include "emit/cuda/kernel.hpp"
#include "emit/shared/interface.hpp"

namespace napkin {

// The warpgroup version of a kernel of the plan.
struct WarpgroupKernel : CudaKernel {
  std::vector<TileMap> maps, stores;
  std::vector<std::string> conditions;  // conditions on sizes under which it may be launched
  std::vector<ArrayId> inputs;          // the inputs that it gets pointers to
  TileScheduler scheduler{};
};

// A kernel of the plan: one without warpgroups, and maybe one that is launched instead if device and arrays allow.
struct PlannedKernel : CudaKernel {
  std::string_view way;  // how it runs: "warps", "rows" or "threads"
  std::optional<WarpgroupKernel> warpgroups;

  std::string_view planned_way() const { return warpgroups ? "warpgroups" : way; }
};

// Everything that the files of one plan are printed from.
struct CudaPlan : CodePlan {
  std::vector<PlannedKernel> kernels{};  // in launch order
  std::vector<std::string> notes{};      // which kernels run without matrix units, and why
};

bool any_warpgroups(const CudaPlan&);
// How many tensor maps the kernels have together, and how many of these are of outputs.
struct MapCount {
  std::size_t maps = 0, stores = 0;
  void add(const PlannedKernel&);
};
std::string cuda_header(const CudaPlan&);
EmittedText cuda_source(const CudaPlan&);  // kernels and launcher
std::string cuda_harness(const CudaPlan&);
std::string cuda_build_file(const CudaPlan&);  // CMakeLists.txt

// How the kernels of a plan run: what the launcher says and takes, and what it keeps from launch to launch. Of the
// header, the functions that are asked for paths and for reasons; of the source, those functions, what a launch has to
// take, and where it keeps what it has prepared.
std::string path_declarations(const CudaPlan&);
std::string path_definitions(const CudaPlan&);

}  // namespace napkin
