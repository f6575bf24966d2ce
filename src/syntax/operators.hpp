// The signs of expressions and how strongly they bind: for reading and for printing. Agrees with the table of
// functions, which a test checks.
#pragma once

#include <array>
#include <string_view>

namespace napkin {

struct Operator {
  std::string_view sign;
  int precedence;
};
inline constexpr std::array binary_operators = {
    Operator{"or", 1}, Operator{"and", 2}, Operator{"<", 4},  Operator{"<=", 4}, Operator{">", 4},
    Operator{">=", 4}, Operator{"==", 4},  Operator{"!=", 4}, Operator{"+", 5},  Operator{"-", 5},
    Operator{"*", 6},  Operator{"/", 6},   Operator{"^", 8}};
inline constexpr std::array prefix_operators = {Operator{"not", 3}, Operator{"-", 7}};
inline constexpr int comparison_precedence = 4;  // does not chain
inline constexpr int power_precedence = 8;       // chains to the right
inline constexpr int call_precedence = 9;

// Its precedence, or 0 for what is no operator.
template <class Table>
constexpr int precedence(const Table& table, std::string_view sign) {
  for (const auto& row : table)
    if (row.sign == sign) return row.precedence;
  return 0;
}

}  // namespace napkin
