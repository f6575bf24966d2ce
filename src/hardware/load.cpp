// The schema: one function per kind of map, each a table of its keys. docs/profiles.md says the same in words.
//
// Nothing is guessed: a key that a machine lacks leaves its field empty, and the stages above live without it.
#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>

#include "hardware/check.hpp"
#include "hardware/compute.hpp"
#include "hardware/reader.hpp"
#include "hardware/settings.hpp"
#include "napkin/hardware.hpp"

namespace napkin {
namespace profile {
namespace {

constexpr double most_children = 1e15;

void read_level(Reader& reader, Level& level, const Node& node, const std::string& path) {
  const Node* in_values = node.find("in_values") == nullptr ? nullptr : &node.find("in_values")->value;
  const Dimension size = in_values != nullptr && in_values->text == "true" ? Dimension::values : Dimension::bytes;
  reader.fields(node, path, "a level",
                {{"unit", reader.text(level.unit), true},
                 {"count", reader.count(level.count)},
                 {"shared", reader.flag(level.shared)},
                 {"together", reader.flag(level.together)},
                 {"in_values", reader.flag(level.in_values)},
                 {"capacity", reader.number(level.capacity, size)},
                 {"usable", reader.number(level.usable, size)},
                 {"max_groups", reader.count(level.max_groups)},
                 {"bandwidth", reader.rate(level.bandwidth, Dimension::bandwidth)},
                 {"granularity", reader.number(level.granularity, Dimension::bytes)},
                 {"sector", reader.number(level.sector, Dimension::bytes)},
                 {"in_flight", reader.number(level.in_flight, Dimension::bytes)},
                 {"latency", reader.number(level.latency_clocks, Dimension::clocks)},
                 {"energy", reader.number(level.energy_per_byte, Dimension::energy_per_byte)}});
}

// Products of counts stay exact in every number that is made of them.
void check_count(Reader& reader, const Node& node) {
  double children = 1;
  for (const Level& level : reader.hardware().levels) children *= static_cast<double>(level.count);
  if (children <= most_children) return;
  reader.error(problem("E0412", fmt::format("the counts of the levels make {:.3g} children", children), node.span,
                       fmt::format("at most {:.0e} are counted", most_children)));
  for (Level& level : reader.hardware().levels) level.count = 1;
}

void read_levels(Reader& reader, const Node& node, const std::string& path) {
  reader.entries(node, path, [&](const Entry& entry, const std::string& at) {
    Level level;
    level.name = entry.key;
    read_level(reader, level, entry.value, at);
    reader.hardware().levels.push_back(std::move(level));
  });
  check_count(reader, node);
  if (reader.hardware().levels.size() < 2)
    reader.error(problem("E0406", "a machine has at least two levels", node.span,
                         "the first has all arrays, and kernels move pieces of them to those below"));
}

// A name of a level, where another key refers to one.
std::optional<std::size_t> level_named(Reader& reader, const std::string& word, Span span) {
  const std::optional<std::size_t> found = reader.hardware().level(word);
  std::vector<std::string> names;
  for (const Level& level : reader.hardware().levels) names.push_back(level.name);
  if (!found) reader.unknown("E0416", "level of this machine", word, span, names);
  return found;
}

void read_caches(Reader& reader, const Node& node, const std::string& path) {
  reader.entries(node, path, [&](const Entry& entry, const std::string& at) {
    Cache cache;
    cache.name = entry.key;
    const auto below = [&](const Node& value, const std::string& where) {
      reader.text(cache.below)(value, where);
      if (value.kind == Node::Kind::text) level_named(reader, cache.below, value.span);
    };
    reader.fields(
        entry.value, at, "a cache",
        {{"below", below, true},
         {"capacity", reader.number(cache.capacity, Dimension::bytes), true},
         {"partitions", reader.count(cache.partitions)},
         {"effective_fraction", reader.number(cache.effective_fraction, Dimension::fraction, Range::fraction)},
         {"bandwidth", reader.rate(cache.bandwidth, Dimension::bandwidth)},
         {"latency", reader.number(cache.latency_clocks, Dimension::clocks)},
         {"far_latency", reader.number(cache.far_latency_clocks, Dimension::clocks)},
         {"energy", reader.number(cache.energy_per_byte, Dimension::energy_per_byte)}});
    reader.hardware().caches.push_back(std::move(cache));
  });
}

void read_siblings(Reader& reader, const Node& node, const std::string& path) {
  reader.entries(node, path, [&](const Entry& entry, const std::string& at) {
    Sibling sibling;
    sibling.level = entry.key;
    level_named(reader, entry.key, entry.key_span);
    const auto by_number = [&](std::map<std::int64_t, Rate>& rates) {
      return [&](const Node& value, const std::string& where) {
        reader.entries(value, where, [&](const Entry& one, const std::string& there) {
          const std::optional<std::int64_t> siblings = whole_number(one.key);
          if (!siblings || *siblings < 2)
            return reader.error(problem("E0408", fmt::format("`{}` is no number of siblings", one.key), one.key_span,
                                        "write how many share their memory, 2 or more"));
          reader.rate(rates[*siblings], Dimension::bandwidth)(one.value, there);
        });
      };
    };
    reader.fields(entry.value, at, "a group of siblings",
                  {{"bandwidth", by_number(sibling.bandwidth), true},
                   {"multicast", by_number(sibling.multicast)},
                   {"latency", reader.number(sibling.latency_clocks, Dimension::clocks)},
                   {"largest", reader.count(sibling.largest)}});
    reader.hardware().siblings.push_back(std::move(sibling));
  });
}

void read_limits(Reader& reader, const Node& node, const std::string& path) {
  Limits& limits = reader.hardware().limits;
  const auto whole = [&](std::optional<Sourced<double>>& out) {
    return reader.number(out, Dimension::count, Range::whole);
  };
  const auto bytes = [&](std::optional<Sourced<double>>& out) {
    return reader.number(out, Dimension::bytes, Range::not_negative);
  };
  reader.fields(node, path, "limits",
                {{"warps_per_sm", whole(limits.warps_per_sm)},
                 {"blocks_per_sm", whole(limits.blocks_per_sm)},
                 {"threads_per_sm", whole(limits.threads_per_sm)},
                 {"threads_per_block", whole(limits.threads_per_block)},
                 {"threads_per_warp", whole(limits.threads_per_warp)},
                 {"registers_per_sm", whole(limits.registers_per_sm)},
                 {"registers_per_thread", whole(limits.registers_per_thread)},
                 {"register_allocation_unit", whole(limits.register_allocation_unit)},
                 {"register_partitions", whole(limits.register_partitions)},
                 {"shared_allocation_unit", bytes(limits.shared_allocation_unit)},
                 {"reserved_shared_per_block", bytes(limits.reserved_shared_per_block)},
                 {"shared_without_opt_in", bytes(limits.shared_without_opt_in)},
                 {"shared_carve_outs", reader.numbers(limits.shared_carve_outs, Dimension::bytes)},
                 {"tensor_memory_per_sm", bytes(limits.tensor_memory_per_sm)},
                 {"barrier_slots_per_sm", whole(limits.barrier_slots_per_sm)},
                 {"launch", reader.number(limits.launch_seconds, Dimension::time)},
                 {"graph_launch", reader.number(limits.graph_launch_seconds, Dimension::time)},
                 {"registers_for_addresses",
                  reader.number(limits.registers_for_addresses, Dimension::count, Range::not_negative)},
                 {"unhidden", reader.number(limits.unhidden, Dimension::fraction, Range::not_negative)},
                 {"masked_end", reader.number(limits.masked_end, Dimension::count, Range::not_negative)}});
}

Read names(Reader& reader, std::map<std::string, std::string>& out) {
  return [&reader, &out](const Node& node, const std::string& path) {
    reader.entries(node, path,
                   [&](const Entry& entry, const std::string& at) { reader.text(out[entry.key])(entry.value, at); });
  };
}

// Sources and levels are read before what refers to them, wherever they stand in the file.
void read_profile(Reader& reader, const Node& root) {
  Hardware& hardware = reader.hardware();
  const auto done = [](const Node&, const std::string&) {};
  if (const Entry* sources = root.find("sources")) names(reader, hardware.sources)(sources->value, "sources");
  if (const Entry* levels = root.find("levels")) read_levels(reader, levels->value, "levels");
  if (const Entry* core = root.find("core")) {
    std::string word;
    reader.text(word)(core->value, "core");
    if (!word.empty()) hardware.core = level_named(reader, word, core->value.span);
  }
  reader.fields(root, "", "a profile",
                {{"name", reader.text(hardware.name), true},
                 {"description", reader.text(hardware.description), true},
                 {"aliases", reader.text(hardware.aliases)},
                 {"cuda_architecture", reader.text(hardware.cuda_architecture)},
                 {"parameters", names(reader, hardware.parameters)},
                 {"levels", done, true},
                 {"core", done},
                 {"compute", [&](const Node& node, const std::string& path) { read_compute(reader, node, path); }},
                 {"caches", [&](const Node& node, const std::string& path) { read_caches(reader, node, path); }},
                 {"siblings", [&](const Node& node, const std::string& path) { read_siblings(reader, node, path); }},
                 {"limits", [&](const Node& node, const std::string& path) { read_limits(reader, node, path); }},
                 {"idle_power", reader.number(hardware.idle_watts, Dimension::power)},
                 {"power_limit", reader.number(hardware.power_limit_watts, Dimension::power)},
                 {"sources", done, true}});
  for (const ComputeUnit& unit : hardware.compute)
    if (!unit.per_clock.empty() && root.find("core") == nullptr)
      reader.error(problem("E0406", "a profile with rates per clock needs the key `core`",
                           root.find("compute")->key_span, "name the level that has one child for each core"));
}

}  // namespace
}  // namespace profile

Hardware load_hardware(Sources& sources, std::uint32_t file,
                       const std::vector<std::pair<std::string, std::string>>& settings, Diagnostics& diagnostics) {
  Hardware hardware;
  std::optional<profile::Node> root = profile::read_yaml(sources, file, diagnostics);
  if (!root) return hardware;
  root->span = {file, 0, 0};
  profile::apply(settings, *root, sources, diagnostics);
  profile::Reader reader(hardware, diagnostics);
  profile::check_texts(reader, *root);
  profile::read_profile(reader, *root);
  profile::check_levels(reader);
  return hardware;
}

}  // namespace napkin
