// The interface between the files of one plan and their callers, in any language: names, parameters, the sizes that the
// kernels support, and the arrays that kernels pass to each other.
#pragma once

#include <functional>
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
  std::vector<ArrayId> between;           // arrays that one kernel writes and a later one reads, which are not outputs
  std::string labels;                     // a description of the plan
  std::map<AxisId, std::int64_t> limits;  // the greatest sizes of axes that the text supports
  std::vector<Parts> divided{};           // axes in parts; callers do not pass the sizes of parts
  std::vector<RaggedBlocks> ragged{};     // axes in blocks, the last of which is shorter
  std::vector<Parts> shorter{};           // divided axes whose last part may be shorter than the others

  bool has_parts() const { return !divided.empty() || !ragged.empty(); }
  // Finds an entry of `shorter` by the axis inside of a part.
  const Parts* ends_early(AxisId inside) const;
};
CodePlan code_plan(Language, const Diagram&, const Plan&, const Hardware&);
// Keeps the smaller limit of each axis.
void add_limits(CodePlan&, const std::map<AxisId, std::int64_t>&);

bool reads_size(const Diagram&, ExprId, AxisId);  // anywhere in the expression
bool is_between(const CodePlan&, ArrayId);
std::vector<ArrayId> given_arrays(const CodePlan&);  // the inputs, then the outputs

// The axes whose sizes callers pass, each name after a prefix: all axes except those along and inside of parts.
std::vector<AxisId> given_axes(const CodePlan&);
std::vector<std::string> given_names(const CodePlan&, const std::string& prefix = "");
std::string size_parameters(const CodePlan&);        // "int q, int x"
std::string array_parameters(const CodePlan&);       // ", const void* Q, void* O"
std::string workspace_head(const CodePlan&);         // "size_t NAME_workspace_size(int q, int x)"
std::string value_count(const CodePlan&, ArrayId);   // "(size_t)1 * n.q * n.d"
std::string_view storage(const CodePlan&, ArrayId);  // "__half"
// The arrays as arguments of a kernel after the sizes, cast to their element types: ", A, O".
std::string arguments(const CodePlan&, const std::vector<ArrayId>& inputs, const std::vector<ArrayId>& outputs);
std::string argument(const CodePlan&, ArrayId, bool reads);  // one of them

// The beginning of the header, which describes the kernels and the arrays, and its end.
void open_header(const CodePlan&, const std::string& kernels, const std::string& arrays, Lines&);
void close_header(Lines&);
// Describes every parameter, in the header.
void describe_parameters(const CodePlan&, Lines&);
// Describes how numbers of arrays share bytes, and ends the comment.
void describe_packed(const CodePlan&, Lines&);
// Declares the sizes `n` of all axes, from those that are passed: several parts if parts are as long as planned, else
// one.
void declare_all_sizes(const CodePlan&, Lines&);
void compute_parts(const CodePlan&, Lines&);  // n.x_part and n.x_in_part from n.x, for each divided axis
// The functions that compute all sizes if an axis is divided, that say whether the kernels support the sizes, and how
// many bytes of workspace they need.
void define_size_functions(const CodePlan&, Lines&);
// Declares pointers to the arrays in the workspace.
void divide_workspace(const CodePlan&, Lines&);
// The file with the kernels: a comment, what `head` includes and defines for the code, the struct NAME_sizes, the
// kernels and `rest`.
EmittedText code_source(const CodePlan&, const EmittedText& kernels, const std::string& rest,
                        const std::function<std::string(const std::string& code)>& head);

}  // namespace napkin
