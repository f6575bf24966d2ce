// Sources, spans and diagnostics, with which every stage reports errors.
//
// A user's error is a value with a span; it is collected and never thrown. A span is a byte range of one source. Line
// and column are computed only when a diagnostic is printed.
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
// The span of things outside of files, such as a flag; printed without a source line.
inline constexpr Span nowhere{UINT32_MAX, 0, 0};
// The empty spans at the ends of a span.
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
  std::deque<Source> files_;  // a deque, so that references stay valid while files are added
};

enum class Severity { error, warning };

// Another place that a diagnostic points at.
struct Label {
  Span span;
  std::string text;
};

// Replaces a span by text; an empty span inserts it.
struct Edit {
  Span span;
  std::string text;
};
// Edits that are made together; the title says what they do.
struct Fix {
  std::string title;
  std::vector<Edit> edits;
};
Fix write_instead(Span, const std::string& text);  // "write `text`"

struct Diagnostic {
  std::string_view code;   // a row of the table in src/text/codes.cpp, such as "E0204"
  std::string message;     // what is wrong, lower case, no full stop, names in backquotes
  Span span = nowhere;     // the smallest span that shows it
  std::string label = {};  // text next to the caret; may be empty
  std::vector<Label> others = {};
  std::vector<std::string> notes = {};  // context
  std::string help = {};                // what to change; may be empty
  std::vector<Fix> fixes = {};          // alternatives: each of them fixes the error; an editor applies the chosen one
};

// A row of the table of codes. Each has a section in docs/diagnostics.md, which `napkin explain` prints.
struct Code {
  std::string_view code;
  Severity severity;
  std::string_view title;
};
const std::vector<Code>& codes();
const Code* find_code(std::string_view code);
// The code's section of docs/diagnostics.md, without its heading line.
std::optional<std::string> explain(std::string_view code);

// Collects diagnostics. Equal ones are kept once. If a diagnostic has a fix but no help, the fix becomes its help. One
// mistake should give one message. After a hundred errors the rest is dropped, and a message says so.
class Diagnostics {
 public:
  void add(Diagnostic diagnostic);
  bool has_errors() const;
  std::size_t size() const { return all_.size(); }
  // Sorted by file, then by place.
  std::vector<Diagnostic> sorted() const;

 private:
  std::vector<Diagnostic> all_;
  std::size_t errors_ = 0;
};

// rustc-like text: code, message, file:line:column, the source line, a caret span, notes and help.
std::string render_text(const Sources&, const Diagnostics&, bool color);
// `napkin.diagnostics/1`, see docs/json.md.
std::string render_json(const Sources&, const Diagnostics&);

// The same for continuous integration: workflow commands, which GitHub shows next to the lines of a change, and a JUnit
// suite in which every diagnostic is an error.
std::string render_github(const Sources&, const Diagnostics&);
std::string render_junit(const Sources&, const Diagnostics&);

// The nearest of `names` to a misspelt `word` by edit distance; empty if none is near.
std::string nearest(std::string_view word, const std::vector<std::string>& names);
// The help of a message about an unknown name: "did you mean `smem`?"; empty if none is near.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& names);
// Sets that help, and the fix, of a diagnostic whose span is the word. Returns false, and sets nothing, if none is
// near.
bool suggest(Diagnostic&, std::string_view word, const std::vector<std::string>& names);

}  // namespace napkin
