// Where lines of programs come from: the input or the statement of the file that they load, compute or save.
#include <algorithm>
#include <map>
#include <set>

#include "emit/shared/text.hpp"
#include "napkin/emit.hpp"
#include "napkin/search.hpp"
#include "support/catch.hpp"
#include "support/machine.hpp"
#include "support/read.hpp"

using namespace napkin;

namespace {

// The text of all lines that come from what declares an array.
std::map<std::string, std::string> by_array(const Diagram& written, const std::string& text,
                                            const std::vector<Traced>& origins) {
  std::map<std::string, std::string> all;
  std::size_t before = 0;
  for (const auto& one : origins) {
    CHECK(before <= one.begin);
    REQUIRE(one.begin < one.end);
    REQUIRE(one.end <= text.size());
    CHECK((one.begin == 0 || text[one.begin - 1] == '\n'));
    CHECK(text[one.end - 1] == '\n');
    before = one.end;
    for (const auto& array : written.arrays)
      if (array.span.begin <= one.span.begin && one.span.end <= array.span.end)
        all[array.name] += text.substr(one.begin, one.end - one.begin);
    for (const auto& statement : written.statements)
      if (one.span != written.at(statement.output).span && statement.span.begin <= one.span.begin &&
          one.span.end <= statement.span.end)
        all[written.at(statement.output).name] += text.substr(one.begin, one.end - one.begin);
  }
  return all;
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("lines know where they come from until what says so ends, and move up where one is taken back", "[origins]") {
  const Span first{1, 10, 20}, second{1, 30, 40};
  Lines out;
  out.open("f()");
  {
    const auto from = out.from(first);
    out.declare("unused", "1");
    out.line("a;");
    out.line("b;");
    {
      const auto inside = out.from(second);
      out.line("c;");
    }
    out.line("d;");
  }
  out.line("e;");
  out.close();
  CHECK(out.text() == "f() {\n  a;\n  b;\n  c;\n  d;\n  e;\n}\n");
  const auto& all = out.origins();
  REQUIRE(all.size() == 3);
  const auto words = [&](std::size_t i) { return out.text().substr(all[i].begin, all[i].end - all[i].begin); };
  CHECK(words(0) == "  a;\n  b;\n");
  CHECK(words(1) == "  c;\n");
  CHECK(words(2) == "  d;\n");
  CHECK((all[0].span == first && all[1].span == second && all[2].span == first));
}

TEST_CASE("a line of pseudocode comes from its statement, also where an axis is divided", "[origins]") {
  const auto hardware = read_machine("h100-sxm5");
  const auto diagram = read_example("attention.nap");
  const auto found = search(diagram, hardware, {});
  REQUIRE(found.divisions.size() == 1);
  std::map<std::string, std::string> all;
  for (const auto& kernel : found.plan.kernels) {
    const auto traced = emit_traced_pseudocode(lower(kernel, hardware), hardware);
    CHECK(traced.text == emit_pseudocode(lower(kernel, hardware), hardware));
    for (const auto& [array, lines] : by_array(diagram, traced.text, traced.origins)) all[array] += lines;
  }
  CHECK(has(all["S"], "sum[d](Q * K"));
  CHECK(has(all["S"], "/ sqrt(size(d))"));
  CHECK(has(all["P"], "max[x_in_part]"));
  CHECK(has(all["P"], "max[x_part]"));  // of the kernel that merges the parts
  CHECK(has(all["P"], "exp("));
  CHECK(!has(all["P"], "* V"));
  CHECK(has(all["O"], "* V"));
  CHECK(has(all["K"], "load K_smem from K"));
  CHECK(!has(all["K"], "V_smem"));
}

TEST_CASE("every statement has lines in every kind of kernel", "[origins]") {
  const std::pair<const char*, const char*> kinds[] = {
      {"attention", "h100-sxm5"}, {"attention", "a100-sxm4-80"}, {"softmax", "h100-sxm5"}, {"matmul", "x86-64-avx2"}};
  for (const auto& [example, machine] : kinds) {
    CAPTURE(example, machine);
    const auto hardware = read_machine(machine);
    const auto diagram = read_example(std::string(example) + ".nap");
    const auto found = search(diagram, hardware, {});
    const auto files = hardware.cuda_architecture.empty()
                           ? emit_cpp(found.diagram, found.plan, hardware)
                           : emit_cuda(found.diagram, found.plan, hardware, CudaPath::tensor).files;
    const auto all = by_array(diagram, files[0].text, files[0].origins);
    for (const auto& statement : diagram.statements) {
      CAPTURE(diagram.at(statement.output).name);
      CHECK(all.contains(diagram.at(statement.output).name));
    }
    for (const auto id : diagram.inputs) {
      CAPTURE(diagram.at(id).name);
      CHECK(all.contains(diagram.at(id).name));
    }
  }
}
