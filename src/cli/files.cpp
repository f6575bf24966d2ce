// Reads and writes files through system calls, whose error numbers say why something failed.
//
// A file is written under a temporary name in the same folder and renamed when it is complete. The only global is that
// name: the signal handler removes the file.
#include "cli/files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <istream>
#include <iterator>
#include <string_view>

namespace napkin {
namespace {

constexpr std::size_t most_bytes = 64 << 20;  // far above the limit of a diagram, far below the machine's memory
volatile std::sig_atomic_t half_written = 0;  // whether such a file exists
std::array<char, PATH_MAX> half_written_path{};

extern "C" void interrupted(int) {
  if (half_written) unlink(half_written_path.data());
  _exit(exit_interrupted);
}

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (number_ >= 0) close(number_);
  }
  operator int() const { return number_; }

 private:
  int number_;
};

// Returns why the file cannot be read, or nothing.
std::string read_whole(const std::string& path, std::string& text) {
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file < 0) return std::strerror(errno);
  std::array<char, 1 << 16> buffer{};
  for (;;) {
    const auto got = read(file, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return std::strerror(errno);
    if (got == 0) return "";
    text.append(buffer.data(), static_cast<std::size_t>(got));
    if (text.size() > most_bytes) return "more than 64 MiB";
  }
}

std::string write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const auto put = write(file, text.data(), text.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return std::strerror(errno);
    text.remove_prefix(static_cast<std::size_t>(put));
  }
  return "";
}

// A device or a pipe, such as /dev/stdout, is written directly. For a symbolic link, its target is replaced and not the
// link.
std::string write_in_place(const std::string& path, std::string_view text) {
  const Descriptor file(open(path.c_str(), O_WRONLY | O_CLOEXEC));
  return file < 0 ? std::strerror(errno) : write_all(file, text);
}

mode_t usual_mode() {
  const mode_t mask = umask(0);
  umask(mask);
  return 0666 & ~mask;
}

std::string write_aside(const std::string& path, std::string_view text, mode_t mode) {
  const std::string aside = path + ".XXXXXX";
  if (aside.size() >= half_written_path.size()) return std::strerror(ENAMETOOLONG);
  aside.copy(half_written_path.data(), aside.size());
  half_written_path[aside.size()] = '\0';
  half_written = 1;
  const Descriptor file(mkostemp(half_written_path.data(), O_CLOEXEC));
  std::string why = file < 0 ? std::strerror(errno) : write_all(file, text);
  if (why.empty() && fchmod(file, mode) != 0) why = std::strerror(errno);
  if (why.empty() && std::rename(half_written_path.data(), path.c_str()) != 0) why = std::strerror(errno);
  if (!why.empty()) unlink(half_written_path.data());
  half_written = 0;
  return why;
}

std::string write_whole(const std::string& path, std::string_view text) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) return write_aside(path, text, usual_mode());
  if (S_ISDIR(status.st_mode)) return std::strerror(EISDIR);
  if (!S_ISREG(status.st_mode)) return write_in_place(path, text);
  if (access(path.c_str(), W_OK) != 0) return std::strerror(errno);
  std::array<char, PATH_MAX> real{};
  return realpath(path.c_str(), real.data()) ? write_aside(real.data(), text, status.st_mode & 07777)
                                             : std::strerror(errno);
}

}  // namespace

void handle_signals() {
  std::signal(SIGINT, interrupted);
  std::signal(SIGTERM, interrupted);
  std::signal(SIGPIPE, SIG_IGN);
}

namespace cli {

std::optional<std::uint32_t> load(Session& session, const std::string& path) {
  if (path == "-") {
    return session.sources.add("-", std::string(std::istreambuf_iterator<char>(session.in), {}));
  }
  std::string text;
  const auto why = read_whole(path, text);
  if (why.empty()) return session.sources.add(path, std::move(text));
  complain(session, "E0530", "cannot read `" + path + "`: " + why, path);
  return std::nullopt;
}

bool save(Session& session, const std::string& path, const std::string& text) {
  const auto why = write_whole(path, text);
  if (why.empty()) return true;
  complain(session, "E0527", "cannot write `" + path + "`: " + why, path);
  return false;
}

}  // namespace cli
}  // namespace napkin
