// Runs `rsvg-convert` by its name, without a shell. The picture goes in through an unlinked file and comes out through
// a pipe. Building napkin needs no library for this; only PDF and PNG output needs the program.
#include "cli/convert.hpp"

#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

namespace napkin::cli {
namespace {

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

// The environment with the clock fixed, because PDF files contain the time of their creation.
class Surroundings {
 public:
  Surroundings() {
    for (char** entry = environ; *entry; ++entry)
      if (std::strncmp(*entry, "SOURCE_DATE_EPOCH=", 18) != 0) entries_.push_back(*entry);
    entries_.push_back(date_.data());
    entries_.push_back(nullptr);
  }
  char** get() { return entries_.data(); }

 private:
  std::array<char, 20> date_{"SOURCE_DATE_EPOCH=0"};
  std::vector<char*> entries_;
};

std::string read_all(int from) {
  std::string text;
  std::array<char, 1 << 16> buffer{};
  for (;;) {
    const auto got = read(from, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(got));
  }
}

// Starts the program between two descriptors. Returns zero, or the error number.
int start_program(const std::string& format, int in, int out, pid_t& process) {
  std::string program = "rsvg-convert", flag = "--format=" + format, zoom = format == "png" ? "--zoom=2" : "--zoom=1";
  std::array<char*, 4> words = {program.data(), flag.data(), zoom.data(), nullptr};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
  Surroundings surroundings;
  const int why = posix_spawnp(&process, program.c_str(), &actions, nullptr, words.data(), surroundings.get());
  posix_spawn_file_actions_destroy(&actions);
  return why;
}

std::optional<std::string> fail(Session& session, const std::string& why) {
  complain(session, "E0527", fmt::format("cannot write `{}`: {}", session.options.output, why), session.options.output,
           "install `rsvg-convert` (Debian: librsvg2-bin, Fedora: librsvg2-tools, Homebrew: librsvg), or draw an SVG "
           "file");
  return std::nullopt;
}

}  // namespace

std::optional<std::string> convert(Session& session, const std::string& svg, const std::string& format) {
  const File in(std::tmpfile(), std::fclose);
  std::array<int, 2> ends{};
  if (!in || std::fwrite(svg.data(), 1, svg.size(), in.get()) != svg.size() || std::fflush(in.get()) != 0 ||
      pipe(ends.data()) != 0)
    return fail(session, std::strerror(errno));
  std::rewind(in.get());
  pid_t process = 0;
  const int why = start_program(format, fileno(in.get()), ends[1], process);
  close(ends[1]);
  auto picture = why == 0 ? read_all(ends[0]) : "";
  close(ends[0]);
  if (why == ENOENT) return fail(session, "the program `rsvg-convert` is not installed");
  if (why != 0) return fail(session, std::strerror(why));
  int status = 0;
  while (waitpid(process, &status, 0) < 0 && errno == EINTR) continue;
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) return fail(session, "`rsvg-convert` failed");
  return picture;
}

}  // namespace napkin::cli
