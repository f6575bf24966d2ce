// What stands in for an emitted kernel: the same C interface, results by the reference's library beside it, and one way
// of misbehaving, which the including text names.
#pragma once
#include <dlfcn.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "formats.h"

enum Lie {
  none,
  hang,
  crash,
  illegal,
  corner,
  unwritten,
  truncated,
  fallback,
  silent,
  launches,
  guard,
  flaky,
  left_behind
};

struct Array {
  int type;
  std::vector<int> axes;  // of the reference's sizes
  long long count(const std::vector<long long>& sizes) const {
    long long all = 1;
    for (const int axis : axes) all *= sizes[(size_t)axis];
    return all;
  }
  long long line(const std::vector<long long>& sizes) const { return axes.empty() ? 1 : sizes[(size_t)axes.back()]; }
};

inline const char* last = "";
inline const char* reason = "";

struct Call {
  Lie lie;
  const char *name, *planned, *other;
  int row;  // the row axis among the sizes, or -1
  std::vector<long long> sizes;
  std::vector<Array> inputs, outputs;
  std::vector<Array> stages;
  std::vector<int> results;  // the stage of each output
};

inline int kernels_of(const std::string& path) {
  int count = 1;
  for (const char letter : path) count += letter == ',';
  return count;
}

inline void started(int more) {
  const char* text = std::getenv("STANDIN_LAUNCHES");
  setenv("STANDIN_LAUNCHES", std::to_string((text ? std::atoi(text) : 0) + more).c_str(), 1);
}

// The outputs in double, by the library of the reference.
inline std::vector<std::vector<double>> computed(const Call& call, const void* const* inputs) {
  Dl_info about;
  dladdr((void*)&kernels_of, &about);
  const std::string own = about.dli_fname;
  const std::string beside = own.substr(0, own.rfind('/')) + "/reference-" + call.name + ".so";
  void* const library = dlopen(beside.c_str(), RTLD_NOW);
  using Function = int (*)(const long long*, long long, long long, const void* const*, double* const*, void*);
  const auto function = library ? (Function)dlsym(library, (std::string(call.name) + "_reference").c_str()) : nullptr;
  std::vector<std::vector<double>> stages;
  std::vector<double*> places;
  for (const Array& stage : call.stages) stages.emplace_back((size_t)stage.count(call.sizes));
  for (auto& stage : stages) places.push_back(stage.data());
  const long long end = call.row < 0 ? 1 : call.sizes[(size_t)call.row];
  if (function) function(call.sizes.data(), 0, end, inputs, places.data(), nullptr);
  std::vector<std::vector<double>> found;
  for (const int stage : call.results) found.push_back(stages[(size_t)stage]);
  return found;
}

// The first input with zeros in the second half of each line, as if its last axis had been cut.
inline std::vector<char> halved(const Call& call, const void* input) {
  const Array& array = call.inputs[0];
  const long long count = array.count(call.sizes), line = array.line(call.sizes), width = napkin_bytes(array.type);
  std::vector<char> copy((const char*)input, (const char*)input + count * width);
  for (long long i = 0; i < count; ++i)
    if (i % line >= line / 2) std::memset(&copy[(size_t)(i * width)], 0, (size_t)width);
  return copy;
}

inline void store(const Call& call, const std::vector<std::vector<double>>& found, void* const* outputs) {
  static int times = 0;
  ++times;
  for (size_t o = 0; o < found.size(); ++o) {
    const Array& array = call.outputs[o];
    const long long count = array.count(call.sizes), line = array.line(call.sizes);
    for (long long i = 0; i < count; ++i) {
      const bool last_tile = i % line >= line - 8 && i / line >= count / line - 8;
      if (call.lie == unwritten && last_tile) continue;
      const double wrong = call.lie == corner && last_tile            ? 1.25
                           : call.lie == flaky && times > 1 && i == 5 ? 1.001
                                                                      : 1.0;
      napkin_store(outputs[o], i, array.type, found[o][(size_t)i] * wrong);
    }
    if (call.lie == guard) napkin_store(outputs[o], count, array.type, 1.0);
  }
}

inline int launch(Call& call, std::vector<const void*> inputs, std::vector<void*> outputs) {
  const bool falls = call.lie == fallback || call.lie == silent;
  const char* const demand = std::getenv("NAPKIN_DEMAND_PATH");
  last = falls ? call.other : call.planned;
  reason = falls ? "the stand-in has no maps of tensors" : "";
  if (call.lie == fallback && demand && std::string(demand) == "planned") return 801;
  if (call.lie == crash) std::abort();
  while (call.lie == hang) sleep(1);
  if (call.lie == illegal) setenv("STANDIN_ERROR", "700", 1);
  if (call.lie == left_behind) setenv("STANDIN_LEFT_BEHIND", "98", 1);
  std::vector<char> cut;
  if (call.lie == truncated) cut = halved(call, inputs[0]), inputs[0] = cut.data();
  started(kernels_of(last) + (call.lie == launches));
  store(call, computed(call, inputs.data()), outputs.data());
  return 0;
}
