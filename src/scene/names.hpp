// The names of arrays and wires, and where they are written.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "scene/pens.hpp"

namespace napkin::scene {

// The names that earlier rows have already shown.
struct Said {
  std::set<WireId> sizes;
  std::set<std::string> ids;
  std::set<std::size_t> loaded, saved;       // values of the current kernel
  std::map<std::size_t, std::string> parts;  // the names of values inside its statements
};

constexpr double name_rise = 16;  // the distance of an array's name from its first wire

class Names {
 public:
  Names(const Inks& inks, Said& said, std::vector<Mark>& marks) : inks_(inks), said_(said), marks_(marks) {}

  // Each writes at `x` and returns where the words end. `next` is the first function that may read the value.
  double wire(const Lane&, double x, std::size_t next, std::optional<std::size_t> level);
  double size(const Lane&, double x, const std::string& size, std::optional<std::size_t> level);
  // Writes the name above the first wire of an array; nothing inside a statement.
  double array(const Lane& first, double x, std::optional<std::size_t> level);
  // Writes in the same place, for a value inside a statement that continues in another row: "part of S".
  double part(const Lane& first, double x, std::optional<std::size_t> level);

  // "s_x 64": the piece of the wire at a level. If the wire is read as another wire, it is the piece of that wire.
  std::string piece(const Lane&, std::size_t next, std::size_t level) const;
  // The next function that reads the value.
  const Function* next_reader(std::size_t value, std::size_t from) const;

 private:
  const Value& value(const Lane& lane) const { return inks_.circuit.values[lane.value]; }
  std::string statement_of(std::size_t value) const;
  std::string size_words(const Lane&, std::size_t next, std::optional<std::size_t> level);
  bool woven(const Lane&, std::size_t next) const;
  std::string fresh_id(std::string id);

  const Inks& inks_;
  Said& said_;
  std::vector<Mark>& marks_;
};

}  // namespace napkin::scene
