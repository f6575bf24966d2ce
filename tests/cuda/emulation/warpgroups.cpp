// Products of warpgroups that go on their way, and what arrives of them.
#include "emulation.hpp"

namespace emulation {

void meet_warpgroup(WarpgroupMeeting meeting, void* record) {
  current->record = record;
  current->warpgroup_meeting = meeting;
  current->waits = Waits::warpgroup;
  leave();
}

void hold_warpgroup_meeting(unsigned first) {
  std::array<void*, warpgroup_lanes> lanes;
  for (unsigned lane = 0; lane < warpgroup_lanes; ++lane) {
    lanes[lane] = fibers[first + lane].record;
    if (fibers[first + lane].warpgroup_meeting != fibers[first].warpgroup_meeting)
      fail("warps of a warpgroup disagree about an instruction");
  }
  current_warpgroup = first / warpgroup_lanes;
  fibers[first].warpgroup_meeting(lanes);
}

void begin_warpgroups(unsigned threads) {
  barriers.clear();
  begin_turns(threads);
  register_share = min(256, static_cast<int>(65536 / threads_of_block / 8 * 8));
  warpgroups.assign(threads / warpgroup_lanes, Warpgroup{});
  fenced.assign(threads, 0);
}

void end_warpgroups() {
  end_turns();
  int registers = 0;
  for (const auto& warpgroup : warpgroups) {
    if (!warpgroup.open.empty() || !warpgroup.groups.empty()) fail("a block ended with products on their way");
    registers += warpgroup.registers == 0 ? register_share : warpgroup.registers;
  }
  if (registers > register_share * static_cast<int>(warpgroups.size()))
    fail("warpgroups took more registers than others gave");
  for (const auto& [place, barrier] : barriers)
    if (!barrier.copies.empty()) fail("a block ended with copies on their way");
}

void poison(const WarpgroupProduct& product) {
  for (auto* c : product.c)
    for (int i = 0; i < product.columns / 2; ++i) std::memcpy(c + i, &no_number, sizeof no_number);
}

void issue(std::array<void*, warpgroup_lanes>& lanes) {
  auto& warpgroup = warpgroups[current_warpgroup];
  auto product = *static_cast<WarpgroupProduct*>(lanes[0]);
  const int first = static_cast<int>(current_warpgroup * warpgroup_lanes);
  for (std::size_t lane = 0; lane < warpgroup_lanes; ++lane) {
    const auto& mine = *static_cast<WarpgroupProduct*>(lanes[lane]);
    if (!fenced[static_cast<std::size_t>(first) + lane]) fail("a warpgroup's product without a fence before");
    if (any_turns && !has_turn[static_cast<std::size_t>(first) + lane])
      fail("a warpgroup's product while others have the turn");
    if (mine.a.descriptor != product.a.descriptor || mine.b.descriptor != product.b.descriptor)
      fail("warps of a warpgroup disagree about an operand");
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
  auto& sums = warpgroup.sums[product.c[0]];
  if (sums.products++ == 0) {
    sums.values.clear();
    for (auto* c : product.c) sums.values.emplace_back(c, c + product.columns / 2);
    poison(product);
  }
  warpgroup.open.push_back(std::move(product));
  ++counts.warpgroup_operations;
}

void execute(Warpgroup& warpgroup, const WarpgroupProduct& product) {
  const auto columns = static_cast<std::size_t>(product.columns), steps = contracted(product);
  std::vector<double> a(std::size_t{64} * steps), b(columns * steps);
  for (std::size_t lane = 0; lane < warpgroup_lanes && product.a.in_registers; ++lane) {
    if (std::memcmp(product.registers[lane], product.a_values[lane].data(), 16) != 0)
      fail("registers of an operand were changed while a product was on its way");
    const auto* entries = reinterpret_cast<const unsigned char*>(product.a_values[lane].data());
    const auto row = lane / 32 * 16 + lane % 32 / 4, t = lane % 4;
    const auto r = std::size_t{4} / product.a.bytes;  // numbers to a register
    for (std::size_t i = 0; i < 4 * r; ++i)
      a[(row + (i / r % 2) * 8) * steps + t * r + i % r + i / (2 * r) * 4 * r] =
          product.number(entries + i * product.a.bytes);
  }
  for (std::size_t i = 0; i < 64 && !product.a.in_registers; ++i)
    for (std::size_t k = 0; k < steps; ++k) a[i * steps + k] = product.number(shared_memory + product.a.place(i, k));
  for (std::size_t i = 0; i < columns; ++i)
    for (std::size_t k = 0; k < steps; ++k) b[i * steps + k] = product.number(shared_memory + product.b.place(i, k));
  auto& sums = warpgroup.sums.at(product.c[0]);
  for (std::size_t lane = 0; lane < warpgroup_lanes; ++lane)
    for (std::size_t i = 0; i < columns / 2; ++i) {
      const auto row = lane / 32 * 16 + lane % 32 / 4 + i / 2 % 2 * 8, column = i / 4 * 8 + lane % 4 * 2 + i % 2;
      double sum = static_cast<double>(sums.values[lane][i]);
      for (std::size_t k = 0; k < steps; ++k) sum += a[row * steps + k] * b[column * steps + k];
      sums.values[lane][i] = product.b.bytes == 1 ? few_bits(sum) : static_cast<float>(sum);
    }
  for (const auto chunk : product.chunks) {
    --reads_on_their_way[whole_place(chunk)];
    for (std::size_t warp = current_warpgroup * 4; warp < current_warpgroup * 4 + 4; ++warp) {
      auto& read = reads[whole_place(chunk)][warp];
      read = max(read, clocks[warp][warp]);
    }
  }
  if (--sums.products > 0) return;
  for (std::size_t lane = 0; lane < warpgroup_lanes; ++lane)
    for (std::size_t i = 0; i < columns / 2; ++i) {
      if (std::memcmp(product.c[lane] + i, &no_number, sizeof no_number) != 0)
        fail("accumulators were changed while a product was on its way");
      product.c[lane][i] = sums.values[lane][i];
    }
  warpgroup.sums.erase(product.c[0]);
}

void commit(std::array<void*, warpgroup_lanes>&) {
  auto& warpgroup = warpgroups[current_warpgroup];
  warpgroup.groups.push_back(std::move(warpgroup.open));
  warpgroup.open.clear();
}

void finish(std::array<void*, warpgroup_lanes>& lanes) {
  auto& warpgroup = warpgroups[current_warpgroup];
  for (; warpgroup.groups.size() > *static_cast<std::size_t*>(lanes[0]); warpgroup.groups.pop_front())
    for (const auto& product : warpgroup.groups.front()) execute(warpgroup, product);
  std::fill_n(fenced.begin() + static_cast<std::ptrdiff_t>(current_warpgroup * warpgroup_lanes), warpgroup_lanes, 0);
}

void change_registers(std::array<void*, warpgroup_lanes>& lanes) {
  auto& mine = warpgroups[current_warpgroup].registers;
  const auto& change = *static_cast<Registers*>(lanes[0]);
  if (change.wanted < 24 || change.wanted > 256 || change.wanted % 8 != 0)
    fail("no number of registers for a warpgroup");
  if (change.first > register_share || (mine != 0 && mine != change.first))
    fail("a warpgroup has other registers than those of its block");
  if (change.takes ? change.wanted < change.first : change.wanted > change.first)
    fail("a warpgroup gives or takes registers the wrong way");
  register_share = change.first;
  mine = change.wanted;
}

}  // namespace emulation
