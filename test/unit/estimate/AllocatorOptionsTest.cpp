// The text of PYTORCH_ALLOC_CONF. What PyTorch 2.15 refuses was tried on it: each refused text here is refused there, but those
// marked.
#include "compiler/pytorch/allocator/AllocatorOptions.h"

#include <gtest/gtest.h>

namespace tbem::estimate {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20U;

TEST(AllocatorOptions, ReadsAll) {
  const auto read = parseAllocatorOptions(
      " max_split_size_mb: 128, max_non_split_rounding_mb:30 ,garbage_collection_threshold:0.6,\nexpandable_segments:True,"
      "roundup_power2_divisions:[64:8,128:2,256:4,512:2,1024:4,>:1],large_segment_size_mb:24,per_process_memory_fraction:0.5");
  ASSERT_TRUE(read) << read.error().cause;
  EXPECT_EQ(read->maxSplitSize, 128 * kMiB);
  EXPECT_EQ(read->maxNonSplitRounding, 30 * kMiB);
  EXPECT_EQ(read->collectionThreshold, 0.6);
  EXPECT_TRUE(read->expandableSegments);
  EXPECT_EQ(read->largeSegmentSize, 24 * kMiB);
  EXPECT_EQ(read->memoryFraction, 0.5);
  // As PyTorch 2.15 shows them in a snapshot.
  EXPECT_EQ(read->divisions, (std::array<std::uint64_t, 16>{8, 8, 8, 8, 8, 8, 8, 2, 4, 2, 4, 1, 1, 1, 1, 1}));
}

TEST(AllocatorOptions, Defaults) {
  const auto none = parseAllocatorOptions("");
  ASSERT_TRUE(none);
  EXPECT_EQ(none->maxSplitSize, AllocatorOptions::kUnlimited);
  EXPECT_EQ(none->maxNonSplitRounding, 20 * kMiB);
  EXPECT_FALSE(none->expandableSegments);
  const auto larger = parseAllocatorOptions("large_segment_size_mb:64");
  ASSERT_TRUE(larger);
  EXPECT_EQ(larger->maxNonSplitRounding, 64 * kMiB);
}

TEST(AllocatorOptions, IgnoredOnesAreNamed) {
  const auto read =
      parseAllocatorOptions("backend:native,pinned_use_background_threads:True,expandable_segments_reserve_by_class:[a:0.5]");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->ignored,
            (std::vector<std::string>{"backend", "pinned_use_background_threads", "expandable_segments_reserve_by_class"}));
}

struct Refused {
  std::string_view text, at, cause;
};
class RefusedTexts : public testing::TestWithParam<Refused> {};

TEST_P(RefusedTexts, SayWhereAndWhy) {
  const Refused& one = GetParam();
  const auto read = parseAllocatorOptions(one.text);
  ASSERT_FALSE(read) << one.text;
  EXPECT_EQ(one.text.substr(read.error().begin, read.error().end - read.error().begin), one.at) << one.text;
  EXPECT_EQ(read.error().cause, one.cause);
  EXPECT_FALSE(read.error().wayOut.empty());
}

INSTANTIATE_TEST_SUITE_P(
    Each, RefusedTexts,
    testing::Values(
        Refused{"foo:1", "foo", "PyTorch has no option `foo` (rules of 2.15)"},
        Refused{",", ",", "PyTorch has no option `,` (rules of 2.15)"},
        Refused{"max_split_size_mb=64", "max_split_size_mb=64", "PyTorch has no option `max_split_size_mb=64` (rules of 2.15)"},
        Refused{"max_split_size_mb", "", "the text ends where `:` is expected"},
        Refused{"max_split_size_mb:", "", "a value is missing"}, Refused{"max_split_size_mb:10", "10", "max_split_size_mb is 10"},
        Refused{"max_split_size_mb:32,large_segment_size_mb:64", "32", "max_split_size_mb is 32"},
        Refused{"max_non_split_rounding_mb:10", "10", "max_non_split_rounding_mb is 10"},
        Refused{"large_segment_size_mb:10", "10", "large_segment_size_mb is 10"},
        Refused{"max_split_size_mb:99999999999999999999", "99999999999999999999", "`99999999999999999999` is no whole number"},
        Refused{"garbage_collection_threshold:1.5", "1.5", "`1.5` is no share"},
        Refused{"garbage_collection_threshold:0", "0", "`0` is no share"},
        Refused{"per_process_memory_fraction:1.5", "1.5", "`1.5` is no share"},
        Refused{"roundup_power2_divisions:3", "3", "3 divisions"}, Refused{"roundup_power2_divisions:0", "0", "0 divisions"},
        Refused{"roundup_power2_divisions:[64:3]", "3", "3 divisions"},
        Refused{"roundup_power2_divisions:[63:4]", "63", "an interval that begins at 63 MiB"},
        Refused{"roundup_power2_divisions:[64:4", "", "the text ends where `,` is expected"},
        Refused{"expandable_segments:true", "true", "`true` is neither True nor False"},
        Refused{"expandable_segments:True,,", ",", "PyTorch has no option `,` (rules of 2.15)"},
        Refused{"backend:cudaMallocAsync", "cudaMallocAsync",
                "the backend `cudaMallocAsync` is not simulated"},  // PyTorch has it
        Refused{"max_split_size_mb:64MB", "64MB",
                "`64MB` is no whole number (PyTorch reads the 64 before it stops)"},  // PyTorch takes 64
        Refused{"max_split_size_mb:-1", "-1", "`-1` is no whole number"},             // PyTorch takes 2^64 - 1
        Refused{"max_split_size_mb 64", "max_split_size_mb 64", "PyTorch has no option `max_split_size_mb64` (rules of 2.15)"},
        Refused{"expandable_segments:True max_split_size_mb:64", "True max_split_size_mb",
                "`Truemax_split_size_mb` is neither True nor False"}));

TEST(AllocatorVersion, TheLastThatIsNotNewer) {
  EXPECT_EQ(allocatorVersion("2.15.0+cu132")->name, "2.15");
  EXPECT_EQ(allocatorVersion("2.10.1")->name, "2.10");
  EXPECT_EQ(allocatorVersion("2.9")->name, "2.8");
  EXPECT_EQ(allocatorVersion("2.1.0")->name, "2.1");
  EXPECT_EQ(allocatorVersion("3.0")->name, "2.15");
  EXPECT_EQ(allocatorVersion("1.13.1"), nullptr);
  EXPECT_EQ(allocatorVersion("new"), nullptr);
  EXPECT_FALSE(parseAllocatorOptions("large_segment_size_mb:64", *allocatorVersion("2.10")));
  EXPECT_FALSE(parseAllocatorOptions("per_process_memory_fraction:0.5", *allocatorVersion("2.9")));
  EXPECT_FALSE(parseAllocatorOptions("max_non_split_rounding_mb:30", *allocatorVersion("2.5")));
}

}  // namespace
}  // namespace tbem::estimate
