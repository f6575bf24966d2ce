// One version of a text as parse and resolve understood it: what every answer about it is read from.
#pragma once

#include <string>

#include "lsp/positions.hpp"
#include "napkin/diagram.hpp"
#include "napkin/syntax.hpp"

namespace napkin::lsp {

struct Reading {
  Sources sources;
  std::uint32_t file = 0;
  Lines lines{""};
  ast::File syntax, prelude;
  bool parsed = false;      // without a diagnostic: it may be formatted
  Diagnostics diagnostics;  // of parse and resolve
  // With errors its axes and arrays are those that the declarations tell of, each dimension a wire of its own.
  Diagram diagram;
  bool resolved = false;

  const std::string& text() const { return sources.at(file).text; }
};

Reading read(std::string text);

}  // namespace napkin::lsp
