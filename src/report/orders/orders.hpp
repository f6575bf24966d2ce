// Orders of contraction (rule S8), as text and as JSON: those of a diagram, those that a plan uses, and those that a
// rounding forbids.
#pragma once

#include <string>
#include <vector>

#include "napkin/report.hpp"
#include "report/document.hpp"
#include "report/json/json.hpp"

namespace napkin::report {

// "Y = Q*KV with KV = sum[x](K*V): 537 MFLOP instead of 51.5 GFLOP, 16.0 us instead of 297 us"
std::string order_words(const OrderTaken&, const Diagram& ordered);
std::string refused_order_words(const OrderRefused&);
Json orders_json(const std::vector<OrderTaken>&);
Json orders_json(const std::vector<OrderRefused>&);

// The orders of a derivation.
void add_orders(Document&, const std::vector<ContractionOrders>&);
Json orders_json(const std::vector<ContractionOrders>&);

}  // namespace napkin::report
