// How the children of joined memories may divide a diagram among them, and the best way.
#pragma once

#include "napkin/report.hpp"
#include "report/document.hpp"
#include "report/json/json.hpp"

namespace napkin::report {

void add_shared(Document&, const Analysis&);  // adds nothing if no memories are joined
Json shared_json(const Analysis&);

}  // namespace napkin::report
