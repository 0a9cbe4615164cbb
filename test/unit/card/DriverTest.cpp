// The card as its driver's functions show it: memory, copies, streams, captures, failures that stick and failures on request.
#include "test/SourceTree.h"
#include "test/card/driver/Api.h"

#include <gtest/gtest.h>

#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

extern "C" {
int cuInit(unsigned flags);
int cuGetErrorName(int error, const char** text);
int cuDeviceGetAttribute(int* value, int attribute, int device);
int cuDeviceGetName(char* name, int length, int device);
int cuDevicePrimaryCtxRetain(void** context, int device);
int cuCtxSetCurrent(void* context);
int cuStreamCreate(void** stream, unsigned flags);
int cuStreamSynchronize(void* stream);
int cuStreamBeginCapture_v2(void* stream, int mode);
int cuStreamEndCapture(void* stream, void** graph);
int cuGraphInstantiateWithFlags(void** executable, void* graph, unsigned long long flags);
int cuGraphLaunch(void* executable, void* stream);
int cuGraphDestroy(void* graph);
int cuGraphExecDestroy(void* executable);
int cuMemAlloc_v2(std::uint64_t* memory, std::size_t bytes);
int cuMemFree_v2(std::uint64_t memory);
int cuMemGetInfo_v2(std::size_t* free, std::size_t* total);
int cuMemcpyHtoDAsync_v2(std::uint64_t to, const void* from, std::size_t bytes, void* stream);
int cuMemcpyDtoHAsync_v2(void* to, std::uint64_t from, std::size_t bytes, void* stream);
int cuMemcpyDtoDAsync_v2(std::uint64_t to, std::uint64_t from, std::size_t bytes, void* stream);
int cuMemsetD8Async(std::uint64_t memory, unsigned char value, std::size_t bytes, void* stream);
int cuModuleLoadDataEx(void** module, const void* image, unsigned options, int* names, void** values);
int cuModuleUnload(void* module);
int cuModuleGetFunction(void** function, void* module, const char* name);
int cuFuncSetAttribute(void* function, int attribute, int value);
int cuLaunchKernel(void* function, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX, unsigned blockY,
                   unsigned blockZ, unsigned sharedBytes, void* stream, void** arguments, void** extra);
}

namespace tbem::card::testing {
namespace {

constexpr const char* kAddOne = R"(.version 7.0
.target sm_75
.address_size 64
.extern .shared .align 4 .b8 dynamic[];
.visible .entry add_one(.param .u64 words, .param .u32 by)
{
  .reg .b32 %r<4>;
  .reg .b64 %l<3>;
  mov.u32 %r0, %tid.x;
  ld.param.u64 %l0, [words];
  ld.param.u32 %r1, [by];
  mul.wide.u32 %l1, %r0, 4;
  add.u64 %l0, %l0, %l1;
  ld.global.u32 %r2, [%l0];
  add.u32 %r2, %r2, %r1;
  st.global.u32 [%l0], %r2;
  mov.u32 %r3, dynamic;
  ret;
}
)";

class Driver : public ::testing::Test {
protected:
  void SetUp() override {
    settings.report = (std::filesystem::temp_directory_path() / ("card-report-" + std::to_string(::getpid()))).string();
    std::filesystem::remove(settings.report);
    open();
  }
  void TearDown() override { std::filesystem::remove(settings.report); }

  void open() {
    replaceCard(settings);
    void* context = nullptr;
    ASSERT_EQ(cuInit(0), 0);
    ASSERT_EQ(cuDevicePrimaryCtxRetain(&context, 0), 0);
    ASSERT_EQ(cuCtxSetCurrent(context), 0);
    ASSERT_EQ(cuStreamCreate(&stream, 1), 0);
  }

  std::string reported() const {
    std::stringstream text;
    text << std::ifstream(settings.report).rdbuf();
    return text.str();
  }

  std::uint64_t words(const std::vector<std::uint32_t>& values) {
    std::uint64_t memory = 0;
    EXPECT_EQ(cuMemAlloc_v2(&memory, values.size() * 4), 0);
    EXPECT_EQ(cuMemcpyHtoDAsync_v2(memory, values.data(), values.size() * 4, stream), 0);
    return memory;
  }
  std::vector<std::uint32_t> read(std::uint64_t memory, std::size_t count) {
    std::vector<std::uint32_t> values(count);
    EXPECT_EQ(cuMemcpyDtoHAsync_v2(values.data(), memory, count * 4, stream), 0);
    EXPECT_EQ(cuStreamSynchronize(stream), 0);
    return values;
  }

  void* kernel() {
    void *module = nullptr, *function = nullptr;
    EXPECT_EQ(cuModuleLoadDataEx(&module, kAddOne, 0, nullptr, nullptr), 0);
    EXPECT_EQ(cuModuleGetFunction(&function, module, "add_one"), 0);
    return function;
  }
  int addOne(void* function, std::uint64_t memory, unsigned threads, unsigned shared = 0) {
    std::uint32_t by = 1;
    void* arguments[] = {&memory, &by};
    return cuLaunchKernel(function, 1, 1, 1, threads, 1, 1, shared, stream, arguments, nullptr);
  }

  Settings settings;
  void* stream = nullptr;
};

TEST_F(Driver, KernelsChangeMemory) {
  const std::uint64_t memory = words({1, 2, 3});
  EXPECT_EQ(addOne(kernel(), memory, 3), 0);
  EXPECT_EQ(read(memory, 3), (std::vector<std::uint32_t>{2, 3, 4}));
  EXPECT_EQ(reported(), "");
}

TEST_F(Driver, TheDevice) {
  char name[64];
  EXPECT_EQ(cuDeviceGetName(name, sizeof name, 0), 0);
  EXPECT_STREQ(name, "tbemc test card");
  int value = 0;
  EXPECT_EQ(cuDeviceGetAttribute(&value, 75, 0), 0);
  EXPECT_EQ(value, 9);
  EXPECT_EQ(cuDeviceGetAttribute(&value, 75, 1), CUDA_ERROR_INVALID_DEVICE);
  EXPECT_EQ(cuDeviceGetAttribute(&value, 9999, 0), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Driver, NothingBeforeInit) {
  replaceCard(settings);
  std::uint64_t memory = 0;
  EXPECT_EQ(cuMemAlloc_v2(&memory, 4), CUDA_ERROR_NOT_INITIALIZED);
  EXPECT_EQ(cuInit(0), 0);
  EXPECT_EQ(cuMemAlloc_v2(&memory, 4), CUDA_ERROR_INVALID_CONTEXT);
}

TEST_F(Driver, MemoryEnds) {
  settings.memory = 1 << 20;
  open();
  std::uint64_t first = 0, second = 0;
  EXPECT_EQ(cuMemAlloc_v2(&first, 600 << 10), 0);
  EXPECT_EQ(cuMemAlloc_v2(&second, 600 << 10), CUDA_ERROR_OUT_OF_MEMORY);
  std::size_t free = 0, total = 0;
  EXPECT_EQ(cuMemGetInfo_v2(&free, &total), 0);
  EXPECT_EQ(free, 424U << 10);
  EXPECT_EQ(total, 1U << 20);
  EXPECT_EQ(cuMemFree_v2(first), 0);
  EXPECT_EQ(cuMemAlloc_v2(&second, 600 << 10), 0);
  EXPECT_NE(second, first);  // so that whoever still uses the first is found
  for (int again = 0; again < 100; ++again) {
    EXPECT_EQ(cuMemFree_v2(second), 0);
    EXPECT_EQ(cuMemAlloc_v2(&second, 600 << 10), 0);
  }
  EXPECT_EQ(cuMemFree_v2(second + 4), CUDA_ERROR_INVALID_VALUE);
  EXPECT_NE(reported().find("no allocation starts at"), std::string::npos) << reported();
}

TEST_F(Driver, CopiesStayWithinAllocations) {
  const std::uint64_t memory = words({1, 2, 3, 4});
  std::uint32_t five[5]{};
  EXPECT_EQ(cuMemcpyHtoDAsync_v2(memory, five, 20, stream), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemcpyDtoHAsync_v2(five, memory + 4, 16, stream), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemsetD8Async(memory + 17, 0, 1, stream), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemcpyDtoDAsync_v2(memory + 4, memory, 8, stream), CUDA_ERROR_INVALID_VALUE);
  EXPECT_NE(reported().find("overlap"), std::string::npos) << reported();
  EXPECT_EQ(cuMemcpyDtoDAsync_v2(memory + 8, memory, 8, stream), 0);
  EXPECT_EQ(read(memory, 4), (std::vector<std::uint32_t>{1, 2, 1, 2}));
}

// What was never written stays so when it is copied, and is found by the kernel that reads it.
TEST_F(Driver, UnwrittenMemoryStaysUnwritten) {
  std::uint64_t fresh = 0;
  ASSERT_EQ(cuMemAlloc_v2(&fresh, 8), 0);
  const std::uint64_t memory = words({1, 2});
  EXPECT_EQ(cuMemcpyDtoDAsync_v2(memory, fresh, 8, stream), 0);
  EXPECT_EQ(addOne(kernel(), memory, 2), 0);
  EXPECT_EQ(cuStreamSynchronize(stream), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_NE(reported().find("of which not all was ever written"), std::string::npos) << reported();
}

TEST_F(Driver, FailuresOfKernelsStick) {
  void* const function = kernel();
  const std::uint64_t memory = words({1, 2});
  EXPECT_EQ(addOne(function, memory, 3), 0);  // a launch does not wait for its end
  EXPECT_NE(
      reported().find(
          "kernel add_one, line 14 of its PTX (`ld.global.u32 %r2, [%l0];`), thread (2,0,0) of block (0,0,0): reads 4 bytes"),
      std::string::npos)
      << reported();
  std::uint64_t more = 0;
  EXPECT_EQ(cuStreamSynchronize(stream), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_EQ(cuMemAlloc_v2(&more, 4), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_EQ(addOne(function, memory, 1), CUDA_ERROR_ILLEGAL_ADDRESS);
  const char* text = nullptr;
  EXPECT_EQ(cuGetErrorName(700, &text), 0);
  EXPECT_STREQ(text, "CUDA_ERROR_ILLEGAL_ADDRESS");
}

TEST_F(Driver, MemoryThatWasReleasedIsNobodys) {
  void* const function = kernel();
  const std::uint64_t memory = words({1, 2});
  EXPECT_EQ(cuMemFree_v2(memory), 0);
  EXPECT_EQ(addOne(function, memory, 1), 0);
  EXPECT_EQ(cuStreamSynchronize(stream), CUDA_ERROR_ILLEGAL_ADDRESS);
}

TEST_F(Driver, SizesOfLaunches) {
  void* const function = kernel();
  const std::uint64_t memory = words(std::vector<std::uint32_t>(1024));
  EXPECT_EQ(addOne(function, memory, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(addOne(function, memory, 1025), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(addOne(function, memory, 32, 48 << 10), 0);
  EXPECT_EQ(addOne(function, memory, 32, (48 << 10) + 4), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuFuncSetAttribute(function, 8, 64 << 10), 0);
  EXPECT_EQ(addOne(function, memory, 32, 64 << 10), 0);
  EXPECT_EQ(cuFuncSetAttribute(function, 8, 228 << 10), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(addOne(stream, memory, 32), CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(Driver, ModulesThatAreWrong) {
  void* module = nullptr;
  char log[64] = "";
  int names[] = {5, 6};
  void* values[] = {log, reinterpret_cast<void*>(sizeof log)};
  EXPECT_EQ(cuModuleLoadDataEx(&module, ".version 7.0\n.target sm_75\n.visible .entry k()\n{\nnonsense;\n}\n", 2, names, values),
            CUDA_ERROR_INVALID_PTX);
  EXPECT_STREQ(log, "line 5: the instruction `nonsense` is not known");
  EXPECT_EQ(cuModuleLoadDataEx(&module, ".version 9.9\n.target sm_75\n", 0, nullptr, nullptr),
            CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
  EXPECT_EQ(cuModuleLoadDataEx(&module, "\177ELF", 0, nullptr, nullptr), CUDA_ERROR_INVALID_IMAGE);
  void* function = nullptr;
  EXPECT_EQ(cuModuleLoadDataEx(&module, kAddOne, 0, nullptr, nullptr), 0);
  EXPECT_EQ(cuModuleGetFunction(&function, module, "add_two"), CUDA_ERROR_NOT_FOUND);
  EXPECT_EQ(cuModuleUnload(module), 0);
  EXPECT_EQ(cuModuleUnload(module), CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(Driver, CapturedWorkRunsWhenItsGraphIsLaunched) {
  void *const function = kernel(), *graph = nullptr, *executable = nullptr;
  const std::uint64_t memory = words({1, 2});
  ASSERT_EQ(cuStreamBeginCapture_v2(stream, 0), 0);
  EXPECT_EQ(addOne(function, memory, 2), 0);
  EXPECT_EQ(addOne(function, memory, 1), 0);
  ASSERT_EQ(cuStreamEndCapture(stream, &graph), 0);
  EXPECT_EQ(read(memory, 2), (std::vector<std::uint32_t>{1, 2}));
  ASSERT_EQ(cuGraphInstantiateWithFlags(&executable, graph, 0), 0);
  EXPECT_EQ(cuGraphDestroy(graph), 0);
  EXPECT_EQ(cuGraphLaunch(executable, stream), 0);
  EXPECT_EQ(cuGraphLaunch(executable, stream), 0);
  EXPECT_EQ(read(memory, 2), (std::vector<std::uint32_t>{5, 4}));
  EXPECT_EQ(cuGraphExecDestroy(executable), 0);
  EXPECT_EQ(cuGraphLaunch(executable, stream), CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(Driver, WhatCannotBeCaptured) {
  void* graph = nullptr;
  std::uint64_t memory = 0;
  ASSERT_EQ(cuStreamBeginCapture_v2(stream, 0), 0);
  EXPECT_EQ(cuStreamSynchronize(stream), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  EXPECT_EQ(cuMemsetD8Async(memory, 0, 4, stream), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  EXPECT_EQ(cuStreamEndCapture(stream, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  EXPECT_EQ(cuStreamSynchronize(stream), 0);
  ASSERT_EQ(cuStreamBeginCapture_v2(stream, 0), 0);
  EXPECT_EQ(cuMemAlloc_v2(&memory, 4), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  EXPECT_EQ(cuStreamEndCapture(stream, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  ASSERT_EQ(cuStreamBeginCapture_v2(stream, 2), 0);  // relaxed
  EXPECT_EQ(cuMemAlloc_v2(&memory, 4), 0);
  EXPECT_EQ(cuStreamEndCapture(stream, &graph), 0);
  EXPECT_EQ(cuStreamBeginCapture_v2(nullptr, 0), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
}

TEST_F(Driver, FailuresOnRequest) {
  settings.failures["cuMemAlloc_v2"][2] = CUDA_ERROR_OUT_OF_MEMORY;
  open();
  std::uint64_t memory = 0;
  EXPECT_EQ(cuMemAlloc_v2(&memory, 4), 0);
  EXPECT_EQ(cuMemAlloc_v2(&memory, 4), CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(cuMemAlloc_v2(&memory, 4), 0);
}

class Environment : public ::testing::Test {
protected:
  static void set(const char* name, const char* value) { ::setenv(name, value, 1); }
  void TearDown() override {
    for (const char* name : {"MEMORY", "SM", "CHECKS", "ORDER", "REPORT", "KEEP", "FAIL"})
      ::unsetenv(("TBEM_CARD_" + std::string(name)).c_str());
  }
  static std::string refusal() {
    try {
      settingsOfEnvironment();
    } catch (const std::invalid_argument& wrong) {
      return wrong.what();
    }
    return "";
  }
};

TEST_F(Environment, SaysWhatTheCardIs) {
  set("TBEM_CARD_MEMORY", "1000");
  set("TBEM_CARD_SM", "7.5");
  set("TBEM_CARD_CHECKS", "-races,-written");
  set("TBEM_CARD_ORDER", "backward");
  set("TBEM_CARD_FAIL", "cuMemAlloc_v2:3=2,cuInit:1=100");
  const Settings settings = settingsOfEnvironment();
  EXPECT_EQ(settings.memory, 1000U);
  EXPECT_EQ(settings.computeCapability, 75U);
  EXPECT_FALSE(settings.races);
  EXPECT_FALSE(settings.written);
  EXPECT_TRUE(settings.backward);
  EXPECT_EQ(settings.failures.at("cuMemAlloc_v2").at(3), 2);
  EXPECT_EQ(settings.failures.at("cuInit").at(1), 100);
}

TEST_F(Environment, IsRefusedWhereItIsWrong) {
  EXPECT_EQ(refusal(), "");
  set("TBEM_CARD_MEMORY", "1GB");
  EXPECT_EQ(refusal(), "TBEM_CARD_MEMORY: `1GB` is no number");
  TearDown();
  set("TBEM_CARD_CHECKS", "races");
  EXPECT_EQ(refusal(), "TBEM_CARD_CHECKS: expected -written or -races, found `races`");
  TearDown();
  set("TBEM_CARD_FAIL", "cuInit");
  EXPECT_EQ(refusal(), "TBEM_CARD_FAIL: expected FUNCTION:CALL=ERROR, found `cuInit`");
  TearDown();
  set("TBEM_CARD_ORDER", "sideways");
  EXPECT_EQ(refusal(), "TBEM_CARD_ORDER: expected forward or backward");
  TearDown();
  set("TBEM_CARD_SM", "90");
  EXPECT_EQ(refusal(), "TBEM_CARD_SM: expected a number such as 9.0");
}

// The library itself: all functions that the cuda backend looks for, and no others.
TEST(Library, HasTheFunctionsOfTheCudaBackend) {
  void* const library = ::dlopen(TBEM_CARD_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << ::dlerror();
  std::ifstream file(tbem::test::inSources("runtime/backends/cuda/device/functions.def"));
  std::size_t functions = 0;
  for (std::string line; std::getline(file, line);) {
    const std::size_t from = line.find(", \"cu"), to = line.find('"', from + 3);
    if (!line.starts_with("TBEM_CUDA_FUNCTION(") || to == std::string::npos) continue;
    const std::string symbol = line.substr(from + 3, to - from - 3);
    EXPECT_NE(::dlsym(library, symbol.c_str()), nullptr) << symbol;
    ++functions;
  }
  EXPECT_GT(functions, 30U);
  EXPECT_EQ(::dlsym(library, "_ZN4tbem4card7theCardEv"), nullptr);
  ::dlclose(library);
}

}  // namespace
}  // namespace tbem::card::testing
