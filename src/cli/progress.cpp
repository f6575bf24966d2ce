// A thread that rewrites one line on standard error and erases it at the end.
#include "cli/progress.hpp"

#include <fmt/format.h>

#include <chrono>
#include <ostream>

namespace napkin::cli {
namespace {

using namespace std::chrono_literals;
constexpr auto patience = 500ms;
constexpr auto beat = 100ms;

}  // namespace

Progress::Progress(Session& session, std::string what) : session_(session), what_(std::move(what)) {
  if (!session.options.quiet && is_terminal(session.err)) thread_ = std::thread([this] { show(); });
}

Progress::~Progress() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    done_ = true;
  }
  finished_.notify_all();
  thread_.join();
}

void Progress::show() {
  const auto start = std::chrono::steady_clock::now();
  std::unique_lock lock(mutex_);
  if (finished_.wait_for(lock, patience, [this] { return done_; })) return;
  do {
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
    session_.err << fmt::format("\r{} {:.1f} s", what_, passed.count()) << std::flush;
  } while (!finished_.wait_for(lock, beat, [this] { return done_; }));
  session_.err << "\r\033[K" << std::flush;
}

}  // namespace napkin::cli
