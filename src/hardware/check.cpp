// Every complaint points at the number that is out of line, and at the one it is out of line with.
#include "hardware/check.hpp"

#include <fmt/format.h>

#include <cmath>

#include "hardware/units.hpp"

namespace napkin::profile {
namespace {

constexpr double tolerance = 0.01;  // vendors round

std::string room_path(const Level& level) {
  return fmt::format("levels.{}.{}", level.name, level.usable ? "usable" : "capacity");
}

std::string capacity_path(const Level& level) { return fmt::format("levels.{}.capacity", level.name); }

Span span_of(Reader& reader, const std::string& path) {
  const Figure* figure = find_figure(reader.hardware(), path);
  return figure == nullptr ? Span{} : figure->span;
}

// A capacity set on the command line lowers what one group may use of it.
bool clamp_to_given(Reader& reader, Level& level) {
  if (level.capacity->origin != Origin::given || level.usable->origin == Origin::given) return false;
  level.usable = level.capacity;
  for (Figure& figure : reader.hardware().figures)
    if (figure.path == room_path(level))
      figure = {figure.path,
                find_figure(reader.hardware(), capacity_path(level))->written,
                level.usable->value,
                figure.unit,
                Origin::derived,
                {},
                "the capacity that was set",
                figure.span};
  return true;
}

bool usable_fits(Reader& reader, Level& level) {
  if (!level.usable || !level.capacity || level.usable->value <= level.capacity->value) return true;
  if (clamp_to_given(reader, level)) return true;
  reader.error(problem("E0412", fmt::format("one group cannot use more than all of `{}`", level.name),
                       span_of(reader, room_path(level)), "",
                       {{span_of(reader, capacity_path(level)), "the capacity"}}));
  return false;
}

void check_room(Reader& reader, const Level& above, const Level& level) {
  if (above.in_values != level.in_values || !std::isfinite(level.room()) || level.room() <= above.room()) return;
  reader.error(problem("E0413", fmt::format("`{}` has more memory than `{}` above it", level.name, above.name),
                       span_of(reader, room_path(level)), "list the levels from the outermost inwards",
                       {{span_of(reader, room_path(above)), "the level above"}}));
}

std::string bandwidth_path(Reader& reader, const Level& level) {
  const std::string path = fmt::format("levels.{}.bandwidth", level.name);
  for (const char* part : {"", ".datasheet", ".sustained"})
    if (find_figure(reader.hardware(), path + part) != nullptr) return path + part;
  return path;
}

void check_bandwidth(Reader& reader, const Level& above, const Level& level) {
  if (!above.bandwidth || !level.bandwidth || level.bandwidth->peak() >= above.bandwidth->peak()) return;
  reader.error(problem("W0414", fmt::format("`{}` has less bandwidth than `{}` above it", level.name, above.name),
                       span_of(reader, bandwidth_path(reader, level)),
                       "a bandwidth is into all children of the whole machine together",
                       {{span_of(reader, bandwidth_path(reader, above)), "the level above"}}));
}

void check_outermost(Reader& reader, const Level& level) {
  if (level.bandwidth)
    reader.error(problem("E0412", fmt::format("`{}` is the outermost level and has no bandwidth", level.name),
                         span_of(reader, bandwidth_path(reader, level)),
                         "give the bandwidth at the level below, into which the bytes move"));
  if (level.count != 1)
    reader.error(problem("E0412", fmt::format("there is only one `{}`, because it is the outermost level", level.name),
                         span_of(reader, fmt::format("levels.{}.count", level.name)), "add a level above it"));
}

}  // namespace

void check_levels(Reader& reader) {
  std::vector<Level>& levels = reader.hardware().levels;
  if (!levels.empty()) check_outermost(reader, levels.front());
  for (std::size_t i = 0; i < levels.size(); ++i) {
    const bool fits = usable_fits(reader, levels[i]);
    if (i > 0 && fits) check_room(reader, levels[i - 1], levels[i]);
    if (i > 0) check_bandwidth(reader, levels[i - 1], levels[i]);
  }
}

void check_sustained(const Rate& rate, const std::string& path, Reader& reader) {
  if (!rate.datasheet || !rate.sustained || rate.sustained->value <= rate.datasheet->value) return;
  reader.error(problem("E0412", fmt::format("`{}` is above the datasheet rate", path), span_of(reader, path),
                       "a sustained rate is at most the datasheet rate"));
}

void sustain(Rate& rate, const Sourced<double>& fraction, const std::string& path, Reader& reader) {
  if (!rate.datasheet || rate.sustained)
    return reader.error(problem(
        "E0415",
        fmt::format("`{}` is a fraction {}", path, rate.sustained ? "beside a sustained rate" : "of no datasheet rate"),
        span_of(reader, path),
        rate.sustained ? "keep one of them" : "give the datasheet rate, or a sustained rate instead"));
  rate.sustained = fraction;
  rate.sustained->value *= rate.datasheet->value;
}

void check_agreement(const Figure& written, const Sourced<double>& derived, const Figure& from, Reader& reader) {
  if (std::fabs(written.value - derived.value) <= tolerance * derived.value) return;
  reader.error(problem("E0415",
                       fmt::format("`{}` is {}, and {} make {}", written.path, written.written, derived.how,
                                   in_words(derived.value, Dimension::operations)),
                       written.span, "look for a rate with sparsity, another clock, or another count of cores",
                       {{from.span, "from this"}}));
}

}  // namespace napkin::profile
