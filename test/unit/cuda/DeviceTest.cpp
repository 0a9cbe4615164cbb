// What is said where a card cannot be used.
#include "runtime/backends/cuda/device/Device.h"
#include "runtime/backends/cuda/device/Launch.h"
#include "runtime/backends/cuda/device/Op.h"
#include "runtime/cudnn/Library.h"
#include "runtime/cudnn/Places.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

#include <dlfcn.h>

namespace tbem::cuda {
namespace {

TEST(CudaDevice, WithoutADriverTheReasonIsToldInWords) {
  if (openDriver()) GTEST_SKIP() << "there is a driver";
  const auto device = openDevice();
  ASSERT_FALSE(device.has_value());
  EXPECT_NE(device.error().find("there is no driver of NVIDIA's: libcuda.so.1"), std::string::npos) << device.error();
  const Device* opened = nullptr;
  EXPECT_EQ(openDevice(opened), TBEM_UNSUPPORTED);
  EXPECT_EQ(std::string(lastErrorText()), "cuda: " + device.error());
  EXPECT_EQ(launch({"Bias", "tbem_Bias_f32_f32_32"}, Grid{}), TBEM_UNSUPPORTED);
}

/// In a process of its own, before anything is opened.
[[noreturn]] void openStub(const std::string& path) {
  if (::dlopen(path.c_str(), RTLD_NOW) == nullptr) std::abort();
  const auto device = openDevice();
  std::fputs(device ? "opened" : device.error().c_str(), stderr);
  std::exit(0);
}

TEST(CudaDeviceDeathTest, AStubIsNoDriver) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  for (const std::string& stub : cudnn::libcudaStubs()) {
    if (void* opened = ::dlopen(stub.c_str(), RTLD_NOW); opened != nullptr) {
      ::dlclose(opened);
      EXPECT_EXIT(openStub(stub), testing::ExitedWithCode(0), "libcuda.so.1 is the toolkit's stub");
      return;
    }
  }
  GTEST_SKIP() << "no toolkit with a stub is installed";
}

}  // namespace
}  // namespace tbem::cuda
