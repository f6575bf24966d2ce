#include "report/orders/orders.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "report/quantity.hpp"
#include "report/words.hpp"

namespace napkin::report {
namespace {

const Statement* made_by(const Diagram& diagram, const std::string& name) {
  const auto found = std::ranges::find_if(diagram.statements,
                                          [&](const Statement& one) { return diagram.at(one.output).name == name; });
  return found == diagram.statements.end() ? nullptr : &*found;
}

// The format of a new array that holds its values exactly in fewer bytes than sums have; ": bf16", or nothing.
std::string format_words(const Array& array) {
  const bool narrow = array.typed == nowhere && row(array.type).bytes < row(Datatype::f32).bytes;
  return narrow ? fmt::format(": {}", row(array.type).name) : "";
}

// For example "KV = sum[x](K * V)", for every name that a statement makes.
std::vector<std::string> equations(const Diagram& diagram, const std::vector<std::string>& names) {
  std::vector<std::string> all;
  for (const auto& name : names)
    if (const auto* statement = made_by(diagram, name))
      all.push_back(fmt::format("{}{} = {}", name, format_words(diagram.at(statement->output)),
                                to_short_text(diagram, statement->value)));
  return all;
}

// "537 MFLOP instead of 51.5 GFLOP, 16.0 us instead of 297 us"
template <class Order>
std::string gain(const Order& one) {
  auto text = fmt::format("{} instead of {}", flop(one.operations), flop(one.operations_before));
  if (one.time_s && one.time_before_s)
    text += fmt::format(", {} instead of {}", lasting(one.time_s), lasting(one.time_before_s));
  return text;
}

std::vector<std::string> with_result(std::vector<std::string> made, const std::string& statement) {
  made.push_back(statement);
  return made;
}

Table forms_table(const ContractionOrders& orders) {
  Table table{{{"order", false, true}, {"operations", false}, {"values between", false}}, {}};
  table.rows.push_back({"as written", flop(orders.operations), counted(orders.values)});
  for (const auto& form : orders.forms) {
    const auto lines = equations(form.diagram, with_result(form.made, orders.statement));
    table.rows.push_back({join(lines, "\n"), flop(form.operations), counted(form.values)});
  }
  return table;
}

Json form_json(const ContractionForm& form, const std::string& statement) {
  auto statements = Json::array();
  for (const auto& name : with_result(form.made, statement))
    if (const auto* one = made_by(form.diagram, name))
      statements.push_back({{"array", name}, {"value", to_text(form.diagram, one->value)}});
  return {{"statements", statements}, {"met", form.met}, {"operations", form.operations}, {"values", form.values}};
}

template <class Order>
Json common_json(const Order& one) {
  return {{"operations", one.operations},
          {"operations_before", one.operations_before},
          {"time_s", number(one.time_s)},
          {"time_before_s", number(one.time_before_s)}};
}

}  // namespace

std::string order_words(const OrderTaken& one, const Diagram& ordered) {
  auto text = join(equations(ordered, with_result(one.made, one.statement)));
  if (!one.met.empty())
    text += fmt::format(", where {} {} there", join_and(one.met), one.met.size() == 1 ? "is" : "are");
  return fmt::format("{}: {}", text, gain(one));
}

std::string refused_order_words(const OrderRefused& one) {
  return fmt::format("leave out the rounding of {}: another order of the products in {} then takes {}",
                     join_and(one.rounded), one.statement, gain(one));
}

Json orders_json(const std::vector<OrderTaken>& orders) {
  auto all = Json::array();
  for (const auto& one : orders) {
    Json json{{"statement", one.statement}, {"factors", one.factors}, {"made", one.made}, {"met", one.met}};
    json.update(common_json(one));
    all.push_back(std::move(json));
  }
  return all;
}

Json orders_json(const std::vector<OrderRefused>& orders) {
  auto all = Json::array();
  for (const auto& one : orders) {
    Json json{{"statement", one.statement}, {"rounded", one.rounded}};
    json.update(common_json(one));
    all.push_back(std::move(json));
  }
  return all;
}

void add_orders(Document& made, const std::vector<ContractionOrders>& orders) {
  for (const auto& one : orders) {
    if (!one.forms.empty()) {
      made.blocks.push_back(Paragraph{
          fmt::format("S8: {} can be multiplied and summed in another order, in {}. `analyze` chooses; no order below "
                      "is worse than another in both numbers:",
                      one.factors, one.statement)});
      made.blocks.push_back(forms_table(one));
    }
    if (one.refused)
      made.blocks.push_back(Paragraph{fmt::format(
          "S8: the rounding of {} keeps {} in the order of the file; without it, {} would do instead of {}.",
          join_and(one.refused->rounded), one.statement, flop(one.refused->operations),
          flop(one.refused->operations_as_written))});
  }
}

Json orders_json(const std::vector<ContractionOrders>& orders) {
  auto all = Json::array();
  for (const auto& one : orders) {
    auto forms = Json::array();
    for (const auto& form : one.forms) forms.push_back(form_json(form, one.statement));
    Json refused = nullptr;
    if (one.refused)
      refused = {{"rounded", one.refused->rounded},
                 {"operations", one.refused->operations},
                 {"operations_as_written", one.refused->operations_as_written}};
    all.push_back({{"array", one.statement},
                   {"factors", one.factors},
                   {"operations", one.operations},
                   {"values", one.values},
                   {"forms", forms},
                   {"refused", refused}});
  }
  return all;
}

}  // namespace napkin::report
