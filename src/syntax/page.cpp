// Aligns the lines of a page and wraps the long ones. A line is broken only inside brackets, where the language lets
// it continue.
#include "syntax/page.hpp"

#include <algorithm>
#include <cstddef>

namespace napkin {

namespace {

constexpr std::size_t width = 100;
constexpr std::size_t continued_indent = 4;  // of a continued line

// Code points, as columns are counted everywhere else.
std::size_t length(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

void pad(std::string& text, std::size_t to) { text.append(to - std::min(to, length(text)), ' '); }

using Range = std::pair<std::vector<PageLine>::iterator, std::vector<PageLine>::iterator>;

// The lines from `first` on that stand together: no blank line between them, and all of one kind.
template <class Same>
Range run_from(std::vector<PageLine>& lines, std::vector<PageLine>::iterator first, Same same) {
  auto last = first + 1;
  while (last != lines.end() && !last->blank_before && same(*first, *last)) ++last;
  return {first, last};
}

void align_heads(std::vector<PageLine>& lines) {
  const auto same = [](const PageLine& a, const PageLine& b) { return a.shape == b.shape; };
  for (auto at = lines.begin(); at != lines.end();) {
    const auto [first, last] = run_from(lines, at, same);
    at = last;
    std::size_t longest = 0;
    for (auto line = first; line != last; ++line)
      if (!line->tail.empty()) longest = std::max(longest, length(line->head));
    for (auto line = first; line != last; ++line)
      if (!line->tail.empty()) pad(line->head, longest);
  }
}

// How many brackets are open before each character.
std::vector<int> depths(const std::string& text) {
  std::vector<int> result;
  int depth = 0;
  for (const char c : text) {
    result.push_back(depth);
    depth += c == '(' || c == '[' ? 1 : c == ')' || c == ']' ? -1 : 0;
  }
  return result;
}

// The best space to break at: as late as possible among the outermost ones inside brackets, and rather not in the
// first half of the line. Where none fits, the first one that does not.
std::size_t find_break(const std::string& text, const std::vector<int>& depth, std::size_t from, std::size_t room) {
  auto best = std::string::npos;
  const auto late = [&](std::size_t i) { return i - from > room / 2; };
  for (auto i = from; i < text.size(); ++i) {
    if (text[i] != ' ' || depth[i] <= 0) continue;
    if (i - from > room) return best == std::string::npos ? i : best;
    const bool same_half = best != std::string::npos && late(i) == late(best);
    if (!same_half || depth[i] <= depth[best]) best = i;
  }
  return best;
}

std::string wrapped(const std::string& text) {
  const auto depth = depths(text);
  std::string result;
  std::size_t from = 0, room = width;
  while (text.size() - from > room) {
    const auto at = find_break(text, depth, from, room);
    if (at == std::string::npos) break;
    result += text.substr(from, at - from) + "\n" + std::string(continued_indent, ' ');
    from = at + 1;
    room = width - continued_indent;
  }
  return result + text.substr(from);
}

bool is_wrapped(const PageLine& line) { return line.head.find('\n') != std::string::npos; }

void align_comments(std::vector<PageLine>& lines) {
  const auto alone = [](const PageLine& line) {
    return line.shape == LineShape::comment || line.shape == LineShape::alone;
  };
  const auto together = [&](const PageLine& a, const PageLine& b) { return !alone(a) && !alone(b); };
  for (auto at = lines.begin(); at != lines.end();) {
    const auto [first, last] = run_from(lines, at, together);
    at = last;
    std::size_t longest = 0;
    for (auto line = first; line != last; ++line)
      if (!line->comment.empty() && !is_wrapped(*line)) longest = std::max(longest, length(line->head));
    for (auto line = first; line != last; ++line) {
      if (line->comment.empty()) continue;
      if (!is_wrapped(*line)) pad(line->head, longest);
      line->head += "  " + line->comment;
    }
  }
}

}  // namespace

std::string to_text(std::vector<PageLine> lines) {
  align_heads(lines);
  for (auto& line : lines) line.head = line.shape == LineShape::comment ? line.head : wrapped(line.head + line.tail);
  align_comments(lines);
  std::string text;
  for (const auto& line : lines) {
    if (line.blank_before && !text.empty()) text += "\n";
    text += line.head + "\n";
  }
  return text;
}

}  // namespace napkin
