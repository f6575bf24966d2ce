// Whether a text is well-formed XML, as far as pictures use it: elements, quoted attributes, the five entities.
#pragma once

#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace napkin::test {

// ` name="value"` as often as it stands there, and perhaps a slash. No regular expression: values may be long, and
// std::regex recurses once for every character.
inline bool are_attributes(std::string_view text) {
  const auto take = [&](std::size_t count) { text.remove_prefix(std::min(count, text.size())); };
  for (;;) {
    const auto blank = text.find_first_not_of(" \n");
    take(blank);
    if (text.empty() || text == "/") return true;
    const auto name = text.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-");
    if (blank == 0 || name == 0 || name == std::string_view::npos || text.substr(name, 2) != "=\"") return false;
    take(name + 2);
    const auto end = text.find_first_of("\"<");
    if (end == std::string_view::npos || text[end] != '"') return false;
    take(end + 1);
  }
}

inline bool begins_with_entity(std::string_view text) {
  constexpr std::string_view entities[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};
  return std::any_of(std::begin(entities), std::end(entities), [&](auto one) { return text.starts_with(one); });
}

// What is wrong, or empty.
inline std::string malformed(const std::string& text) {
  std::vector<std::string> open;
  std::set<std::string> ids;
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] == '&' && !begins_with_entity(std::string_view(text).substr(at)))
      return "a bare & at " + text.substr(at, 20);
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
    if (!are_attributes(rest)) return "attributes " + rest.substr(0, 80);
    if (const auto id = rest.find(" id=\""); id != std::string::npos)
      if (!ids.insert(rest.substr(id + 5, rest.find('"', id + 5) - id - 5)).second) return "an id twice: " + rest;
    if (!inside.ends_with("/")) open.push_back(inside.substr(0, name_end));
    if (open.empty()) return "";
  }
  return open.empty() ? "" : "<" + open.back() + "> is never closed";
}

}  // namespace napkin::test
