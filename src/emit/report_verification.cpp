// A verification -> text, markdown and `napkin.verification/1`.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "emit/report_json.hpp"
#include "emit/report_words.hpp"

namespace napkin {
namespace report {
namespace {

std::string difference(double error) { return error == 0 ? "0" : fmt::format("{:.2g}", error); }

bool right(const VerifiedOutput& output) { return output.error <= output.allowed; }

// Text

std::string sizes_text(const Diagram& diagram) {
  std::vector<std::string> words;
  for (const auto& axis : diagram.axes) words.push_back(fmt::format("{} {}", axis.name, axis.size.value_or(0)));
  return join(words);
}

std::string partition_text(const Verification& verification, const VerifiedKernel& kernel) {
  const auto text = to_text(kernel.partition, verification.diagram, verification.hardware);
  return text.empty() ? "everything whole" : text;
}

Table output_table(const Verification& verification) {
  Table table{{{"output"}, {"largest error", true}, {"relative", true}, {"allowed", true}, {""}}, {}};
  for (const auto& output : verification.outputs) {
    table.rows.push_back({output.array, difference(output.error), difference(output.relative),
                          difference(output.allowed), right(output) ? "" : "WRONG"});
  }
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

Document document(const Verification& verification) {
  Document made;
  made.blocks.push_back(Heading{1, fmt::format("{} on {}", verification.diagram.name, verification.hardware.name),
                                verification.ok ? "verified" : "NOT VERIFIED"});
  made.blocks.push_back(Paragraph{"run with " + sizes_text(verification.diagram)});
  made.blocks.push_back(output_table(verification));
  for (const auto& kernel : verification.kernels) {
    made.blocks.push_back(Heading{2, "kernel " + join(kernel.statements), ""});
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

// Kernels run one after another: what they move adds up, what they hold does not.
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

Json outputs_json(const Verification& verification) {
  auto all = Json::array();
  for (const auto& output : verification.outputs) {
    all.push_back({{"array", output.array},
                   {"error", number(output.error)},
                   {"relative_error", number(output.relative)},
                   {"allowed", number(output.allowed)},
                   {"ok", right(output)}});
  }
  return all;
}

std::string json_text(const Verification& verification) {
  double error = 0, relative = 0;
  for (const auto& output : verification.outputs) {
    error = std::max(error, output.error);
    relative = std::max(relative, output.relative);
  }
  auto sizes = Json::object();
  for (const auto& axis : verification.diagram.axes) sizes[axis.name] = axis.size.value_or(0);
  Json json{{"schema", "napkin.verification/1"},
            {"diagram", verification.diagram.name},
            {"target", verification.hardware.name},
            {"sizes", sizes},
            {"max_error", number(error)},
            {"max_relative_error", number(relative)},
            {"outputs", outputs_json(verification)},
            {"levels", levels_json(verification)},
            {"kernels", Json::array()}};
  for (const auto& kernel : verification.kernels) json["kernels"].push_back(kernel_json(verification, kernel));
  json["ok"] = verification.ok;
  return json.dump(2) + "\n";
}

}  // namespace
}  // namespace report

std::string print(const Verification& verification, Format format, bool color) {
  if (format == Format::json) return report::json_text(verification);
  const auto document = report::document(verification);
  return format == Format::text ? report::to_text(document, color) : report::to_markdown(document);
}

}  // namespace napkin
