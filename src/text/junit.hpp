// JUnit's XML: suites of cases, as servers of continuous integration read it.
#pragma once

#include <string>
#include <vector>

namespace napkin {

struct JunitCase {
  std::string group, name;
  std::string outcome;  // "failure", "error", "skipped"; empty: it passed
  std::string message, text;
};
struct JunitSuite {
  std::string name;
  std::vector<JunitCase> cases;
};
std::string junit_text(const std::vector<JunitSuite>&);

}  // namespace napkin
