// What a session remembers, and the methods that read it.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "lsp/names.hpp"
#include "lsp/planning.hpp"
#include "lsp/protocol.hpp"
#include "napkin/lsp.hpp"

namespace napkin::lsp {

struct Document {
  Json version;  // as the editor counts; null where it does not
  Reading reading;
  std::unique_ptr<Planning> planning{};  // of this version, once somebody asked
};

enum class Phase : std::uint8_t { fresh, running, shut_down };

struct Session::State {
  ReadTarget read_target;
  std::shared_ptr<const Hardware> target;
  Phase phase = Phase::fresh;
  bool related = false;  // the editor shows related places of a diagnostic
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

// Methods: parameters to result.
Json hover(State&, const Json& params);
Json completion(State&, const Json& params);
Json definition(State&, const Json& params);
Json references(State&, const Json& params);
Json prepare_rename(State&, const Json& params);
Json rename(State&, const Json& params);
Json document_symbols(State&, const Json& params);
Json formatting(State&, const Json& params);

// Notifications about texts.
void did_open(State&, const Json& params);
void did_change(State&, const Json& params);
void did_close(State&, const Json& params);

// What an array is on the plan, as lines of markdown; which levels hold which piece of it.
std::string on_plan(Planning&, const std::string& array);

}  // namespace napkin::lsp
