// Words that several reports share: statements, verdicts, columns.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "napkin/report.hpp"
#include "report/document.hpp"

namespace napkin::report {

std::string join(const std::vector<std::string>& words, const std::string& between = ", ");
std::string join_and(const std::vector<std::string>& words);  // "S, P and O"

std::vector<std::string> statement_names(const Derivation&);
std::vector<std::string> array_names(const Diagram&, const std::vector<ArrayId>&);
std::string wire_name(const Derivation&, WireId);

bool groups(const Verdict&);
const Streamable* streams(const Verdict&);
std::string refusal(const Refused&);            // the reason, and what would remove it
std::string_view combine_name(const Carried&);  // "max", or "mean"
std::string state(const Streamable&);           // "m (max), l (sum)"
std::string rules(const Streamable&);           // "S3 S5 S6"

// A program as assignments, `l = r * l + sum[x](p)`.
std::vector<std::string> program_lines(const Diagram& scratch, const std::vector<Column>&);

// "smem: 12 KiB over; most of it is K"
std::string overrun_text(const Hardware&, const Overrun&);

// "tensor"; for a level, "transfers from l2 to smem".
std::string bound_text(const std::string& by, const std::string& from);

// The axis of one of several pieces, each with an `axis` and a `kind`: "loop n" for the stream of an axis that groups
// cut too.
template <class Pieces, class Piece>
std::string piece_words(const Pieces& all, const Piece& one) {
  const auto is_group = [&](const Piece& other) { return other.axis == one.axis && other.kind == SplitKind::group; };
  return (one.kind == SplitKind::stream && std::ranges::any_of(all, is_group) ? "loop " : "") + one.axis;
}

// The verdicts of the statements, one or more rows per wire.
Table verdict_table(const Derivation&, bool with_programs);

}  // namespace napkin::report
