// Teams of four warps on the host: products by wgmma that arrive in registers only when they are waited for, as the PTX
// ISA documents them, written down here a second time. Found are products without a fence, registers touched while
// products are on their way, shared memory written while products read it, and more registers than a block has.
#pragma once

#include "turns.hpp"

namespace emulation {

// Teams that meet

using TeamMeeting = void (*)(std::array<void*, team_lanes>& lanes);
inline void meet_team(TeamMeeting meeting, void* record) {
  current->record = record;
  current->team_meeting = meeting;
  current->waits = Waits::team;
  leave();
}
inline std::size_t current_team = 0;
inline void hold_team_meeting(unsigned first) {
  std::array<void*, team_lanes> lanes;
  for (unsigned lane = 0; lane < team_lanes; ++lane) {
    lanes[lane] = fibers[first + lane].record;
    if (fibers[first + lane].team_meeting != fibers[first].team_meeting)
      fail("warps of a team disagree about an instruction");
  }
  current_team = first / team_lanes;
  fibers[first].team_meeting(lanes);
}

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
    const std::size_t span = 256U >> mode;  // bytes of a row: 128, 64, 32
    const auto leading = field(16), stride = field(32);
    const auto offset = across ? i / (span / 2) * leading + i % (span / 2) * 2 + k / 8 * stride + k % 8 * span
                               : i / 8 * stride + i % 8 * span + k * bytes;
    const auto flat = field(0) + offset;
    return flat ^ (((flat >> 7) & (span / chunk_bytes - 1)) << 4);
  }
};
struct TeamProduct {
  int columns = 0;
  Operand a, b;
  double (*number)(const void*) = nullptr;
  std::array<float*, team_lanes> c{};
  std::array<const unsigned*, team_lanes> registers{};
  std::array<std::array<unsigned, 4>, team_lanes> a_values{};
  std::vector<std::size_t> chunks;
};
inline std::size_t contracted(const TeamProduct& product) { return 32 / product.b.bytes; }
struct Sums {  // of accumulators while products on them are on their way; the registers hold no number then
  std::vector<std::vector<float>> values;
  int products = 0;
};
struct Team {
  std::vector<TeamProduct> open;
  std::deque<std::vector<TeamProduct>> groups;
  std::map<float*, Sums> sums;  // by the first lane's accumulators
  int registers = 0;            // of a lane; 0: those that it began with
};
inline std::vector<Team> teams;
inline std::vector<char> fenced;  // by thread
inline int register_share = 0;
// Of a chunk of the block's own memory, among those of all blocks.
inline std::size_t whole_place(std::size_t chunk) { return chunk + own_memory() / chunk_bytes; }

inline void begin_teams(unsigned threads) {
  barriers.clear();
  begin_turns(threads);
  register_share = min(256, static_cast<int>(65536 / threads_of_block / 8 * 8));
  teams.assign(threads / team_lanes, Team{});
  fenced.assign(threads, 0);
}
inline void end_teams() {
  end_turns();
  int registers = 0;
  for (const auto& team : teams) {
    if (!team.open.empty() || !team.groups.empty()) fail("a block ended with products on their way");
    registers += team.registers == 0 ? register_share : team.registers;
  }
  if (registers > register_share * static_cast<int>(teams.size())) fail("teams took more registers than others gave");
  for (const auto& [place, barrier] : barriers)
    if (!barrier.copies.empty()) fail("a block ended with copies on their way");
}

inline const unsigned no_number = 0x7fc0dead;
inline void poison(const TeamProduct& product) {
  for (auto* c : product.c)
    for (int i = 0; i < product.columns / 2; ++i) std::memcpy(c + i, &no_number, sizeof no_number);
}

inline void issue(std::array<void*, team_lanes>& lanes) {
  auto& team = teams[current_team];
  auto product = *static_cast<TeamProduct*>(lanes[0]);
  const int first = static_cast<int>(current_team * team_lanes);
  for (std::size_t lane = 0; lane < team_lanes; ++lane) {
    const auto& mine = *static_cast<TeamProduct*>(lanes[lane]);
    if (!fenced[static_cast<std::size_t>(first) + lane]) fail("a team's product without a fence before");
    if (any_turns && !has_turn[static_cast<std::size_t>(first) + lane])
      fail("a team's product while others have the turn");
    if (mine.a.descriptor != product.a.descriptor || mine.b.descriptor != product.b.descriptor)
      fail("warps of a team disagree about an operand");
    product.c[lane] = mine.c[0];
    product.registers[lane] = mine.registers[0];
    if (product.a.in_registers) std::memcpy(product.a_values[lane].data(), mine.registers[0], 16);
  }
  const auto touch = [&](const Operand& side, std::size_t count) {
    for (std::size_t i = 0; i < count && !side.in_registers; ++i)
      for (std::size_t k = 0; k < contracted(product); ++k) product.chunks.push_back(side.place(i, k) / chunk_bytes);
  };
  touch(product.a, 64);
  touch(product.b, static_cast<std::size_t>(product.columns));
  std::sort(product.chunks.begin(), product.chunks.end());
  product.chunks.erase(std::unique(product.chunks.begin(), product.chunks.end()), product.chunks.end());
  for (const auto chunk : product.chunks) {
    for (int warp = 0; warp < 4; ++warp)
      watch_read(shared_memory + chunk * chunk_bytes, chunk_bytes, first + warp * 32);
    ++reads_on_their_way[whole_place(chunk)];
  }
  auto& sums = team.sums[product.c[0]];
  if (sums.products++ == 0) {
    sums.values.clear();
    for (auto* c : product.c) sums.values.emplace_back(c, c + product.columns / 2);
    poison(product);
  }
  team.open.push_back(std::move(product));
  ++counts.team_operations;
}

// Warp w of the team has rows 16 w and on: lanes hold rows g and g + 8, columns 2 t and 2 t + 1 of every 8.
inline void execute(Team& team, const TeamProduct& product) {
  const auto columns = static_cast<std::size_t>(product.columns), steps = contracted(product);
  std::vector<double> a(std::size_t{64} * steps), b(columns * steps);
  for (std::size_t lane = 0; lane < team_lanes && product.a.in_registers; ++lane) {
    if (std::memcmp(product.registers[lane], product.a_values[lane].data(), 16) != 0)
      fail("registers of an operand were changed while a product was on its way");
    const auto* entries = reinterpret_cast<const unsigned char*>(product.a_values[lane].data());
    const auto row = lane / 32 * 16 + lane % 32 / 4, t = lane % 4;
    for (std::size_t i = 0; i < 8; ++i)
      a[(row + (i / 2 % 2) * 8) * steps + t * 2 + i % 2 + i / 4 * 8] = product.number(entries + i * 2);
  }
  for (std::size_t i = 0; i < 64 && !product.a.in_registers; ++i)
    for (std::size_t k = 0; k < steps; ++k) a[i * steps + k] = product.number(shared_memory + product.a.place(i, k));
  for (std::size_t i = 0; i < columns; ++i)
    for (std::size_t k = 0; k < steps; ++k) b[i * steps + k] = product.number(shared_memory + product.b.place(i, k));
  auto& sums = team.sums.at(product.c[0]);
  for (std::size_t lane = 0; lane < team_lanes; ++lane)
    for (std::size_t i = 0; i < columns / 2; ++i) {
      const auto row = lane / 32 * 16 + lane % 32 / 4 + i / 2 % 2 * 8, column = i / 4 * 8 + lane % 4 * 2 + i % 2;
      double sum = static_cast<double>(sums.values[lane][i]);
      for (std::size_t k = 0; k < steps; ++k) sum += a[row * steps + k] * b[column * steps + k];
      sums.values[lane][i] = static_cast<float>(sum);
    }
  for (const auto chunk : product.chunks) {
    --reads_on_their_way[whole_place(chunk)];
    for (std::size_t warp = current_team * 4; warp < current_team * 4 + 4; ++warp) {
      auto& read = reads[whole_place(chunk)][warp];
      read = max(read, clocks[warp][warp]);
    }
  }
  if (--sums.products > 0) return;
  for (std::size_t lane = 0; lane < team_lanes; ++lane)
    for (std::size_t i = 0; i < columns / 2; ++i) {
      if (std::memcmp(product.c[lane] + i, &no_number, sizeof no_number) != 0)
        fail("accumulators were changed while a product was on its way");
      product.c[lane][i] = sums.values[lane][i];
    }
  team.sums.erase(product.c[0]);
}

inline void commit(std::array<void*, team_lanes>&) {
  auto& team = teams[current_team];
  team.groups.push_back(std::move(team.open));
  team.open.clear();
}
inline void finish(std::array<void*, team_lanes>& lanes) {
  auto& team = teams[current_team];
  for (; team.groups.size() > *static_cast<std::size_t*>(lanes[0]); team.groups.pop_front())
    for (const auto& product : team.groups.front()) execute(team, product);
  std::fill_n(fenced.begin() + static_cast<std::ptrdiff_t>(current_team * team_lanes), team_lanes, 0);
}
// Of a lane; every team has those of its block first, which are as many as all blocks on the core can have.
struct Registers {
  int wanted = 0, first = 0;
  bool takes = false;
};
inline void change_registers(std::array<void*, team_lanes>& lanes) {
  auto& mine = teams[current_team].registers;
  const auto& change = *static_cast<Registers*>(lanes[0]);
  if (change.wanted < 24 || change.wanted > 256 || change.wanted % 8 != 0) fail("no number of registers for a team");
  if (change.first > register_share || (mine != 0 && mine != change.first))
    fail("a team has other registers than those of its block");
  if (change.takes ? change.wanted < change.first : change.wanted > change.first)
    fail("a team gives or takes registers the wrong way");
  register_share = change.first;
  mine = change.wanted;
}

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

template <class Number, int columns>
void team_product(float* c, const Operand& a, const unsigned* registers, const Operand& b) {
  TeamProduct product;
  product.columns = columns, product.a = a, product.b = b, product.number = number_at<Number>;
  product.a.bytes = product.b.bytes = sizeof(Number);
  product.c[0] = c, product.registers[0] = registers;
  meet_team(issue, &product);
}

}  // namespace emulation

// What emitted kernels call.

#define NAPKIN_EMULATED_PRODUCT(name, columns, Number)                                                                \
  template <int a_across, int b_across>                                                                               \
  void napkin_team_m64n##columns##name(float* c, unsigned long long a, unsigned long long b) {                        \
    emulation::team_product<Number, columns>(c, {false, a_across == 1, a, 0}, nullptr, {false, b_across == 1, b, 0}); \
  }
#define NAPKIN_EMULATED_PRODUCT_OF_REGISTERS(name, columns, Number)                                     \
  template <int b_across>                                                                               \
  void napkin_team_m64n##columns##name##_registers(float* c, const unsigned* a, unsigned long long b) { \
    emulation::team_product<Number, columns>(c, {true, false, 0, 0}, a, {false, b_across == 1, b, 0});  \
  }
#define NAPKIN_EMULATED_PRODUCTS(columns)                        \
  NAPKIN_EMULATED_PRODUCT(k16_f16, columns, __half)              \
  NAPKIN_EMULATED_PRODUCT(k16_bf16, columns, __nv_bfloat16)      \
  NAPKIN_EMULATED_PRODUCT(k32_f8e4m3, columns, __nv_fp8_e4m3)    \
  NAPKIN_EMULATED_PRODUCT(k32_f8e5m2, columns, __nv_fp8_e5m2)    \
  NAPKIN_EMULATED_PRODUCT_OF_REGISTERS(k16_f16, columns, __half) \
  NAPKIN_EMULATED_PRODUCT_OF_REGISTERS(k16_bf16, columns, __nv_bfloat16)
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

inline void napkin_team_fence() { emulation::fenced[static_cast<std::size_t>(emulation::thread_number())] = 1; }
inline void napkin_team_commit() { emulation::meet_team(emulation::commit, nullptr); }
template <int groups>
void napkin_team_wait() {
  std::size_t left = groups;
  emulation::meet_team(emulation::finish, &left);
}
template <int count>
void napkin_team_hold(float*) {}

template <int registers, int first>
void napkin_give_registers() {
  emulation::Registers change{registers, first, false};
  emulation::meet_team(emulation::change_registers, &change);
}
template <int registers, int first>
void napkin_take_registers() {
  emulation::Registers change{registers, first, true};
  emulation::meet_team(emulation::change_registers, &change);
}
