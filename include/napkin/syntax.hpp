// Syntax: text to tree and back. `parse` never throws and does not stop at the first error. `print` writes the
// canonical form, which parses to the same tree.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "napkin/text.hpp"

namespace napkin::ast {

struct Name {
  std::string text;
  Span span;
};

enum class ExprKind { number, name, infinity, call, access, unary, binary };

// One node of an expression. `name` is an axis used as a number; `access` is NAME[indices]; `call` is NAME[axes](args)
// or NAME(args): pointwise function, reduction, cast, def, `size` and `where` alike. Operators are named by their sign.
struct Expr {
  ExprKind kind = ExprKind::number;
  Span span;
  double number = 0;
  std::string number_text;      // as written
  Name name;                    // name, callee or operator sign
  std::vector<Name> axes;       // of a call
  std::vector<Expr> arguments;  // of a call or operator; the indices of an access
  int height = 1;               // of the tree; the parser limits it, so that walks can recurse
};

struct Axis {
  Name name;
  std::optional<Expr> size;
};
struct Input {
  Name name;
  Name type;
  std::vector<Name> axes;
  std::optional<Expr> density;
};
struct Output {
  Name name;
};
struct Statement {
  Name name;
  std::optional<Name> type;
  std::vector<Name> axes;
  Expr value;
};
struct Def {
  Name name;
  std::vector<Name> axes;
  std::vector<Name> parameters;
  Expr value;
};
struct Split {
  bool stream = false;
  Name axis;  // may end in primes
  std::int64_t size = 0;
  Span size_span;
  Name level;
  Span span;
};
struct Partition {
  Name name;  // empty on the command line
  std::optional<Name> target;
  std::vector<Split> splits;
  Span span;
};
// One kernel of a plan that `--partition` gives.
struct KernelLabels {
  std::vector<Name> statements;  // by the arrays that they make; empty if none are named
  Partition labels;
  Span span;
};

struct Comment {
  Span span;
  std::string text;
};
// A declaration with a syntax error. The name that it would have declared is kept, so that later uses of the name are
// not errors too.
struct Broken {
  std::optional<Name> name;
};
using DeclarationNode = std::variant<Axis, Input, Output, Statement, Def, Partition, Broken>;
struct Declaration {
  DeclarationNode node;
  Span span;
};
struct File {
  Name diagram;  // empty in a prelude
  std::vector<Declaration> declarations;
  std::vector<Comment> comments;  // in source order, kept by `print`
  std::uint32_t file = 0;
};

}  // namespace napkin::ast

namespace napkin {

ast::File parse(const Sources&, std::uint32_t file, Diagnostics&);
std::string print(const Sources&, const ast::File&);
// Parses the words inside a partition's braces: "group q 128, stream x 64 at smem; group q 64 at reg".
ast::Partition parse_partition(const Sources&, std::uint32_t file, Diagnostics&);
// Parses the same for each kernel of a plan, with its statements: "S, P: group q 128 at smem | O: group q 64 at smem".
std::vector<ast::KernelLabels> parse_plan(const Sources&, std::uint32_t file, Diagnostics&);

}  // namespace napkin
