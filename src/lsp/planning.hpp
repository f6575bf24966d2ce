// The search for the plan of one version of a text, beside everything else: hover may ask for it and need not wait.
#pragma once

#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <thread>

#include "napkin/search.hpp"

namespace napkin::lsp {

class Planning {
 public:
  // Begins the search. Every axis needs a size. `told` is called from another thread once there is a plan.
  Planning(Diagram, std::shared_ptr<const Hardware>, std::function<void()> told = {});
  // The plan, or null where it is not found within that time.
  const FoundPlan* wait(std::chrono::milliseconds);
  const Hardware& hardware() const { return *hardware_; }

 private:
  std::shared_ptr<const Hardware> hardware_;
  std::future<FoundPlan> coming_;
  std::optional<FoundPlan> found_;
  std::jthread thread_;  // the last member: it is stopped before the others go
};

}  // namespace napkin::lsp
