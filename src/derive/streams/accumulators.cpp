// The types in which sums, states and unnamed values are kept; see columns.hpp.
#include <algorithm>
#include <cmath>
#include <initializer_list>

#include "derive/columns.hpp"
#include "diagram/match.hpp"

namespace napkin {

Datatype accumulator(Datatype result) {
  return result == Datatype::f64 || result == Datatype::i32 ? result : Datatype::f32;
}

namespace {

bool is_one_of(Datatype type, std::initializer_list<Datatype> types) { return std::ranges::count(types, type) > 0; }

// Whether an expression is computed from numbers of these types. Operands of comparisons do not count.
bool made_of(const Diagram& diagram, ExprId e, std::initializer_list<Datatype> types) {
  const auto of = [&](ExprId operand) { return made_of(diagram, operand, types); };
  return match(
      diagram.at(e).node, [](const Constant&) { return false; }, [](const Position&) { return false; },
      [](const Size&) { return false; }, [&](const Access& a) { return is_one_of(diagram.at(a.array).type, types); },
      [&](const Apply& a) {
        if (a.function->role == Role::compare || a.function->role == Role::logic) return false;
        return std::ranges::any_of(a.arguments, of);
      },
      [&](const Cast& c) { return is_one_of(c.type, types) || of(c.value); },
      [&](const Reduce& r) { return of(r.body); });
}

bool is_whole(const Diagram& diagram, ExprId e) {
  static constexpr auto whole_types = {Datatype::i8, Datatype::i32, Datatype::boolean};
  const auto all = [&](const std::vector<ExprId>& operands) {
    return std::ranges::all_of(operands, [&](ExprId operand) { return is_whole(diagram, operand); });
  };
  return match(
      diagram.at(e).node, [](const Constant& c) { return c.value == std::floor(c.value); },
      [](const Position&) { return true; }, [](const Size&) { return true; },
      [&](const Access& a) { return is_one_of(diagram.at(a.array).type, whole_types); },
      [&](const Apply& a) {
        switch (a.function->role) {
          case Role::compare:
          case Role::logic:
            return true;
          case Role::choose:
            return all({a.arguments[1], a.arguments[2]});
          case Role::add:
          case Role::subtract:
          case Role::multiply:
          case Role::negate:
          case Role::magnitude:
          case Role::greatest:
          case Role::least:
            return all(a.arguments);
          default:
            return false;
        }
      },
      [&](const Cast& c) { return is_one_of(c.type, whole_types); },
      [&](const Reduce& r) { return is_whole(diagram, r.body); });
}

}  // namespace

Datatype held_as(const Diagram& diagram, ExprId value) {
  return made_of(diagram, value, {Datatype::f64}) ? Datatype::f64 : Datatype::f32;
}

// f32 cannot represent every number of i32.
Datatype accumulator(const Diagram& diagram, Datatype result, ExprId value) {
  const auto wide_types = {Datatype::f64, Datatype::i32};
  if (result == Datatype::i32 && is_whole(diagram, value)) return result;
  const bool wide = is_one_of(result, wide_types) || made_of(diagram, value, wide_types);
  return wide ? Datatype::f64 : Datatype::f32;
}

}  // namespace napkin
