// From options to data: the first stages, with every problem a diagnostic of the session.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/session.hpp"
#include "napkin/syntax.hpp"

namespace napkin::cli {

struct Input {
  std::string path;
  ast::File syntax;
  Diagram written;  // as the file has it
  Diagram diagram;  // with sums in blocks
  std::vector<BlockedSum> blocks;
};
std::optional<Input> read_input(Session&);  // of the first argument
// Of every argument; empty where one is wrong. What `--set` and `--dtype` change need not be in all of them.
std::vector<Input> read_inputs(Session&);

// The profiles of all `--target`s; empty where one of them is wrong or none is given.
std::vector<Hardware> read_machines(Session&);
std::optional<Hardware> read_machine(Session&);  // exactly one

Goal goal(const Options&);

// Every axis needs a size before anything is counted.
bool has_sizes(Session&, const Diagram&);

// The plan of `--partition`.
std::optional<WrittenPlan> read_partition(Session&, const Input&, const std::string& text);

std::vector<StatementId> all_statements(const Diagram&);

}  // namespace napkin::cli
