// Computes in a thread of its own what the designs of a program take, so that no message waits for it.
#pragma once

#include "compiler/serve/costs/Costs.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

namespace tbem::serve {

class CostWorker {
public:
  struct Job {
    std::uint64_t number = 0;  ///< by which its result is known
    std::string uri;           ///< of the document; of each there is one job at most
    std::string path, text;
    sema::LoadOptions load;
  };
  struct Result {
    std::uint64_t number = 0;
    std::string uri;
    Costs costs;
    std::string bug;  ///< of ours, that ended it; "": none did
  };

  /// `isThere` is called in the thread, when there is a result to take. A job begins so long after it was asked for: one that an
  /// edit drops by then has cost nothing.
  CostWorker(std::function<void()> isThere, std::chrono::milliseconds quiet);
  /// Waits until what is at work has seen that it is dropped.
  ~CostWorker();
  CostWorker(const CostWorker&) = delete;
  CostWorker& operator=(const CostWorker&) = delete;

  /// In the place of the document's job before.
  void ask(Job job);
  /// The document's job, or its result.
  void drop(const std::string& uri);
  std::optional<Result> take();

private:
  using Clock = std::chrono::steady_clock;
  struct Waiting {
    Job job;
    Clock::time_point begin;
  };
  void work();
  void dropLocked(const std::string& uri);
  static Result done(const Job& job, const std::atomic<bool>& dropped);

  std::mutex mutex;
  std::condition_variable changed;
  std::deque<Waiting> waiting;  ///< in the order in which they begin
  std::deque<Result> results;
  std::string atWork;  ///< the uri of its document; "": nothing is
  bool leaving = false;
  std::atomic<bool> dropped = false;  ///< what is at work
  const std::function<void()> isThere;
  const std::chrono::milliseconds quiet;
  std::thread thread;
};

}  // namespace tbem::serve
