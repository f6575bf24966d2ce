// Which way every kernel of a plan runs: what the launcher says and takes, and what it keeps from launch to launch.
#pragma once

#include <string>

#include "emit/cuda/host/launch.hpp"

namespace napkin {

// "warpgroups,rows".
std::string planned_path(const CudaPlan&);
// Of the header: the functions that are asked for paths and for reasons.
std::string path_declarations(const CudaPlan&);
// Of the source: those functions, what a launch has to take, and where it keeps what it has prepared.
std::string path_definitions(const CudaPlan&);

}  // namespace napkin
