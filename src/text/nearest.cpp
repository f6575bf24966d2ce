// Near misses: the name that a misspelt one was meant to be.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <numeric>

#include "napkin/text.hpp"

namespace napkin {

namespace {

char lower(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }

// Edits that turn `a` into `b`: insert, delete, replace, swap of neighbours. A letter's case costs nothing.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before, last(b.size() + 1), row(b.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool same = lower(a[i - 1]) == lower(b[j - 1]);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (same ? 0 : 1)});
      const bool swapped = i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1]);
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before = last;
    last = row;
  }
  return last.back();
}

}  // namespace

std::string nearest(std::string_view word, const std::vector<std::string>& names) {
  constexpr std::size_t longest = 64;
  if (word.size() > longest) return {};
  const std::size_t allowed = word.size() <= 2 ? 0 : std::max<std::size_t>(1, word.size() / 3);
  std::string best;
  std::size_t least = allowed + 1;
  for (const auto& name : names) {
    if (name == word || name.size() > longest) continue;
    const auto edits = distance(word, name);
    if (edits < least || (edits == least && edits <= allowed && name < best)) {
      best = name;
      least = edits;
    }
  }
  return best;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& names) {
  const auto name = nearest(word, names);
  return name.empty() ? name : fmt::format("did you mean `{}`?", name);
}

bool suggest(Diagnostic& diagnostic, std::string_view word, const std::vector<std::string>& names) {
  const auto name = nearest(word, names);
  if (name.empty()) return false;
  diagnostic.help = did_you_mean(word, names);
  diagnostic.fixes = {write_instead(diagnostic.span, name)};
  return true;
}

}  // namespace napkin
