// The search for the plan of one version of a text, beside everything else: hover may ask for it and need not wait.
#pragma once

#include <chrono>
#include <future>
#include <memory>
#include <thread>

#include "napkin/search.hpp"

namespace napkin::lsp {

class Planning {
 public:
  // Begins the search. Every axis needs a size.
  Planning(Diagram, std::shared_ptr<const Hardware>);
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
