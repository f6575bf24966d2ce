// Names and types of the arrays that are added.
#include "grad/backward.hpp"

#include <algorithm>

#include "napkin/functions.hpp"

namespace napkin::grad {

bool Backward::is_free(const std::string& name) const {
  return !names.contains(name) && !find_pointwise(name) && !find_reduction(name) && !find_datatype(name) &&
         name != "size" && name != "inf";
}

std::string Backward::unused(const std::string& wanted) {
  auto name = wanted;
  for (int i = 2; !is_free(name); ++i) name = wanted + std::to_string(i);
  names.insert(name);
  return name;
}

ArrayId Backward::array(const std::string& called, Datatype type, const std::vector<WireId>& wires) {
  Array one;
  one.name = called;
  one.type = type;
  one.wires = wires;
  diagram.arrays.push_back(std::move(one));
  return {static_cast<std::uint32_t>(diagram.arrays.size() - 1)};
}

const Statement* Backward::statement(ArrayId array) const {
  const auto found = std::ranges::find(forward, array, &Statement::output);
  return found == forward.end() ? nullptr : &*found;
}

std::string in_axes(const Diagram& diagram, ExprId id) {
  auto named = diagram;
  for (auto& wire : named.wires) wire.name = named.at(wire.axis).name;
  return to_short_text(named, id);
}

Datatype gradient_type(Datatype type) {
  switch (type) {
    case Datatype::f8e4m3:
    case Datatype::f8e5m2:
    case Datatype::f4e2m1:
    case Datatype::i8:
    case Datatype::i4:
      return Datatype::f16;
    case Datatype::f8e8m0:
    case Datatype::i32:
    case Datatype::boolean:
      return Datatype::f32;
    case Datatype::f64:
    case Datatype::f32:
    case Datatype::f16:
    case Datatype::bf16:
    case Datatype::tf32:
      break;
  }
  return type;
}

namespace {

// Wider types have smaller ranks.
int rank(Datatype type) {
  constexpr Datatype order[] = {Datatype::f64, Datatype::f32, Datatype::tf32, Datatype::bf16, Datatype::f16};
  return static_cast<int>(std::ranges::find(order, type) - std::begin(order));
}

// Whether the file states the array's type.
bool has_type(const Array& array) { return array.typed != nowhere && array.typed.begin != array.typed.end; }

}  // namespace

void set_types(Backward& all, const std::map<ArrayId, ArrayId>& gradient_of) {
  auto& diagram = all.diagram;
  std::map<ArrayId, Datatype> widest;  // the widest type of the gradients computed from an array
  const auto receive = [&](ArrayId array, Datatype type) {
    const auto [found, first] = widest.try_emplace(array, type);
    if (rank(type) < rank(found->second)) found->second = type;
  };
  for (auto at = all.made.rbegin(); at != all.made.rend(); ++at) {
    auto& array = diagram.at(at->output);
    const auto of = gradient_of.find(at->output);
    const bool gradient = of != gradient_of.end();
    const bool result = std::ranges::find(all.results, at->output) != all.results.end();
    const bool stated = gradient && has_type(diagram.at(of->second));
    const auto made_of_it = widest.contains(at->output) ? widest.at(at->output) : array.type;
    const bool passes = gradient || all.between.contains(at->output);  // other arrays are always f32
    if (passes && !result && !stated) array.type = made_of_it;
    for (const auto read : arrays_read(diagram, at->value)) receive(read, passes ? array.type : made_of_it);
  }
}

}  // namespace napkin::grad
