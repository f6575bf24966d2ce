// The first page of a report: about 35 lines that give the tile, the time, what limits it, what to change, and what is
// proven.
#pragma once

#include "napkin/summary.hpp"
#include "report/analysis.hpp"
#include "report/document.hpp"
#include "report/json/json.hpp"

namespace napkin::page {

using report::Json;

// The page of a plan or of one of its kernels. A kernel's page has everything known of the kernel; a plan's page has
// sums over kernels.
struct Page {
  std::string name, target, sizes, formats;
  std::string core, memory;          // the unit that blocks run on, "SM" or "core", and the name of its memory
  std::size_t of_plan = 0;           // the number of kernels of the plan
  std::vector<std::size_t> numbers;  // the numbers of `kernels` in the plan, from 1
  std::vector<KernelSummary> kernels;
  std::vector<std::string> names;   // the names of `kernels`, by the statements of the file
  std::vector<MatrixProduct> lost;  // products that could run on matrix units but do not
  std::size_t longest = 0;          // the index in `kernels` of the longest one
  std::optional<double> time_s;
  Operations operations;
  bool of_products = false;           // whether `operations` are those on matrix units; else all
  std::optional<double> peak;         // operations per second in the datasheet
  double compulsory_bytes = 0;        // the least bytes to read and write
  std::optional<double> memory_peak;  // bytes per second of the memory above the cores
  std::vector<Cause> causes;
  std::vector<Crossing> traffic;
  MovedBytes bytes;
  std::vector<UnitTime> units;
  std::vector<std::pair<std::string, double>> kept;  // arrays that stay on the chip, and their bytes
  std::optional<double> unfused_s;                   // the time with one kernel for each statement
  std::string partition;                             // the text for `--partition`; empty if there is none
  std::vector<AxisDivision> divisions;
  std::vector<std::string> orders;                         // orders of products that differ from the file's
  std::vector<OrderRefused> refused_orders;                // orders that a rounding forbids
  std::vector<Doubled> doubled;                            // resources that make it faster when doubled, best first
  std::vector<std::pair<std::string, Refused>> roundings;  // axes that a cast keeps from being streamed
  bool given_up = false;                                   // the search ended before it ruled out all others
  std::string proof;
  std::vector<std::string> overruns;  // the memories that overflow
};
Page page_of(const Analysis&, std::optional<std::size_t> kernel);
// Describes a kernel that a division of an axis produced in the names of the file; `written`: the products of its
// statements. Calling it again changes nothing.
void tell_as_written(KernelSummary&, const Analysis&, std::size_t kernel, const std::vector<MatrixProduct>& written);

// The greatest width of a line, except for text meant to be copied; and the margin before the words of a section.
inline constexpr std::size_t page_columns = 100, page_margin = 10;
// The reasons why operands are not copied ahead, each once: unaligned rows, with a size that would be aligned, and
// numbers that share bytes.
std::vector<std::string> operand_words(const std::vector<const MatrixProduct*>&);
std::string page_text(const Page&, bool color, std::size_t columns = page_columns);
// The same text for an HTML page.
report::Summary page_summary(const Page&);

// Fills `roundings` from the diagram of the file.
void find_roundings(Page&, const Analysis&);
// Rows that say what to change and what it gains.
std::vector<std::vector<std::string>> change_rows(const Page&);

// The JSON keys of a kernel and of the whole plan; docs/json.md.
Json summary_json(const KernelSummary&);
Json summary_json(const Page&);
Json product_json(const MatrixProduct&);

}  // namespace napkin::page
