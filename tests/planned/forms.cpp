// What the program prints of one plan in all forms, after one search where its commands search for each:
//
//   napkin_forms FOLDER EXAMPLE MACHINE...
//
// writes FOLDER/MACHINE/json and text, on the last machine also html, as `analyze` prints them; and the files and
// notes of `emit cuda`. tests/planned/planned.py compares some with those of the commands.
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include "cli/plans.hpp"
#include "napkin/emit.hpp"
#include "napkin/search.hpp"

using namespace napkin;

namespace {

void write(const std::filesystem::path& path, const std::string& text) { std::ofstream(path) << text; }

void write_kernels(const Analysis& analysis, const std::filesystem::path& folder) {
  auto plan = plan_of(analysis);
  plan_instead(plan, analysis.hardware);
  const auto emitted = emit_cuda(analysis.diagram, plan, analysis.hardware, CudaPath::tensor);
  for (const auto& file : emitted.files) write(folder / file.name, file.text);
  std::string notes;
  for (const auto& note : emitted.notes) notes += "note: " + note + "\n";
  write(folder / "notes", notes);
}

int write_forms(const std::filesystem::path& folder, const std::string& example, const std::string& machine,
                bool page) {
  cli::Session session{{}, std::cin, std::cout, std::cerr, {}, {}, {}};
  session.options.arguments = {example};
  session.options.target = {machine};
  session.options.quiet = true;
  auto started = cli::start(session);
  if (!started.analysis || cli::finish(session) != exit_done) return 1;
  auto& analysis = *started.analysis;
  std::filesystem::create_directories(folder);
  write(folder / "json", print(analysis, Format::json, false));
  write(folder / "text", print(analysis, Format::text, false));
  write_kernels(analysis, folder);
  if (!page) return 0;
  cli::look_around(session, analysis);
  write(folder / "html", print(analysis, Format::html, false));
  return 0;
}

}  // namespace

int main(int count, char** words) {
  const std::vector<std::string> arguments(words + 1, words + count);
  if (arguments.size() < 3) return std::cerr << "usage: napkin_forms FOLDER EXAMPLE MACHINE...\n", 2;
  for (std::size_t i = 2; i < arguments.size(); ++i)
    if (write_forms(std::filesystem::path(arguments[0]) / arguments[i], arguments[1], arguments[i],
                    i + 1 == arguments.size()) != 0)
      return 1;
  return 0;
}
