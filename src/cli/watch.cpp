// `--watch`: a command runs again whenever a file that it read has changed.
//
// Files are checked a few times per second, which works on every file system. Their stamps are taken before they are
// read, so that a change during the run of the command is not missed.
#include <fmt/format.h>
#include <sys/stat.h>

#include <chrono>
#include <map>
#include <ostream>
#include <thread>
#include <tuple>

#include "cli/commands/commands.hpp"
#include "napkin/hardware.hpp"
#include "text/escape.hpp"
#include "text/fingerprint.hpp"

namespace napkin::cli {
namespace {

constexpr std::chrono::milliseconds pause{200};

// Identifies the file under a name and its last change: an editor may replace it, or write into it.
using Stamp = std::tuple<dev_t, ino_t, off_t, time_t, long>;
using Stamps = std::map<std::string, Stamp>;

Stamp stamp(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) return {};
  return {status.st_dev, status.st_ino, status.st_size, status.st_mtim.tv_sec, status.st_mtim.tv_nsec};
}

// Stamps of the diagrams, and of the profiles as they are found now.
Stamps stamps(const Options& options) {
  Stamps made;
  for (const auto& file : options.arguments) made.emplace(file, stamp(file));
  Diagnostics ignored;
  for (const auto& name : options.target)
    if (const auto path = find_profile(name, nowhere, ignored)) made.emplace(*path, stamp(*path));
  return made;
}

int run_once(const Session& asked, const Command& command) {
  Session session{asked.options, asked.in, asked.out, asked.err, {}, {}, {}};
  session.line = command_line(session.sources, asked.line.words);
  return command.run(session);
}

void tell(const Session& session, const std::string& text) {
  if (!session.options.quiet) session.err << text << std::endl;
}

// Waits until one of the files has changed, and reports which.
void await_change(const Session& session, const Stamps& before) {
  for (bool changed = false; !changed;) {
    std::this_thread::sleep_for(pause);
    for (const auto& [file, old] : before) {
      if (stamp(file) == old) continue;
      tell(session, "note: " + on_one_line(file) + " changed");
      changed = true;
    }
  }
}

// The page loads itself in a hidden frame once per second, because pages from files may not read files. A page in a
// frame sends its number to the outer page and stops there; if the number differs, the outer page reloads.
constexpr const char* reloading_script = R"(<script>
const stamp = "{}";
if (parent !== window) {{
  parent.postMessage({{ napkin: stamp }}, "*");
  stop();
}} else {{
  const frame = document.createElement("iframe");
  frame.hidden = true;
  addEventListener("message", event => {{
    if (event.data?.napkin && event.data.napkin !== stamp) location.reload();
  }});
  setInterval(() => {{
    if (!frame.isConnected) document.body.append(frame);
    frame.src = location.pathname + "?" + Date.now();
  }}, 1000);
}}
</script>
)";

}  // namespace

std::string reloading(const std::string& product) {
  const std::string_view head = "<head>\n";
  const auto at = product.starts_with("<!DOCTYPE html>") ? product.find(head) : std::string::npos;
  if (at == std::string::npos) return product;
  auto page = product;
  return page.insert(at + head.size(), fmt::format(fmt::runtime(reloading_script), fingerprint(product)));
}

int watch(Session& session, const Command& command) {
  if (session.options.arguments.front() == "-") {
    complain(session, "E0523", "standard input cannot be watched", "-", "name a file");
    return finish(session);
  }
  auto seen = stamps(session.options);
  const int first = run_once(session, command);
  if (first == exit_command_line || first == exit_bug) return first;
  std::string all;
  for (const auto& [file, was] : seen) all += (all.empty() ? "" : ", ") + on_one_line(file);
  tell(session, "note: watching " + all + "; Ctrl-C stops");
  while (session.out) {  // the reader of a pipe may close it
    await_change(session, seen);
    seen = stamps(session.options);
    run_once(session, command);
  }
  return exit_done;
}

}  // namespace napkin::cli
