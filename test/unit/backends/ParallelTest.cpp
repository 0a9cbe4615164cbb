// `parallel` of the backends: the whole range once, on no more threads than asked for.
#include "test/unit/backends/Problem.h"

#include <gtest/gtest.h>

#include <mutex>
#include <set>
#include <thread>
#include <vector>

namespace tbem::test {
namespace {

struct Seen {
  std::mutex lock;
  std::set<std::thread::id> threads;
  std::vector<int> times;
};

void note(void* context, std::int64_t begin, std::int64_t end) {
  auto& seen = *static_cast<Seen*>(context);
  const std::lock_guard guard(seen.lock);
  seen.threads.insert(std::this_thread::get_id());
  for (std::int64_t i = begin; i < end; ++i) ++seen.times[static_cast<std::size_t>(i)];
}

TEST(Parallel, CoversTheRangeOnNoMoreThreadsThanAsked) {
  for (const tbem_backend* backend : {tbem_backend_cpu(), tbem_backend_ref()}) {
    for (const std::int32_t threads : {1, 2, 3}) {
      for (const std::int64_t count : {0, 1, 2, 7, 100}) {
        Seen seen;
        seen.times.assign(static_cast<std::size_t>(count), 0);
        backend->parallel(threads, note, &seen, count);
        EXPECT_EQ(seen.times, std::vector<int>(static_cast<std::size_t>(count), 1)) << backend->name;
        EXPECT_LE(seen.threads.size(), static_cast<std::size_t>(threads)) << backend->name;
        const bool splits = backend == tbem_backend_cpu() && count >= threads;
        EXPECT_TRUE(!splits || seen.threads.size() == static_cast<std::size_t>(threads)) << count;
      }
    }
  }
}

}  // namespace
}  // namespace tbem::test
