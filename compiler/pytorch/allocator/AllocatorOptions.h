// The options of PyTorch's CUDA caching allocator, as the text of PYTORCH_ALLOC_CONF (PYTORCH_CUDA_ALLOC_CONF) says them.
// Rules: c10/core/AllocatorConfig.cpp and c10/cuda/CUDAAllocatorConfig.cpp of PyTorch; what its versions do differently is
// allocatorVersions().
#pragma once

#include <tl/expected.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tbem::estimate {

/// What a version of PyTorch does that others do not.
struct AllocatorVersion {
  std::string_view name;  ///< the first version that does so: "2.10"
  bool roundsOne;         ///< 1 division rounds to 512 B (pull request 126830); before, it does not round at all
  bool nonSplitRounding;  ///< max_non_split_rounding_mb exists (136174); before, 20 MiB
  bool restAfterLast;  ///< roundup_power2_divisions: `>` sets the intervals after the last named one (165135); before, that too
  bool fraction;       ///< per_process_memory_fraction is an option (161035)
  bool largeSegmentSize;  ///< large_segment_size_mb exists (172056); before, 20 MiB
  bool earlierFirst;  ///< of free blocks of equal size that of the earliest segment is taken; before, that at the lowest address
  bool keepsProductWorkspaces;  ///< cuBLAS's workspaces stay from a thread's first product on; since 194311 they are given back
  bool keepsBiasWorkspaces;     ///< so do cuBLASLt's (145130); before, they were given back
};
/// The oldest first.
std::span<const AllocatorVersion> allocatorVersions();
/// The row that holds for a version ("2.15.0+cu132" too); nullptr for one that is older than all, or no version.
const AllocatorVersion* allocatorVersion(std::string_view version);

struct AllocatorOptions {
  static constexpr std::uint64_t kUnlimited = std::numeric_limits<std::uint64_t>::max();
  static constexpr std::size_t kIntervals = 16;  ///< of sizes: below 2 MiB, 2 to 4 MiB, .., from 32 GiB

  std::uint64_t maxSplitSize = kUnlimited;                       ///< bytes; larger blocks are not split
  std::uint64_t maxNonSplitRounding = std::uint64_t{20} << 20U;  ///< bytes that an unsplit large block may be too large by
  std::array<std::uint64_t, kIntervals> divisions{};             ///< of a power of two, by interval; 0 and 1: none
  double collectionThreshold = 0;                                ///< share of the allowed memory; 0: no collection
  bool expandableSegments = false;
  std::uint64_t largeSegmentSize = std::uint64_t{20} << 20U;  ///< bytes
  double memoryFraction = 1;                                  ///< of the card's memory; 1: no limit
  bool roundsOne = true, earlierFirst = true;                 ///< see AllocatorVersion
  std::vector<std::string> ignored;                           ///< options of the text that do not change what is simulated
};

/// Why a text is refused, and where.
struct OptionFault {
  std::size_t begin = 0, end = 0;  ///< bytes of the text
  std::string cause, wayOut;       ///< one sentence each, lower case, no full stop
};

/// What PyTorch refuses is refused; so are texts that it reads in part (`64MB`) or in silence (a missing `:`).
tl::expected<AllocatorOptions, OptionFault> parseAllocatorOptions(std::string_view text,
                                                                  const AllocatorVersion& version = allocatorVersions().back());

}  // namespace tbem::estimate
