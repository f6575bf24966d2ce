// Every number that is read leaves a figure behind, in file order: what is printed is what was read.
#include "hardware/reader.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "hardware/check.hpp"
#include "hardware/units.hpp"

namespace napkin::profile {
namespace {

constexpr double largest_count = 1e9;   // keeps products of counts within 64 bits
constexpr std::size_t most_names = 16;  // listed where no name is near

std::string join(const std::string& path, std::string_view key) {
  return path.empty() ? std::string(key) : fmt::format("{}.{}", path, key);
}

struct RangeRow {
  std::string_view words;
  bool (*holds)(double);
};
const RangeRow& row(Range range) {
  static constexpr std::array rows{
      RangeRow{"above zero", [](double value) { return value > 0; }},
      RangeRow{"zero or above", [](double value) { return value >= 0; }},
      RangeRow{"a whole number from 1 to 1e9",
               [](double value) { return value >= 1 && value <= largest_count && value == std::floor(value); }},
      RangeRow{"above 0 and at most 1", [](double value) { return value > 0 && value <= 1; }},
  };
  return rows.at(static_cast<std::size_t>(range));
}

std::string_view describe(Node::Kind kind) {
  static constexpr std::array words{std::string_view("nothing"), std::string_view("a value"),
                                    std::string_view("a list"), std::string_view("a map")};
  return words.at(static_cast<std::size_t>(kind));
}

Diagnostic wrong_kind(const Node& node, const std::string& path, std::string_view wanted) {
  return problem("E0407",
                 path.empty() ? fmt::format("a profile is {}, not {}", wanted, describe(node.kind))
                              : fmt::format("`{}` takes {}, not {}", path, wanted, describe(node.kind)),
                 node.span);
}

}  // namespace

Sourced<double> sourced(const Quantity& quantity) {
  return {quantity.values.empty() ? 0 : quantity.values[0], quantity.origin,
          fmt::format("{}", fmt::join(quantity.sources, ", ")), quantity.how};
}

const Figure* find_figure(const Hardware& hardware, const std::string& path) {
  for (const Figure& figure : hardware.figures)
    if (figure.path == path) return &figure;
  return nullptr;
}

void Reader::fields(const Node& node, const std::string& path, std::string_view what, const std::vector<Field>& known) {
  if (!is_map(node, path)) return;
  std::vector<std::string> names;
  for (const Field& field : known) names.emplace_back(field.key);
  for (const Entry& entry : node.entries) {
    const auto field = std::find_if(known.begin(), known.end(), [&](const Field& one) { return one.key == entry.key; });
    if (field == known.end())
      unknown("E0405", fmt::format("key of {}", what), entry.key, entry.key_span, names);
    else
      field->read(entry.value, join(path, entry.key));
  }
  for (const Field& field : known)
    if (field.required && node.find(field.key) == nullptr)
      error(problem("E0406", fmt::format("{} needs the key `{}`", what, field.key), node.span));
}

void Reader::entries(const Node& node, const std::string& path, const Each& each) {
  if (!is_map(node, path)) return;
  for (const Entry& entry : node.entries) each(entry, join(path, entry.key));
}

Read Reader::text(std::string& out) {
  return [this, &out](const Node& node, const std::string& path) {
    if (is_text(node, path)) out = node.text;
  };
}

Read Reader::flag(bool& out) {
  return [this, &out](const Node& node, const std::string& path) {
    if (!is_text(node, path)) return;
    out = node.text == "true";
    if (!out && node.text != "false")
      error(problem("E0407", fmt::format("`{}` is true or false, not `{}`", path, node.text), node.span));
  };
}

Read Reader::number(std::optional<Sourced<double>>& out, Dimension dimension, Range range) {
  return [this, &out, dimension, range](const Node& node, const std::string& path) {
    if (const auto read = quantity(node, path, dimension, range)) out = sourced(*read);
  };
}

Read Reader::number(Sourced<double>& out, Dimension dimension, Range range) {
  return [this, &out, dimension, range](const Node& node, const std::string& path) {
    if (const auto read = quantity(node, path, dimension, range)) out = sourced(*read);
  };
}

Read Reader::count(std::int64_t& out) {
  return [this, &out](const Node& node, const std::string& path) {
    if (const auto read = quantity(node, path, Dimension::count, Range::whole))
      out = static_cast<std::int64_t>(read->values[0]);
  };
}

Read Reader::count(std::optional<std::int64_t>& out) {
  return [this, &out](const Node& node, const std::string& path) {
    if (const auto read = quantity(node, path, Dimension::count, Range::whole))
      out = static_cast<std::int64_t>(read->values[0]);
  };
}

Read Reader::numbers(std::vector<double>& out, Dimension dimension) {
  return [this, &out, dimension](const Node& node, const std::string& path) {
    const auto read = quantity(node, path, dimension, Range::not_negative, true);
    if (!read) return;
    out = read->values;
    if (std::adjacent_find(out.begin(), out.end(), std::greater_equal<>()) != out.end())
      error(problem("E0412", fmt::format("the numbers of `{}` do not ascend", path), read->span));
  };
}

Read Reader::rate(Rate& out, Dimension dimension) {
  return [this, &out, dimension](const Node& node, const std::string& path) {
    if (node.kind != Node::Kind::map) return number(out.datasheet, dimension)(node, path);
    std::optional<Sourced<double>> fraction;
    fields(node, path, "a rate",
           {{"datasheet", number(out.datasheet, dimension)},
            {"sustained", number(out.sustained, dimension)},
            {"sustained_fraction", number(fraction, Dimension::fraction, Range::fraction)}});
    if (node.entries.empty()) error(problem("E0406", fmt::format("`{}` has no number", path), node.span));
    check_sustained(out, path + ".sustained", *this);
    if (fraction) sustain(out, *fraction, path + ".sustained_fraction", *this);
  };
}

Read Reader::rate(std::optional<Rate>& out, Dimension dimension) {
  return [this, &out, dimension](const Node& node, const std::string& path) {
    rate(out.emplace(), dimension)(node, path);
  };
}

std::optional<Quantity> Reader::sourced_word(const Node& node, const std::string& path) {
  if (!is_text(node, path)) return std::nullopt;
  std::optional<Quantity> read = read_sourced_word(node, {.path = path, .sources = &hardware_.sources}, diagnostics_);
  if (read)
    hardware_.figures.push_back({path, read->written, 0, "shape", read->origin, read->sources, read->how, read->span});
  return read;
}

std::optional<Quantity> Reader::quantity(const Node& node, const std::string& path, Dimension dimension, Range range,
                                         bool list) {
  if (!is_text(node, path)) return std::nullopt;
  std::optional<Quantity> read = read_quantity(
      node, {.path = path, .dimension = dimension, .list = list, .sources = &hardware_.sources}, diagnostics_);
  if (!read || !in_range(*read, path, range)) return std::nullopt;
  hardware_.figures.push_back({path, read->written, read->values[0], std::string(row(dimension).si), read->origin,
                               read->sources, read->how, read->span});
  return read;
}

void Reader::record(const std::string& path, Dimension dimension, const Sourced<double>& value, const Figure& from) {
  hardware_.figures.push_back({path, in_words(value.value, dimension), value.value, std::string(row(dimension).si),
                               value.origin, from.sources, value.how, from.span});
}

void Reader::unknown(std::string_view code, std::string_view kind, const std::string& word, Span span,
                     const std::vector<std::string>& names) {
  std::string help = did_you_mean(word, names);
  if (help.empty() && !names.empty() && names.size() <= most_names)
    help = fmt::format("known here: {}", fmt::join(names, ", "));
  error(problem(code, fmt::format("`{}` is no {}", word, kind), span, std::move(help)));
}

bool Reader::is_map(const Node& node, const std::string& path) {
  if (node.kind != Node::Kind::map) error(wrong_kind(node, path, "a map"));
  return node.kind == Node::Kind::map;
}

bool Reader::is_text(const Node& node, const std::string& path) {
  if (node.kind != Node::Kind::text) error(wrong_kind(node, path, "a value"));
  return node.kind == Node::Kind::text;
}

bool Reader::in_range(const Quantity& quantity, const std::string& path, Range range) {
  if (std::all_of(quantity.values.begin(), quantity.values.end(), row(range).holds)) return true;
  error(problem("E0412", fmt::format("`{}` cannot be {}", path, quantity.written), quantity.span,
                fmt::format("it is {}", row(range).words)));
  return false;
}

}  // namespace napkin::profile
