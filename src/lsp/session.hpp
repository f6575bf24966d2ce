// What a session remembers, and the methods that read it.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "lsp/names.hpp"
#include "lsp/planning.hpp"
#include "lsp/protocol.hpp"
#include "napkin/lsp.hpp"
#include "napkin/summary.hpp"

namespace napkin::lsp {

struct Document {
  Json version;  // as the editor counts; null where it does not
  Reading reading;
  std::vector<Advice> advice{};          // where it can be read
  std::unique_ptr<Planning> planning{};  // of this version, once somebody asked
};

enum class Phase : std::uint8_t { fresh, running, shut_down };

struct Session::State {
  ReadTarget read_target;
  std::shared_ptr<const Hardware> target;
  Phase phase = Phase::fresh;
  bool costs = false;      // asked for: the plan's times beside statements
  bool related = false;    // the editor shows related places of a diagnostic,
  bool snippets = false;   // inserts snippets,
  bool refreshes = false;  // and asks again for what stands beside lines when it is told to
  std::function<void(const std::string&)> push{};
  std::map<std::string, Document, std::less<>> documents;
  std::optional<int> exit_code;
  std::vector<Json> outgoing;  // beside the answer
};
using State = Session::State;

// The open document that the parameters name.
Document& document(State&, const Json& params);
// And the name at their position, if there is one.
std::optional<Occurrence> named(const Document&, const Json& params);

// `textDocument/publishDiagnostics` for the document as it is.
void publish(State&, const std::string& uri, const Document&);
// A diagnostic and an advice as the protocol has them.
Json shown(const State&, const std::string& uri, const Reading&, const Diagnostic&);
Json shown(const Reading&, const Advice&);

// The search for the document's plan, begun where it is not; null without a target, with errors, or without sizes.
Planning* planning(State&, Document&);

// Methods: parameters to result.
Json hover(State&, const Json& params);
Json completion(State&, const Json& params);
Json definition(State&, const Json& params);
Json references(State&, const Json& params);
Json prepare_rename(State&, const Json& params);
Json rename(State&, const Json& params);
Json document_symbols(State&, const Json& params);
Json formatting(State&, const Json& params);
Json code_actions(State&, const Json& params);
Json signature_help(State&, const Json& params);
Json inlay_hints(State&, const Json& params);

// Notifications about texts.
void did_open(State&, const Json& params);
void did_change(State&, const Json& params);
void did_close(State&, const Json& params);

// What an array is on the plan, as lines of markdown; which levels hold which piece of it.
std::string on_plan(Planning&, const std::string& array);

}  // namespace napkin::lsp
