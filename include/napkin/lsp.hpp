// The language server: it answers an editor's messages about its open texts. One message goes in, and messages come
// out; a caller needs no pipes and no threads of its own.
//
// The protocol is LSP 3.17 over JSON-RPC 2.0, with positions in UTF-16. Diagnostics are those of parse and resolve, as
// `napkin derive` prints them. A wrong message is answered with the protocol's error codes.
#pragma once

#include <functional>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "napkin/hardware.hpp"

namespace napkin::lsp {

// Reads a profile by name or path; returns a message if it cannot be read or is wrong.
using ReadTarget = std::function<std::variant<Hardware, std::string>(const std::string& name)>;

// The open texts of one editor, and the state of the conversation.
class Session {
 public:
  // `target` is the machine of the plans that hover shows, unless `initializationOptions.target` names another.
  explicit Session(ReadTarget, std::optional<Hardware> target = {});
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session();  // stops a running search and waits for it, which takes a moment

  // The text of an open document as the server has it; null if no document with that URI is open.
  const std::string* text(const std::string& uri) const;
  // Set once `exit` has come: 0 after `shutdown`, else 1.
  std::optional<int> exit_code() const;

  struct State;
  State& state() { return *state_; }

 private:
  std::unique_ptr<State> state_;
};

// The answers to one message (JSON, without its header). The message may be any bytes.
std::vector<std::string> answer(Session&, const std::string& message);

// Runs the conversation over streams, with each message after its `Content-Length`. Returns the exit code after `exit`,
// or 1 if the input ends first or cannot be followed any further, or if the output fails.
int serve(Session&, std::istream& in, std::ostream& out);

}  // namespace napkin::lsp
