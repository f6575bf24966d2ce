// A nest of warps printed as a __global__ function: groups become the decoding of block and warp numbers, tiles are
// copied while the step before is computed, and columns run on fragments.
#include "emit/cuda_warps.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "diagram/match.hpp"
#include "emit/code_expression.hpp"
#include "emit/code_types.hpp"
#include "emit/cuda_fragments.hpp"
#include "emit/cuda_groups.hpp"
#include "emit/cuda_tiles.hpp"
#include "emit/report_quantity.hpp"

namespace napkin {
namespace {

class WarpPrinter {
 public:
  WarpPrinter(const ThreadedKernel& kernel, const WarpNest& warps, const CodeNames& names)
      : page_(kernel, names),
        out_(page_.out),
        warps_(warps),
        nest_(*warps.nest),
        groups_(page_),
        columns_(page_, warps) {}

  CudaKernel run(const std::string& name) {
    words();
    out_.line(fmt::format("__global__ void __launch_bounds__({}, 1)", page_.kernel.threads));
    parameters(name);
    declare_tiles();
    groups_.blocks();
    warps();
    print(nest_.body, true);
    out_.close();
    return {name, out_.text(), page_.limits};
  }

 private:
  void words() {
    std::vector<std::string> outputs;
    for (const auto id : nest_.outputs) outputs.push_back(page_.diagram.at(id).name);
    out_.line(fmt::format(
        "// {}, by {} warps with {} of shared memory, products by mma.sync {}.", fmt::join(outputs, ", "), warps_.warps,
        report::held(static_cast<double>(warps_.shared_bytes)), warps_.products.front().instruction->name));
    for (const auto& group : nest_.groups)
      out_.line(fmt::format("//   {:<24}  {}", groups_.words(group),
                            groups_.is_block(group) ? "one piece for each block" : "one piece for each warp"));
    print_streams(nest_.body);
  }
  void print_streams(const Block& block) {
    for (const auto& step : block.steps)
      if (const auto* loop = std::get_if<For>(&step.node)) {
        const auto ahead = is_pipelined(*loop) ? ", the next one's tiles on their way" : "";
        out_.line(fmt::format("//   {:<24}  one piece after another{}", groups_.words(loop->split), ahead));
        print_streams(loop->body);
      }
  }
  bool is_pipelined(const For& loop) const {
    if (std::find(warps_.pipelined.begin(), warps_.pipelined.end(), &loop) == warps_.pipelined.end()) return false;
    const auto tiles = tiles_of(loop.body);
    return std::all_of(tiles.begin(), tiles.end(), [&](BufferId id) { return warps_.tiles.at(id).copies > 1; });
  }

  void parameters(const std::string& name) {
    std::vector<std::string> all = {fmt::format("const {}_sizes n", page_.names.diagram)};
    for (const auto id : nest_.inputs)
      all.push_back(fmt::format("const {}* __restrict__ {}", page_.storage(id), page_.array(id)));
    for (const auto id : nest_.outputs)
      all.push_back(fmt::format("{}* __restrict__ {}", page_.storage(id), page_.array(id)));
    out_.list(name + "(", all, ") {");
    out_.deepen();
  }

  void declare_tiles() {
    out_.line("extern __shared__ __align__(16) unsigned char shared_memory[];");
    for (const auto& [id, tile] : warps_.tiles)
      out_.line(fmt::format("{0}* const {1} = reinterpret_cast<{0}*>(shared_memory + {2});  // {3}[{4}][{5}]",
                            page_.storage(nest_.at(id).array), page_.buffer(id), tile.begin,
                            tile.copies > 1 ? fmt::format("[{}]", tile.copies) : "", tile.layout.rows,
                            tile.layout.columns));
    out_.line();
  }

  void warps() {
    const auto& lanes = columns_.lanes;
    const auto groups = groups_.enter(false);
    out_.declare(lanes.warp, "threadIdx.x / 32");
    out_.declare(lanes.lane, "threadIdx.x % 32");
    out_.declare(lanes.group, lanes.lane + " / 4", "the lane's rows of fragments");
    out_.declare(lanes.quad, lanes.lane + " % 4", "and its columns");
    std::int64_t faster = warps_.warps;
    for (const auto& each : groups) {
      const bool slowest = faster == warps_.warps;
      faster /= each.most();
      auto number = faster == 1 ? lanes.warp : fmt::format("{} / {}", lanes.warp, faster);
      if (!slowest) number += fmt::format(" % {}", each.most());
      if (each.around.is_whole()) page_.limit(each.group->wire);
      groups_.print(each, each.group->size == 1 || number == lanes.warp ? number : "(" + number + ")");
    }
    for (std::uint32_t w = 0; w < page_.own.size(); ++w) only_position(w);
    out_.line();
  }
  void only_position(std::uint32_t w) {
    auto& piece = page_.own[w];
    if (piece.extent != 1 || piece.is_whole()) return;
    piece.position = piece.begin;
  }

  // Steps

  void print(const Block& block, bool outermost) {
    declare_buffers(block);
    for (const auto& step : block.steps)
      match(
          step.node, [&](const Load& load) { this->load(load, outermost); }, [](const Ask&) {},
          [&](const Compute& compute) { print(compute); }, [&](const Save& save) { columns_.print(save); },
          [&](const For& loop) { stream(loop, outermost); });
  }
  void print(const Compute& compute) {
    if (reads_tiles(compute)) arrive();
    columns_.print(compute);
  }
  bool reads_tiles(const Compute& compute) const {
    return std::any_of(compute.reads.begin(), compute.reads.end(),
                       [&](const auto& read) { return page_.is_input(nest_.at(read.second).array); });
  }

  void declare_buffers(const Block& block) {
    std::map<std::string_view, std::vector<std::string>> by_type;
    for (const auto id : block.buffers) {
      const auto& buffer = nest_.at(id);
      page_.scope[id] = buffer.level <= page_.kernel.block_level ? page_.shared : page_.own;
      if (columns_.is_stored(id)) by_type[code_type(Language::cuda, buffer.type).own].push_back(columns_.declared(id));
      const auto tile = warps_.tiles.find(id);
      if (tile != warps_.tiles.end() && tile->second.copies == 1)
        out_.line(fmt::format("const {}* const {} = {};", page_.storage(buffer.array), tile_pointer(page_, id),
                              page_.buffer(id)));
    }
    for (const auto& [type, names] : by_type) out_.list(fmt::format("{} ", type), names, ";");
  }

  // Tiles

  std::vector<BufferId> tiles_of(const Block& block) const {
    std::vector<BufferId> all;
    for (const auto& step : block.steps)
      if (const auto* load = std::get_if<Load>(&step.node); load && warps_.tiles.contains(load->to))
        all.push_back(load->to);
    return all;
  }

  void load(const Load& load, bool outermost) {
    if (const auto tile = warps_.tiles.find(load.to); tile != warps_.tiles.end()) {
      if (tile->second.copies > 1) return;  // its loop's business
      if (!outermost && !on_their_way_) out_.line("__syncthreads();");
      copy(load.to, page_.buffer(load.to));
      out_.line("napkin_copy_commit();");
      on_their_way_ = true;
    }
    for (const auto& product : warps_.products)
      if (product.rows.kept && reads(product, load.to)) {
        arrive();
        columns_.keep(product);
      }
  }
  static bool reads(const Product& product, BufferId id) {
    return std::any_of(product.compute->reads.begin(), product.compute->reads.end(),
                       [&](const auto& read) { return read.first == product.rows.access && read.second == id; });
  }
  // Waits until what was loaded is there for all threads.
  void arrive() {
    if (!std::exchange(on_their_way_, false)) return;
    out_.line("napkin_copy_wait<0>();");
    out_.line("__syncthreads();");
  }

  void copy(BufferId id, const std::string& to) {
    const auto& buffer = nest_.at(id);
    const auto& tile = warps_.tiles.at(id);
    const auto& array = page_.diagram.at(buffer.array);
    const auto sizes = code_sizes(page_.diagram, page_.names, array.wires);
    std::vector<std::string> at;
    for (const auto& index : buffer.at) at.push_back(corner(index, page_.shared, false));
    const auto left = [&](std::optional<std::size_t> k) {
      if (!k) return std::string("1");
      const auto past = corner(buffer.at[*k], page_.shared, true);
      page_.limit(buffer.at[*k], page_.shared);
      const auto begin = at[*k].find(' ') == std::string::npos ? at[*k] : "(" + at[*k] + ")";
      return begin == "0" ? past : fmt::format("{} - {}", past, begin);
    };
    const auto step = [&](std::optional<std::size_t> k) {
      std::string text;
      for (auto i = k ? *k + 1 : sizes.size(); i < sizes.size(); ++i)
        text += (text.empty() ? "(long long)" : " * ") + sizes[i];
      return text.empty() ? std::string("1") : text;
    };
    out_.line(fmt::format("napkin_load_tile<{}, {}, {}, {}>({}, &{}[{}], {}, {}, {}, {});", tile.layout.rows,
                          tile.layout.columns, tile.layout.bits, page_.kernel.threads, to, page_.array(buffer.array),
                          code_offset(at, sizes), step(tile.row), step(tile.column), left(tile.row),
                          left(tile.column)));
  }

  // Streams

  void stream(const For& loop, bool outermost) {
    const auto own = page_.own, shared = page_.shared;
    const bool ahead = is_pipelined(loop);
    const auto begin = groups_.begin_name(loop.split.wire);
    const auto around = own[loop.split.wire.index];
    enter(loop, begin);
    if (ahead)
      pipelined(loop, begin, around, outermost);
    else
      plain(loop, begin, around);
    page_.own = own;
    page_.shared = shared;
  }
  void enter(const For& loop, const std::string& begin) {
    const auto wire = loop.split.wire.index;
    const auto extent = std::min(page_.own[wire].extent, loop.split.size);
    page_.own[wire] = {begin, begin + "_end", extent, begin};
    page_.shared[wire] = page_.own[wire];
  }
  void declare_end(const For& loop, const std::string& begin, const WirePiece& around) {
    out_.declare(begin + "_end", fmt::format("min({} + {}, {})", begin, loop.split.size, around.end),
                 groups_.words(loop.split));
  }
  // Whether the piece counts, where a mask may pass over it.
  std::string needed(const For& loop) const {
    std::vector<std::string> all;
    for (const auto& each : loop.needs) all.push_back(fmt::format("({})", possible(each)));
    return fmt::format("{}", fmt::join(all, " && "));
  }

  // What a piece computes: twice where most pieces need not mind ragged ends and masks, first without.
  void body(const For& loop, const std::string& begin, const WirePiece& around) {
    const auto clear = clear_piece(loop, begin, around);
    if (clear.empty()) return print(loop.body, false);
    const bool on_their_way = on_their_way_;
    out_.open(fmt::format("if ({})", clear));
    columns_.set_clear(loop.split.wire);
    print(loop.body, false);
    columns_.set_clear({});
    out_.close("} else {");
    out_.deepen();
    on_their_way_ = on_their_way;
    print(loop.body, false);
    out_.close();
  }
  // That a piece is whole and that its masks hold everywhere; empty where no column minds, or loops stand inside. All
  // warps of the block answer alike, for there may be barriers.
  std::string clear_piece(const For& loop, const std::string& begin, const WirePiece& around) const {
    std::vector<std::string> all = {fmt::format("{} + {} <= {}", begin, loop.split.size, around.end)};
    bool minds = false;
    for (const auto& step : loop.body.steps) {
      if (std::holds_alternative<For>(step.node)) return "";
      const auto* compute = std::get_if<Compute>(&step.node);
      if (!compute) continue;
      minds |= columns_.minds(*compute, loop.split.wire);
      for (const auto& mask : compute->masks) {
        const auto text = fmt::format("!({})", possible(mask.negated()));
        if (std::find(all.begin(), all.end(), text) == all.end()) all.push_back(text);
      }
    }
    return minds ? fmt::format("{}", fmt::join(all, " && ")) : "";
  }
  // Whether a condition holds somewhere on the block's piece.
  std::string possible(const Condition& condition) const {
    return code_possible(condition, page_.names, [&](WireId wire, bool last) {
      const auto& part = page_.shared[wire.index];
      return last ? fmt::format("({} - 1)", part.end) : part.begin;
    });
  }

  void plain(const For& loop, const std::string& begin, const WirePiece& around) {
    arrive();
    out_.open(
        fmt::format("for (int {0} = {1}; {0} < {2}; {0} += {3})", begin, around.begin, around.end, loop.split.size));
    declare_end(loop, begin, around);
    if (!loop.needs.empty()) out_.line(fmt::format("if (!({})) continue;", needed(loop)));
    body(loop, begin, around);
    out_.close();
  }

  // The tiles of a piece are copied while the one before is computed, into the other half of their room.
  void pipelined(const For& loop, const std::string& begin, const WirePiece& around, bool outermost) {
    const auto tiles = tiles_of(loop.body);
    const auto load = page_.pool.fresh("load_" + begin), slot = page_.pool.fresh("slot"),
               next = page_.pool.fresh(begin + "_next");
    const auto advance = loop.needs.empty() ? "" : skip(loop, begin, around);
    out_.open(fmt::format("const auto {} = [&](int {}, int {})", load, begin, slot));
    declare_end(loop, begin, around);
    for (const auto id : tiles) copy(id, half(id, slot));
    out_.close("};");
    if (!outermost) out_.line("__syncthreads();");
    const auto first = advance.empty() ? around.begin : fmt::format("{}({})", advance, around.begin);
    out_.line(fmt::format("int {} = {};", begin, first));
    out_.line(fmt::format("if ({} < {}) {}({}, 0);", begin, around.end, load, begin));
    out_.line("napkin_copy_commit();");
    out_.open(fmt::format("for (int {0} = 0; {1} < {2}; {0} ^= 1)", slot, begin, around.end));
    declare_end(loop, begin, around);
    const auto after = fmt::format("{} + {}", begin, loop.split.size);
    out_.line(fmt::format("const int {} = {};", next, advance.empty() ? after : fmt::format("{}({})", advance, after)));
    out_.line("napkin_copy_wait<0>();");
    out_.line("__syncthreads();");
    out_.line(fmt::format("if ({} < {}) {}({}, {} ^ 1);", next, around.end, load, next, slot));
    out_.line("napkin_copy_commit();");
    on_their_way_ = false;
    for (const auto id : tiles)
      out_.line(fmt::format("const {}* const {} = {};", page_.storage(nest_.at(id).array), tile_pointer(page_, id),
                            half(id, slot)));
    body(loop, begin, around);
    out_.line(fmt::format("{} = {};", begin, next));
    out_.close();
  }
  std::string half(BufferId id, const std::string& slot) const {
    const auto& tile = warps_.tiles.at(id);
    const auto step = (tile.layout.size_bytes() + 127) / 128 * 128 / tile.layout.bytes;
    return fmt::format("{} + {} * {}", page_.buffer(id), slot, step);
  }
  // The first piece from here on that a mask lets count.
  std::string skip(const For& loop, const std::string& begin, const WirePiece& around) {
    const auto name = page_.pool.fresh("needed_" + begin);
    out_.open(fmt::format("const auto {} = [&](int {})", name, begin));
    out_.open(fmt::format("for (; {0} < {1}; {0} += {2})", begin, around.end, loop.split.size));
    declare_end(loop, begin, around);
    out_.line(fmt::format("if ({}) break;", needed(loop)));
    out_.close();
    out_.line(fmt::format("return {};", begin));
    out_.close("};");
    return name;
  }

  Page page_;
  Lines& out_;
  const WarpNest& warps_;
  const LoopNest& nest_;
  GroupPrinter groups_;
  FragmentPrinter columns_;
  bool on_their_way_ = false;
};

}  // namespace

ThreadedKernel warp_launch(const WarpNest& warps, const Hardware& hardware) {
  ThreadedKernel launch;
  launch.nest = *warps.nest;
  launch.hardware = hardware;
  launch.block_level = warps.block_level;
  launch.threads = warps.warps * 32;
  launch.shared_bytes = warps.shared_bytes;
  return launch;
}

CudaKernel warp_kernel(const ThreadedKernel& launch, const WarpNest& warps, const CodeNames& names,
                       const std::string& name) {
  return WarpPrinter(launch, warps, names).run(name);
}

}  // namespace napkin
