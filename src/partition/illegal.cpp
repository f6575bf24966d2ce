// What a kernel may not be split into.
//
// Each label is asked a table of questions, and the first that has an answer refuses it. Where every label may stand,
// the streams together are asked of the derivation, since loops that are legal alone may not nest in every order.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "partition/objections.hpp"

namespace napkin {
namespace {

struct Question {
  const Derivation& derivation;
  const Hardware& hardware;
  const Partition& partition;
  std::size_t at;  // the split that is asked about

  const Split& split() const { return partition.splits[at]; }
  const std::string& name() const { return derivation.scratch.at(split().wire).name; }
};
using Answer = std::optional<Refused>;

Answer refuse(std::string reason, Span span = nowhere) { return Refused{std::move(reason), span}; }

Answer bad_size(const Question& asked) {
  if (asked.split().size >= 1) return std::nullopt;
  return refuse(fmt::format("a tile of `{}` holds at least one position, not {}", asked.name(), asked.split().size));
}

Answer bad_level(const Question& asked) {
  const auto& levels = asked.hardware.levels;
  const auto level = asked.split().level;
  if (level >= levels.size()) return refuse(fmt::format("`{}` has no level {}", asked.hardware.name, level));
  if (level > 0) return std::nullopt;
  return refuse(fmt::format("`{}` is the outermost level, where everything is whole", levels.front().name));
}

Answer repeated(const Question& asked) {
  const auto& split = asked.split();
  const auto begin = asked.partition.splits.begin();
  const auto here = begin + static_cast<std::ptrdiff_t>(asked.at);
  const bool twice = std::any_of(begin, here, [&](const Split& other) {
    return other.kind == split.kind && other.wire == split.wire && other.level == split.level;
  });
  if (!twice) return std::nullopt;
  return refuse(fmt::format("`{}` is {} twice at `{}`", asked.name(),
                            split.kind == SplitKind::group ? "grouped" : "streamed",
                            asked.hardware.levels[split.level].name));
}

Answer absent(const Question& asked) {
  if (asked.derivation.find(asked.split().wire) != nullptr) return std::nullopt;
  return refuse(fmt::format("`{}` is not an axis of these statements", asked.name()));
}

std::string state_words(const Streamable& stream) {
  std::string text;
  for (std::size_t i = 0; i < stream.state.size(); ++i)
    text += fmt::format("{}`{}`",
                        i == 0                         ? ""
                        : i + 1 == stream.state.size() ? " and "
                                                       : ", ",
                        stream.scratch.at(stream.state[i].array).name);
  return text;
}

// The groups would each hold a part of the carried state, and nothing joins the parts.
Answer needs_merge(const Question& asked, const Verdict& verdict) {
  const auto& name = asked.name();
  std::string state = "the result";
  if (const auto* stream = std::get_if<Streamable>(&verdict.stream)) state = state_words(*stream);
  const auto folds = std::ranges::find_if(asked.derivation.columns, [&](const Column& column) {
    return std::ranges::find(column.over, verdict.wire) != column.over.end();
  });
  const bool found = folds != asked.derivation.columns.end();
  return refuse(
      fmt::format("groups of `{}` would each hold a part of {}, which would have to be merged: stream `{}` instead",
                  name, state, name),
      found ? asked.derivation.scratch.at(folds->value).span : nowhere);
}

Answer not_groupable(const Question& asked) {
  if (asked.split().kind != SplitKind::group) return std::nullopt;
  const auto& verdict = *asked.derivation.find(asked.split().wire);
  if (const auto* refused = std::get_if<Refused>(&verdict.group)) return *refused;
  return std::get<Groupable>(verdict.group).by_merge ? needs_merge(asked, verdict) : std::nullopt;
}

Answer inside_stream(const Question& asked) {
  const auto& split = asked.split();
  if (split.kind != SplitKind::group) return std::nullopt;
  for (std::size_t i = 0; i < asked.at; ++i) {
    const auto& outer = asked.partition.splits[i];
    if (outer.kind != SplitKind::stream || outer.wire != split.wire) continue;
    return refuse(
        fmt::format("`{}` is streamed at `{}`: groups stand outside all streams, so it can be grouped only at "
                    "or above that level",
                    asked.name(), asked.hardware.levels[outer.level].name));
  }
  return std::nullopt;
}

Answer not_streamable(const Question& asked) {
  if (asked.split().kind != SplitKind::stream) return std::nullopt;
  const auto* refused = std::get_if<Refused>(&asked.derivation.find(asked.split().wire)->stream);
  return refused != nullptr ? Answer(*refused) : std::nullopt;
}

Answer out_of_order(const Question& asked) {
  if (asked.split().kind != SplitKind::stream || asked.split().size == 1) return std::nullopt;
  const auto* stream = std::get_if<Streamable>(&asked.derivation.find(asked.split().wire)->stream);
  if (stream == nullptr || !stream->in_order) return std::nullopt;
  return refuse(
      fmt::format("each position of `{0}` needs what those before it have left: stream `{0}` by 1", asked.name()));
}

Answer first_answer(const Question& asked) {
  static constexpr std::array<Answer (*)(const Question&), 8> questions = {
      bad_size, bad_level, repeated, absent, not_groupable, inside_stream, not_streamable, out_of_order};
  for (const auto question : questions)
    if (auto answer = question(asked)) return answer;
  return std::nullopt;
}

// The first stream that cannot join those before it.
std::optional<Objection> streams_together(const Derivation& derivation, const Partition& partition) {
  std::vector<WireId> wires;
  for (std::size_t i = 0; i < partition.splits.size(); ++i) {
    if (partition.splits[i].kind != SplitKind::stream) continue;
    wires.push_back(partition.splits[i].wire);
    const auto program = stream(derivation, wires);
    if (const auto* refused = std::get_if<Refused>(&program)) return Objection{i, *refused};
  }
  return std::nullopt;
}

}  // namespace

std::vector<Objection> objections(const Derivation& derivation, const Hardware& hardware, const Partition& partition) {
  std::vector<Objection> found;
  for (std::size_t i = 0; i < partition.splits.size(); ++i)
    if (auto answer = first_answer({derivation, hardware, partition, i})) found.push_back({i, *std::move(answer)});
  if (!found.empty()) return found;
  if (auto together = streams_together(derivation, partition)) found.push_back(*std::move(together));
  return found;
}

std::vector<Refused> illegal(const Derivation& derivation, const Hardware& hardware, const Partition& partition) {
  std::vector<Refused> reasons;
  for (auto& objection : objections(derivation, hardware, partition)) reasons.push_back(std::move(objection.why));
  return reasons;
}

}  // namespace napkin
