// Emitted kernels on the host, by the emulation that tests/cuda has: every launch is counted where the stand-in for
// captures looks.
#pragma once
#include <string>

#include "emulation.hpp"

inline void standin_started() {
  const char* text = std::getenv("STANDIN_LAUNCHES");
  setenv("STANDIN_LAUNCHES", std::to_string((text ? std::atoi(text) : 0) + 1).c_str(), 1);
}
template <class... Words>
auto standin_launch(Words... words) {
  standin_started();
  return cudaLaunchKernel(words...);
}
template <class... Words>
auto standin_launch_more(Words... words) {
  standin_started();
  return cudaLaunchKernelEx(words...);
}
#define cudaLaunchKernel standin_launch
#define cudaLaunchKernelEx standin_launch_more
