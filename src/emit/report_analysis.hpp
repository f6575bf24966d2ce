// The report of `analyze`, as a document and as JSON.
#pragma once

#include "emit/report_document.hpp"
#include "napkin/report.hpp"

namespace napkin::report {

Document document(const Analysis&);
std::string json_text(const Analysis&);  // napkin.analysis/1

}  // namespace napkin::report
