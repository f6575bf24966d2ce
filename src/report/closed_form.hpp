// The closed forms of a kernel: H, M and H*, and what they imply for the machine.
#pragma once

#include "report/json/json.hpp"
#include "report/tables.hpp"

namespace napkin::report {

Rows closed_form_rows(const Hardware&, const KernelCost&);
Json closed_form_json(const Hardware&, const ClosedForm&);

}  // namespace napkin::report
