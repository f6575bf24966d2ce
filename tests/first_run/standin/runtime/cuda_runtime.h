// Stands in for CUDA's runtime where bench/gpu/cuda/support.cu is compiled for the host: memory is the host's, a stream
// is nothing, and a captured launch is the number of kernels that it says it started. Kernels are libraries of their
// own, so that what they leave behind is handed on in the environment.
#pragma once
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <cstring>

typedef int cudaError_t;
typedef void *cudaStream_t, *cudaGraph_t;
typedef int cudaGraphNode_t;
typedef std::chrono::steady_clock::time_point* cudaEvent_t;
enum { cudaSuccess = 0, cudaStreamNonBlocking = 1, cudaStreamCaptureModeThreadLocal = 1, cudaDevAttrClockRate = 13 };
enum cudaMemcpyKind { cudaMemcpyHostToDevice = 1, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice };
enum cudaGraphNodeType { cudaGraphNodeTypeKernel };
struct cudaDeviceProp {
  char name[256];
  int major, minor, multiProcessorCount, l2CacheSize;
  size_t totalGlobalMem;
};

inline int standin_number(const char* name) {
  const char* text = std::getenv(name);
  return text ? std::atoi(text) : 0;
}
// What a kernel broke stays broken.
inline cudaError_t standin_error() { return standin_number("STANDIN_ERROR"); }

inline cudaError_t cudaGetDevice(int* device) { return *device = 0, standin_number("STANDIN_DEAD") ? 100 : 0; }
inline cudaError_t cudaGetDeviceProperties(cudaDeviceProp* found, int) {
  *found = {};
  std::strcpy(found->name, "Stand-in H100");
  found->major = 9, found->multiProcessorCount = 132, found->l2CacheSize = 1 << 16, found->totalGlobalMem = 1u << 30;
  return 0;
}
inline cudaError_t cudaDeviceGetAttribute(int* value, int, int) { return *value = 1980000, 0; }
inline cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, int) { return *stream = nullptr, 0; }
inline const char* cudaGetErrorString(cudaError_t error) {
  return error == 700 ? "an illegal memory access was encountered" : error ? "an error" : "no error";
}
inline cudaError_t cudaMalloc(void** made, size_t bytes) {
  return *made = std::aligned_alloc(1024, (bytes + 1023) / 1024 * 1024), *made ? 0 : 2;
}
inline cudaError_t cudaFree(void*) { return 0; }  // guarded arrays begin inside of what was allocated
inline cudaError_t cudaMemGetInfo(size_t* left, size_t* all) { return *left = *all = 1u << 30, 0; }
inline cudaError_t cudaMemsetAsync(void* at, int byte, size_t bytes, cudaStream_t) {
  return std::memset(at, byte, bytes), standin_error();
}
inline cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind) {
  return std::memcpy(to, from, bytes), standin_error();
}
inline cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind, cudaStream_t) {
  return cudaMemcpy(to, from, bytes, kind);
}
inline cudaError_t cudaDeviceSynchronize() { return standin_error(); }
inline cudaError_t cudaGetLastError() { return standin_number("STANDIN_LEFT_BEHIND"); }

inline cudaError_t cudaStreamBeginCapture(cudaStream_t, int) { return setenv("STANDIN_LAUNCHES", "0", 1), 0; }
inline cudaError_t cudaStreamEndCapture(cudaStream_t, cudaGraph_t* graph) { return *graph = nullptr, 0; }
inline cudaError_t cudaGraphGetNodes(cudaGraph_t, cudaGraphNode_t*, size_t* count) {
  return *count = (size_t)standin_number("STANDIN_LAUNCHES"), 0;
}
inline cudaError_t cudaGraphNodeGetType(cudaGraphNode_t, cudaGraphNodeType* kind) {
  return *kind = cudaGraphNodeTypeKernel, 0;
}
inline cudaError_t cudaGraphDestroy(cudaGraph_t) { return 0; }

inline cudaError_t cudaEventCreate(cudaEvent_t* made) { return *made = new std::chrono::steady_clock::time_point, 0; }
inline cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t) {
  return *event = std::chrono::steady_clock::now(), 0;
}
inline cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t begin, cudaEvent_t end) {
  return *milliseconds = std::chrono::duration<float, std::milli>(*end - *begin).count(), 0;
}
