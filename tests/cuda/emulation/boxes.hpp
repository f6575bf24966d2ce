// Copies by TMA on the host, which land only when the barrier they arrive at is asked, those barriers, and arrays as
// such copies see them, each as the PTX ISA and the driver's documentation say, written down here a second time. Found
// are copies that nobody waited for, boxes that are not aligned, and barriers that are never complete.
#pragma once

#include <optional>

#include "warps.hpp"

// Arrays as copies see them

using cuuint64_t = std::uint64_t;
using cuuint32_t = std::uint32_t;
enum CUresult { CUDA_SUCCESS = 0, CUDA_ERROR_INVALID_VALUE = 1 };
enum CUtensorMapDataType {
  CU_TENSOR_MAP_DATA_TYPE_UINT8 = 0,
  CU_TENSOR_MAP_DATA_TYPE_UINT16 = 1,
  CU_TENSOR_MAP_DATA_TYPE_UINT32 = 2,
  CU_TENSOR_MAP_DATA_TYPE_UINT64 = 4
};
enum CUtensorMapInterleave { CU_TENSOR_MAP_INTERLEAVE_NONE = 0 };
enum CUtensorMapSwizzle {
  CU_TENSOR_MAP_SWIZZLE_NONE = 0,
  CU_TENSOR_MAP_SWIZZLE_32B,
  CU_TENSOR_MAP_SWIZZLE_64B,
  CU_TENSOR_MAP_SWIZZLE_128B
};
enum CUtensorMapL2promotion { CU_TENSOR_MAP_L2_PROMOTION_NONE = 0, CU_TENSOR_MAP_L2_PROMOTION_L2_256B = 3 };
enum CUtensorMapFloatOOBfill { CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE = 0 };

struct alignas(64) CUtensorMap {
  const unsigned char* array;
  std::uint64_t sizes[5], steps[5];  // innermost first; steps in bytes
  std::uint32_t box[5];
  unsigned rank, bytes, swizzle;  // of an entry; the span of the swizzle, 0 for none
};

// Refuses what the driver's documentation says it refuses.
CUresult cuTensorMapEncodeTiled(CUtensorMap* map, CUtensorMapDataType type, cuuint32_t rank, void* array,
                                const cuuint64_t* sizes, const cuuint64_t* steps, const cuuint32_t* box,
                                const cuuint32_t* strides, CUtensorMapInterleave, CUtensorMapSwizzle swizzle,
                                CUtensorMapL2promotion, CUtensorMapFloatOOBfill);

#define CUDART_VERSION 13000
enum cudaDriverEntryPointQueryResult { cudaDriverEntryPointSuccess = 0 };
constexpr unsigned long long cudaEnableDefault = 0;
cudaError_t cudaGetDriverEntryPointByVersion(const char* name, void** found, unsigned, unsigned long long,
                                             cudaDriverEntryPointQueryResult* result);

using napkin_barrier = unsigned long long;
unsigned napkin_shared_address(const void* at);

namespace emulation {

// Barriers in shared memory

struct Landing {
  std::vector<std::size_t> places;  // of chunks, in shared memory
  std::vector<unsigned char> data;
};
struct Barrier {
  int expected = 0, pending = 0;  // arrivals
  long long bytes = 0;            // expected of copies, and not landed
  int phases = 0;                 // complete
  bool published = false;
  Touch began{};
  Clock told{}, complete{};  // by those who arrive in this phase, and who arrived in the last
  std::map<int, int> told_phases, complete_phases;
  std::vector<Landing> copies;
};
extern std::map<int, Barrier> barriers;  // by place

Barrier& barrier_at(std::size_t place);
inline Barrier& barrier_at(const napkin_barrier* barrier) { return barrier_at(place_of(barrier, sizeof *barrier)); }
// When warps of others last reached into the memory of each block, which then has to last until it knows of that.
extern std::array<Clock, most_blocks> reached;
void end_cluster(std::size_t blocks);
// The same place in the memory of another block of the cluster.
std::size_t there(std::size_t place, unsigned rank);
void complete_phase(Barrier& barrier);
void land_copies(int place, Barrier& barrier);
void arrive(Barrier& barrier);

// To the block's own memory, or to that of every block whose bit is set.
void land_later(const Landing& landing, std::size_t barrier, std::optional<unsigned> blocks);
void copy_box(void* to, const CUtensorMap& map, napkin_barrier* barrier, std::vector<int> at,
              std::optional<unsigned> blocks = {});

}  // namespace emulation

// What emitted kernels call.

void napkin_barrier_begin(napkin_barrier* barrier, int arrivals);
void napkin_barrier_arrive_at(napkin_barrier* barrier, unsigned rank);
void napkin_cluster_meet();
void napkin_barrier_publish();
inline void napkin_barrier_arrive(napkin_barrier* barrier) { emulation::arrive(emulation::barrier_at(barrier)); }
void napkin_barrier_expect(napkin_barrier* barrier, int bytes);
void napkin_barrier_wait(napkin_barrier* barrier, int parity);
// Whether it is complete, or is once all others have gone as far as they can.
bool napkin_barrier_try(napkin_barrier* barrier, int parity);

void napkin_copy_box_1d(void* to, const CUtensorMap* map, napkin_barrier* barrier, int at0);
void napkin_copy_box_2d(void* to, const CUtensorMap* map, napkin_barrier* barrier, int at0, int at1);
void napkin_copy_box_3d(void* to, const CUtensorMap* map, napkin_barrier* barrier, int at0, int at1, int at2);
void napkin_copy_box_4d(void* to, const CUtensorMap* map, napkin_barrier* barrier, int at0, int at1, int at2, int at3);
void napkin_copy_box_5d(void* to, const CUtensorMap* map, napkin_barrier* barrier, int at0, int at1, int at2, int at3,
                        int at4);
void napkin_copy_box_1d_shared(void* to, const CUtensorMap* map, napkin_barrier* barrier, unsigned short blocks,
                               int at0);
void napkin_copy_box_2d_shared(void* to, const CUtensorMap* map, napkin_barrier* barrier, unsigned short blocks,
                               int at0, int at1);
void napkin_copy_box_3d_shared(void* to, const CUtensorMap* map, napkin_barrier* barrier, unsigned short blocks,
                               int at0, int at1, int at2);
void napkin_copy_box_4d_shared(void* to, const CUtensorMap* map, napkin_barrier* barrier, unsigned short blocks,
                               int at0, int at1, int at2, int at3);
void napkin_copy_box_5d_shared(void* to, const CUtensorMap* map, napkin_barrier* barrier, unsigned short blocks,
                               int at0, int at1, int at2, int at3, int at4);
