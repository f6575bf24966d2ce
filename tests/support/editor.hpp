// An editor for tests: talks to a session in this process and remembers what it was told.
#pragma once

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "napkin/lsp.hpp"

namespace napkin::test {

using Json = nlohmann::json;

inline lsp::ReadTarget no_targets() {
  return [](const std::string& name) { return "no target `" + name + "`"; };
}

class Editor {
 public:
  explicit Editor(lsp::ReadTarget targets = no_targets()) : session(std::move(targets)) {}

  // The answer to a request, whole: with `result` or `error`.
  Json ask(const std::string& method, const Json& params = Json::object()) {
    const Json id = ++asked_;
    for (auto& message : say({{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", params}}))
      if (message.contains("id") && message["id"] == id) return message;
    throw std::runtime_error("no answer to " + method);
  }
  void tell(const std::string& method, const Json& params = Json::object()) {
    say({{"jsonrpc", "2.0"}, {"method", method}, {"params", params}});
  }
  std::vector<Json> say(const Json& message) { return say_text(message.dump()); }
  std::vector<Json> say_text(const std::string& message) {
    std::vector<Json> all;
    for (const auto& text : lsp::answer(session, message)) all.push_back(Json::parse(text));
    for (const auto& each : all) {
      if (each.value("method", "") == "textDocument/publishDiagnostics") take_diagnostics(each["params"]);
      if (each.value("method", "") == "window/logMessage") log.push_back(each["params"]["message"]);
      if (each.value("method", "") == "window/showMessage") shown.push_back(each["params"]["message"]);
    }
    return all;
  }

  Editor& start(const Json& options = Json::object()) {
    ask("initialize", {{"processId", nullptr}, {"initializationOptions", options}, {"capabilities", Json::object()}});
    tell("initialized");
    return *this;
  }
  void open(const std::string& text, const std::string& uri = "file:///a.nap") {
    tell("textDocument/didOpen",
         {{"textDocument", {{"uri", uri}, {"languageId", "nap"}, {"version", 1}, {"text", text}}}});
  }
  void change(const Json& changes, const std::string& uri = "file:///a.nap") {
    tell("textDocument/didChange",
         {{"textDocument", {{"uri", uri}, {"version", ++version_}}}, {"contentChanges", changes}});
  }
  // The edits of an answer, the last one first, so that none moves another.
  void apply(const Json& edits) {
    auto changes = Json::array();
    for (auto each = edits.rbegin(); each != edits.rend(); ++each)
      changes.push_back({{"range", (*each)["range"]}, {"text", (*each)["newText"]}});
    change(changes);
  }
  // A request about a place of the open text: that of the `nth` time that `word` stands there, plus `more`.
  Json ask_at(const std::string& method, const std::string& word, int nth = 1, std::size_t more = 0, Json params = {}) {
    const auto& text = *session.text("file:///a.nap");
    std::size_t at = text.find(word);
    while (--nth > 0) at = text.find(word, at + 1);
    if (at == std::string::npos) throw std::runtime_error("the text lacks " + word);
    const auto line_begin = at == 0 ? std::string::npos : text.rfind('\n', at - 1);
    const auto begin = line_begin == std::string::npos ? 0 : line_begin + 1;
    params["textDocument"] = {{"uri", "file:///a.nap"}};
    params["position"] = {{"line", std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n')},
                          {"character", at - begin + more}};
    return ask("textDocument/" + method, params);
  }

  lsp::Session session;
  std::map<std::string, Json> diagnostics, hints;  // mistakes, and what could be faster
  std::vector<std::string> log, shown;

 private:
  void take_diagnostics(const Json& params) {
    constexpr int hint = 4;
    auto& mistakes = diagnostics[params["uri"]] = Json::array();
    auto& others = hints[params["uri"]] = Json::array();
    for (const auto& one : params["diagnostics"]) (one["severity"] == hint ? others : mistakes).push_back(one);
  }

  int asked_ = 0, version_ = 1;
};

inline Json edit(int line, int character, int end_line, int end_character, const std::string& text) {
  return {{"range",
           {{"start", {{"line", line}, {"character", character}}},
            {"end", {{"line", end_line}, {"character", end_character}}}}},
          {"text", text}};
}

}  // namespace napkin::test
