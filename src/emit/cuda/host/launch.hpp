// The C interface of a plan's kernels.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "emit/cuda/kernel.hpp"
#include "emit/cuda/warpgroups/warpgroups.hpp"
#include "emit/shared/interface.hpp"

namespace napkin {

// A kernel of warpgroups, for a kernel of the plan that can also be launched otherwise.
struct WarpgroupKernel {
  ThreadedKernel threaded;
  PrintedKernel kernel;
  std::vector<TileMap> maps, stores;
  std::vector<std::string> conditions;  // on sizes
  std::vector<ArrayId> inputs;          // that it has pointers to
  TileScheduler scheduler{};
};

// Everything the files of one plan are printed from.
struct CudaPlan : CodePlan {
  std::vector<ThreadedKernel> threaded;  // in launch order
  std::vector<PrintedKernel> kernels;    // of the same number
  std::vector<std::optional<WarpgroupKernel>>
      warpgroups;                      // of the same number: launched instead where device and arrays allow
  std::vector<std::string_view> ways;  // of the same number: how kernels run, "warps", "rows" or "threads"
  std::vector<std::string> notes;      // which kernels run without matrix units, and why
  std::int64_t shared_alignment = ThreadedKernel{}.shared_alignment;  // of all
};

bool any_warpgroups(const CudaPlan&);
std::string cuda_header(const CudaPlan&);
EmittedText cuda_source(const CudaPlan&);  // kernels and launcher

}  // namespace napkin
