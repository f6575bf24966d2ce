// Turns expressions of the file into expressions of a draft: names become ids, and calls of defs become their bodies.
#pragma once

#include <optional>

#include "diagram/resolve/draft.hpp"
#include "diagram/resolve/scope.hpp"

namespace napkin {

inline Kind kind_of(Datatype type) { return type == Datatype::boolean ? Kind::condition : Kind::number; }

class Expander {
 public:
  Expander(Draft& draft, Names& names, Diagnostics& diagnostics)
      : draft_(draft), names_(names), diagnostics_(diagnostics) {}

  // The value of a statement, in the scope of what its left side binds; none if there was an error.
  std::optional<ExprId> statement(const ast::Statement&, ArrayId);
  // Checks a def once, whether it is called or not. True if it may be called.
  bool check(DefEntry&);
  // Whether a limit was exceeded; nothing more is expanded then.
  bool exhausted() const { return exhausted_; }

 private:
  struct Value {
    ExprId id;
    Kind kind;
  };
  using Result = std::optional<Value>;

  Result expand(const ast::Expr&, const Scope&);
  Result expand_kind(const ast::Expr&, const Scope&);
  Result number(const ast::Expr&, const Scope&);
  Result name(const ast::Expr&, const Scope&);
  Result parameter(const ast::Expr&, const Scope&);
  Result access(const ast::Expr&, const Scope&);
  Result read(const ast::Expr&, const Scope&, const ArrayEntry&);
  Result call(const ast::Expr&, const Scope&);
  Result size(const ast::Expr&, const Scope&);
  Result cast(const ast::Expr&, const Scope&, Datatype);
  Result reduce(const ast::Expr&, const Scope&, const Reduction&);
  Result apply(const ast::Expr&, const Scope&, const Pointwise&);
  Result negate(const ast::Expr&, const Scope&);
  Result expand_def(const ast::Expr&, const Scope&, DefEntry&);
  bool check_body(DefEntry&);
  Result body(const ast::Expr&, const Scope&, const DefEntry&, std::vector<AxisId>);

  std::optional<AxisId> axis(const ast::Name&, const Scope&);
  enum class ReadAs : std::uint8_t { index, number };
  std::optional<Bound> bound(const ast::Expr&, const Scope&, ReadAs);
  void check_indices(const ast::Expr&, const Array&, const std::vector<std::optional<Index>>&);
  std::optional<std::vector<Value>> arguments(const ast::Expr&, const Scope&, std::size_t count);
  bool wants(const Value&, Kind, const ast::Expr&, const Scope&);
  bool no_axes(const ast::Expr&);
  Result add(ExprNode, Kind, const ast::Expr&, const Scope&);
  Result fail_unknown(const ast::Expr&, const Scope&);
  Result fail_unknown_call(const ast::Expr&, const Scope&);
  void fail(Diagnostic, const ast::Expr&, const Scope&);
  void fail_not_given(const ast::Name&, const Scope&, std::string_view what);
  void fail_loose(const ast::Name&, const Frame* through, ReadAs);
  bool within_limits(const ast::Expr&, const Scope&);

  Draft& draft_;
  Names& names_;
  Diagnostics& diagnostics_;
  const ast::Statement* statement_ = nullptr;
  std::vector<ExprId> arguments_;  // arguments that the current call has read so far
  int depth_ = 0, checks_ = 0;
  std::size_t terms_ = 0;
  bool exhausted_ = false;
};

}  // namespace napkin
