// Parses and resolves a text. No search runs here, because this runs on every key.
#include "lsp/reading.hpp"

#include "diagram/resolve/names.hpp"

namespace napkin::lsp {

Reading read(std::string text) {
  Reading reading;
  reading.lines = Lines(text);
  reading.file = reading.sources.add("-", std::move(text));
  const auto prelude = reading.sources.add("<prelude>", std::string(prelude_text()));
  reading.syntax = parse(reading.sources, reading.file, reading.diagnostics);
  reading.parsed = reading.diagnostics.size() == 0;
  reading.prelude = parse(reading.sources, prelude, reading.diagnostics);
  reading.diagram = resolve(reading.syntax, reading.prelude, {}, reading.diagnostics);
  reading.resolved = !reading.diagnostics.has_errors();
  if (!reading.resolved) {
    Diagnostics known;
    declare(reading.syntax, reading.prelude, {}, reading.diagram, known);
  }
  return reading;
}

}  // namespace napkin::lsp
