// How the children of joined memories may share a diagram, and which way is best.
#pragma once

#include "napkin/report.hpp"
#include "report/document.hpp"
#include "report/json/json.hpp"

namespace napkin::report {

void add_shared(Document&, const Analysis&);  // nothing where no memories are joined
Json shared_json(const Analysis&);

}  // namespace napkin::report
