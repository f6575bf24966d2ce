// How the children of joined memories may share a diagram, and which way is best.
#pragma once

#include "emit/report_document.hpp"
#include "emit/report_json.hpp"
#include "napkin/report.hpp"

namespace napkin::report {

void add_shared(Document&, const Analysis&);  // nothing where no memories are joined
Json shared_json(const Analysis&);

}  // namespace napkin::report
