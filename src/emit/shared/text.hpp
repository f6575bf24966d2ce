// Indented lines of generated code, and identifiers without clashes.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "napkin/emit.hpp"

namespace napkin {

class Lines {
 public:
  void line(std::string_view text = {});
  void open(std::string_view head);  // writes `head {` and indents the lines after it
  void deepen() { ++depth_; }        // indents as `open` does, without a head
  void close(std::string_view tail = "}");
  void close(int blocks);                           // closes this number of blocks
  void otherwise(std::string_view condition = {});  // closes the block of an `if`, and opens that of its `else`
  // The same for a format and its values.
  template <class First, class... Rest>
  void line(fmt::format_string<First, Rest...> text, First&& first, Rest&&... rest) {
    line(std::string_view(fmt::format(text, std::forward<First>(first), std::forward<Rest>(rest)...)));
  }
  template <class First, class... Rest>
  void open(fmt::format_string<First, Rest...> head, First&& first, Rest&&... rest) {
    open(std::string_view(fmt::format(head, std::forward<First>(first), std::forward<Rest>(rest)...)));
  }
  // Opens `for (int i = begin; i < end; ++i)`, a loop from 0 to a count, or a loop with a step.
  void loop(std::string_view counter, std::string_view begin, std::string_view end);
  void loop(std::string_view counter, std::int64_t count);
  void steps(std::string_view counter, std::string_view begin, std::string_view end, std::int64_t step);
  // `const int name = value;`, removed when the block closes if the name was not used.
  void declare(std::string_view name, std::string_view value, std::string_view comment = {});
  // `head`, items separated by commas, and `tail`, broken into several lines if one would be too long.
  void list(std::string_view head, const std::vector<std::string>& items, std::string_view tail);
  // Writes text at the left margin, whatever the indentation.
  void verbatim(std::string_view text);
  const std::string& text() const { return text_; }

  // Until the returned object is destroyed, lines are attributed to a place of the diagram's file.
  class From {
   public:
    From(Lines& lines, Span span) : lines_(lines), before_(std::exchange(lines.from_, span)) {}
    From(const From&) = delete;
    ~From() { lines_.from_ = before_; }

   private:
    Lines& lines_;
    Span before_;
  };
  [[nodiscard]] From from(Span span) { return {*this, span}; }
  const std::vector<Traced>& origins() const { return origins_; }

 private:
  struct Declared {
    std::size_t depth, begin, end;  // of the block, and of the line in the text
    std::string name;
  };
  std::string text_;
  std::size_t depth_ = 0;
  void take_back(std::size_t begin, std::size_t end);
  std::vector<Declared> declared_;
  std::vector<Traced> origins_;
  Span from_;
};

// Appends text and the origins of its lines.
void append(EmittedText&, const std::string& text, const std::vector<Traced>& = {});

// Hands out unused C++ identifiers. Primes become underscores. Keywords and names that the generated code uses itself
// get an underscore appended, and a name that is still taken gets a number.
class Identifiers {
 public:
  Identifiers();
  std::string fresh(std::string_view wanted);

 private:
  std::set<std::string, std::less<>> taken_;
};

// Whether the text uses the name other than in a comment or as a member.
bool mentions(std::string_view text, std::string_view name);

// Removes the brackets that enclose the whole text, as in `(a + b)`.
std::string without_brackets(std::string text);

// The text in brackets, if it is more than a word.
std::string in_brackets(const std::string& text);

// `begin + more`, and `at - begin`, without an operand that is 0.
std::string sum(const std::string& begin, const std::string& more);
std::string distance(const std::string& at, const std::string& begin);

// What `text` gives for each item, as a list with a text between items.
template <class Items, class Text>
std::string listed(const Items& items, std::string_view between, Text text) {
  std::string list;
  bool first = true;
  for (const auto& item : items) {
    if (!std::exchange(first, false)) list += between;
    list += text(item);
  }
  return list;
}
// The same as separate texts.
template <class Items, class Text>
std::vector<std::string> texts_of(const Items& items, Text text) {
  std::vector<std::string> all;
  for (const auto& item : items) all.push_back(text(item));
  return all;
}
std::string joined(const std::vector<std::string>&, std::string_view between);

// The text with every `@WORD@` replaced.
std::string replaced(std::string text, const std::vector<std::pair<std::string, std::string>>& words);

}  // namespace napkin
