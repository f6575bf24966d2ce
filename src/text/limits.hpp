// Limits: what a diagram may not exceed, so that nothing below can hang, crash or eat memory. Each is far beyond any
// real file, and each has an error of its own (E06xx).
#pragma once

#include <cstddef>
#include <cstdint>

namespace napkin::limits {

inline constexpr std::size_t errors = 100;  // reported in one run
inline constexpr std::size_t file_bytes = 256 * 1024;
inline constexpr std::size_t name_bytes = 64;
inline constexpr int nesting = 200;            // of an expression as written
inline constexpr std::size_t list_items = 64;  // arguments, indices or axes between two brackets
inline constexpr std::size_t declarations = 2000;
inline constexpr std::size_t axes = 256;
inline constexpr std::size_t statements = 500;
inline constexpr std::size_t array_axes = 16;
inline constexpr int expanded_nesting = 400;                         // of an expression, its defs expanded
inline constexpr std::size_t expanded_terms = 10'000;                // of a diagram, its defs expanded
inline constexpr int def_depth = 64;                                 // calls of defs inside defs
inline constexpr std::int64_t array_values = std::int64_t{1} << 60;  // so that bytes still fit in 63 bits

}  // namespace napkin::limits
