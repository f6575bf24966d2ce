// Sources, spans and diagnostics: what every stage points at and reports with.
//
// An error is a value with a span, collected and never thrown. A span is a byte range of one source; line and
// column are computed only when a diagnostic is printed.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace napkin {

struct Span {
  std::uint32_t file = 0;   // index into Sources
  std::uint32_t begin = 0;  // bytes from the start of the file
  std::uint32_t end = 0;    // one past the last byte
  friend bool operator==(const Span&, const Span&) = default;
};
// For what stands in no file, such as a flag: printed without a source line.
inline constexpr Span nowhere{UINT32_MAX, 0, 0};
// The places without bytes at its ends.
inline Span before(Span span) { return {span.file, span.begin, span.begin}; }
inline Span after(Span span) { return {span.file, span.end, span.end}; }

struct Source {
  std::string name;  // a path, `-`, `<command line>` or `<prelude>`
  std::string text;
};

// One-based line and column (in code points) of a byte offset.
struct Location {
  std::uint32_t line = 1;
  std::uint32_t column = 1;
};

class Sources {
 public:
  std::uint32_t add(std::string name, std::string text);
  const Source& at(std::uint32_t file) const { return files_.at(file); }
  std::size_t size() const { return files_.size(); }
  Location locate(std::uint32_t file, std::uint32_t offset) const;

 private:
  std::deque<Source> files_;  // a deque: references stay good while files are added
};

enum class Severity { error, warning };

// A second place a diagnostic points at.
struct Label {
  Span span;
  std::string text;
};

// What stands at a span becomes this text; at a span without bytes it is inserted.
struct Edit {
  Span span;
  std::string text;
};
// Edits that are made together, and what they do in words.
struct Fix {
  std::string title;
  std::vector<Edit> edits;
};
Fix write_instead(Span, const std::string& text);  // "write `text`"

struct Diagnostic {
  std::string_view code;   // a row of the table in src/text/codes.cpp, such as "E0204"
  std::string message;     // what is wrong, lower case, no full stop, names in backquotes
  Span span = nowhere;     // the smallest span that shows it
  std::string label = {};  // text beside the caret; may be empty
  std::vector<Label> others = {};
  std::vector<std::string> notes = {};  // context
  std::string help = {};                // what to change; may be empty
  std::vector<Fix> fixes = {};          // each of them mends it: an editor makes the one that is chosen
};

// The table of codes: one row each, with a section in docs/diagnostics.md that `napkin explain` prints.
struct Code {
  std::string_view code;
  Severity severity;
  std::string_view title;
};
const std::vector<Code>& codes();
const Code* find_code(std::string_view code);
// The code's section of docs/diagnostics.md, without its heading line.
std::optional<std::string> explain(std::string_view code);

// Collects diagnostics, equal ones once, a fix as the help of one that lacks it; one mistake should give one message.
// After a hundred errors the rest is left out, and said so.
class Diagnostics {
 public:
  void add(Diagnostic diagnostic);
  bool has_errors() const;
  std::size_t size() const { return all_.size(); }
  // By file, then by place.
  std::vector<Diagnostic> sorted() const;

 private:
  std::vector<Diagnostic> all_;
  std::size_t errors_ = 0;
};

// rustc-like text: code, message, file:line:column, the source line, a caret span, notes and help.
std::string render_text(const Sources&, const Diagnostics&, bool color);
// `napkin.diagnostics/1`, see docs/json.md.
std::string render_json(const Sources&, const Diagnostics&);

// The same for machines of continuous integration: commands that GitHub shows beside the lines of a change, and a suite
// of JUnit in which every diagnostic is an error.
std::string render_github(const Sources&, const Diagnostics&);
std::string render_junit(const Sources&, const Diagnostics&);

// The nearest of `names` to a misspelt `word` by edit distance, or empty if none is near.
std::string nearest(std::string_view word, const std::vector<std::string>& names);
// "did you mean `smem`?", or empty if none is near: the help of a message about an unknown name.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& names);
// Gives a message about a word at its span that help, and the fix. False, and nothing, if none is near.
bool suggest(Diagnostic&, std::string_view word, const std::vector<std::string>& names);

}  // namespace napkin
