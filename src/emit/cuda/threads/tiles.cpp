// Tiles of inputs in shared memory: every thread of a block copies its part, and positions past ragged edges are
// skipped.
#include "emit/cuda/threads/tiles.hpp"

#include <fmt/format.h>

#include "diagram/index.hpp"
#include "emit/cuda/groups.hpp"
#include "text/quantity.hpp"

namespace napkin {
namespace {

// Declares where the tile begins, in a local variable if that is more than a name.
void declare_corners(Page& page, BufferId id) {
  const auto& buffer = page.nest.at(id);
  auto& corners = page.corners[id];
  for (const auto& index : buffer.at) {
    page.limit(index, page.scope.at(id));
    auto text = corner(index, page.scope.at(id), false);
    if (!plain_wire(index)) {
      const auto name = page.pool.fresh(page.buffer(id) + "_begin");
      page.out.declare(name, text);
      text = name;
    }
    corners.push_back(text);
  }
}

void load(Page& page, BufferId id) {
  const auto& buffer = page.nest.at(id);
  const auto& array = page.diagram.at(buffer.array);
  const auto total = buffer.values();
  page.out.line("// load {}, {}", page.buffer(id), held(double(total * row(buffer.type).bytes)));
  declare_corners(page, id);
  page.out.steps("i", "threadIdx.x", fmt::format("{}", total), page.kernel.threads);
  std::vector<std::string> at, guard;
  Digits place("i", total);
  for (std::size_t k = 0; k < array.wires.size(); ++k) {
    const bool single = buffer.extent[k] == 1;
    const auto& begin = page.corners.at(id)[k];
    at.push_back(fmt::format("at{}", k));
    page.out.declare(at[k], single ? begin : sum(begin, place.next(buffer.extent[k])));
    if (single) continue;
    guard.push_back(fmt::format("{} < {}", at[k], corner(buffer.at[k], page.scope.at(id), true)));
  }
  page.out.line("{}{}[i] = {};", guard.empty() ? "" : "if (" + joined(guard, " && ") + ") ", page.buffer(id),
                page.element(buffer.array, at));
  page.out.close();
}

}  // namespace

void declare_tiles(Page& page) {
  if (page.kernel.staged.empty()) return;
  page.declare_shared();
  std::int64_t offset = 0;
  for (const auto id : page.kernel.staged) {
    const auto& buffer = page.nest.at(id);
    page.declare_in_shared(page.storage(buffer.array), page.buffer(id), offset,
                           fmt::format("[{}]", fmt::join(buffer.extent, "][")));
    offset += shared_size(buffer);
  }
  page.out.line();
}

void load_tiles(Page& page, const std::vector<BufferId>& tiles, bool reused) {
  if (tiles.empty()) return;
  if (reused) page.out.line("__syncthreads();");
  for (const auto id : tiles) load(page, id);
  page.out.line("__syncthreads();");
}

std::string tile_element(const Page& page, BufferId id, const std::vector<std::string>& at) {
  const auto& buffer = page.nest.at(id);
  std::string text;
  for (std::size_t k = 0; k < at.size(); ++k) {
    if (buffer.extent[k] == 1) continue;
    const auto local = distance(at[k], page.corners.at(id)[k]);
    text = text.empty() ? local : fmt::format("{} * {} + {}", in_brackets(text), buffer.extent[k], local);
  }
  return fmt::format("{}[{}]", page.buffer(id), text.empty() ? "0" : text);
}

}  // namespace napkin
