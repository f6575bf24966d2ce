// The report of `analyze`, as a document and as JSON.
#pragma once

#include "napkin/chart.hpp"
#include "napkin/report.hpp"
#include "report/document.hpp"

namespace napkin::report {

// `picture_width`: at which rows of its drawing are broken, see scene.hpp.
Document document(const Analysis&, double picture_width);
// What was explored alone, where anything was.
Document explored_document(const Analysis&);
// With film, charts, pseudocode and the kernels' own text.
Document page_document(const Analysis&);
// The parts that both have.
void add_header(Document&, const Analysis&);
void add_picture(Document&, const Analysis&, double width);
void add_kernels(Document&, const Analysis&);
void add_plan(Document&, const Analysis&);
Document comparison_document(const Comparison&);
// With the pictures and charts of its rows beside each other.
Document comparison_page(const Comparison&, const std::vector<Analysis>& rows);
std::string json_text(const Analysis&);  // napkin.analysis/1

// "S, P, O"; of the two kernels of a division, whose statements nobody wrote, "S, P, O (parts)" and "S, P, O (merge)".
std::string kernel_name(const Analysis&, std::size_t kernel);
std::vector<std::string> kernel_names(const Analysis&);  // of those that are chosen
// The diagram on the machine, kernel by kernel; the bare diagram if there are no numbers.
Scene lay_out(const Analysis&, double width);

// The film of its derivation, up to the plan.
std::vector<Scene> lay_out_film(const Analysis&, double width);

// What charts show of it; no kernels where there are no numbers.
Charted charted(const Analysis&);

// Of a kernel by its index; none where there is none.
const std::optional<Configuration>& configuration_of(const Analysis&, std::size_t kernel);

// Sums over the reported kernels; unknown where they are unknown of one.
struct Totals {
  double operations = 0;
  std::vector<std::pair<std::string, std::int64_t>> transfer_bytes;  // by the level above, outermost first
  std::optional<double> ideal_time_s, time_s, energy_j;
  std::optional<double> power_w() const {  // on average
    return energy_j && time_s && *time_s > 0 ? std::optional(*energy_j / *time_s) : std::nullopt;
  }
};
Totals totals(const Analysis&);

}  // namespace napkin::report
