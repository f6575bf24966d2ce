// A wire has its name where it begins. Its size is given where it first appears, or, on a machine, the size of the
// piece.
#include "scene/names.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "diagram/contains.hpp"
#include "scene/bends.hpp"

namespace napkin::scene {

double Names::wire(const Lane& lane, double x, std::size_t next, std::optional<std::size_t> level) {
  const auto text = lane.wire ? short_name(inks_.diagram.at(*lane.wire).name) : "1";
  Mark mark{MarkKind::wire_name, Words{{x, lane.y}, Anchor::start, text, text_width(text), woven(lane, next)}};
  mark.array = value(lane).name;
  mark.level = level;
  if (lane.wire) {
    mark.axis = inks_.diagram.at(*lane.wire).name;
    mark.about = fmt::format("{} of {}", mark.axis, mark.array.empty() ? "what the function makes" : mark.array);
  }
  if (!mark.array.empty()) mark.id = fresh_id(fmt::format("wire-{}-{}", mark.array, mark.axis));
  marks_.push_back(std::move(mark));
  const auto end = x + text_width(text);
  const auto words = size_words(lane, next, level);
  return words.empty() ? end : size(lane, end + cell, words, level);
}

double Names::size(const Lane& lane, double x, const std::string& words, std::optional<std::size_t> level) {
  Mark mark{MarkKind::wire_size, Words{{x, lane.y}, Anchor::start, words, text_width(words)}};
  mark.array = value(lane).name;
  mark.axis = inks_.diagram.at(*lane.wire).name;
  mark.level = level;
  marks_.push_back(std::move(mark));
  return x + text_width(words);
}

double Names::array(const Lane& first, double x, std::optional<std::size_t> level) {
  if (!value(first).array) return x;
  const auto& array = inks_.diagram.at(*value(first).array);
  const auto text = short_name(array.name);
  Mark mark{MarkKind::array_name, Words{{x, first.y - name_rise}, Anchor::start, text, text_width(text)}};
  mark.array = array.name;
  mark.level = level;
  mark.about = fmt::format("{}: {}", array.name, row(array.stored()).name);
  mark.id = fresh_id("array-" + array.name);
  marks_.push_back(std::move(mark));
  return x + text_width(text);
}

double Names::part(const Lane& first, double x, std::optional<std::size_t> level) {
  const auto [found, fresh] = said_.parts.try_emplace(first.value);
  auto& words = found->second;
  if (fresh) {
    const auto whole = " of " + short_name(statement_of(first.value));
    const auto before =
        std::ranges::count_if(said_.parts, [&](const auto& one) { return one.second.ends_with(whole); });
    words = (before == 0 ? "part" : fmt::format("part {}", before + 1)) + whole;
  }
  Mark mark{MarkKind::note, Words{{x, first.y - name_rise}, Anchor::start, words, text_width(words)}};
  mark.level = level;
  marks_.push_back(std::move(mark));
  return x + text_width(words);
}

// The array of the statement that contains this value.
std::string Names::statement_of(std::size_t value) const {
  const auto& functions = inks_.circuit.functions;
  const auto inside = std::ranges::find(functions, value, &Function::makes);
  if (inside == functions.end()) return "";
  const auto last = std::find_if(inside, functions.end(), [&](const Function& one) {
    return one.statement == inside->statement && inks_.circuit.values[one.makes].array;
  });
  return last == functions.end() ? "" : inks_.circuit.values[last->makes].name;
}

const Function* Names::next_reader(std::size_t value, std::size_t from) const {
  const auto& functions = inks_.circuit.functions;
  for (auto f = from; f < functions.size(); ++f)
    if (contains(functions[f].reads, value)) return &functions[f];
  return nullptr;
}

std::string Names::piece(const Lane& lane, std::size_t next, std::size_t level) const {
  if (!lane.wire) return "";
  const auto* reader = next_reader(lane.value, next);
  const bool elsewhere = reader && reader->kind == MarkKind::reindexing && contains(reader->acts, *lane.wire);
  if (!elsewhere) return inks_.levels->piece(inks_.diagram, *lane.wire, level);
  const auto as = reader->as.find(*lane.wire);
  return as == reader->as.end() ? "" : inks_.levels->piece(inks_.diagram, as->second, level);
}

std::string Names::size_words(const Lane& lane, std::size_t next, std::optional<std::size_t> level) {
  if (!lane.wire) return "";
  const auto at_hand = level ? piece(lane, next, *level) : "";
  if (!at_hand.empty()) return at_hand;
  const auto size = inks_.diagram.size(*lane.wire);
  return size && said_.sizes.insert(*lane.wire).second ? fmt::format("{}", *size) : "";
}

bool Names::woven(const Lane& lane, std::size_t next) const {
  const auto* reader = next_reader(lane.value, next);
  return reader && lane.wire && !contains(reader->acts, *lane.wire);
}

std::string Names::fresh_id(std::string id) {
  for (auto& c : id)
    if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-')) c = '_';
  auto made = id;
  for (int i = 2; !said_.ids.insert(made).second; ++i) made = fmt::format("{}.{}", id, i);
  return made;
}

}  // namespace napkin::scene
