// Reads messages from a stream and writes them: headers, an empty line, and `Content-Length` bytes.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <charconv>
#include <istream>
#include <memory>
#include <mutex>
#include <ostream>

#include "lsp/session.hpp"

namespace napkin::lsp {
namespace {

constexpr std::size_t most_bytes = 64 << 20;  // of a message; a diagram has at most 256 KiB
constexpr std::size_t most_header = 4096;     // of one line of a header

struct Frame {
  std::string message;
  std::string problem{};  // why there is no message
  bool lost = false;      // whether the beginning of the next message is unknown
};

// A line without its end; none at the end of the input. A line that is too long is cut off.
std::optional<std::string> read_line(std::istream& in) {
  std::string line;
  for (int c = in.get(); c != std::istream::traits_type::eof(); c = in.get()) {
    if (c == '\n') {
      if (line.ends_with('\r')) line.pop_back();
      return line;
    }
    line += static_cast<char>(c);
    if (line.size() > most_header) return line;
  }
  return std::nullopt;
}

bool same_letters(std::string_view a, std::string_view b) {
  return std::ranges::equal(
      a, b, {}, [](unsigned char c) { return std::tolower(c); }, [](unsigned char c) { return std::tolower(c); });
}

std::optional<std::size_t> length_in(std::string_view line) {
  const auto colon = line.find(':');
  if (colon == std::string_view::npos || !same_letters(line.substr(0, colon), "content-length")) return std::nullopt;
  auto digits = line.substr(colon + 1);
  while (digits.starts_with(' ')) digits.remove_prefix(1);
  while (digits.ends_with(' ')) digits.remove_suffix(1);
  std::size_t length = 0;
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), length);
  if (read.ec == std::errc::result_out_of_range) return SIZE_MAX;
  return read.ec == std::errc() && read.ptr == digits.data() + digits.size() ? std::optional(length) : std::nullopt;
}

// The next message; none at the end of the input.
std::optional<Frame> read_frame(std::istream& in) {
  std::optional<std::size_t> length;
  for (;;) {
    const auto line = read_line(in);
    if (!line) return std::nullopt;
    if (line->size() > most_header) return Frame{"", "a header is longer than 4096 bytes", true};
    if (line->empty()) break;
    if (const auto found = length_in(*line)) length = found;
  }
  if (!length) return Frame{"", "the headers lack a `Content-Length`"};
  if (*length > most_bytes) return Frame{"", fmt::format("a message of {} bytes is too long", *length), true};
  Frame frame;
  frame.message.resize(*length);
  in.read(frame.message.data(), static_cast<std::streamsize>(*length));
  return in ? std::optional(std::move(frame)) : std::nullopt;
}

// Writes messages until the session ends; answers come from this thread, notifications of searches from theirs.
class Writer {
 public:
  explicit Writer(std::ostream& out) : out_(&out) {}
  void write(const std::string& message) {
    const std::lock_guard alone(mutex_);
    if (out_) *out_ << "Content-Length: " << message.size() << "\r\n\r\n" << message << std::flush;
  }
  void complain(const std::string& problem) {
    const Json error{{"code", parse_error}, {"message", problem}};
    write(Json{{"jsonrpc", "2.0"}, {"id", nullptr}, {"error", error}}.dump());
  }
  void ask(const std::string& method) {
    write(Json{{"jsonrpc", "2.0"}, {"id", fmt::format("napkin-{}", ++asked_)}, {"method", method}}.dump());
  }
  void close() {
    const std::lock_guard alone(mutex_);
    out_ = nullptr;
  }

 private:
  std::mutex mutex_;
  std::ostream* out_;
  std::atomic<int> asked_ = 0;
};

int converse(Session& session, std::istream& in, std::ostream& out, Writer& writer) {
  while (const auto frame = read_frame(in)) {
    if (!frame->problem.empty()) writer.complain(frame->problem);
    if (frame->lost || !out) break;
    if (!frame->problem.empty()) continue;
    for (const auto& message : answer(session, frame->message)) writer.write(message);
    if (session.exit_code()) return *session.exit_code();
  }
  return 1;
}

}  // namespace

int serve(Session& session, std::istream& in, std::ostream& out) {
  const auto writer = std::make_shared<Writer>(out);
  session.state().push = [writer](const std::string& method) { writer->ask(method); };
  const int code = converse(session, in, out, *writer);
  writer->close();
  return code;
}

}  // namespace napkin::lsp
