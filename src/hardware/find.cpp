// A target's name to the file of its profile. The user's own folder comes first, so that it can replace a shipped
// profile; an installed program finds what was installed with it before it looks where it was built.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <sstream>
#include <system_error>

#include "hardware/problem.hpp"
#include "hardware/yaml.hpp"
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

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

// The aliases of a profile; none of a file that is no profile, which is told when it is loaded.
std::vector<std::string> aliases_in(const std::string& path) {
  Sources sources;
  Diagnostics ignored;
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  const auto root = profile::read_yaml(sources, sources.add(path, text.str()), ignored);
  const auto* entry = root ? root->find("aliases") : nullptr;
  std::istringstream words(entry != nullptr ? entry->value.text : "");
  return {std::istream_iterator<std::string>(words), {}};
}

using Fits = std::function<bool(const std::string& name, const std::string& path)>;
std::vector<std::string> names_that(const std::map<std::string, std::string>& known, const Fits& fits) {
  std::vector<std::string> names;
  for (const auto& [name, path] : known)
    if (fits(name, path)) names.push_back(name);
  return names;
}

// What a name in small letters may mean: the whole name goes before an alias, and that before a beginning.
std::vector<std::string> meant_by(const std::string& wanted, const std::map<std::string, std::string>& known) {
  if (wanted.empty()) return {};
  auto meant = names_that(known, [&](const auto& name, const auto&) { return lower(name) == wanted; });
  if (!meant.empty()) return meant;
  meant = names_that(known, [&](const auto&, const auto& path) {
    return std::ranges::any_of(aliases_in(path), [&](const auto& alias) { return lower(alias) == wanted; });
  });
  if (!meant.empty()) return meant;
  return names_that(known, [&](const auto& name, const auto&) { return lower(name).starts_with(wanted); });
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
  const auto meant = meant_by(lower(name), known);
  if (meant.size() == 1) return known.at(meant[0]);
  if (meant.size() > 1)
    diagnostics.add(profile::problem("E0419",
                                     fmt::format("target `{}` could be any of {}", name, fmt::join(meant, ", ")), where,
                                     "write the whole name"));
  else
    diagnostics.add(unknown_target(name, where, profile_names()));
  return std::nullopt;
}

}  // namespace napkin
