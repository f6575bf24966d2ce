// Reading a tree by tables: a map is a list of fields, each a key and what to do with its value. From one such list
// come the checks for unknown and missing keys and the near-miss suggestions.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "hardware/quantity.hpp"

namespace napkin::profile {

using Read = std::function<void(const Node&, const std::string& path)>;

struct Field {
  std::string_view key;
  Read read;
  bool required = false;
};

// The numbers that a field allows, beyond being finite.
enum class Range : std::uint8_t { positive, not_negative, whole, fraction };

class Reader {
 public:
  Reader(Hardware& hardware, Diagnostics& diagnostics) : hardware_(hardware), diagnostics_(diagnostics) {}

  // Reads a map whose keys are known. `what` says in messages what the map is: "a level".
  void fields(const Node&, const std::string& path, std::string_view what, const std::vector<Field>&);
  // Reads a map whose keys are names; `each` gets key, key span, value and the value's path.
  using Each = std::function<void(const Entry&, const std::string& path)>;
  void entries(const Node&, const std::string& path, const Each& each);

  Read text(std::string& out);
  Read flag(bool& out);
  Read number(std::optional<Sourced<double>>& out, Dimension, Range = Range::positive);
  Read number(Sourced<double>& out, Dimension, Range = Range::positive);
  Read count(std::int64_t& out);
  Read count(std::optional<std::int64_t>& out);
  Read numbers(std::vector<double>& out, Dimension);  // ascending
  Read rate(std::optional<Rate>& out, Dimension);
  Read rate(Rate& out, Dimension);

  // A word with a source: "m16n8k16 vendor PTX".
  std::optional<Quantity> sourced_word(const Node&, const std::string& path);
  std::optional<Quantity> quantity(const Node&, const std::string& path, Dimension, Range, bool list = false);
  // Adds a number that the loader itself derived from another.
  void record(const std::string& path, Dimension, const Sourced<double>&, const Figure& from);

  // `word` is none of `names`: says so at `span`, with the nearest name.
  void unknown(std::string_view code, std::string_view kind, const std::string& word, Span,
               const std::vector<std::string>& names);
  void error(Diagnostic diagnostic) { diagnostics_.add(std::move(diagnostic)); }
  Hardware& hardware() { return hardware_; }

 private:
  bool is_map(const Node&, const std::string& path);
  bool is_text(const Node&, const std::string& path);
  bool in_range(const Quantity&, const std::string& path, Range);

  Hardware& hardware_;
  Diagnostics& diagnostics_;
};

Sourced<double> sourced(const Quantity&);
// The figure at a path, or nothing.
const Figure* find_figure(const Hardware&, const std::string& path);

}  // namespace napkin::profile
