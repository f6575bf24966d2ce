// Diagrams for tests: from text that must be right, or from examples/.
#pragma once

#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>

#include "napkin/diagram.hpp"
#include "napkin/syntax.hpp"

inline std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error("cannot read " + path);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

// Throws the rendered diagnostics where there are errors, or where the diagram does not verify.
inline napkin::Diagram read_text(const std::string& text, const napkin::Overrides& overrides = {}) {
  napkin::Sources sources;
  napkin::Diagnostics diagnostics;
  auto diagram = napkin::read_diagram(sources, sources.add("test.nap", text), overrides, diagnostics);
  if (diagnostics.has_errors()) throw std::runtime_error(napkin::render_text(sources, diagnostics, false));
  for (const auto& wrong : napkin::verify(diagram)) throw std::runtime_error(wrong);
  return diagram;
}

inline napkin::Diagram read_example(const std::string& name, const napkin::Overrides& overrides = {}) {
  return read_text(read_file(NAPKIN_SOURCE_DIR "/examples/" + name), overrides);
}
