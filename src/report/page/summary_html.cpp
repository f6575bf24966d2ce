// Splits the lines of the summary text into cells, so that the HTML page says the same as the text.
#include <algorithm>

#include "report/page/summary_page.hpp"

namespace napkin::page {
namespace {

using Row = std::vector<std::string>;
constexpr std::size_t one_line = 1'000'000;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const auto end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

std::string trimmed(const std::string& text) {
  const auto begin = text.find_first_not_of(' ');
  return begin == std::string::npos ? "" : text.substr(begin, text.find_last_not_of(' ') + 1 - begin);
}

// Two or more spaces separate columns. Bars drawn with `#` are dropped, because HTML draws bars itself.
Row cells(const std::string& line) {
  Row row;
  for (std::size_t begin = 0; begin < line.size();) {
    const auto end = std::min(line.find("  ", begin), line.size());
    auto cell = trimmed(line.substr(begin, end - begin));
    if (!cell.empty() && cell.find_first_not_of('#') != std::string::npos) row.push_back(std::move(cell));
    begin = std::min(line.find_first_not_of(' ', end), line.size());
  }
  return row;
}

bool is_title(const std::string& line) { return !line.empty() && line.front() >= 'A' && line.front() <= 'Z'; }

// A text for copying, such as a long partition, continues on the next lines.
bool goes_on(const report::Summary::Section& section, const std::string& words) {
  return !section.rows.empty() && section.rows.back().front().ends_with(" |") && words.starts_with("     ");
}

std::string between(const std::string& text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  if (at == std::string::npos) return "";
  const auto begin = at + from.size();
  return text.substr(begin, std::min(text.find(to, begin), text.size()) - begin);
}

// If the time is known, the last three sentences contain the time and bound, the rate, and the proof.
void add_facts(report::Summary& made, bool timed) {
  const auto tile =
      std::ranges::find(made.sections, std::string_view("TILE"), [](const auto& one) { return one.title; });
  if (timed) {
    const auto& first = made.sentences[made.sentences.size() - 3];
    made.facts.emplace_back("time", first.substr(0, first.find(',')));
    if (auto bound = between(first, "bound by ", "; "); !bound.empty())
      made.facts.emplace_back("bound by", std::move(bound));
  }
  if (tile != made.sections.end()) made.facts.emplace_back("tile", tile->rows.front().front());
  if (timed) {
    const auto& second = made.sentences[made.sentences.size() - 2];
    made.facts.emplace_back("rate", second.substr(0, std::min(second.find(" ("), second.find(';'))));
  }
}

}  // namespace

report::Summary page_summary(const Page& page) {
  report::Summary made;
  bool headed = false;
  for (const auto& line : lines_of(page_text(page, false, one_line))) {
    if (line.starts_with("more: ")) break;
    if (!headed || line.empty()) {
      headed = headed || line.empty();
      continue;
    }
    if (is_title(line)) made.sections.push_back({trimmed(line.substr(0, page_margin)), {}});
    if (made.sections.empty()) {
      made.sentences.push_back(trimmed(line));
      continue;
    }
    auto& section = made.sections.back();
    const auto words = line.substr(std::min(line.size(), page_margin));
    if (goes_on(section, words))
      section.rows.back().front() += " " + trimmed(words);
    else
      section.rows.push_back(words.find("--partition") != std::string::npos ? Row{words} : cells(words));
  }
  add_facts(made, page.time_s.value_or(0) > 0);
  return made;
}

}  // namespace napkin::page
