// Text to tokens: one pass over the bytes, longest sign first. Signs of other languages get the one meant.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "syntax/token.hpp"
#include "text/limits.hpp"
#include "text/utf8.hpp"

namespace napkin {

namespace {

constexpr std::array<std::string_view, 21> signs = {"<=", ">=", "==", "!=", "(", ")", "[", "]", "{", "}", ",",
                                                    ":",  ";",  "=",  "<",  ">", "+", "-", "*", "/", "^"};

// What is meant is a sign or a word of this language; or else there is none, and a help of its own says what to write.
struct Meant {
  std::string_view written, meant, help = {};
};
constexpr std::array foreign = {Meant{"≤", "<="},
                                Meant{"≥", ">="},
                                Meant{"≠", "!="},
                                Meant{"×", "*"},
                                Meant{"·", "*"},
                                Meant{"−", "-"},
                                Meant{"–", "-"},
                                Meant{"÷", "/"},
                                Meant{"∞", "inf"},
                                Meant{"√", "", "write `sqrt(..)`"},
                                Meant{"Σ", "", "write `sum[..](..)`"},
                                Meant{"∑", "", "write `sum[..](..)`"},
                                Meant{"&&", "and"},
                                Meant{"&", "and"},
                                Meant{"||", "or"},
                                Meant{"|", "or"},
                                Meant{"!", "not"},
                                Meant{"@", "", "write the sum out: `C[i, j] = sum[k](A[i, k] * B[k, j])`"},
                                Meant{"%", "",
                                      "there is no remainder: give the axis an outer and an inner part, `axis o` "
                                      "and `axis i`, and read `A[64 * o + i]`, where `i` is the remainder"}};

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v'; }

class Lexer {
 public:
  Lexer(const Sources& sources, std::uint32_t file, Diagnostics& diagnostics, std::size_t begin, std::size_t end)
      : text_(std::string_view(sources.at(file).text).substr(0, end)),
        file_(file),
        diagnostics_(diagnostics),
        at_(begin) {}

  Tokens run() {
    if (readable()) {
      if (at_ == 0 && text_.starts_with("\xEF\xBB\xBF")) at_ = 3;  // a byte order mark
      while (at_ < text_.size()) next();
    }
    at_ = text_.size();
    push(TokenKind::end, at_);
    return std::move(result_);
  }

 private:
  Span span(std::size_t begin, std::size_t end) const {
    return {file_, static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end)};
  }
  void error(std::string_view code, std::string message, Span where, std::string help = "",
             std::vector<Fix> fixes = {}) {
    diagnostics_.add({.code = code,
                      .message = std::move(message),
                      .span = where,
                      .help = std::move(help),
                      .fixes = std::move(fixes)});
  }

  bool readable() {
    if (text_.size() > limits::file_bytes) {
      error("E0602", fmt::format("the file has {} bytes, the limit is {}", text_.size(), limits::file_bytes),
            span(0, 0));
      return false;
    }
    const auto at = find_not_text(text_);
    if (!at) return true;
    const auto byte = static_cast<unsigned char>(text_[*at]);
    error("E0101", fmt::format("byte 0x{:02X} is not UTF-8 text", byte), span(*at, *at + 1),
          "save the file as UTF-8 text");
    return false;
  }

  void next() {
    const char c = text_[at_];
    if (c == '\n') return push(TokenKind::newline, at_ + 1);
    if (text_.substr(at_).starts_with("\r\n")) return push(TokenKind::newline, at_ + 2);
    if (is_space(c)) return void(++at_);
    if (c == '#') return comment();
    if (is_letter(c)) return name();
    if (is_digit(c) || (c == '.' && at_ + 1 < text_.size() && is_digit(text_[at_ + 1]))) return number();
    for (const auto sign : signs)
      if (text_.substr(at_).starts_with(sign)) return push(TokenKind::sign, at_ + sign.size());
    unexpected();
  }

  void push(TokenKind kind, std::size_t end) {
    result_.tokens.push_back({kind, span(at_, end), text_.substr(at_, end - at_)});
    at_ = end;
  }

  template <class Predicate>
  std::size_t skip(std::size_t from, Predicate holds) const {
    while (from < text_.size() && holds(text_[from])) ++from;
    return from;
  }

  void comment() {
    auto end = skip(at_, [](char c) { return c != '\n'; });
    auto last = end;
    while (is_space(text_[last - 1])) --last;
    result_.comments.push_back({span(at_, last), std::string(text_.substr(at_, last - at_))});
    at_ = end;
  }

  // After `on` stands the name of a target, `h100-sxm5`.
  void name() {
    const bool target = !result_.tokens.empty() && result_.tokens.back().text == "on";
    auto end = skip(at_, [=](char c) { return is_letter(c) || is_digit(c) || (target && (c == '-' || c == '.')); });
    end = skip(end, [](char c) { return c == '\''; });
    if (end - at_ > limits::name_bytes)
      error("E0603", fmt::format("a name of {} characters, the limit is {}", end - at_, limits::name_bytes),
            span(at_, end));
    push(TokenKind::name, end);
  }

  void number() {
    auto end = skip(at_, is_digit);
    const bool whole = end > at_;
    if (end < text_.size() && text_[end] == '.') end = skip(end + 1, is_digit);
    const bool fraction = text_[end - 1] != '.';
    const auto exponent = end;
    if (end < text_.size() && (text_[end] == 'e' || text_[end] == 'E')) {
      end += 1;
      if (end < text_.size() && (text_[end] == '+' || text_[end] == '-')) end += 1;
      end = skip(end, is_digit);
    }
    const bool complete = end == exponent || is_digit(text_[end - 1]);
    const auto rest = skip(end, [](char c) { return is_letter(c) || is_digit(c) || c == '.'; });
    if (!whole || !fraction || !complete || rest > end)
      malformed(rest, whole, end);
    else
      push(TokenKind::number, end);
  }

  void malformed(std::size_t end, bool whole, std::size_t number_end) {
    const auto written = text_.substr(at_, end - at_);
    std::string help;
    std::vector<Fix> fixes;
    if (!whole && end == number_end) {
      fixes = {write_instead(span(at_, end), fmt::format("0{}", written))};
    } else if (number_end < end && is_letter(text_[number_end])) {
      const auto product =
          fmt::format("{} * {}", text_.substr(at_, number_end - at_), text_.substr(number_end, end - number_end));
      help = fmt::format("a product needs its sign, and a name begins with a letter: `{}`", product);
      if (whole) fixes = {write_instead(span(at_, end), product)};
    }
    error("E0103", fmt::format("`{}` is not a number", written.substr(0, limits::name_bytes)), span(at_, end), help,
          std::move(fixes));
    push(TokenKind::bad, end);
  }

  // One message for a run of characters that mean nothing.
  void unexpected() {
    const auto rest = text_.substr(at_);
    for (const auto& [written, meant, help] : foreign) {
      if (!rest.starts_with(written)) continue;
      const auto place = span(at_, at_ + written.size());
      error("E0102", fmt::format("unexpected character `{}`", written), place, std::string(help),
            help.empty() ? std::vector<Fix>{write_instead(place, std::string(meant))} : std::vector<Fix>{});
      const bool word = !meant.empty() && is_letter(meant.front());
      push(meant.empty() ? TokenKind::bad : word ? TokenKind::name : TokenKind::sign, at_ + written.size());
      if (!meant.empty()) result_.tokens.back().text = meant;
      return;
    }
    const bool foreign_letter = static_cast<unsigned char>(text_[at_]) >= 0x80;
    const auto end = skip(at_ + 1, [=, first = text_[at_]](char c) {
      return c == first || static_cast<unsigned char>(c) >= 0x80 || (foreign_letter && (is_letter(c) || is_digit(c)));
    });
    const bool visible = static_cast<unsigned char>(text_[at_]) >= 0x20 && text_[at_] != 0x7F;
    error("E0102",
          visible ? fmt::format("unexpected character `{}`", first_code_point(end))
                  : fmt::format("unexpected control character 0x{:02X}", static_cast<unsigned char>(text_[at_])),
          span(at_, end), foreign_letter ? "names are made of ASCII letters, digits and `_`" : "");
    push(TokenKind::bad, end);
  }
  std::string_view first_code_point(std::size_t end) const {
    const auto point = decode_utf8(text_.substr(at_, end - at_));
    return text_.substr(at_, point ? point->bytes : 1);
  }

  std::string_view text_;
  std::uint32_t file_;
  Diagnostics& diagnostics_;
  std::size_t at_ = 0;
  Tokens result_;
};

}  // namespace

Tokens tokenize(const Sources& sources, std::uint32_t file, Diagnostics& diagnostics, std::size_t begin,
                std::size_t end) {
  return Lexer(sources, file, diagnostics, begin, end).run();
}

}  // namespace napkin
