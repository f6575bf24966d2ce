// The page that a person reads first: about 35 lines that say which tile, how fast, why not faster, what to change, and
// what is proven.
#pragma once

#include "napkin/summary.hpp"
#include "report/analysis.hpp"
#include "report/document.hpp"
#include "report/json/json.hpp"

namespace napkin::page {

using report::Json;

// Of a plan, or of one of its kernels; of the kernels all that is said of them, of the plan their sums.
struct Page {
  std::string name, target, sizes, formats;
  std::string core, memory;          // what blocks run on, "SM" or "core", and the name of its memory
  std::size_t of_plan = 0;           // kernels that the plan has
  std::vector<std::size_t> numbers;  // of `kernels` in the plan, from 1
  std::vector<KernelSummary> kernels;
  std::vector<std::string> names;   // of them, as a person knows their statements
  std::vector<MatrixProduct> lost;  // products that could be on matrix units and are not
  std::size_t longest = 0;          // of `kernels`
  std::optional<double> time_s;
  Operations operations;
  bool of_products = false;           // `operations`, on matrix units; else all
  std::optional<double> peak;         // operations per second of the datasheet
  double compulsory_bytes = 0;        // read and written at least
  std::optional<double> memory_peak;  // bytes per second, of the memory above the cores
  std::vector<Cause> causes;
  std::vector<Crossing> traffic;
  MovedBytes bytes;
  std::vector<UnitTime> units;
  std::vector<std::pair<std::string, double>> kept;  // arrays that no longer leave the chip, and bytes
  std::optional<double> unfused_s;                   // of a kernel for each statement
  std::string partition;                             // as `--partition` gives the plan back; empty where nothing does
  std::vector<AxisDivision> divisions;
  std::vector<std::string> orders;                         // of products, other than the file's
  std::vector<OrderRefused> refused_orders;                // which a rounding forbids
  std::vector<Doubled> doubled;                            // what makes it faster, the most first
  std::vector<std::pair<std::string, Refused>> roundings;  // axes that a cast keeps from being streamed
  bool given_up = false;                                   // the search ended before everything was ruled out
  std::string proof;
  std::vector<std::string> overruns;  // what does not fit
};
Page page_of(const Analysis&, std::optional<std::size_t> kernel);
// What a division of an axis has made of a kernel, in the names of the file; `written`: the products of its statements.
// Told once more it stays so.
void tell_as_written(KernelSummary&, const Analysis&, std::size_t kernel, const std::vector<MatrixProduct>& written);

// Lines of so many columns at most, but for a text that is copied; the words of a section begin behind its margin.
inline constexpr std::size_t page_columns = 100, page_margin = 10;
// What keeps operands from being copied ahead, each once: rows that are not aligned, with the size that would do, and
// numbers that share bytes.
std::vector<std::string> operand_words(const std::vector<const MatrixProduct*>&);
std::string page_text(const Page&, bool color, std::size_t columns = page_columns);
// The same words for a page of HTML.
report::Summary page_summary(const Page&);

// Of the diagram as it was written.
void find_roundings(Page&, const Analysis&);
// What to change, and what it gains.
std::vector<std::vector<std::string>> change_rows(const Page&);

// The keys that a kernel and the whole plan have of it; docs/json.md.
Json summary_json(const KernelSummary&);
Json summary_json(const Page&);
Json product_json(const MatrixProduct&);

}  // namespace napkin::page
