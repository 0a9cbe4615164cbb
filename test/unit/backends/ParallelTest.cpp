// `parallel` of the backends: the whole range once, on no more threads than asked for, none of which waits for another.
#include "test/problems/Problem.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <set>
#include <thread>
#include <utility>
#include <vector>

namespace tbem::test {
namespace {

struct Seen {
  std::mutex lock;
  std::condition_variable changed;
  std::set<std::thread::id> threads;
  std::vector<int> times;
  /// A call goes on when this holds, or after half a minute.
  std::function<bool(std::int64_t begin, std::int64_t end)> mayGo = [](std::int64_t, std::int64_t) { return true; };
  bool waitedInVain = false;
};

void note(void* context, std::int64_t begin, std::int64_t end) {
  auto& seen = *static_cast<Seen*>(context);
  std::unique_lock guard(seen.lock);
  seen.threads.insert(std::this_thread::get_id());
  for (std::int64_t i = begin; i < end; ++i) ++seen.times[static_cast<std::size_t>(i)];
  seen.changed.notify_all();
  if (!seen.changed.wait_for(guard, std::chrono::seconds(30), [&] { return seen.mayGo(begin, end); })) seen.waitedInVain = true;
}

TEST(Parallel, CoversTheRangeOnNoMoreThreadsThanAsked) {
  for (const tbem_backend* backend : {tbem_backend_cpu(), tbem_backend_ref()}) {
    for (const std::int32_t threads : {1, 2, 3}) {
      for (const std::int64_t count : {0, 1, 2, 7, 100}) {
        Seen seen;
        seen.times.assign(static_cast<std::size_t>(count), 0);
        const bool splits = backend == tbem_backend_cpu() && count >= threads;
        if (splits) seen.mayGo = [&](std::int64_t, std::int64_t) { return std::cmp_equal(seen.threads.size(), threads); };
        backend->parallel(threads, note, &seen, count);
        EXPECT_EQ(seen.times, std::vector<int>(static_cast<std::size_t>(count), 1)) << backend->name;
        EXPECT_LE(seen.threads.size(), static_cast<std::size_t>(threads)) << backend->name;
        EXPECT_FALSE(seen.waitedInVain) << count;
      }
    }
  }
}

/// The first part is not done before all others are, so the other thread takes those that the first would have taken later.
TEST(Parallel, AThreadThatIsHeldUpKeepsOnePart) {
  Seen seen;
  seen.times.assign(1000, 0);
  seen.mayGo = [&](std::int64_t begin, std::int64_t) { return begin != 0 || std::ranges::count(seen.times, 0) == 0; };
  tbem_backend_cpu()->parallel(2, note, &seen, 1000);
  EXPECT_FALSE(seen.waitedInVain);
  EXPECT_EQ(seen.times, std::vector<int>(1000, 1));
}

}  // namespace
}  // namespace tbem::test
