// Says that something is under way, where a person looks on and only after half a second.
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "cli/session.hpp"

namespace napkin::cli {

class Progress {
 public:
  Progress(Session&, std::string what);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress();

 private:
  void show();

  Session& session_;
  std::string what_;
  bool done_ = false;
  std::mutex mutex_;
  std::condition_variable finished_;
  std::thread thread_;
};

}  // namespace napkin::cli
