// Machines for tests: shipped profiles by name, or YAML text.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "napkin/hardware.hpp"
#include "support/read.hpp"

using Settings = std::vector<std::pair<std::string, std::string>>;

// What loading gives: the machine, and the diagnostics as text.
struct Loaded {
  napkin::Hardware hardware;
  napkin::Diagnostics diagnostics;
  std::string text;
};

inline Loaded load_text(const std::string& yaml, const Settings& settings = {}) {
  napkin::Sources sources;
  Loaded loaded;
  const auto file = sources.add("machine.yaml", yaml);
  loaded.hardware = napkin::load_hardware(sources, file, settings, loaded.diagnostics);
  loaded.text = napkin::render_text(sources, loaded.diagnostics, false);
  return loaded;
}

inline std::string profile_path(const std::string& name) {
  return NAPKIN_SOURCE_DIR "/hardware_profiles/" + name + ".yaml";
}

// A profile that must be right: read_machine("two-level", {{"M", "10000"}}).
inline napkin::Hardware read_machine(const std::string& name, const Settings& settings = {}) {
  Loaded loaded = load_text(read_file(profile_path(name)), settings);
  if (!loaded.text.empty()) throw std::runtime_error(loaded.text);
  return loaded.hardware;
}

// The toy, whose outermost memory is nothing but those of its children.
inline napkin::Hardware read_joined_toy(const Settings& settings) {
  auto yaml = read_file(profile_path("toy"));
  const std::string outermost = "    unit:     gpu\n";
  yaml.insert(yaml.find(outermost) + outermost.size(), "    together: true\n");
  Loaded loaded = load_text(yaml, settings);
  if (!loaded.text.empty()) throw std::runtime_error(loaded.text);
  return loaded.hardware;
}
