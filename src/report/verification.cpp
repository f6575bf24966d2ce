// Prints a verification as text, markdown and `napkin.verification/1`.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/json/json.hpp"
#include "report/quantity.hpp"
#include "report/words.hpp"

namespace napkin {
namespace report {
namespace {

int exponent_of(double number) {
  return number > 0 && std::isfinite(number) ? static_cast<int>(std::floor(std::log10(number))) : 0;
}

// Uses the exponent of another number, so that the two compare easily: 0.4e-05 of 4.6e-05.
std::string difference(double error, int exponent) {
  if (error == 0) return "0";
  if (!std::isfinite(error)) return fmt::format("{}", error);
  const double mantissa = error * std::pow(10.0, -exponent);
  if (mantissa < 0.001) return fmt::format("<0.001e{:+03}", exponent);
  const int digits = mantissa < 0.01 ? 3 : mantissa < 0.1 ? 2 : mantissa < 10 ? 1 : 0;
  return fmt::format("{:.{}f}e{:+03}", mantissa, digits, exponent);
}

// Text

std::string sizes_text(const Diagram& diagram, const std::vector<std::int64_t>& sizes) {
  std::vector<std::string> words;
  for (std::size_t a = 0; a < sizes.size(); ++a) words.push_back(fmt::format("{} {}", diagram.axes[a].name, sizes[a]));
  return join(words);
}
std::vector<std::int64_t> sizes_run(const Diagram& diagram) {
  std::vector<std::int64_t> sizes;
  for (const auto& axis : diagram.axes) sizes.push_back(axis.size.value_or(0));
  return sizes;
}
std::string sizes_text(const Verification& verification) {
  auto text = "run at " + sizes_text(verification.diagram, sizes_run(verification.diagram));
  for (const auto& other : verification.others) text += "; " + sizes_text(verification.diagram, other);
  return text;
}

std::string partition_text(const Verification& verification, const VerifiedKernel& kernel) {
  const auto text = to_text(kernel.partition, verification.diagram, verification.hardware);
  return text.empty() ? "everything whole" : text;
}

void add_rows(Table& table, const Verification& verification, const std::vector<VerifiedOutput>& outputs,
              const std::string& computed) {
  for (const auto& output : outputs) {
    const auto exponent =
        exponent_of(std::isfinite(output.allowed) && output.allowed > 0 ? output.allowed : output.error);
    table.rows.push_back({output.array, computed, difference(output.error, exponent),
                          difference(output.allowed, exponent), share(output.error, output.allowed),
                          std::string(name(output.numbers)), sizes_text(verification.diagram, output.sizes),
                          output.right() ? "" : "WRONG"});
  }
}

Table output_table(const Verification& verification) {
  Table table{{{"output"},
               {"computed"},
               {"error", true},
               {"allowed", true},
               {"used", true},
               {"inputs"},
               {"at", false, true},
               {""}},
              {}};
  add_rows(table, verification, verification.outputs, "rounded");
  add_rows(table, verification, verification.exact, "exactly");
  return table;
}

std::string both(std::int64_t predicted, std::int64_t counted) {
  return predicted == counted ? fmt::format("{} B, as predicted", counted)
                              : fmt::format("{} B, not {} B", counted, predicted);
}

std::string room_text(const VerifiedLevel& verified, const Level& level) {
  if (!std::isfinite(verified.room)) return "-";
  return fmt::format("{} {}", verified.room, level.in_values ? "values" : "B");
}

Table level_table(const Verification& verification, const VerifiedKernel& kernel) {
  Table table{{{"level"}, {"moved", true}, {"held", true}, {"capacity", true}, {""}}, {}};
  for (const auto& level : kernel.levels) {
    const auto& machine = verification.hardware.levels[level.level];
    table.rows.push_back({machine.name, both(level.predicted.transfer_bytes, level.counted.transfer_bytes),
                          both(level.predicted.memory_bytes, level.counted.memory_bytes), room_text(level, machine),
                          !level.matches ? "WRONG"
                          : !level.fits  ? "DOES NOT FIT"
                                         : ""});
  }
  return table;
}

Document verification_document(const Verification& verification) {
  Document made;
  made.blocks.push_back(Heading{1, fmt::format("{} on {}", verification.diagram.name, verification.hardware.name),
                                verification.ok ? "verified" : "NOT VERIFIED"});
  made.blocks.push_back(Paragraph{sizes_text(verification)});
  made.blocks.push_back(output_table(verification));
  for (const auto& fault : verification.faults) made.blocks.push_back(Paragraph{"WRONG: " + fault});
  for (const auto& kernel : verification.kernels) {
    made.blocks.push_back(Heading{2, "kernel " + (kernel.name.empty() ? join(kernel.statements) : kernel.name), ""});
    made.blocks.push_back(Paragraph{partition_text(verification, kernel)});
    made.blocks.push_back(level_table(verification, kernel));
    if (kernel.predicted_operations != kernel.counted_operations)
      made.blocks.push_back(Paragraph{fmt::format("WRONG: {:.0f} operations, not {:.0f} as predicted",
                                                  kernel.counted_operations, kernel.predicted_operations)});
  }
  return made;
}

// JSON

Json level_json(const std::string& name, const Count::At& predicted, const Count::At& counted) {
  return {{"level", name},
          {"predicted_bytes", predicted.transfer_bytes},
          {"counted_bytes", counted.transfer_bytes},
          {"predicted_memory_bytes", predicted.memory_bytes},
          {"counted_memory_bytes", counted.memory_bytes},
          {"predicted_values", predicted.transfer_values},
          {"counted_values", counted.transfer_values},
          {"predicted_memory_values", predicted.memory_values},
          {"counted_memory_values", counted.memory_values}};
}

// Kernels run one after another: their transfers add up, and their memory does not.
void add(Count::At& all, const Count::At& kernel) {
  all.transfer_values += kernel.transfer_values;
  all.transfer_bytes += kernel.transfer_bytes;
  all.memory_values = std::max(all.memory_values, kernel.memory_values);
  all.memory_bytes = std::max(all.memory_bytes, kernel.memory_bytes);
}

Json levels_json(const Verification& verification) {
  std::vector<VerifiedLevel> all(verification.hardware.levels.size());
  for (const auto& kernel : verification.kernels)
    for (const auto& level : kernel.levels) {
      add(all[level.level].predicted, level.predicted);
      add(all[level.level].counted, level.counted);
    }
  auto json = Json::array();
  for (std::size_t i = 1; i < all.size(); ++i)
    json.push_back(level_json(verification.hardware.levels[i].name, all[i].predicted, all[i].counted));
  return json;
}

Json kernel_json(const Verification& verification, const VerifiedKernel& kernel) {
  auto levels = Json::array();
  for (const auto& level : kernel.levels) {
    auto json = level_json(verification.hardware.levels[level.level].name, level.predicted, level.counted);
    json["matches"] = level.matches;
    json["fits"] = level.fits;
    levels.push_back(std::move(json));
  }
  return {{"statements", kernel.statements},
          {"partition_text", to_text(kernel.partition, verification.diagram, verification.hardware)},
          {"levels", levels},
          {"predicted_operations", whole(kernel.predicted_operations)},
          {"counted_operations", whole(kernel.counted_operations)}};
}

Json sizes_json(const Diagram& diagram, const std::vector<std::int64_t>& sizes) {
  auto json = Json::object();
  for (std::size_t a = 0; a < sizes.size(); ++a) json[diagram.axes[a].name] = sizes[a];
  return json;
}

Json output_json(const Verification& verification, const VerifiedOutput& output) {
  return {{"error", number(output.error)},
          {"relative_error", number(output.relative)},
          {"allowed", number(output.allowed)},
          {"numbers", std::string(name(output.numbers))},
          {"sizes", sizes_json(verification.diagram, output.sizes)},
          {"ok", output.right()}};
}

Json outputs_json(const Verification& verification) {
  auto all = Json::array();
  for (std::size_t i = 0; i < verification.outputs.size(); ++i) {
    Json json{{"array", verification.outputs[i].array}};
    json.update(output_json(verification, verification.outputs[i]));
    json["exact"] = output_json(verification, verification.exact[i]);
    all.push_back(std::move(json));
  }
  return all;
}

std::string verification_json(const Verification& verification) {
  double error = 0, relative = 0;
  for (const auto& output : verification.outputs) {
    error = std::max(error, output.error);
    relative = std::max(relative, output.relative);
  }
  auto others = Json::array();
  for (const auto& other : verification.others) others.push_back(sizes_json(verification.diagram, other));
  Json json{{"schema", "napkin.verification/1"},
            {"diagram", verification.diagram.name},
            {"target", verification.hardware.name},
            {"sizes", sizes_json(verification.diagram, sizes_run(verification.diagram))},
            {"other_sizes", others},
            {"max_error", number(error)},
            {"max_relative_error", number(relative)},
            {"outputs", outputs_json(verification)},
            {"faults", verification.faults},
            {"levels", levels_json(verification)},
            {"kernels", Json::array()}};
  for (const auto& kernel : verification.kernels) json["kernels"].push_back(kernel_json(verification, kernel));
  json["ok"] = verification.ok;
  return json.dump(2) + "\n";
}

}  // namespace
}  // namespace report

std::string print(const Verification& verification, Format format, bool color) {
  if (format == Format::json) return report::verification_json(verification);
  const auto document = report::verification_document(verification);
  return format == Format::text ? report::to_text(document, color) : report::to_markdown(document);
}

}  // namespace napkin
