// Warpgroups of four warps on the host: products by wgmma that arrive in registers only when they are waited for, as
// the PTX ISA documents them, written down here a second time. Found are products without a fence, registers touched
// while products are on their way, shared memory written while products read it, and more registers than a block has.
#pragma once

#include "turns.hpp"

namespace emulation {

// Warpgroups that meet

using WarpgroupMeeting = void (*)(std::array<void*, warpgroup_lanes>& lanes);
void meet_warpgroup(WarpgroupMeeting meeting, void* record);
extern std::size_t current_warpgroup;
void hold_warpgroup_meeting(unsigned first);

// Products on their way

struct Operand {
  bool in_registers = false, across = false;
  std::uint64_t descriptor = 0;
  std::size_t bytes = 2;  // of an entry; 32 are contracted
  // Where entry (i, k) stands: the canonical layouts of the PTX ISA, after the swizzle that
  // exchanges bits 4.. of an address by those from bit 7 on.
  std::size_t place(std::size_t i, std::size_t k) const {
    const auto field = [&](int bit) { return static_cast<std::size_t>(descriptor >> bit & 0x3fff) << 4; };
    const auto mode = static_cast<int>(descriptor >> 62);
    if (across && bytes != 2) fail("only numbers of 2 bytes are contracted across memory");
    if (mode == 0) fail("an operand without a swizzle, which is not emulated");
    if ((descriptor >> 49 & 7) != 0) fail("an operand with a base offset, which is not emulated");
    const std::size_t row = 256U >> mode;  // bytes of a row: 128, 64, 32
    const auto leading = field(16), stride = field(32);
    const auto offset = across ? i / (row / 2) * leading + i % (row / 2) * 2 + k / 8 * stride + k % 8 * row
                               : i / 8 * stride + i % 8 * row + k * bytes;
    const auto flat = field(0) + offset;
    return flat ^ (((flat >> 7) & (row / chunk_bytes - 1)) << 4);
  }
};
struct WarpgroupProduct {
  int columns = 0;
  Operand a, b;
  double (*number)(const void*) = nullptr;
  std::array<float*, warpgroup_lanes> c{};
  std::array<const unsigned*, warpgroup_lanes> registers{};
  std::array<std::array<unsigned, 4>, warpgroup_lanes> a_values{};
  std::vector<std::size_t> chunks;
};
inline std::size_t contracted(const WarpgroupProduct& product) { return 32 / product.b.bytes; }
struct Sums {  // of accumulators while products on them are on their way; the registers hold no number then
  std::vector<std::vector<float>> values;
  int products = 0;
};
struct Warpgroup {
  std::vector<WarpgroupProduct> open;
  std::deque<std::vector<WarpgroupProduct>> groups;
  std::map<float*, Sums> sums;  // by the first lane's accumulators
  int registers = 0;            // of a lane; 0: those that it began with
};
extern std::vector<Warpgroup> warpgroups;
extern std::vector<char> fenced;  // by thread
extern int register_share;
// Of a chunk of the block's own memory, among those of all blocks.
inline std::size_t whole_place(std::size_t chunk) { return chunk + own_memory() / chunk_bytes; }

void begin_warpgroups(unsigned threads);
void end_warpgroups();

inline const unsigned no_number = 0x7fc0dead;
void poison(const WarpgroupProduct& product);

void issue(std::array<void*, warpgroup_lanes>& lanes);

// Warp w of the warpgroup has rows 16 w and on: lanes hold rows g and g + 8, columns 2 t and 2 t + 1 of every 8.
void execute(Warpgroup& warpgroup, const WarpgroupProduct& product);

void commit(std::array<void*, warpgroup_lanes>&);
void finish(std::array<void*, warpgroup_lanes>& lanes);
// Of a lane; every warpgroup has those of its block first, which are as many as all blocks on the core can have.
struct Registers {
  int wanted = 0, first = 0;
  bool takes = false;
};
void change_registers(std::array<void*, warpgroup_lanes>& lanes);

template <class Number>
double number_at(const void* at) {
  using Bits = decltype(Number::bits);
  static const auto all = [] {
    std::vector<double> numbers;
    for (unsigned bits = 0; bits < 1U << (8 * sizeof(Bits)); ++bits) {
      Number number;
      number.bits = static_cast<Bits>(bits);
      numbers.push_back(static_cast<double>(static_cast<float>(number)));
    }
    return numbers;
  }();
  Bits bits = 0;
  std::memcpy(&bits, at, sizeof bits);
  return all[bits];
}

// What the unit reads of a number of tf32.
template <>
inline double number_at<float>(const void* at) {
  unsigned bits = 0;
  std::memcpy(&bits, at, sizeof bits);
  bits &= ~0x1fffU;
  float number = 0;
  std::memcpy(&number, &bits, sizeof number);
  return static_cast<double>(number);
}

template <class Number, int columns>
void warpgroup_product(float* c, const Operand& a, const unsigned* registers, const Operand& b) {
  WarpgroupProduct product;
  product.columns = columns, product.a = a, product.b = b, product.number = number_at<Number>;
  product.a.bytes = product.b.bytes = sizeof(Number);
  product.c[0] = c, product.registers[0] = registers;
  meet_warpgroup(issue, &product);
}

}  // namespace emulation

// What emitted kernels call.

#define NAPKIN_EMULATED_PRODUCT(name, columns, Number)                                              \
  template <int a_across, int b_across>                                                             \
  void napkin_warpgroup_m64n##columns##name(float* c, unsigned long long a, unsigned long long b) { \
    emulation::warpgroup_product<Number, columns>(c, {false, a_across == 1, a, 0}, nullptr,         \
                                                  {false, b_across == 1, b, 0});                    \
  }
#define NAPKIN_EMULATED_PRODUCT_OF_REGISTERS(name, columns, Number)                                          \
  template <int b_across>                                                                                    \
  void napkin_warpgroup_m64n##columns##name##_registers(float* c, const unsigned* a, unsigned long long b) { \
    emulation::warpgroup_product<Number, columns>(c, {true, false, 0, 0}, a, {false, b_across == 1, b, 0});  \
  }
#define NAPKIN_EMULATED_PRODUCTS(columns)                                  \
  NAPKIN_EMULATED_PRODUCT(k16_f16, columns, __half)                        \
  NAPKIN_EMULATED_PRODUCT(k16_bf16, columns, __nv_bfloat16)                \
  NAPKIN_EMULATED_PRODUCT(k8_tf32, columns, float)                         \
  NAPKIN_EMULATED_PRODUCT(k32_f8e4m3, columns, __nv_fp8_e4m3)              \
  NAPKIN_EMULATED_PRODUCT(k32_f8e5m2, columns, __nv_fp8_e5m2)              \
  NAPKIN_EMULATED_PRODUCT_OF_REGISTERS(k16_f16, columns, __half)           \
  NAPKIN_EMULATED_PRODUCT_OF_REGISTERS(k16_bf16, columns, __nv_bfloat16)   \
  NAPKIN_EMULATED_PRODUCT_OF_REGISTERS(k32_f8e4m3, columns, __nv_fp8_e4m3) \
  NAPKIN_EMULATED_PRODUCT_OF_REGISTERS(k32_f8e5m2, columns, __nv_fp8_e5m2)
NAPKIN_EMULATED_PRODUCTS(16)
NAPKIN_EMULATED_PRODUCTS(32)
NAPKIN_EMULATED_PRODUCTS(48)
NAPKIN_EMULATED_PRODUCTS(64)
NAPKIN_EMULATED_PRODUCTS(80)
NAPKIN_EMULATED_PRODUCTS(96)
NAPKIN_EMULATED_PRODUCTS(112)
NAPKIN_EMULATED_PRODUCTS(128)
NAPKIN_EMULATED_PRODUCTS(144)
NAPKIN_EMULATED_PRODUCTS(160)
NAPKIN_EMULATED_PRODUCTS(176)
NAPKIN_EMULATED_PRODUCTS(192)
NAPKIN_EMULATED_PRODUCTS(208)
NAPKIN_EMULATED_PRODUCTS(224)
NAPKIN_EMULATED_PRODUCTS(240)
NAPKIN_EMULATED_PRODUCTS(256)

inline void napkin_warpgroup_fence() { emulation::fenced[static_cast<std::size_t>(emulation::thread_number())] = 1; }
inline void napkin_warpgroup_commit() { emulation::meet_warpgroup(emulation::commit, nullptr); }
template <int groups>
void napkin_warpgroup_wait() {
  std::size_t left = groups;
  emulation::meet_warpgroup(emulation::finish, &left);
}
template <int count>
void napkin_warpgroup_hold(float*) {}

template <int registers, int first>
void napkin_give_registers() {
  emulation::Registers change{registers, first, false};
  emulation::meet_warpgroup(emulation::change_registers, &change);
}
template <int registers, int first>
void napkin_take_registers() {
  emulation::Registers change{registers, first, true};
  emulation::meet_warpgroup(emulation::change_registers, &change);
}
