// The language server: what an editor says of the texts it has open to what it is told of them. One message in,
// messages out; no pipes and no threads of the caller's own are needed to try it.
//
// The protocol is LSP 3.17 over JSON-RPC 2.0, positions in UTF-16. Diagnostics are those of parse and resolve, the same
// as `napkin derive` prints. Every mistake of the other side is answered by the protocol's error codes.
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

// A profile by name or path; else what is wrong with it, in words.
using ReadTarget = std::function<std::variant<Hardware, std::string>(const std::string& name)>;

// The open texts of one editor, and how far the conversation has come.
class Session {
 public:
  // `target` is the machine of the plans that hover tells of, unless `initializationOptions.target` names another.
  explicit Session(ReadTarget, std::optional<Hardware> target = {});
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session();  // a search that is under way is stopped, and takes a moment to

  // The text of an open document as the server has it; null where none is open by that URI.
  const std::string* text(const std::string& uri) const;
  // Set once `exit` has come: 0 after `shutdown`, else 1.
  std::optional<int> exit_code() const;

  struct State;
  State& state() { return *state_; }

 private:
  std::unique_ptr<State> state_;
};

// What one message (JSON, without its header) is answered with; any bytes will do.
std::vector<std::string> answer(Session&, const std::string& message);

// The conversation over streams, each message behind its `Content-Length`; the exit code once `exit` came, 1 where the
// input ended before or can be followed no further.
int serve(Session&, std::istream& in, std::ostream& out);

}  // namespace napkin::lsp
