// The backend's table on a card: the machine's, or the one that interprets PTX where there is none.
#include "runtime/backends/cuda/device/Timer.h"
#include "tbem/backend.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

namespace tbem::cuda {
namespace {

const tbem_backend& backend() { return *tbem_backend_cuda(); }
const tbem_device_table& device() { return *tbem_backend_cuda()->device; }

/// y[i] = x[i] + add for i below `count`, whatever the number of threads.
constexpr const char* kAdd = R"(.version 8.0
.target sm_75
.address_size 64
.visible .entry add_number(.param .u64 to, .param .u64 from, .param .u64 add, .param .u64 count)
{
  .reg .pred %p<2>;
  .reg .b32 %r<5>;
  .reg .b64 %rd<12>;
  ld.param.u64 %rd1, [to];
  ld.param.u64 %rd2, [from];
  ld.param.u64 %rd3, [add];
  ld.param.u64 %rd4, [count];
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mov.u32 %r4, %nctaid.x;
  mul.wide.u32 %rd5, %r1, %r2;
  cvt.u64.u32 %rd6, %r3;
  add.u64 %rd5, %rd5, %rd6;
  mul.wide.u32 %rd7, %r4, %r2;
LOOP:
  setp.ge.u64 %p1, %rd5, %rd4;
  @%p1 bra DONE;
  shl.b64 %rd8, %rd5, 3;
  add.u64 %rd9, %rd2, %rd8;
  ld.global.u64 %rd10, [%rd9];
  add.u64 %rd10, %rd10, %rd3;
  add.u64 %rd11, %rd1, %rd8;
  st.global.u64 [%rd11], %rd10;
  add.u64 %rd5, %rd5, %rd7;
  bra LOOP;
DONE:
  ret;
}
)";

class CudaTable : public testing::Test {
protected:
  void SetUp() override {
    tbem_device_info info{};
    if (backend().probe(&info) != TBEM_OK) GTEST_SKIP() << backend().last_error();
  }
  void TearDown() override {
    for (void* memory : taken) backend().release(memory, 0);
  }

  void* memoryOf(std::uint64_t bytes) {
    void* memory = nullptr;
    EXPECT_EQ(backend().allocate(bytes, &memory), TBEM_OK) << backend().last_error();
    taken.push_back(memory);
    return memory;
  }
  void* holding(const std::vector<std::uint64_t>& numbers) {
    void* const memory = memoryOf(numbers.size() * sizeof(std::uint64_t));
    EXPECT_EQ(backend().copy_in(memory, numbers.data(), numbers.size() * sizeof(std::uint64_t)), TBEM_OK);
    return memory;
  }
  static std::vector<std::uint64_t> heldBy(const void* memory, std::size_t count) {
    std::vector<std::uint64_t> numbers(count);
    EXPECT_EQ(backend().copy_out(numbers.data(), memory, count * sizeof(std::uint64_t)), TBEM_OK) << backend().last_error();
    return numbers;
  }
  static tbem_status add(tbem_kernel* kernel, void* to, const void* from, std::uint64_t number, std::uint64_t count) {
    const std::array<std::uint64_t, 4> arguments{reinterpret_cast<std::uint64_t>(to), reinterpret_cast<std::uint64_t>(from),
                                                 number, count};
    return device().launch(kernel, arguments.data(), 4, static_cast<std::int64_t>(count), 0);
  }

  std::vector<void*> taken;
};

std::vector<std::uint64_t> countedFrom(std::uint64_t first, std::size_t count) {
  std::vector<std::uint64_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), first);
  return numbers;
}

TEST_F(CudaTable, ProbeNamesTheCardAndItsLibraries) {
  tbem_device_info info{};
  ASSERT_EQ(backend().probe(&info), TBEM_OK);
  EXPECT_STRNE(info.name, "");
  EXPECT_TRUE(std::string(info.isa).starts_with("sm_")) << info.isa;
  EXPECT_TRUE(std::string(info.library).starts_with("CUDA 1")) << info.library;
  EXPECT_NE(std::string(info.library).find(", cuBLASLt "), std::string::npos) << info.library;
  EXPECT_GT(info.memory, 0U);
}

TEST_F(CudaTable, MemoryBeginsAtPages) {
  for (const std::uint64_t bytes : {0ULL, 1ULL, 4096ULL, 5000ULL}) {
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memoryOf(bytes)) % 4096, 0U);
  }
}

TEST_F(CudaTable, TooMuchMemoryIsAnAnswer) {
  void* memory = &memory;
  EXPECT_EQ(backend().allocate(std::uint64_t{1} << 50U, &memory), TBEM_OUT_OF_MEMORY);
  EXPECT_EQ(memory, nullptr);
  EXPECT_TRUE(std::string(backend().last_error()).starts_with("cuda: allocating 1125899906842624 bytes: "))
      << backend().last_error();
}

TEST_F(CudaTable, NumbersComeBackAsTheyWereGiven) {
  const auto numbers = countedFrom(7, 1000);
  void* const memory = holding(numbers);
  EXPECT_EQ(heldBy(memory, 1000), numbers);
  EXPECT_EQ(device().zero(memory, 80), TBEM_OK);
  auto expected = numbers;
  std::fill_n(expected.begin(), 10, 0);
  EXPECT_EQ(heldBy(memory, 1000), expected);
  EXPECT_EQ(device().move(memory, static_cast<char*>(memory) + 800, 80), TBEM_OK);
  std::copy_n(numbers.begin() + 100, 10, expected.begin());
  EXPECT_EQ(heldBy(memory, 1000), expected);
  EXPECT_EQ(device().zero(memory, 0), TBEM_OK);
  EXPECT_EQ(device().move(memory, memory, 0), TBEM_OK);
  EXPECT_EQ(backend().copy_in(memory, nullptr, 0), TBEM_OK);
}

TEST_F(CudaTable, KernelsRunInTheOrderInWhichTheyAreAsked) {
  tbem_module* module = nullptr;
  ASSERT_EQ(device().load(kAdd, std::char_traits<char>::length(kAdd) + 1, &module), TBEM_OK) << backend().last_error();
  tbem_kernel* kernel = nullptr;
  ASSERT_EQ(device().find(module, "add_number", &kernel), TBEM_OK) << backend().last_error();
  constexpr std::size_t kCount = 3000;
  void* const from = holding(countedFrom(0, kCount));
  void* const to = memoryOf(kCount * 8);
  EXPECT_EQ(add(kernel, to, from, 5, kCount), TBEM_OK);
  EXPECT_EQ(add(kernel, from, to, 6, kCount), TBEM_OK);
  EXPECT_EQ(backend().synchronize(), TBEM_OK);
  EXPECT_EQ(heldBy(from, kCount), countedFrom(11, kCount));
  EXPECT_EQ(device().launch(kernel, nullptr, 0, 0, 0), TBEM_OK);  // nothing to do
  tbem_kernel* missing = nullptr;
  EXPECT_EQ(device().find(module, "subtract_number", &missing), TBEM_FAILED);
  EXPECT_NE(std::string(backend().last_error()).find("looking for the kernel subtract_number"), std::string::npos);
  device().unload(module);
}

TEST_F(CudaTable, ARecordingIsReplayed) {
  tbem_module* module = nullptr;
  ASSERT_EQ(device().load(kAdd, std::char_traits<char>::length(kAdd) + 1, &module), TBEM_OK);
  tbem_kernel* kernel = nullptr;
  ASSERT_EQ(device().find(module, "add_number", &kernel), TBEM_OK);
  constexpr std::size_t kCount = 500;
  void* const memory = holding(countedFrom(0, kCount));
  ASSERT_EQ(device().record(), TBEM_OK) << backend().last_error();
  EXPECT_EQ(add(kernel, memory, memory, 10, kCount), TBEM_OK);
  EXPECT_EQ(device().zero(memory, 8), TBEM_OK);
  tbem_recording* recording = nullptr;
  ASSERT_EQ(device().recorded(&recording), TBEM_OK) << backend().last_error();
  EXPECT_EQ(heldBy(memory, kCount), countedFrom(0, kCount));  // kept, not done
  EXPECT_EQ(device().replay(recording), TBEM_OK);
  EXPECT_EQ(device().replay(recording), TBEM_OK);
  auto expected = countedFrom(20, kCount);
  expected[0] = 0;
  EXPECT_EQ(heldBy(memory, kCount), expected);
  device().forget(recording);
  device().unload(module);
}

/// What is done is decided each time, by counts that the recording itself may change.
TEST_F(CudaTable, APartOfARecordingIsDoneWhereACountIsAboveZero) {
  tbem_module* module = nullptr;
  ASSERT_EQ(device().load(kAdd, std::char_traits<char>::length(kAdd) + 1, &module), TBEM_OK);
  tbem_kernel* kernel = nullptr;
  ASSERT_EQ(device().find(module, "add_number", &kernel), TBEM_OK);
  void* const count = holding({0, 0});
  void* const second = static_cast<char*>(count) + 8;
  void* const memory = holding({100, 200, 300});
  const auto place = [&](std::size_t at) { return static_cast<char*>(memory) + 8 * at; };
  ASSERT_EQ(device().record(), TBEM_OK) << backend().last_error();
  ASSERT_EQ(device().record_where(count), TBEM_OK) << backend().last_error();  // before anything else
  EXPECT_EQ(add(kernel, place(0), place(0), 1, 1), TBEM_OK);
  ASSERT_EQ(device().record_always(), TBEM_OK) << backend().last_error();
  EXPECT_EQ(add(kernel, second, count, 0, 1), TBEM_OK);
  ASSERT_EQ(device().record_where(second), TBEM_OK) << backend().last_error();
  EXPECT_EQ(add(kernel, place(1), place(1), 1, 1), TBEM_OK);
  EXPECT_EQ(device().zero(second, 8), TBEM_OK);
  ASSERT_EQ(device().record_always(), TBEM_OK) << backend().last_error();
  ASSERT_EQ(device().record_where(second), TBEM_OK) << backend().last_error();  // never: it is zero by now
  EXPECT_EQ(add(kernel, place(1), place(1), 1000, 1), TBEM_OK);
  ASSERT_EQ(device().record_always(), TBEM_OK) << backend().last_error();
  ASSERT_EQ(device().record_where(count), TBEM_OK) << backend().last_error();  // of nothing
  ASSERT_EQ(device().record_always(), TBEM_OK) << backend().last_error();
  EXPECT_EQ(add(kernel, place(2), place(2), 1, 1), TBEM_OK);
  tbem_recording* recording = nullptr;
  const tbem_status ended = device().recorded(&recording);
  if (ended == TBEM_UNSUPPORTED) GTEST_SKIP() << backend().last_error();
  ASSERT_EQ(ended, TBEM_OK) << backend().last_error();
  EXPECT_EQ(device().replay(recording), TBEM_OK) << backend().last_error();
  EXPECT_EQ(heldBy(memory, 3), (std::vector<std::uint64_t>{100, 200, 301}));
  constexpr std::uint64_t kOne = 1, kNone = 0;
  EXPECT_EQ(backend().copy_in(count, &kOne, 8), TBEM_OK);
  EXPECT_EQ(device().replay(recording), TBEM_OK) << backend().last_error();
  EXPECT_EQ(heldBy(memory, 3), (std::vector<std::uint64_t>{101, 201, 302}));
  EXPECT_EQ(backend().copy_in(count, &kNone, 8), TBEM_OK);
  EXPECT_EQ(device().replay(recording), TBEM_OK) << backend().last_error();
  EXPECT_EQ(heldBy(memory, 3), (std::vector<std::uint64_t>{101, 201, 303}));
  device().forget(recording);
  device().unload(module);
}

TEST_F(CudaTable, TheCardsClockSaysHowLongItWorked) {
  double seconds = -1;
  EXPECT_EQ(readTimer(seconds), TBEM_INVALID);
  EXPECT_EQ(backend().last_error(), std::string("cuda: no step was timed"));
  tbem_module* module = nullptr;
  tbem_kernel* kernel = nullptr;
  ASSERT_EQ(device().load(kAdd, std::strlen(kAdd) + 1, &module), TBEM_OK) << backend().last_error();
  ASSERT_EQ(device().find(module, "add_number", &kernel), TBEM_OK);
  constexpr std::size_t kCount = 20000;
  void* const numbers = holding(countedFrom(0, kCount));
  const auto timed = [&](std::size_t times) {
    EXPECT_EQ(startTimer(), TBEM_OK) << backend().last_error();
    for (std::size_t time = 0; time < times; ++time) EXPECT_EQ(add(kernel, numbers, numbers, 1, kCount), TBEM_OK);
    EXPECT_EQ(stopTimer(), TBEM_OK);
    double found = -1;
    EXPECT_EQ(readTimer(found), TBEM_OK) << backend().last_error();
    return found;
  };
  (void)timed(1);
  const double none = timed(0), many = timed(20);
  EXPECT_GE(none, 0);
  EXPECT_GT(many, none);
  EXPECT_LT(many, 60);
  // What is begun anew is not what ended before.
  EXPECT_EQ(startTimer(), TBEM_OK);
  EXPECT_EQ(readTimer(seconds), TBEM_INVALID);
  endTimer();
  EXPECT_EQ(stopTimer(), TBEM_OK) << "its events are made again";
  EXPECT_EQ(readTimer(seconds), TBEM_INVALID);
  endTimer();
  device().unload(module);
}

TEST_F(CudaTable, TheCacheIsThatOfTheCard) { EXPECT_GE(cacheBytes(), std::uint64_t{1} << 20U); }

TEST_F(CudaTable, WhatTheDriversCompilerSaysIsTold) {
  const std::string wrong = ".version 8.0\n.target sm_75\n.address_size 64\n.visible .entry k() { addd.u32 %r1, %r2, %r3; }\n";
  tbem_module* module = nullptr;
  EXPECT_EQ(device().load(wrong.c_str(), wrong.size() + 1, &module), TBEM_FAILED);
  const std::string said = backend().last_error();
  EXPECT_NE(said.find("cuda: compiling the loops of a step for "), std::string::npos) << said;
  EXPECT_NE(said.find("addd"), std::string::npos) << said;
}

/// In a process of its own, which cannot use the card afterwards.
[[noreturn]] void reachBeyond() {
  tbem_module* module = nullptr;
  tbem_kernel* kernel = nullptr;
  if (device().load(kAdd, std::char_traits<char>::length(kAdd) + 1, &module) != TBEM_OK) std::abort();
  if (device().find(module, "add_number", &kernel) != TBEM_OK) std::abort();
  const std::array<std::uint64_t, 4> arguments{8, 8, 1, 1};
  (void)device().launch(kernel, arguments.data(), 4, 1, 0);
  const tbem_status first = backend().synchronize();
  std::fprintf(stderr, "%d %s\n", first, backend().last_error());
  void* memory = nullptr;
  const tbem_status second = backend().allocate(4096, &memory);
  std::fprintf(stderr, "%d %s\n", second, backend().last_error());
  std::exit(0);
}

TEST(CudaTableDeathTest, AFailureOnTheCardIsToldByEveryLaterCall) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  tbem_device_info info{};
  if (backend().probe(&info) != TBEM_OK) GTEST_SKIP() << backend().last_error();
  EXPECT_EXIT(reachBeyond(), testing::ExitedWithCode(0),
              "3 cuda: .*cannot use any more\n.*3 cuda: allocating 4096 bytes: .*cannot use any more");
}

}  // namespace
}  // namespace tbem::cuda
