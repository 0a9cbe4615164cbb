// A process without memory: what is asked for then ends with an outcome, and the session goes on.
#include "Embedded.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <limits>
#include <new>
#include <string>

namespace {
/// Of this thread: a request of so many bytes or more fails.
thread_local std::size_t failsFrom = std::numeric_limits<std::size_t>::max();

void* allocateOrNot(std::size_t bytes) noexcept { return bytes < failsFrom ? std::malloc(bytes == 0 ? 1 : bytes) : nullptr; }
void* allocate(std::size_t bytes) {
  void* const memory = allocateOrNot(bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
}  // namespace

void* operator new(std::size_t bytes) { return allocate(bytes); }
void* operator new[](std::size_t bytes) { return allocate(bytes); }
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept { return allocateOrNot(bytes); }
void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept { return allocateOrNot(bytes); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }

namespace tbem::test {
namespace {

TEST(NoMemory, IsAnOutcomeAndTheSessionGoesOn) {
  const SessionHolder holder(kTrained);
  const std::string large = std::string(kTrained) + std::string(1U << 20U, ' ');
  failsFrom = 1U << 20U;
  EXPECT_EQ(tbem_load(holder.session, "large.tbem", large.data(), large.size()), TBEM_NO_MEMORY);
  EXPECT_EQ(holder.error(), "out of memory");
  failsFrom = std::numeric_limits<std::size_t>::max();
  const Said answer = ask(holder, tbem_estimate);
  EXPECT_EQ(answer.outcome, TBEM_DONE);
  EXPECT_TRUE(has(answer.json, "\"parameters\":34"));
}

TEST(NoMemory, OfAQuestion) {
  const SessionHolder holder(std::string(kTrained) + std::string(1U << 20U, '\n'));
  for (const Ask question : {tbem_check, tbem_estimate}) {
    failsFrom = 1U << 20U;
    tbem_result* result = nullptr;
    EXPECT_EQ(question(holder.session, nullptr, 0, &result), TBEM_NO_MEMORY);
    failsFrom = std::numeric_limits<std::size_t>::max();
    EXPECT_EQ(result, nullptr);
    EXPECT_EQ(holder.error(), "out of memory");
    EXPECT_EQ(ask(holder, question).outcome, TBEM_DONE);
  }
}

}  // namespace
}  // namespace tbem::test
