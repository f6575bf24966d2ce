// Makes signatures from the function tables and from defs, as labels and as snippets.
#include "lsp/signatures.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "diagram/resolve/names.hpp"
#include "napkin/functions.hpp"

namespace napkin::lsp {
namespace {

std::vector<std::string> texts(const std::vector<ast::Name>& names) {
  std::vector<std::string> all;
  for (const auto& name : names) all.push_back(name.text);
  return all;
}

// The comment on the line directly above a def, if there is one.
std::string remark(const Reading& reading, const ast::File& file, const ast::Def& def) {
  const auto& text = reading.sources.at(file.file).text;
  for (const auto& comment : file.comments) {
    if (comment.span.end >= def.name.span.begin) continue;
    const auto between = text.substr(comment.span.end, def.name.span.begin - comment.span.end);
    if (between == "\ndef " || between == "\r\ndef ")
      return text.substr(comment.span.begin, comment.span.end - comment.span.begin)
          .substr(comment.span.end - comment.span.begin > 1 ? 2 : 1);
  }
  return "";
}

void add_defs(const Reading& reading, const ast::File& file, const std::string& otherwise,
              std::vector<Signature>& all_of_them) {
  for (const auto* def : all<ast::Def>(file)) {
    const auto said = remark(reading, file, *def);
    all_of_them.push_back({def->name.text, texts(def->axes), texts(def->parameters), said.empty() ? otherwise : said});
  }
}

std::vector<std::string> arguments_of(const Pointwise& function) {
  if (function.role == napkin::Role::choose) return {"condition", "a", "b"};
  return function.arity == 1 ? std::vector<std::string>{"e"} : std::vector<std::string>{"a", "b"};
}

}  // namespace

std::vector<Signature> signatures(const Reading& reading) {
  std::vector<Signature> made;
  add_defs(reading, reading.syntax, "def of this file", made);
  add_defs(reading, reading.prelude, "def of the prelude", made);
  for (const auto& reduction : reductions())
    made.push_back({std::string(reduction.name), {"axis"}, {"e"}, std::string(reduction.summary) + " along an axis"});
  for (const auto& function : pointwise_functions())
    if (function.callable && function.precedence == 0)
      made.push_back({std::string(function.name), {}, arguments_of(function), std::string(function.summary)});
  made.push_back({"size", {}, {"axis"}, "the size of an axis"});
  return made;
}

std::string label(const Signature& one) {
  const auto axes = one.axes.empty() ? "" : fmt::format("[{}]", fmt::join(one.axes, ", "));
  return fmt::format("{}{}({})", one.name, axes, fmt::join(one.arguments, ", "));
}

std::string snippet(const Signature& one) {
  int stop = 0;
  const auto stops = [&](const std::vector<std::string>& names) {
    std::vector<std::string> all;
    for (const auto& name : names) all.push_back(fmt::format("${{{}:{}}}", ++stop, name));
    return fmt::format("{}", fmt::join(all, ", "));
  };
  const auto axes = one.axes.empty() ? "" : fmt::format("[{}]", stops(one.axes));
  return fmt::format("{}{}({})", one.name, axes, stops(one.arguments));
}

}  // namespace napkin::lsp
