// cuDNN itself, where the CUDA toolkit has it.
#include "runtime/cudnn/Choice.h"
#include "runtime/cudnn/Engines.h"
#include "runtime/cudnn/Properties.h"
#include "test/unit/cudnn/Devices.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <utility>
#include <vector>

namespace tbem::cudnn {
namespace {

std::string toolkit() {
  const char* home = std::getenv("CUDA_HOME");
  return home != nullptr && *home != '\0' ? home : "/usr/local/cuda";
}

DeviceProperties h200() {
  DeviceProperties p = hopper();
  p.name = "NVIDIA H200";
  p.memory = 150754820096;
  p.l2 = 62914560;
  p.memoryClockKHz = 3201000;
  return p;
}

// Before the tests that open one: a process has one cuDNN.
TEST(CudnnLibrary, IsLookedForInTheFoldersGiven) {
  const auto folder =
      std::filesystem::temp_directory_path() /
      ("cudnn-" + std::to_string(::testing::UnitTest::GetInstance()->random_seed()) + std::to_string(std::rand()));
  std::filesystem::create_directories(folder / "b" / "lib64");
  std::ofstream(folder / "b" / "lib64" / "libcudnn.so.9") << "no library";
  const std::string b = (folder / "b").string(), a = (folder / "a").string(), file = (folder / "b/lib64/libcudnn.so.9").string();
  EXPECT_EQ(findLibrary("", {a, b}).value_or(""), file);
  EXPECT_EQ(findLibrary(b, {}).value_or(""), file);
  EXPECT_EQ(findLibrary(file, {}).value_or(""), file);
  EXPECT_FALSE(findLibrary(a, {b}).has_value());
  EXPECT_FALSE(findLibrary("", {a}).has_value());
  const auto opened = openLibrary(file);
  ASSERT_FALSE(opened.has_value());
  EXPECT_NE(opened.error().find("cannot be loaded"), std::string::npos) << opened.error();
  std::filesystem::remove_all(folder);
}

class CudnnEngines : public ::testing::Test {
protected:
  void SetUp() override {
    const auto path = findLibrary("", {toolkit()});
    if (!path) GTEST_SKIP() << path.error();
    libcuda = openLibcuda({toolkit() + "/lib64/stubs/libcuda.so"});
    auto opened = openLibrary(*path);
    ASSERT_TRUE(opened.has_value()) << opened.error();
    library = *opened;
    auto made = Device::make(library, toJson(h200()));
    ASSERT_TRUE(made.has_value()) << made.error();
    device.emplace(std::move(*made));
  }
  LibcudaFound libcuda;
  Library library;
  std::optional<Device> device;
};

Convolution problem(const std::string& line) {
  const auto read = readConvolution(line);
  EXPECT_TRUE(read.has_value()) << line;
  return read.value_or(Convolution{});
}

/// What a program of its own, linked with cuDNN 9.19, was told for the same device.
TEST_F(CudnnEngines, WorkspacesAreThoseThatAnotherProgramWasTold) {
  if (library.version != "9.19.0") GTEST_SKIP() << "the numbers are of 9.19.0, not " << library.version;
  if (libcuda.kind == Libcuda::None) GTEST_SKIP() << "no libcuda can be opened";
  const std::string shape = " 32x64x224x224 64x64x3x3 stride 1,1 pad 1,1,1,1 dilation 1,1 groups 1";
  const std::pair<const char*, std::uint64_t> told[] = {
      {"forward f32 nchw", 822231187}, {"data_gradient f32 nchw", 822231187}, {"weight_gradient f32 nchw", 822526163},
      {"forward f32 nhwc", 131},       {"data_gradient f32 nhwc", 131},       {"weight_gradient f32 nhwc", 295107}};
  for (const auto& [kind, workspace] : told) {
    const auto engines = device->engines(problem(kind + shape));
    ASSERT_TRUE(engines.has_value()) << engines.error();
    ASSERT_FALSE(engines->empty());
    EXPECT_EQ(engines->front().workspace, workspace) << kind;
  }
}

TEST_F(CudnnEngines, EveryKindOfConvolutionHasEngines) {
  for (const char* line : {
           "forward f16 nchw 8x32x17x19 48x32x3x3 stride 2,1 pad 1,1,1,1 dilation 1,1 groups 1",
           "data_gradient bf16 nhwc 8x32x28x28 32x1x3x3 stride 1,1 pad 1,1,1,1 dilation 1,1 groups 32",
           "weight_gradient f32 nchw 4x64x28x28 64x16x3x3 stride 1,1 pad 2,2,2,2 dilation 2,2 groups 4",
       }) {
    const auto engines = device->engines(problem(line));
    ASSERT_TRUE(engines.has_value()) << engines.error();
    EXPECT_FALSE(engines->empty()) << line;
    const auto fallback = device->engines(problem(line), List::Fallback);
    ASSERT_TRUE(fallback.has_value()) << fallback.error();
    EXPECT_TRUE(smallest(problem(line), *fallback, {.tf32 = false}).has_value()) << line;
  }
}

/// The heads of a row beside each other in the operands whose bits are set; in none: row-major.
Attention withHeadsInside(Attention of, unsigned operands) {
  const RowStrides query{of.heads * of.l * of.d, of.l * of.d, of.d}, key{of.heads * of.m * of.d, of.m * of.d, of.d},
      value{of.heads * of.m * of.e, of.m * of.e, of.e}, y{of.heads * of.l * of.e, of.l * of.e, of.e}, sums{};
  std::vector<RowStrides> strides =
      of.gradient ? std::vector{y, query, key, value, y, sums, query, key, value} : std::vector{query, key, value, y, sums};
  for (std::size_t k = 0; k < strides.size(); ++k) {
    auto& [batch, head, row] = strides[k];
    if ((operands >> k & 1U) != 0) head = row, row = head * of.heads;
  }
  if (operands != 0) of.strides = std::move(strides);
  return of;
}

/// As another program was told, which wrote the graphs with cuDNN's own header. What the gradient keeps are the gradients of the
/// scores, in bf16, and a number for each row: the sum of what it does not keep would be six times as much.
TEST_F(CudnnEngines, AttentionKeepsNoScores) {
  if (library.version != "9.19.0") GTEST_SKIP() << "the numbers are of 9.19.0, not " << library.version;
  if (libcuda.kind == Libcuda::None) GTEST_SKIP() << "no libcuda can be opened";
  const Attention causal{.batch = 2, .heads = 8, .l = 1024, .m = 1024, .d = 64, .e = 64, .causal = true};
  for (const unsigned inside : {0x000U, 0x1ffU, 0x155U}) {
    SCOPED_TRACE(inside);
    Attention attention = withHeadsInside(causal, inside);
    const Policy sameBits{.tf32 = false, .nondeterministic = false};
    const auto forward = device->engines(attention);
    ASSERT_TRUE(forward.has_value()) << forward.error();
    ASSERT_EQ(first(attention, *forward, sameBits), 0U);
    EXPECT_EQ(forward->front().workspace, 256U);
    attention = causal;
    attention.gradient = true;
    attention = withHeadsInside(attention, inside);
    const auto gradient = device->engines(attention);
    ASSERT_TRUE(gradient.has_value()) << gradient.error();
    ASSERT_EQ(first(attention, *gradient, sameBits), 0U);
    EXPECT_EQ(gradient->front().workspace, 33620224U);
  }
}

TEST_F(CudnnEngines, AttentionOfEveryKindHasEngines) {
  if (libcuda.kind == Libcuda::None) GTEST_SKIP() << "no libcuda can be opened";
  struct Sizes {
    std::int64_t l, m, d, e;
  };
  for (const Sizes& s : {Sizes{512, 512, 64, 64}, Sizes{77, 77, 40, 40}, Sizes{300, 500, 128, 128}, Sizes{1, 33, 8, 8}}) {
    for (const bool causal : {false, true}) {
      for (const std::int32_t dtype : {TBEM_BF16, TBEM_F16}) {
        for (const unsigned kind : {0U, 1U, 2U, 3U, 4U, 5U}) {
          const Attention rowMajor{.gradient = kind % 2 != 0,
                                   .dtype = dtype,
                                   .batch = 3,
                                   .heads = 2,
                                   .l = s.l,
                                   .m = s.m,
                                   .d = s.d,
                                   .e = s.e,
                                   .causal = causal};
          constexpr std::array<unsigned, 3> kInside{0x000, 0x1ff, 0x0b2};
          const Attention attention = withHeadsInside(rowMajor, kInside[kind / 2]);
          const auto engines = device->engines(attention);
          ASSERT_TRUE(engines.has_value()) << describe(attention) << ": " << engines.error();
          EXPECT_TRUE(first(attention, *engines, {.tf32 = false, .nondeterministic = false}).has_value()) << describe(attention);
        }
      }
    }
  }
}

TEST_F(CudnnEngines, AProblemThatIsNoneIsRefusedInCudnnsWords) {
  Convolution wrong;
  wrong.kernel = {5, 5};  // on an image of one pixel
  const auto engines = device->engines(wrong);
  ASSERT_FALSE(engines.has_value());
  EXPECT_NE(engines.error().find("cuDNN refuses"), std::string::npos) << engines.error();
}

TEST_F(CudnnEngines, PropertiesThatLackAFieldAreRefused) {
  const auto made = Device::make(library, "{\"deviceVer\": 900}");
  ASSERT_FALSE(made.has_value());
  EXPECT_NE(made.error().find("the device's properties"), std::string::npos) << made.error();
}

TEST(CudnnProperties, AreOneLineOfJson) {
  DeviceProperties p = h200();
  p.name = "a \"quoted\"\nname";
  const std::string text = toJson(p);
  EXPECT_EQ(text.find('\n'), std::string::npos);
  EXPECT_NE(text.find("\"deviceName\": \"a \\\"quoted\\\" name\""), std::string::npos) << text;
  EXPECT_NE(text.find("\"maxGridSize\": [2147483647, 65535, 65535]"), std::string::npos) << text;
}

}  // namespace
}  // namespace tbem::cudnn
