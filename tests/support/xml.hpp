// Whether a text is well-formed XML, as far as pictures use it: elements, quoted attributes, the five entities.
#pragma once

#include <regex>
#include <set>
#include <string>
#include <vector>

namespace napkin::test {

// What is wrong, or empty.
inline std::string malformed(const std::string& text) {
  static const std::regex attributes("^(\\s+[A-Za-z][A-Za-z-]*=\"[^\"<]*\")*\\s*/?$");
  static const std::regex entity("^&(amp|lt|gt|quot|#39);");
  std::vector<std::string> open;
  std::set<std::string> ids;
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] == '&' && !std::regex_search(text.substr(at, 8), entity)) return "a bare & at " + text.substr(at, 20);
    if (text[at] != '<') {
      if (text[at] == '>') return "a bare >";
      ++at;
      continue;
    }
    const auto end = text.find('>', at);
    if (end == std::string::npos) return "an open <";
    const auto inside = text.substr(at + 1, end - at - 1);
    at = end + 1;
    if (inside.starts_with("/")) {
      if (open.empty() || open.back() != inside.substr(1)) return "</" + inside.substr(1) + "> closes nothing";
      open.pop_back();
      continue;
    }
    const auto name_end = inside.find_first_of(" \n/");
    const auto rest = name_end == std::string::npos ? "" : inside.substr(name_end);
    if (!std::regex_match(rest, attributes)) return "attributes " + rest.substr(0, 80);
    if (const auto id = rest.find(" id=\""); id != std::string::npos)
      if (!ids.insert(rest.substr(id + 5, rest.find('"', id + 5) - id - 5)).second) return "an id twice: " + rest;
    if (!inside.ends_with("/")) open.push_back(inside.substr(0, name_end));
    if (open.empty()) return "";
  }
  return open.empty() ? "" : "<" + open.back() + "> is never closed";
}

}  // namespace napkin::test
