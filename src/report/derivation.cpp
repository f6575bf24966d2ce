// Prints derivations as text, markdown and `napkin.derivation/1`.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "derive/trace.hpp"
#include "report/json/json.hpp"
#include "report/orders/orders.hpp"
#include "report/page/summary_page.hpp"
#include "report/words.hpp"

namespace napkin {
namespace report {
namespace {

// One step: the expression of an array before and after a rule, and why the rule applies.
void add_step(Table& table, const Diagram& scratch, const Rewriting& step) {
  table.rows.push_back({std::string(code(step.rule)),
                        fmt::format("{} = {}\n= {}", scratch.at(step.array).name, to_short_text(scratch, step.before),
                                    to_short_text(scratch, step.after)),
                        step.why});
}

// `scratch_of(step)` is the diagram with the names that the report uses for the step.
template <class ScratchOf>
void add_trace(Document& made, const std::string& title, const std::vector<Rewriting>& trace, ScratchOf scratch_of) {
  if (trace.empty()) return;
  Table table{{{"rule"}, {"step", false, true}, {"why", false, true}}, {}};
  for (const auto& step : trace) add_step(table, scratch_of(step), step);
  made.blocks.push_back(Heading{3, title, ""});
  made.blocks.push_back(std::move(table));
}

std::string formula(const MatrixProduct& product) {
  return product.first.empty() ? product.result
                               : fmt::format("{} = {}*{}", product.result, product.first, product.second);
}

// For example "matrix, f16"; or the reason why not, and what to write instead.
std::vector<std::string> product_row(const MatrixProduct& product, bool of_machine) {
  const auto mend = product.mend.title.empty() ? "" : ": " + product.mend.title;
  const std::string type(row(product.type).name);
  if (product.parts > 1) return {formula(product), "matrix units", type + " twice, since " + product.why + mend};
  if (product.unit == Unit::tensor) return {formula(product), "matrix units", type};
  return {formula(product), of_machine ? std::string(name(product.unit)) + " lanes" : "none", product.why + mend};
}

void add_products(Document& made, const Derived& derived) {
  if (derived.products.empty()) return;
  const bool of_machine = !derived.machine.empty();
  Table table{
      {{of_machine ? "product on " + derived.machine : "product"}, {"unit"}, {"format, or why not", false, true}}, {}};
  for (const auto& product : derived.products) table.rows.push_back(product_row(product, of_machine));
  made.blocks.push_back(std::move(table));
  std::vector<const MatrixProduct*> products;
  for (const auto& product : derived.products) products.push_back(&product);
  for (const auto& words : page::operand_words(products)) made.blocks.push_back(Paragraph{words});
}

// Lists the changes made to the statements before the derivation.
void add_blocks(Document& made, const std::vector<BlockedSum>& blocks) {
  for (const auto& one : blocks)
    made.blocks.push_back(
        Paragraph{fmt::format("S10: {} sums {} in blocks of {}, because its other factors are constant on a block. {} "
                              "counts the blocks, and {} "
                              "the positions in a block.",
                              one.statement, one.axis, one.length, one.block, one.inside) +
                  (one.rest > 0 ? fmt::format(" The last block has {}, and is summed by itself.", one.rest) : "")});
}

// Lists the statements in chunks, and prefix reductions that do not separate.
void add_prefixes(Document& made, const PrefixesInChunks& prefixes) {
  for (const auto& one : prefixes.made)
    made.blocks.push_back(Paragraph{
        fmt::format("S9: for each position of {1}, {0} reduces the positions on one side of it, so each chunk of {2} "
                    "is reduced only once. `analyze` chooses the length of chunks; with chunks of {3}{4}:",
                    one.statement, one.axis, one.axis, one.length,
                    one.rest > 0 ? fmt::format(" and a last one of {}", one.rest) : "")});
  if (!prefixes.made.empty()) {
    Table table{{{"array"}, {"statement", false, true}}, {}};
    for (const auto& statement : prefixes.diagram.statements)
      table.rows.push_back({prefixes.diagram.at(statement.output).name, to_text(prefixes.diagram, statement.value)});
    made.blocks.push_back(std::move(table));
  }
  for (const auto& one : prefixes.refused)
    made.blocks.push_back(
        Paragraph{fmt::format("S9: {} cannot be taken in chunks of {}: {}.", one.statement, one.axis, one.reason)});
}

Document derivation_document(const std::vector<Derived>& kernels) {
  Document made;
  for (const auto& derived : kernels) {
    const auto& kernel = derived.kernel;
    made.blocks.push_back(Heading{2, "kernel " + join(statement_names(kernel)), ""});
    add_blocks(made, derived.blocks);
    add_orders(made, derived.orders);
    add_prefixes(made, derived.prefixes);
    made.blocks.push_back(verdict_table(kernel, true));
    add_products(made, derived);
    add_trace(made, "Steps before the streams", kernel.trace, [&](const Rewriting&) { return kernel.scratch; });
    for (const auto& verdict : kernel.verdicts)
      if (const auto* stream = streams(verdict))
        add_trace(made, fmt::format("Steps to the stream of {}", wire_name(kernel, verdict.wire)), stream->trace,
                  [&](const Rewriting& step) { return told(kernel, *stream, step); });
  }
  return made;
}

Json blocks_json(const std::vector<BlockedSum>& blocks) {
  auto json = Json::array();
  for (const auto& one : blocks)
    json.push_back({{"array", one.statement},
                    {"axis", one.axis},
                    {"block", one.block},
                    {"inside", one.inside},
                    {"length", one.length},
                    {"rest", one.rest}});
  return json;
}

Json prefixes_json(const PrefixesInChunks& prefixes) {
  auto made = Json::array(), refused = Json::array(), statements = Json::array();
  for (const auto& one : prefixes.made)
    made.push_back({{"array", one.statement},
                    {"axis", one.axis},
                    {"chunk", one.chunk},
                    {"inside", one.inside},
                    {"length", one.length},
                    {"rest", one.rest},
                    {"states", one.states}});
  for (const auto& one : prefixes.refused)
    refused.push_back({{"array", one.statement}, {"axis", one.axis}, {"reason", one.reason}});
  if (!prefixes.made.empty())
    for (const auto& statement : prefixes.diagram.statements) {
      const auto& array = prefixes.diagram.at(statement.output);
      auto axes = Json::array();
      for (const auto wire : array.wires) axes.push_back(prefixes.diagram.at(wire).name);
      statements.push_back({{"array", array.name},
                            {"axes", axes},
                            {"type", row(array.type).name},
                            {"value", to_text(prefixes.diagram, statement.value)}});
    }
  return {{"made", made}, {"refused", refused}, {"statements", statements}};
}

template <class ScratchOf>
Json trace_json(const std::vector<Rewriting>& trace, ScratchOf scratch_of) {
  auto json = Json::array();
  for (const auto& step : trace) {
    const Diagram& scratch = scratch_of(step);
    json.push_back({{"rule", code(step.rule)},
                    {"array", scratch.at(step.array).name},
                    {"before", to_short_text(scratch, step.before)},
                    {"after", to_short_text(scratch, step.after)},
                    {"why", step.why}});
  }
  return json;
}

Json stream_json(const Derivation& derivation, const Verdict& verdict, const Streamable& stream) {
  auto json = streamable_json(derivation, verdict, stream);
  json["before"] = program_lines(stream.scratch, stream.before);
  json["init"] = program_lines(stream.scratch, stream.init);
  json["piece"] = program_lines(stream.scratch, stream.piece);
  json["absorb"] = program_lines(stream.scratch, stream.absorb);
  json["merge"] = program_lines(stream.scratch, stream.merge);
  json["finish"] = program_lines(stream.scratch, stream.finish);
  json["notes"] = stream.notes;
  json["trace"] = trace_json(stream.trace, [&](const Rewriting& step) { return told(derivation, stream, step); });
  return json;
}

// Without a plan, no product has an instruction yet.
Json products_json(const std::vector<MatrixProduct>& products) {
  auto all = Json::array();
  for (const auto& product : products) {
    all.push_back(page::product_json(product));
    for (const auto* of_plan : {"instruction", "rows", "of_rows", "padded"}) all.back().erase(of_plan);
  }
  return all;
}

Json kernel_json(const Derived& derived) {
  const auto& derivation = derived.kernel;
  auto streamable = Json::array();
  auto passes = Json::object();
  for (const auto& verdict : derivation.verdicts) {
    if (const auto* stream = streams(verdict)) streamable.push_back(stream_json(derivation, verdict, *stream));
    passes[wire_name(derivation, verdict.wire)] = verdict.passes;
  }
  return {{"statements", statement_names(derivation)},
          {"groupable", groupable_json(derivation)},
          {"streamable", streamable},
          {"refused", refused_json(derivation)},
          {"passes", passes},
          {"products", products_json(derived.products)},
          {"blocks", blocks_json(derived.blocks)},
          {"orders", orders_json(derived.orders)},
          {"prefixes", prefixes_json(derived.prefixes)},
          {"trace", trace_json(derivation.trace, [&](const Rewriting&) { return derivation.scratch; })}};
}

std::string derivation_json(const Diagram& diagram, const std::vector<Derived>& kernels) {
  Json json{{"schema", "napkin.derivation/1"}, {"diagram", diagram.name}, {"kernels", Json::array()}};
  for (const auto& kernel : kernels) json["kernels"].push_back(kernel_json(kernel));
  return json.dump(2) + "\n";
}

}  // namespace
}  // namespace report

std::string print(const Diagram& diagram, const std::vector<Derived>& kernels, Format format, bool color) {
  if (format == Format::json) return report::derivation_json(diagram, kernels);
  const auto document = report::derivation_document(kernels);
  return format == Format::text ? report::to_text(document, color) : report::to_markdown(document);
}

}  // namespace napkin
