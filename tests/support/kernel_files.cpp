// What emitted programs read and print, and how they are run.
#include <sys/wait.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "support/kernel_cases.hpp"

namespace kernel_cases {

using namespace napkin;

namespace {

std::size_t count(const Diagram& diagram, ArrayId id) {
  std::size_t all = 1;
  for (const auto wire : diagram.at(id).wires) all *= static_cast<std::size_t>(*diagram.size(wire));
  return all;
}

}  // namespace

std::string write(const std::string& name, const std::vector<EmittedFile>& files) {
  const auto folder = std::filesystem::path(NAPKIN_BINARY_DIR) / name;
  std::filesystem::create_directories(folder);
  for (const auto& file : files) std::ofstream(folder / file.name) << file.text;
  return folder.string();
}

Overrides sizes_of(const std::string& words) {
  Overrides overrides;
  std::istringstream in(words);
  for (std::string word; in >> word;)
    overrides.sizes.emplace_back(word.substr(0, word.find('=')), std::stoll(word.substr(word.find('=') + 1)));
  return overrides;
}

void write_doubles(const std::string& path, const Values& values, const std::vector<ArrayId>& ids) {
  std::ofstream out(path, std::ios::binary);
  for (const auto id : ids)
    out.write(reinterpret_cast<const char*>(values.arrays[id.index].data()),
              static_cast<std::streamsize>(values.arrays[id.index].size() * sizeof(double)));
}

std::vector<std::vector<double>> read_outputs(const std::string& path, const Diagram& diagram) {
  std::ifstream in(path, std::ios::binary);
  std::vector<std::vector<double>> all;
  for (const auto id : diagram.outputs) {
    all.emplace_back(count(diagram, id));
    if (!in.read(reinterpret_cast<char*>(all.back().data()),
                 static_cast<std::streamsize>(all.back().size() * sizeof(double))))
      throw std::runtime_error("too few values in " + path);
  }
  return all;
}

const std::string_view coded_inputs = R"(
// By their definitions: a power of two, a table of sizes with a sign, and two's complement.
[[maybe_unused]] unsigned code_f8e8m0(double value) { return unsigned(127 + std::ilogb(value)); }
[[maybe_unused]] unsigned code_f4e2m1(double value) {
  const double sizes[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
  unsigned found = 0;
  while (sizes[found] != std::fabs(value))
    if (++found == 8) std::abort();
  return found + (std::signbit(value) ? 8 : 0);
}
[[maybe_unused]] unsigned code_i4(double value) { return unsigned(int(value)) & 15; }
[[maybe_unused]] void code(unsigned char* bytes, size_t count, size_t share, FILE* in, unsigned (*of)(double)) {
  for (size_t i = 0; i < count; ++i) {
    double value = 0;
    if (std::fread(&value, sizeof value, 1, in) != 1) std::abort();
    const auto bits = (unsigned char)(of(value) << (i % share * 4));
    bytes[i / share] = (unsigned char)(i % share == 0 ? bits : bytes[i / share] | bits);
  }
}
)";

double tolerance(const Diagram& diagram) {
  double all = 1e-4;
  for (const auto& array : diagram.arrays) {
    const auto& format = row(array.type);
    if (!format.of_inputs && array.type != Datatype::boolean && array.type != Datatype::i8 &&
        array.type != Datatype::i32)
      all = std::max(all, 4 * (format.round(1 + 1.0 / 3) - 4.0 / 3) * (format.round(4.0 / 3) > 4.0 / 3 ? 1 : -1));
  }
  return all * std::sqrt(std::max(1.0, static_cast<double>(diagram.statements.size()) / 4));
}

double relative_error(const std::vector<double>& got, const std::vector<double>& meant) {
  double difference = 0, norm = 0;
  for (std::size_t i = 0; i < meant.size(); ++i) {
    if (std::isnan(meant[i]) && std::isnan(got[i])) continue;
    difference += std::pow(got[i] - meant[i], 2);
    norm += meant[i] * meant[i];
  }
  return std::sqrt(difference / (norm > 0 ? norm : 1));
}

Ran run(const std::string& command) {
  Ran ran;
  auto* pipe = popen((command + " 2>&1").c_str(), "r");
  if (!pipe) throw std::runtime_error("cannot run " + command);
  char buffer[4096];
  for (std::size_t n; (n = fread(buffer, 1, sizeof buffer, pipe)) > 0;) ran.output.append(buffer, n);
  const int status = pclose(pipe);
  ran.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128;
  return ran;
}

}  // namespace kernel_cases
