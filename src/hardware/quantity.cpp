// The words of a quantity, left to right: numbers, a unit, an origin, citation keys, and in brackets how it came about.
// Each mistake is pointed at by the word it stands in.
#include "hardware/quantity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "hardware/units.hpp"

namespace napkin::profile {
namespace {

constexpr std::array origins{Origin::vendor, Origin::measured, Origin::derived, Origin::assumed};

struct Word {
  std::string_view text;
  std::size_t offset;
};

std::vector<Word> split(std::string_view text) {
  std::vector<Word> words;
  for (std::size_t at = text.find_first_not_of(' '); at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    words.push_back({text.substr(at, end - at), at});
    at = std::min(text.find_first_not_of(' ', end), text.size());
  }
  return words;
}

std::optional<Origin> find_origin(std::string_view word) {
  for (const Origin origin : origins)
    if (name(origin) == word) return origin;
  return std::nullopt;
}

class Words {
 public:
  Words(const Node& node, const Expected& expected, Diagnostics& diagnostics)
      : node_(node), expected_(expected), diagnostics_(diagnostics) {}

  std::optional<Quantity> number() {
    if (!take_how() || !take_numbers() || !take_unit()) return std::nullopt;
    return finish();
  }
  std::optional<Quantity> word() {
    if (!take_how() || words_.empty()) return fail_empty();
    next_ = 1;
    return finish();
  }

 private:
  bool take_how();
  bool take_numbers();
  std::optional<double> read_number(const Word&);
  bool take_unit();
  bool fail_unit(const Word* word);
  bool take_origin();
  bool take_sources();
  std::optional<Quantity> finish();
  std::optional<Quantity> fail_empty() {
    fail("E0408", fmt::format("`{}` has no value", expected_.path), node_.span, "");
    return std::nullopt;
  }

  const Word* peek() const { return next_ < words_.size() ? &words_[next_] : nullptr; }
  Span span(const Word& word) const { return node_.part(word.offset, word.text.size()); }
  bool fail(std::string_view code, std::string message, Span where, std::string help) {
    diagnostics_.add(problem(code, std::move(message), where, std::move(help)));
    return false;
  }

  const Node& node_;
  const Expected& expected_;
  Diagnostics& diagnostics_;
  Quantity quantity_;
  std::vector<Word> words_;
  std::size_t next_ = 0;
};

bool Words::take_how() {
  const std::string_view text = node_.text;
  const std::size_t open = text.find('(');
  words_ = split(text.substr(0, open));
  if (open == std::string_view::npos) return true;
  if (!text.ends_with(')'))
    return fail("E0410", "the bracket is never closed", node_.part(open, 1), "end the line with `)`");
  quantity_.how = text.substr(open + 1, text.size() - open - 2);
  return true;
}

bool starts_number(std::string_view word) {
  return !word.empty() && (std::string_view("0123456789.+-").find(word[0]) != std::string_view::npos);
}

bool Words::take_numbers() {
  if (words_.empty()) return fail_empty().has_value();
  do {
    const std::optional<double> value = read_number(words_[next_++]);
    if (!value) return false;
    quantity_.values.push_back(*value);
  } while (expected_.list && peek() != nullptr && starts_number(peek()->text));
  return true;
}

// Only decimal notation: a leading zero means octal to some YAML readers, and `inf` or `0x` are never meant.
std::optional<double> Words::read_number(const Word& word) {
  const std::string_view text = word.text;
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const std::string_view rest = text.substr(static_cast<std::size_t>(end - text.data()));
  const bool number =
      error == std::errc() && std::isfinite(value) && text.find_first_of("0123456789") != std::string_view::npos;
  if (number && rest.empty() && (text.size() == 1 || text[0] != '0' || text[1] == '.' || text[1] == 'e')) return value;
  std::string help = "write digits, with a point or an exponent where needed";
  if (number && rest.empty())
    help = fmt::format("some readers take a leading zero for octal: write `{:.17g}`", value);
  else if (number && find_unit(rest))
    help = fmt::format("put a space before the unit: `{} {}`", text.substr(0, text.size() - rest.size()), rest);
  fail("E0408", fmt::format("`{}` is no number", text), span(word), std::move(help));
  return std::nullopt;
}

bool Words::take_unit() {
  const bool wanted = !row(expected_.dimension).example.empty();
  const Word* word = peek();
  const bool there = word != nullptr && !find_origin(word->text);
  const std::optional<UnitOfMeasure> unit = there ? find_unit(word->text) : std::nullopt;
  if (unit && unit->dimension == expected_.dimension) {
    for (double& value : quantity_.values) value *= unit->factor;
    ++next_;
    return true;
  }
  if (!there) return expected_.dimension == Dimension::values || !wanted || fail_unit(nullptr);
  return unit || wanted ? fail_unit(word) : true;  // an unknown word after a plain count is taken for its origin
}

bool Words::fail_unit(const Word* word) {
  const DimensionRow& wanted = row(expected_.dimension);
  if (word == nullptr)
    return fail("E0409", fmt::format("`{}` needs a unit of {}", expected_.path, wanted.words), span(words_[next_ - 1]),
                fmt::format("write it after the number, as in `{}`", wanted.example));
  const std::optional<UnitOfMeasure> unit = find_unit(word->text);
  if (unit && wanted.example.empty())
    return fail("E0409", fmt::format("`{}` is {} and has no unit", expected_.path, wanted.words), span(*word),
                "remove the unit");
  if (unit)
    return fail("E0409",
                fmt::format("`{}` measures {}, and `{}` is {}", word->text, row(unit->dimension).words, expected_.path,
                            wanted.words),
                span(*word), fmt::format("write it as in `{}`", wanted.example));
  std::string help = did_you_mean(word->text, unit_names(expected_.dimension));
  if (help.empty()) help = fmt::format("write it as in `{}`", wanted.example);
  if (word->text.starts_with("KB")) help = "write `KiB` for 1024 bytes or `kB` for 1000";
  return fail("E0409", fmt::format("unknown unit `{}`", word->text), span(*word), std::move(help));
}

bool Words::take_origin() {
  const Word* word = peek();
  const std::string written(node_.text.substr(0, std::min(node_.text.size(), quantity_.written.size())));
  if (word == nullptr)
    return fail("E0410", fmt::format("`{}` has no origin and no source", expected_.path), node_.span,
                fmt::format("say where it comes from, as in `{} vendor KEY`, with KEY under `sources`", written));
  const std::optional<Origin> origin = find_origin(word->text);
  if (!origin)
    return fail("E0410", fmt::format("unknown origin `{}`", word->text), span(*word),
                "write vendor, measured, derived or assumed");
  quantity_.origin = *origin;
  ++next_;
  if (*origin == Origin::derived && quantity_.how.empty())
    return fail("E0410", fmt::format("`{}` does not say how it was derived", expected_.path), span(*word),
                "put the arithmetic in brackets at the end of the line");
  return true;
}

bool Words::take_sources() {
  if (peek() == nullptr)
    return fail("E0410", fmt::format("`{}` has no source", expected_.path), node_.span,
                "name one or more keys of `sources` after the origin");
  bool known = true;
  for (; peek() != nullptr; ++next_) {
    const std::string key(peek()->text);
    quantity_.sources.push_back(key);
    if (expected_.sources->contains(key)) continue;
    std::vector<std::string> keys;
    for (const auto& [one, citation] : *expected_.sources) keys.push_back(one);
    std::string help = did_you_mean(key, keys);
    if (help.empty()) help = fmt::format("add `{}: ...` under `sources`", key);
    known = fail("E0411", fmt::format("`{}` is not among the profile's sources", key), span(*peek()), std::move(help));
  }
  return known;
}

std::optional<Quantity> Words::finish() {
  const Word& last = words_[next_ - 1];
  const std::size_t length = last.offset + last.text.size() - words_[0].offset;
  quantity_.written = node_.text.substr(words_[0].offset, length);
  quantity_.span = node_.part(words_[0].offset, length);
  if (node_.given && peek() == nullptr) return quantity_;
  if (!take_origin() || !take_sources()) return std::nullopt;
  return quantity_;
}

}  // namespace

std::optional<Quantity> read_quantity(const Node& node, const Expected& expected, Diagnostics& diagnostics) {
  return Words(node, expected, diagnostics).number();
}

std::optional<Quantity> read_sourced_word(const Node& node, const Expected& expected, Diagnostics& diagnostics) {
  return Words(node, expected, diagnostics).word();
}

}  // namespace napkin::profile
