// Indented lines of generated code, and identifiers that clash with nothing.
#pragma once

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
  void open(std::string_view head);  // `head {`, and the lines after it further in
  void deepen() { ++depth_; }        // what `open` does after its head
  void close(std::string_view tail = "}");
  void close(int blocks);  // so many, one after another
  // Opens `for (int i = begin; i < end; ++i)`, or from 0 to a count, and a loop in steps of more.
  void loop(std::string_view counter, std::string_view begin, std::string_view end);
  void loop(std::string_view counter, std::int64_t count);
  void steps(std::string_view counter, std::string_view begin, std::string_view end, std::int64_t step);
  // `const int name = value;`, taken back when the block closes without having used it.
  void declare(std::string_view name, std::string_view value, std::string_view comment = {});
  // `head` with items between commas and `tail`, on more lines where one would be too long.
  void list(std::string_view head, const std::vector<std::string>& items, std::string_view tail);
  // Text at the left margin, whatever the depth.
  void verbatim(std::string_view text);
  const std::string& text() const { return text_; }

  // Lines come from a place of the diagram's file until what this returns ends.
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
    std::size_t depth, begin, end;  // of the line in the text
    std::string name;
  };
  std::string text_;
  std::size_t depth_ = 0;
  void take_back(std::size_t begin, std::size_t end);
  std::vector<Declared> declared_;
  std::vector<Traced> origins_;
  Span from_;
};

// Text behind text, with where its lines come from.
void append(EmittedText&, const std::string& text, const std::vector<Traced>& = {});

// Hands out identifiers of C++ that nobody has yet: primes become underscores, words of the language and names that
// the generated code uses itself get one appended, and what is still taken gets a number.
class Identifiers {
 public:
  Identifiers();
  std::string fresh(std::string_view wanted);

 private:
  std::set<std::string, std::less<>> taken_;
};

// Whether the text uses the name, as more than a comment or a member.
bool mentions(std::string_view text, std::string_view name);

// `(a + b)` without the brackets that enclose all of it.
std::string without_brackets(std::string text);

// `begin + more`, where neither is nothing.
std::string sum(const std::string& begin, const std::string& more);

// Every `@WORD@` replaced.
std::string replaced(std::string text, const std::vector<std::pair<std::string, std::string>>& words);

}  // namespace napkin
