// Columns and saves of one row, on the values that the lanes assigned to the row hold.
#pragma once

#include "emit/cuda/rows/row_page.hpp"

namespace napkin {

void print_column(RowPage&, const Compute&);
void print_save(RowPage&, const Save&);

}  // namespace napkin
