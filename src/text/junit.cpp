// Suites -> XML, every text escaped.
#include "text/junit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <sstream>

#include "text/escape.hpp"

namespace napkin {
namespace {

// Line by line, as ends of lines are no characters of a text.
std::string xml_lines(const std::string& text) {
  std::string out;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) out += (out.empty() ? "" : "\n") + xml(line);
  return out;
}

std::string case_text(const JunitCase& one) {
  auto text = fmt::format(R"(    <testcase classname="{}" name="{}")", xml(one.group), xml(one.name));
  if (one.outcome == "skipped") return text + fmt::format(R"(><skipped message="{}"/></testcase>)", xml(one.message));
  if (!one.outcome.empty())
    return text + fmt::format(R"(><{0} type="{0}" message="{1}">{2}</{0}></testcase>)", one.outcome, xml(one.message),
                              xml_lines(one.text));
  return text + fmt::format("><system-out>{}</system-out></testcase>", xml_lines(one.message));
}

std::ptrdiff_t outcomes(const JunitSuite& suite, const std::string& outcome) {
  return std::ranges::count(suite.cases, outcome, &JunitCase::outcome);
}

std::string suite_text(const JunitSuite& suite) {
  auto text = fmt::format("  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\">\n",
                          xml(suite.name), suite.cases.size(), outcomes(suite, "failure"), outcomes(suite, "error"),
                          outcomes(suite, "skipped"));
  for (const auto& one : suite.cases) text += case_text(one) + "\n";
  return text + "  </testsuite>\n";
}

}  // namespace

std::string junit_text(const std::vector<JunitSuite>& suites) {
  std::string text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"napkin\">\n";
  for (const auto& suite : suites) text += suite_text(suite);
  return text + "</testsuites>\n";
}

}  // namespace napkin
