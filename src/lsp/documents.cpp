// Opens, changes and closes documents: texts follow the editor's; every version is read, and its diagnostics published.
#include <fmt/format.h>

#include <algorithm>

#include "lsp/session.hpp"

namespace napkin::lsp {
namespace {

const std::string& uri_of(const Json& params) { return text_field(field(params, "textDocument"), "uri"); }

Json version_of(const Json& params) {
  const auto& document = field(params, "textDocument");
  const auto found = document.find("version");
  return found != document.end() && found->is_number_integer() ? *found : Json();
}

// Applies one change: of a range, or of the whole text if it has no range.
std::string changed(std::string text, const Json& change) {
  const auto& written = text_field(change, "text");
  if (!change.contains("range")) return written;
  const Lines lines(text);
  const auto begin = lines.offset(text, position_field(change["range"], "start"));
  const auto end = lines.offset(text, position_field(change["range"], "end"));
  return text.replace(std::min(begin, end), std::max(begin, end) - std::min(begin, end), written);
}

// Advice on all statements as one kernel, as `napkin derive` takes them. This runs on every key, so the number of
// statements is limited.
std::vector<Advice> advice_on(const State& state, const Reading& reading) {
  constexpr std::size_t most = 64;
  const auto& diagram = reading.diagram;
  if (!reading.resolved || diagram.statements.size() > most) return {};
  std::vector<StatementId> all;
  for (std::uint32_t i = 0; i < diagram.statements.size(); ++i) all.push_back({i});
  return advice(reading.sources, derive(sums_in_blocks(diagram).diagram, all), state.target.get());
}

void keep(State& state, const std::string& uri, Json version, std::string text) {
  Document made{std::move(version), read(std::move(text))};
  made.advice = advice_on(state, made.reading);
  auto& kept = state.documents.insert_or_assign(uri, std::move(made)).first->second;
  publish(state, uri, kept);
}

}  // namespace

Document& document(State& state, const Json& params) {
  const auto& uri = uri_of(params);
  const auto found = state.documents.find(uri);
  if (found == state.documents.end()) throw Failure{invalid_params, fmt::format("`{}` is not open", uri)};
  return found->second;
}

std::optional<Occurrence> named(const Document& document, const Json& params) {
  const auto& reading = document.reading;
  const auto offset = reading.lines.offset(reading.text(), position_field(params, "position"));
  return occurrence_at(reading.syntax, offset);
}

void did_open(State& state, const Json& params) {
  const auto& uri = uri_of(params);
  keep(state, uri, version_of(params), text_field(field(params, "textDocument"), "text"));
}

// A list of changes is applied completely, or not at all if one of them is malformed.
void did_change(State& state, const Json& params) {
  auto text = document(state, params).reading.text();
  const auto& changes = field(params, "contentChanges");
  if (!changes.is_array()) throw Failure{invalid_params, "`contentChanges` is no list"};
  for (const auto& change : changes) text = changed(std::move(text), change);
  keep(state, uri_of(params), version_of(params), std::move(text));
}

void did_close(State& state, const Json& params) {
  document(state, params);
  state.documents.erase(uri_of(params));
  state.outgoing.push_back({{"method", "textDocument/publishDiagnostics"},
                            {"params", {{"uri", uri_of(params)}, {"diagnostics", Json::array()}}}});
}

}  // namespace napkin::lsp
