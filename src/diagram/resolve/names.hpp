// The meaning of names in a file. Axes, arrays and the file's own defs share one namespace; the prelude's defs are
// looked up after it and may be shadowed.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "napkin/diagram.hpp"
#include "napkin/syntax.hpp"

namespace napkin {

enum class Kind : std::uint8_t { number, condition, any };  // `any`: a parameter, unknown before the call

enum class DefState : std::uint8_t { unchecked, checking, good, bad };

struct SpreadDef;
struct DefEntry {
  const ast::Def* def = nullptr;
  bool prelude = false;
  DefState state = DefState::unchecked;
  Kind kind = Kind::any;                                        // the kind of its value
  std::map<std::size_t, std::shared_ptr<SpreadDef>> over = {};  // by number of axes, if called over several
};
struct SpreadDef {
  ast::Def def;
  DefEntry entry;
};

struct ArrayEntry {
  ArrayId id;
  bool ready = false;  // an input, or an array whose statement is already resolved
  bool bad = false;    // its declaration has an error, so its accesses are not checked
};

struct Names {
  std::map<std::string, AxisId, std::less<>> axes;
  std::map<std::string, ArrayEntry, std::less<>> arrays;
  std::map<std::string, DefEntry, std::less<>> defs, prelude;
  std::set<std::string, std::less<>> broken;  // declared with an error: not reported again

  DefEntry* find_def(std::string_view name, bool from_prelude);  // a def of the prelude cannot use defs of the file
  std::vector<std::string> axis_names() const;
  std::vector<std::string> array_names() const;
  std::vector<std::string> function_names() const;  // built in, prelude and own
};

// Fills the diagram's axes and arrays (with a wire per dimension: one use of the axis) and returns their names. Unknown
// axes and types, impossible sizes and duplicate names are diagnostics.
Names declare(const ast::File& file, const ast::File& prelude, const Overrides&, Diagram& diagram, Diagnostics&);

// Whether a call of this name is built in: a function, reduction, type or `size`.
bool is_built_in(std::string_view name);

// Adds the nearest known name to a message about an unknown name, or all known names if they are few.
Diagnostic with_suggestion(Diagnostic, const std::string& name, const std::vector<std::string>& known,
                           std::string_view what);
// The diagnostic for an unknown axis: E0201, with the nearest name.
Diagnostic unknown_axis(const ast::Name&, const std::vector<std::string>& known);
// An array as it is read, with the names of its own axes: `S[q, x]`.
std::string text_of(const Diagram&, const Array&);
// Reports a type that only inputs may have, where numbers would have to be rounded to it: E0221.
void refuse_rounding(Datatype, Span, Diagnostics&);
// Reports a name that occurs twice in one list of axes: E0220.
void check_distinct(const std::vector<ast::Name>&, Diagnostics&);

// The declarations of one kind, in order.
template <class T>
std::vector<const T*> all(const ast::File& file) {
  std::vector<const T*> found;
  for (const auto& declaration : file.declarations)
    if (const auto* node = std::get_if<T>(&declaration.node)) found.push_back(node);
  return found;
}

}  // namespace napkin
