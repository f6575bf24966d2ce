// The launch configuration of a kernel: a section of the report, and the key `configuration` of its JSON.
#pragma once

#include "napkin/configure.hpp"
#include "report/json/json.hpp"
#include "report/tables.hpp"

namespace napkin::report {

void add_configuration(Document&, const Configuration&);
void add_launch(Document&, const Launch&);
Json configuration_json(const Configuration&);

}  // namespace napkin::report
