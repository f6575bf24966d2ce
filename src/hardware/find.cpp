// A target's name to the file of its profile. The user's own folder comes first, so that it can replace a shipped
// profile; an installed program finds what was installed with it before it looks where it was built.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <system_error>

#include "hardware/problem.hpp"
#include "napkin/hardware.hpp"

namespace napkin {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view suffix = ".yaml";
constexpr const char* folder_name = "hardware_profiles";

std::vector<fs::path> folders() {
  std::vector<fs::path> found;
  if (const char* own = std::getenv("NAPKIN_PROFILES"); own != nullptr && *own != '\0') found.emplace_back(own);
  std::error_code failed;
  const fs::path program = fs::read_symlink("/proc/self/exe", failed);
  if (!failed) found.push_back(program.parent_path().parent_path() / "share/napkin" / folder_name);
  found.push_back(fs::path(NAPKIN_SOURCE_DIR) / folder_name);
  found.push_back(fs::path(NAPKIN_INSTALL_DATA_DIR) / folder_name);
  return found;
}

// Name to path; where two folders have a name, the earlier folder wins.
std::map<std::string, std::string> profiles() {
  std::map<std::string, std::string> found;
  for (const fs::path& folder : folders()) {
    std::error_code failed;
    for (fs::directory_iterator entry(folder, failed), end; !failed && entry != end; entry.increment(failed))
      if (entry->path().extension() == suffix) found.emplace(entry->path().stem().string(), entry->path().string());
  }
  return found;
}

bool is_path(const std::string& name) {
  return name.find('/') != std::string::npos || std::string_view(name).ends_with(suffix);
}

Diagnostic unknown_target(const std::string& name, Span where, const std::vector<std::string>& names) {
  std::string help = did_you_mean(name, names);
  if (help.empty()) help = "`napkin targets` lists the profiles; a path to a YAML file works too";
  return profile::problem("E0418", fmt::format("unknown target `{}`", name), where, std::move(help));
}

}  // namespace

std::vector<std::string> profile_names() {
  std::vector<std::string> names;
  for (const auto& [name, path] : profiles()) names.push_back(name);
  return names;
}

std::optional<std::string> find_profile(const std::string& name, Span where, Diagnostics& diagnostics) {
  if (is_path(name)) return name;
  const std::map<std::string, std::string> known = profiles();
  if (const auto exact = known.find(name); exact != known.end()) return exact->second;
  std::vector<std::string> names, begun;
  for (const auto& [one, path] : known) {
    names.push_back(one);
    if (!name.empty() && one.starts_with(name)) begun.push_back(one);
  }
  if (begun.size() == 1) return known.at(begun[0]);
  if (begun.size() > 1)
    diagnostics.add(profile::problem("E0419",
                                     fmt::format("target `{}` could be any of {}", name, fmt::join(begun, ", ")), where,
                                     "write the whole name"));
  else
    diagnostics.add(unknown_target(name, where, names));
  return std::nullopt;
}

}  // namespace napkin
