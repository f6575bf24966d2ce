// JSON-RPC: dispatches messages by method, checks the state of the session, and makes the answers.
#include <fmt/format.h>

#include <array>
#include <exception>

#include "lsp/session.hpp"

namespace napkin::lsp {
namespace {

// Chooses the machine that `initializationOptions` name; if it is unknown, the editor shows why.
void choose_target(State& state, const Json& params) {
  const auto options = params.find("initializationOptions");
  if (options == params.end() || !options->is_object() || !options->contains("target")) return;
  const auto& name = (*options)["target"];
  if (!name.is_string() || name.get_ref<const std::string&>().empty()) return;
  auto read = state.read_target(name.get<std::string>());
  if (auto* hardware = std::get_if<Hardware>(&read)) {
    state.target = std::make_shared<const Hardware>(std::move(*hardware));
  } else {
    state.outgoing.push_back({{"method", "window/showMessage"},
                              {"params", {{"type", 1}, {"message", "napkin: " + std::get<std::string>(read)}}}});
  }
}

Json capabilities() {
  return {{"positionEncoding", "utf-16"},
          {"textDocumentSync", {{"openClose", true}, {"change", 2}}},
          {"hoverProvider", true},
          {"completionProvider", Json::object()},
          {"signatureHelpProvider", {{"triggerCharacters", {"(", "[", ","}}}},
          {"codeActionProvider", {{"codeActionKinds", {"quickfix"}}}},
          {"inlayHintProvider", true},
          {"definitionProvider", true},
          {"referencesProvider", true},
          {"documentSymbolProvider", true},
          {"documentFormattingProvider", true},
          {"renameProvider", {{"prepareProvider", true}}}};
}

bool is_able(const Json& params, const char* path) {
  const Json::json_pointer able(path);
  return params.is_object() && params.contains(able) && params.at(able) == true;
}

Json initialize(State& state, const Json& params) {
  if (state.phase != Phase::fresh) throw Failure{invalid_request, "`initialize` comes once"};
  state.related = is_able(params, "/capabilities/textDocument/publishDiagnostics/relatedInformation");
  state.snippets = is_able(params, "/capabilities/textDocument/completion/completionItem/snippetSupport");
  state.refreshes = is_able(params, "/capabilities/workspace/inlayHint/refreshSupport");
  state.costs = is_able(params, "/initializationOptions/costs");
  if (params.is_object()) choose_target(state, params);
  state.phase = Phase::running;
  return {{"capabilities", capabilities()}, {"serverInfo", {{"name", "napkin"}, {"version", NAPKIN_VERSION}}}};
}

Json shut_down(State& state, const Json&) {
  state.phase = Phase::shut_down;
  return nullptr;
}

struct Request {
  std::string_view method;
  Json (*result)(State&, const Json& params);
};
constexpr std::array requests = {Request{"initialize", initialize},
                                 Request{"shutdown", shut_down},
                                 Request{"textDocument/hover", hover},
                                 Request{"textDocument/completion", completion},
                                 Request{"textDocument/definition", definition},
                                 Request{"textDocument/references", references},
                                 Request{"textDocument/documentSymbol", document_symbols},
                                 Request{"textDocument/formatting", formatting},
                                 Request{"textDocument/codeAction", code_actions},
                                 Request{"textDocument/signatureHelp", signature_help},
                                 Request{"textDocument/inlayHint", inlay_hints},
                                 Request{"textDocument/prepareRename", prepare_rename},
                                 Request{"textDocument/rename", rename}};

struct Notification {
  std::string_view method;
  void (*take)(State&, const Json& params);
};
constexpr std::array notifications = {Notification{"textDocument/didOpen", did_open},
                                      Notification{"textDocument/didChange", did_change},
                                      Notification{"textDocument/didClose", did_close}};

Json result_of(State& state, const std::string& method, const Json& params) {
  if (state.phase == Phase::shut_down) throw Failure{invalid_request, "the server has been shut down"};
  if (state.phase == Phase::fresh && method != "initialize")
    throw Failure{not_initialized, fmt::format("`initialize` comes before `{}`", method)};
  for (const auto& request : requests)
    if (request.method == method) return request.result(state, params);
  throw Failure{method_not_found, fmt::format("no method `{}`", method)};
}

// Runs a function and returns what went wrong, if anything. A bug must not end the editor's session.
template <class Run>
std::optional<Failure> failure_of(Run run) {
  try {
    run();
    return std::nullopt;
  } catch (const Failure& failure) {
    return failure;
  } catch (const std::exception& bug) {
    return Failure{internal_error, fmt::format("a bug in napkin: {}", bug.what())};
  }
}

// A notification gets no answer, so a problem with one goes to the editor's log.
void take(State& state, const std::string& method, const Json& params) {
  if (method == "exit") state.exit_code = state.phase == Phase::shut_down ? 0 : 1;
  if (state.phase != Phase::running) return;
  for (const auto& notification : notifications) {
    if (notification.method != method) continue;
    if (const auto failure = failure_of([&] { notification.take(state, params); })) {
      const auto text = fmt::format("napkin: {} is ignored: {}", method, failure->message);
      state.outgoing.push_back({{"method", "window/logMessage"}, {"params", {{"type", 1}, {"message", text}}}});
    }
  }
}

Json error(Json id, const Failure& failure) {
  return {{"id", std::move(id)}, {"error", {{"code", failure.code}, {"message", failure.message}}}};
}

bool is_id(const Json& id) { return id.is_string() || id.is_number_integer(); }

// The answer to a request; none for a notification, or for an answer from the editor.
std::optional<Json> answer_to(State& state, const Json& message) {
  if (!message.is_object()) return error(nullptr, {invalid_request, "a message is one JSON object"});
  const auto id = message.value("id", Json());
  const bool asks = message.contains("id");
  if (asks && !message.contains("method") && (message.contains("result") || message.contains("error"))) return {};
  if (asks && !is_id(id)) return error(nullptr, {invalid_request, "`id` is neither a number nor a string"});
  const auto method = message.value("method", Json());
  if (!method.is_string()) return error(id, {invalid_request, "`method` is no string"});
  const auto params = message.value("params", Json());
  if (!asks) return take(state, method, params), std::nullopt;
  Json result;
  const auto failure = failure_of([&] { result = result_of(state, method, params); });
  return failure ? error(id, *failure) : Json{{"id", id}, {"result", std::move(result)}};
}

// Nesting is bounded, so that the value can be copied and printed recursively.
Json read_json(const std::string& message) {
  constexpr int deepest = 64;
  const auto shallow = [](int depth, Json::parse_event_t, Json&) {
    if (depth > deepest) throw Failure{parse_error, "the message is nested too deep"};
    return true;
  };
  auto read = Json::parse(message, shallow, false);
  if (read.is_discarded()) throw Failure{parse_error, "the message is no JSON"};
  return read;
}

std::optional<Json> reply_to(State& state, const std::string& message) {
  try {
    return answer_to(state, read_json(message));
  } catch (const Failure& failure) {
    return error(nullptr, failure);
  }
}

std::string to_text(Json message) {
  message["jsonrpc"] = "2.0";
  return message.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

std::vector<std::string> answer(Session& session, const std::string& message) {
  auto& state = session.state();
  auto reply = reply_to(state, message);
  std::vector<std::string> messages;
  if (reply) messages.push_back(to_text(std::move(*reply)));
  for (auto& other : state.outgoing) messages.push_back(to_text(std::move(other)));
  state.outgoing.clear();
  return messages;
}

Session::Session(ReadTarget read_target, std::optional<Hardware> target) : state_(std::make_unique<State>()) {
  state_->read_target = std::move(read_target);
  if (target) state_->target = std::make_shared<const Hardware>(std::move(*target));
}

Session::~Session() = default;

const std::string* Session::text(const std::string& uri) const {
  const auto found = state_->documents.find(uri);
  return found == state_->documents.end() ? nullptr : &found->second.reading.text();
}

std::optional<int> Session::exit_code() const { return state_->exit_code; }

}  // namespace napkin::lsp
