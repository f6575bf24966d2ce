// Framing of the language server's messages: whatever the bytes, it answers and goes on, or ends.
#include <sstream>

#include "support/catch.hpp"
#include "support/editor.hpp"
#include "support/read.hpp"
#include "support/run_cli.hpp"
#include "support/values.hpp"

using namespace napkin;
using namespace napkin::test;

namespace {

std::string framed(const std::string& message) {
  return "Content-Length: " + std::to_string(message.size()) + "\r\n\r\n" + message;
}

struct Served {
  int code;
  std::string out;
};

Served serve_text(const std::string& input) {
  lsp::Session session(no_targets());
  std::istringstream in(input);
  std::ostringstream out;
  const int code = lsp::serve(session, in, out);
  return {code, out.str()};
}

const std::string shut_down = framed(R"({"id":1,"method":"initialize"})") + framed(R"({"id":2,"method":"shutdown"})") +
                              framed(R"({"method":"exit"})");

std::size_t times(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

}  // namespace

TEST_CASE("bad headers are answered, and the conversation goes on where it can", "[lsp]") {
  CHECK(serve_text(shut_down).code == 0);
  CHECK(serve_text("content-LENGTH:" + shut_down.substr(15)).code == 0);
  CHECK(serve_text("Content-Type: application/vscode-jsonrpc; charset=utf-8\r\n" + shut_down).code == 0);
  for (const auto* bad : {"\r\n", "Content-Length: -3\r\n\r\n", "Content-Length: 3x\r\n\r\n", "Content-Length:\r\n\r\n",
                          "nonsense\r\n\r\n", "\n", "Content-Length: 0\r\n\r\n", "Content-Length: 2\r\n\r\n[]"}) {
    CAPTURE(bad);
    const auto served = serve_text(bad + shut_down);
    CHECK(served.code == 0);
    CHECK(times(served.out, "\"error\"") == 1);
  }
  for (const auto& lost : {std::string("Content-Length: 99999999999999999999999999\r\n\r\n"),
                           std::string("Content-Length: 999999999999\r\n\r\n"), std::string(10'000'000, 'C')}) {
    const auto served = serve_text(lost + shut_down);
    CHECK(served.code == 1);
    CHECK(times(served.out, "-32700") == 1);
  }
}

TEST_CASE("an input that ends anywhere ends the server with 1", "[lsp]") {
  for (std::size_t length = 0; length < shut_down.size(); ++length) {
    CAPTURE(length);
    CHECK(serve_text(shut_down.substr(0, length)).code == 1);
  }
}

TEST_CASE("flipped bytes neither crash nor hang the server", "[lsp]") {
  const Json open = {
      {"method", "textDocument/didOpen"},
      {"params", {{"textDocument", {{"uri", "u"}, {"version", 1}, {"text", read_file(example("alibi"))}}}}}};
  const Json ask = {{"id", 3},
                    {"method", "textDocument/hover"},
                    {"params", {{"textDocument", {{"uri", "u"}}}, {"position", {{"line", 9}, {"character", 6}}}}}};
  const auto whole = framed(R"({"id":1,"method":"initialize"})") + framed(open.dump()) + framed(ask.dump()) + shut_down;
  for (unsigned seed = 0; seed < 200; ++seed) {
    Random random(seed);
    auto input = whole;
    for (auto n = 1 + random.below(8); n > 0; --n) input[random.below(input.size())] = static_cast<char>(random.next());
    const auto served = serve_text(input);
    CHECK((served.code == 0 || served.code == 1));
  }
}
