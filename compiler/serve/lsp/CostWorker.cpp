#include "compiler/serve/lsp/CostWorker.h"

#include "compiler/support/Bug.h"

#include <utility>

namespace tbem::serve {

namespace {

struct Dropped {};

/// Ends the work where it is dropped.
class Watch final : public Events {
public:
  explicit Watch(const std::atomic<bool>& dropped) : dropped(dropped) {}
  void stageBegins(std::string_view /*name*/, std::string_view /*help*/) override { look(); }
  void progress(std::size_t /*done*/, std::size_t /*total*/, std::string_view /*what*/) override { look(); }

private:
  void look() const {
    if (dropped) throw Dropped();
  }
  const std::atomic<bool>& dropped;
};

}  // namespace

CostWorker::CostWorker(std::function<void()> isThere, std::chrono::milliseconds quiet)
    : isThere(std::move(isThere)), quiet(quiet), thread([this] { work(); }) {}

CostWorker::~CostWorker() {
  {
    const std::scoped_lock lock(mutex);
    leaving = true;
    dropped = true;
    changed.notify_one();
  }
  thread.join();
}

void CostWorker::ask(Job job) {
  const std::scoped_lock lock(mutex);
  dropLocked(job.uri);
  waiting.push_back({std::move(job), Clock::now() + quiet});
  changed.notify_one();
}

void CostWorker::drop(const std::string& uri) {
  const std::scoped_lock lock(mutex);
  dropLocked(uri);
}

void CostWorker::dropLocked(const std::string& uri) {
  std::erase_if(waiting, [&](const Waiting& one) { return one.job.uri == uri; });
  std::erase_if(results, [&](const Result& one) { return one.uri == uri; });
  if (atWork == uri) dropped = true;
}

std::optional<CostWorker::Result> CostWorker::take() {
  const std::scoped_lock lock(mutex);
  if (results.empty()) return std::nullopt;
  Result result = std::move(results.front());
  results.pop_front();
  return result;
}

CostWorker::Result CostWorker::done(const Job& job, const std::atomic<bool>& dropped) {
  Result result{job.number, job.uri, {}, {}};
  Watch watch(dropped);
  try {
    result.costs = costsOf(job.path, job.text, job.load, watch);
  } catch (const Dropped&) {
    // Nobody takes the result.
  } catch (const Bug& bug) {
    result.bug = bug.what();
  }
  return result;
}

void CostWorker::work() {
  std::unique_lock lock(mutex);
  while (!leaving) {
    if (waiting.empty()) {
      changed.wait(lock);
      continue;
    }
    if (const Clock::time_point begin = waiting.front().begin; Clock::now() < begin) {
      changed.wait_until(lock, begin);
      continue;  // it may have been dropped meanwhile
    }
    const Job job = std::move(waiting.front().job);
    waiting.pop_front();
    atWork = job.uri;
    dropped = false;
    lock.unlock();
    Result result = done(job, dropped);
    lock.lock();
    atWork.clear();
    if (dropped) continue;
    results.push_back(std::move(result));
    lock.unlock();
    isThere();
    lock.lock();
  }
}

}  // namespace tbem::serve
