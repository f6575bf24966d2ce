// The C interface of a plan's kernels.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "emit/cuda/host/warpgroup_launch.hpp"
#include "emit/cuda/kernel.hpp"
#include "emit/shared/interface.hpp"

namespace napkin {

// The warpgroup version of a kernel of the plan. That kernel also has a version without warpgroups.
struct WarpgroupKernel {
  ThreadedKernel threaded;
  PrintedKernel kernel;
  std::vector<TileMap> maps, stores;
  std::vector<std::string> conditions;  // conditions on sizes under which it may be launched
  std::vector<ArrayId> inputs;          // the inputs that it gets pointers to
  TileScheduler scheduler{};
};

// Everything that the files of one plan are printed from.
struct CudaPlan : CodePlan {
  std::vector<ThreadedKernel> threaded;  // in launch order
  std::vector<PrintedKernel> kernels;    // parallel to `threaded`
  std::vector<std::optional<WarpgroupKernel>>
      warpgroups;                      // parallel to `threaded`: launched instead if device and arrays allow
  std::vector<std::string_view> ways;  // parallel to `threaded`: how kernels run, "warps", "rows" or "threads"
  std::vector<std::string> notes;      // which kernels run without matrix units, and why
  std::int64_t shared_alignment = ThreadedKernel{}.shared_alignment;  // the alignment of shared memory for all kernels
};

bool any_warpgroups(const CudaPlan&);
std::string cuda_header(const CudaPlan&);
EmittedText cuda_source(const CudaPlan&);  // kernels and launcher

}  // namespace napkin
