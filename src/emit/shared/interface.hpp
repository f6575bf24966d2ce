// What the files of one plan say to their callers, in any language: names, parameters, sizes that the kernels hold
// for, and the arrays that kernels pass to each other.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "diagram/assume.hpp"
#include "emit/shared/names.hpp"
#include "emit/shared/text.hpp"
#include "emit/shared/types.hpp"
#include "napkin/partition.hpp"

namespace napkin {

struct CodePlan {
  Language language;
  const Diagram& diagram;
  CodeNames names;
  std::vector<ArrayId> between;           // written by one kernel and read by a later one, never given out
  std::string labels;                     // the plan in words
  std::map<AxisId, std::int64_t> limits;  // longest axes that the text holds for
  std::vector<Parts> divided{};           // axes in parts, whose sizes no caller gives
  std::vector<RaggedBlocks> ragged{};     // and axes in blocks, of which the last is shorter
  std::vector<Parts> shorter{};           // those whose last part may be shorter than the others

  bool has_parts() const { return !divided.empty() || !ragged.empty(); }
  // By the axis that lies inside of a part.
  const Parts* ends_early(AxisId inside) const;
};
CodePlan code_plan(Language, const Diagram&, const Plan&, const Hardware&);
// The least of each.
void add_limits(CodePlan&, const std::map<AxisId, std::int64_t>&);

bool reads_size(const Diagram&, ExprId, AxisId);  // anywhere in the expression
bool is_between(const CodePlan&, ArrayId);

std::string joined(const std::vector<std::string>&, const std::string& between);
// The axes that callers give sizes of, each name behind a prefix: all but those along and inside of parts.
std::vector<AxisId> given_axes(const CodePlan&);
std::vector<std::string> given_names(const CodePlan&, const std::string& prefix = "");
std::string size_parameters(const CodePlan&);                // "int q, int x"
std::string array_parameters(const CodePlan&);               // ", const void* Q, void* O"
std::string workspace_head(const CodePlan&);                 // "size_t NAME_workspace_size(int q, int x)"
std::string value_count(const CodePlan&, ArrayId);           // "(size_t)1 * n.q * n.d"
std::string_view storage(const CodePlan&, ArrayId);          // "__half"
std::string argument(const CodePlan&, ArrayId, bool reads);  // a void pointer as a typed one

// The header's beginning, which says what is printed and what arrays are, and its end.
void open_header(const CodePlan&, const std::string& kernels, const std::string& arrays, Lines&);
void close_header(Lines&);
// Of the header: what every parameter is.
void describe_parameters(const CodePlan&, Lines&);
// Of arrays whose numbers share bytes, how they do; the end of the comment.
void describe_packed(const CodePlan&, Lines&);
void define_sizes(const CodePlan&, Lines&);  // struct NAME_sizes
// The sizes `n` of all axes, from those that are given: in several parts where those are as long as planned, else one.
void declare_all_sizes(const CodePlan&, Lines&);
void compute_parts(const CodePlan&, Lines&);     // n.x_part and n.x_in_part from n.x, of each divided axis
void define_all_sizes(const CodePlan&, Lines&);  // what declare_all_sizes calls where an axis is divided
void define_possible(const CodePlan&, Lines&);   // whether the kernels hold for such sizes
void define_workspace_size(const CodePlan&, Lines&);
// Names for the arrays in the workspace.
void divide_workspace(const CodePlan&, Lines&);

}  // namespace napkin
