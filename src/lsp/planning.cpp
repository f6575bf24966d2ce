// Runs one search in one thread; a stop ends it quickly.
#include "lsp/planning.hpp"

namespace napkin::lsp {

Planning::Planning(Diagram diagram, std::shared_ptr<const Hardware> hardware, std::function<void()> told)
    : hardware_(std::move(hardware)) {
  std::promise<FoundPlan> promise;
  coming_ = promise.get_future();
  thread_ = std::jthread([promise = std::move(promise), diagram = std::move(diagram), machine = hardware_,
                          told = std::move(told)](const std::stop_token& stop) mutable {
    try {
      Goal goal;
      goal.stop = stop;
      promise.set_value(search(sums_in_blocks(diagram).diagram, *machine, goal));
    } catch (...) {
      promise.set_exception(std::current_exception());
    }
    if (told && !stop.stop_requested()) told();
  });
}

const FoundPlan* Planning::wait(std::chrono::milliseconds most) {
  if (!found_ && coming_.valid() && coming_.wait_for(most) == std::future_status::ready) found_ = coming_.get();
  return found_ ? &*found_ : nullptr;
}

}  // namespace napkin::lsp
