// What the emulation remembers, once for all files of a program: defined in the headers it would take most of the
// time of compiling a kernel.
#include "emulation.hpp"

dim3 threadIdx, blockIdx, blockDim, gridDim;
alignas(4096) unsigned char shared_memory[emulation::span];

namespace emulation {

int device = 0, questions = 0;
ucontext_t scheduler;
std::vector<Fiber> fibers;
Fiber* current = nullptr;
int current_warp = 0;
std::function<void()> body;
std::size_t shared_bytes = 0;
unsigned threads_of_block = 0, first_block = 0, block_at_hand = 0;
unsigned char* all_memories = shared_memory;
int memories_file = -1;
std::map<std::pair<void*, int>, std::size_t> rooms;
Counts counts;
std::map<int, int> fences;
std::vector<Watch> watches;
std::array<int, most_warps> warp_time;
std::array<Clock, most_warps> clocks;
std::vector<Clock> reads;
std::vector<int> reads_on_their_way;
std::array<std::map<int, int>, most_warps> arrived;
std::vector<Copies> copies;
std::size_t current_warpgroup = 0;
std::vector<Warpgroup> warpgroups;
std::vector<char> fenced;
int register_share = 0;
std::map<int, Barrier> barriers;
std::array<Clock, most_blocks> reached;
std::map<int, LeavingBoxes> leaving;
std::array<Turn, turn_barriers * most_blocks> turns;
bool any_turns = false;
std::vector<char> has_turn;

}  // namespace emulation
