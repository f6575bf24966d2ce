// The report of `analyze`, as a document and as JSON.
#pragma once

#include "napkin/chart.hpp"
#include "napkin/report.hpp"
#include "report/document.hpp"

namespace napkin::report {

// `picture_width`: the width at which rows of the drawing are broken, see scene.hpp.
Document document(const Analysis&, double picture_width);
// Only the results of the exploration, if there are any.
Document explored_document(const Analysis&);
// The document with film, charts, pseudocode and the text of the kernels.
Document page_document(const Analysis&);
// The parts that both documents share.
void add_header(Document&, const Analysis&);
void add_picture(Document&, const Analysis&, double width);
void add_kernels(Document&, const Analysis&);
void add_plan(Document&, const Analysis&);
Document comparison_document(const Comparison&);
// The comparison with the pictures and charts of its rows side by side.
Document comparison_page(const Comparison&, const std::vector<Analysis>& rows);
std::string json_text(const Analysis&);  // napkin.analysis/1

// "S, P, O"; for the kernels of a division, whose statements are not in the file, "S, P, O (parts)" and "S, P, O
// (merge)".
std::string kernel_name(const Analysis&, std::size_t kernel);
std::vector<std::string> kernel_names(const Analysis&);  // of the chosen kernels
// The drawing of the diagram on the machine, kernel by kernel; the plain diagram if there are no numbers.
Scene lay_out(const Analysis&, double width);

// The film of the derivation, up to the plan.
std::vector<Scene> lay_out_film(const Analysis&, double width);

// What charts show of the analysis; no kernels if there are no numbers.
Charted charted(const Analysis&);

// The configuration of a kernel by its index; none if it has none.
const std::optional<Configuration>& configuration_of(const Analysis&, std::size_t kernel);

// Sums over the reported kernels; a sum is unknown if it is unknown for one kernel.
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
