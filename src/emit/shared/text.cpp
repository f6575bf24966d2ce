// Writes indented lines of generated code, and chooses identifiers that clash with nothing.
#include "emit/shared/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace napkin {

namespace {
constexpr std::size_t line_length = 120;

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }
}  // namespace

bool mentions(std::string_view text, std::string_view name) {
  for (auto at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1)) {
    const auto line = text.substr(0, at).rfind('\n') + 1;
    if (text.substr(line, at - line).find("//") != std::string_view::npos) continue;
    const bool begins = at == 0 || (!is_word(text[at - 1]) && text[at - 1] != '.');
    const auto end = at + name.size();
    if (begins && (end == text.size() || !is_word(text[end]))) return true;
  }
  return false;
}

void Lines::line(std::string_view text) {
  const auto begin = text_.size();
  if (!text.empty()) text_.append(depth_ * 2, ' ').append(text);
  text_ += '\n';
  if (from_ == Span()) return;
  if (!origins_.empty() && origins_.back().end == begin && origins_.back().span == from_)
    origins_.back().end = text_.size();
  else
    origins_.push_back({begin, text_.size(), from_});
}
void Lines::open(std::string_view head) {
  line(fmt::format("{} {{", head));
  ++depth_;
}
void Lines::close(std::string_view tail) {
  while (!declared_.empty() && declared_.back().depth == depth_) {
    const auto& last = declared_.back();
    if (!mentions(std::string_view(text_).substr(last.end), last.name)) take_back(last.begin, last.end);
    declared_.pop_back();
  }
  --depth_;
  line(tail);
}
void Lines::close(int blocks) {
  while (blocks-- > 0) close();
}
void Lines::otherwise(std::string_view condition) {
  close(condition.empty() ? "} else {" : fmt::format("}} else if ({}) {{", condition));
  deepen();
}
void Lines::loop(std::string_view counter, std::string_view begin, std::string_view end) {
  open(fmt::format("for (int {0} = {1}; {0} < {2}; ++{0})", counter, begin, end));
}
void Lines::loop(std::string_view counter, std::int64_t count) { loop(counter, "0", fmt::format("{}", count)); }
void Lines::steps(std::string_view counter, std::string_view begin, std::string_view end, std::int64_t step) {
  open(fmt::format("for (int {0} = {1}; {0} < {2}; {0} += {3})", counter, begin, end, step));
}
// Removes text that nothing needs; the lines after it move up.
void Lines::take_back(std::size_t begin, std::size_t end) {
  text_.erase(begin, end - begin);
  for (auto origin = origins_.rbegin(); origin != origins_.rend() && origin->end > begin; ++origin) {
    origin->end -= end - begin;
    if (origin->begin > begin) origin->begin -= end - begin;
  }
  std::erase_if(origins_, [](const Traced& origin) { return origin.begin == origin.end; });
}
void Lines::declare(std::string_view name, std::string_view value, std::string_view comment) {
  const auto begin = text_.size();
  line(fmt::format("const int {} = {};{}{}", name, value, comment.empty() ? "" : "  // ", comment));
  declared_.push_back({depth_, begin, text_.size(), std::string(name)});
}
void Lines::list(std::string_view head, const std::vector<std::string>& items, std::string_view tail) {
  std::string text(head);
  for (std::size_t i = 0; i < items.size(); ++i) {
    const auto item = items[i] + (i + 1 < items.size() ? "," : std::string(tail));
    const bool fits = depth_ * 2 + text.size() + 1 + item.size() <= line_length;
    if (!fits) {
      line(text);
      text = "    ";
    }
    text += (i == 0 || !fits ? "" : " ") + item;
  }
  line(items.empty() ? text + std::string(tail) : text);
}
void Lines::verbatim(std::string_view text) { text_.append(text); }

void append(EmittedText& to, const std::string& text, const std::vector<Traced>& origins) {
  for (const auto& origin : origins)
    to.origins.push_back({to.text.size() + origin.begin, to.text.size() + origin.end, origin.span});
  to.text += text;
}

namespace {
constexpr std::string_view reserved[] = {
    // of C++ and CUDA
    "alignas", "alignof", "and", "asm", "auto", "bool", "break", "case", "catch", "char", "class", "compl", "concept",
    "const", "continue", "decltype", "default", "delete", "do", "double", "else", "enum", "explicit", "export",
    "extern", "false", "float", "for", "friend", "goto", "half", "if", "inline", "int", "long", "mutable", "namespace",
    "new", "noexcept", "not", "nullptr", "operator", "or", "private", "protected", "public", "register", "requires",
    "return", "short", "signed", "sizeof", "static", "struct", "switch", "template", "this", "throw", "true", "try",
    "typedef", "typeid", "typename", "union", "unsigned", "using", "virtual", "void", "volatile", "while", "xor",
    "warpSize", "threadIdx", "blockIdx", "blockDim", "gridDim", "dim3", "stdin", "stdout", "stderr", "errno", "NULL",
    "INFINITY", "NAN", "EOF", "linux", "unix", "I",
    // functions that texts of the function table or the generated code call
    "exp", "exp2", "log", "log2", "sqrt", "rsqrt", "tanh", "erf", "pow", "fabs", "fmax", "fmin", "min", "max", "abs",
    "expf", "exp2f", "logf", "log2f", "sqrtf", "rsqrtf", "tanhf", "erff", "fabsf", "fmaxf", "fminf", "main", "std",
    // identifiers of the generated code itself
    "n", "i", "error", "space", "start", "possible", "reference", "launch", "good", "check", "run", "block", "thread",
    "threads", "shared_memory", "pieces", "workspace", "stream", "sizes", "blocks", "device", "host", "time", "full",
    "rank", "all_sizes", "arrays", "at_once", "clusters_at_once", "demanded", "either", "give_up", "lacks", "last",
    "made", "make_room", "map_tiles", "maps", "other", "path", "planned", "prepared_for", "read_demand", "runs",
    "start_clusters", "take", "ways"};
}

Identifiers::Identifiers() : taken_(std::begin(reserved), std::end(reserved)) {}

std::string Identifiers::fresh(std::string_view wanted) {
  std::string stem(wanted);
  std::replace_if(
      stem.begin(), stem.end(), [](unsigned char c) { return !std::isalnum(c) || c > 127; }, '_');
  auto name = taken_.contains(stem) && stem.back() != '_' ? stem + "_" : stem;
  for (int number = 2; taken_.contains(name); ++number) name = fmt::format("{}_{}", stem, number);
  taken_.insert(name);
  return name;
}

std::string without_brackets(std::string text) {
  if (text.empty() || text.front() != '(') return text;
  int depth = 0;
  for (std::size_t i = 0; i + 1 < text.size(); ++i) {
    depth += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
    if (depth == 0) return text;
  }
  return text.substr(1, text.size() - 2);
}

std::string in_brackets(const std::string& text) {
  return text.find(' ') == std::string::npos ? text : "(" + text + ")";
}

std::string sum(const std::string& begin, const std::string& more) {
  return begin == "0" ? more : more == "0" ? begin : fmt::format("{} + {}", begin, more);
}

std::string distance(const std::string& at, const std::string& begin) {
  return begin == "0" ? at : fmt::format("{} - {}", at, in_brackets(begin));
}

std::string joined(const std::vector<std::string>& parts, std::string_view between) {
  return listed(parts, between, [](const std::string& part) { return part; });
}

std::string replaced(std::string text, const std::vector<std::pair<std::string, std::string>>& words) {
  for (const auto& [word, by] : words)
    for (auto at = text.find(word); at != std::string::npos; at = text.find(word, at + by.size()))
      text.replace(at, word.size(), by);
  return text;
}

}  // namespace napkin
