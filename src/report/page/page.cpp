// Makes the document of a page from an analysis: the numbers of the report, with the film, charts and programs.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

#include "napkin/device.hpp"
#include "napkin/emit.hpp"
#include "report/analysis.hpp"
#include "report/page/summary_page.hpp"
#include "report/shared.hpp"
#include "report/statements.hpp"
#include "report/words.hpp"

namespace napkin::report {
namespace {

constexpr double page_width = 1200;
constexpr const char* glance_words =
    "The charts below show what lies around the plan, at a glance. They cover the kernels that take a twentieth of its "
    "time or more, in capacities four times apart, and their searches give up early; a chart says so if its search "
    "could not prove the result. napkin analyze --explore with the same options looks longer.";

// Charts show only the kernels of a long plan that take most of its time; else the page would be mostly charts.
constexpr std::size_t charted_kernels = 6;

double seconds(const ChartedKernel& one) {
  if (one.configuration && one.configuration->launch) return one.configuration->launch->time_s;
  return one.cost.time_s.value_or(one.cost.ideal_time_s.value_or(0));
}

// Keeps the kernels that take most time, in launch order. Returns a sentence about them, or nothing if all are kept.
std::string keep_longest(std::vector<ChartedKernel>& kernels) {
  const auto count = kernels.size();
  if (count <= charted_kernels) return "";
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, std::greater(), [&](std::size_t i) { return seconds(kernels[i]); });
  double all = 0, kept_s = 0;
  for (std::size_t i = 0; i < count; ++i)
    all += seconds(kernels[order[i]]), kept_s += i < charted_kernels ? seconds(kernels[order[i]]) : 0;
  order.resize(charted_kernels);
  std::ranges::sort(order);
  std::vector<ChartedKernel> kept;
  for (const auto i : order) kept.push_back(std::move(kernels[i]));
  kernels = std::move(kept);
  return fmt::format(
      "The charts show the {1} of {0} kernels that take most of the time{2}. napkin analyze --plot with the same "
      "options draws all.",
      count, charted_kernels, all > 0 ? fmt::format(", {:.0f} % of it", 100 * kept_s / all) : "");
}

void add_film(Document& made, const Analysis& analysis) {
  if (analysis.symbolic || chosen(analysis).empty()) return;
  made.blocks.push_back(Heading{2, "how it is derived", ""});
  made.blocks.push_back(Film{lay_out_film(analysis, page_width), true});
}

void add_charts(Document& made, const Analysis& analysis) {
  auto of = charted(analysis);
  const auto kept = keep_longest(of.kernels);
  bool first = true, glanced = analysis.explored && analysis.explored->at_a_glance;
  for (const auto& kind : chart_kinds()) {
    auto chart = kind.plot(of);
    if (!chart) continue;
    if (std::exchange(first, false)) {
      made.blocks.push_back(Heading{2, "charts", ""});
      if (!kept.empty()) made.blocks.push_back(Paragraph{kept, true});
    }
    if (kind.around && std::exchange(glanced, false)) made.blocks.push_back(Paragraph{glance_words, true});
    made.blocks.push_back(Plotted{std::string(kind.title), std::string(kind.shows), std::move(*chart)});
  }
}

bool is_cuda(const Analysis& analysis) { return !analysis.hardware.cuda_architecture.empty(); }

// The kernels as `napkin emit` writes them. For machines that are not programmed in CUDA, this is C++.
EmittedCode kernels(const Analysis& analysis) {
  const auto plan = plan_of(analysis);
  auto code = is_cuda(analysis) ? emit_cuda(analysis.diagram, plan, analysis.hardware, CudaPath::tensor)
                                : EmittedCode{emit_cpp(analysis.diagram, plan, analysis.hardware), {}};
  std::erase_if(code.files, [](const EmittedFile& file) {
    const bool kernel = file.name.ends_with(".cu") || file.name.ends_with(".cpp");
    return !kernel || file.name.find("_harness") != std::string::npos;
  });
  return code;
}

// A kernel with rows over warps gets a partition of its own, so it can be emitted even if the given one does not fit.
bool can_be_emitted(const Analysis& analysis, const Candidate& one) {
  return one.cost.overruns.empty() ||
         (is_cuda(analysis) && std::holds_alternative<RowNest>(distribute_rows(one.kernel, analysis.hardware)));
}

void add_programs(Document& made, const Analysis& analysis) {
  const auto all = chosen(analysis);
  if (analysis.symbolic || all.empty()) return;
  made.blocks.push_back(Heading{2, "programs", ""});
  made.blocks.push_back(statements_of(analysis));
  const auto names = kernel_names(analysis);
  for (std::size_t k = 0; k < all.size(); ++k) {
    const auto& candidate = all[k];
    const auto nest = lower(candidate.kernel, analysis.hardware);
    for (const auto& buffer : nest.buffers) made.arrays.emplace(buffer.name, nest.scratch.at(buffer.array).name);
    auto code = emit_traced_pseudocode(nest, analysis.hardware);
    made.blocks.push_back(
        Code{"pseudocode of " + names[k], std::move(code.text), 0, k == 0, parts_of(code.origins, analysis)});
  }
  if (!std::ranges::all_of(all, [&](const Candidate& one) { return can_be_emitted(analysis, one); })) return;
  auto code = kernels(analysis);
  for (auto& note : code.notes) made.blocks.push_back(Paragraph{std::move(note)});
  for (auto& file : code.files) {
    const auto own = file.text.find("struct " + file.name.substr(0, file.name.find('.')) + "_sizes");
    made.blocks.push_back(Code{file.name, std::move(file.text), own == std::string::npos ? 0 : own, false,
                               parts_of(file.origins, analysis)});
  }
}

void name_arrays(Document& made, const Analysis& analysis) {
  for (const auto& array : analysis.diagram.arrays) made.arrays.emplace(array.name, array.name);
  for (const auto& array : analysis.ordered.arrays) made.written.push_back(array.name);
}

std::string row_name(const Comparison& comparison, std::size_t row) {
  const auto& one = comparison.rows.at(row);
  return fmt::format("{}: on {}, {}", row + 1, one.target, one.partition);
}

void rename(Scene& scene, const std::string& title) {
  scene.title = title;
  for (auto& mark : scene.marks)
    if (auto* words = std::get_if<Words>(&mark.shape); words && mark.kind == MarkKind::title) {
      words->text = elided(title, scene.width / 1.5);
      words->width = text_width(words->text) * 1.25;
      mark.about = title;
    }
}

// Pictures in one row are scaled by the same factor, so they get the same width.
void align(Pictures& pictures) {
  double widest = 0;
  for (const auto& scene : pictures.scenes) widest = std::max(widest, scene.width);
  for (auto& scene : pictures.scenes) scene.width = widest;
}

// The charts of every row, with common scales.
std::vector<Charted> charted_rows(const Comparison& comparison, const std::vector<Analysis>& rows) {
  std::vector<Charted> all;
  double bytes = 0, seconds = 0, step = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    all.push_back(charted(rows[i]));
    all.back().title = row_name(comparison, i);
    bytes = std::max(bytes, most_bytes(all.back())), seconds = std::max(seconds, most_seconds(all.back()));
    step = std::max(step, most_step_seconds(all.back()));
  }
  for (auto& one : all) one.least_bytes = bytes, one.least_seconds = seconds, one.least_step_seconds = step;
  return all;
}

// All sections of kernels except the first are folded.
void add_folded_kernels(Document& made, const Analysis& analysis) {
  const auto before = made.blocks.size();
  add_kernels(made, analysis);
  auto fold = Heading::Fold::open;
  for (auto i = before; i < made.blocks.size(); ++i)
    if (auto* heading = std::get_if<Heading>(&made.blocks[i]); heading && heading->depth == 2)
      heading->fold = std::exchange(fold, Heading::Fold::closed);
}

// The charts already show the explored surroundings, so the text omits them.
Analysis without_explored(Analysis analysis) {
  analysis.explored.reset();
  return analysis;
}

}  // namespace

Document comparison_page(const Comparison& comparison, const std::vector<Analysis>& rows) {
  auto made = comparison_document(comparison);
  Pictures drawings;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    name_arrays(made, rows[i]);
    drawings.scenes.push_back(lay_out(rows[i], page_width));
    rename(drawings.scenes.back(), row_name(comparison, i));
  }
  made.blocks.push_back(Heading{2, "the diagrams", ""});
  align(drawings);
  made.blocks.push_back(std::move(drawings));
  const auto all = charted_rows(comparison, rows);
  for (const auto& kind : chart_kinds()) {
    Pictures charts;
    for (const auto& one : all)
      if (auto chart = kind.plot(one)) charts.scenes.push_back(std::move(chart->scene));
    if (charts.scenes.empty()) continue;
    made.blocks.push_back(Heading{2, std::string(kind.title), ""});
    made.blocks.push_back(Paragraph{std::string(kind.shows), true});
    align(charts);
    made.blocks.push_back(std::move(charts));
  }
  return made;
}

Document page_document(const Analysis& analysis) {
  const auto told = without_explored(analysis);
  Document made;
  name_arrays(made, analysis);
  add_header(made, analysis);
  if (!analysis.symbolic) {
    const auto below_title = made.blocks.begin() + 1;
    made.blocks.insert(below_title, page::page_summary(page::page_of(analysis, std::nullopt)));
  }
  add_picture(made, analysis, page_width);
  add_programs(made, analysis);
  add_film(made, analysis);
  add_plan(made, told);
  add_shared(made, analysis);
  add_charts(made, analysis);
  add_folded_kernels(made, told);
  return made;
}

}  // namespace napkin::report
