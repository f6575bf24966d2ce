// The names of arrays and wires, where they are written.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "scene/pens.hpp"

namespace napkin::scene {

// What earlier rows have already said.
struct Said {
  std::set<WireId> sizes;
  std::set<std::string> ids;
  std::set<std::size_t> loaded, saved;       // values of the kernel at hand
  std::map<std::size_t, std::string> parts;  // what values inside its statements are called
};

constexpr double name_rise = 16;  // of an array's name above its first wire

class Names {
 public:
  Names(const Inks& inks, Said& said, std::vector<Mark>& marks) : inks_(inks), said_(said), marks_(marks) {}

  // Each writes at `x` and gives where the words end. `next` is the first function that may read the value.
  double wire(const Lane&, double x, std::size_t next, std::optional<std::size_t> level);
  double size(const Lane&, double x, const std::string& size, std::optional<std::size_t> level);
  // Above the first wire of an array; inside a statement there is nothing to write.
  double array(const Lane& first, double x, std::optional<std::size_t> level);
  // There too, what is inside a statement and goes on in another row: "part of S".
  double part(const Lane& first, double x, std::optional<std::size_t> level);

  // "s_x 64": what of the wire is at hand at a level. Where it is read as another wire, the piece is that one's.
  std::string piece(const Lane&, std::size_t next, std::size_t level) const;
  // The function that reads the value next.
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
