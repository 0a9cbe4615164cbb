// Texts of PYTORCH_ALLOC_CONF, under the rules of every version: faults lie in the text; options that are read hold what they
// promise.
#include "compiler/pytorch/allocator/CachingAllocator.h"

#include <bit>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tbem::estimate;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const AllocatorVersion& version : allocatorVersions()) {
    const auto options = parseAllocatorOptions(text, version);
    if (!options) {
      const OptionFault& fault = options.error();
      if (fault.begin > fault.end || fault.end > size || fault.cause.empty() || fault.wayOut.empty()) __builtin_trap();
      continue;
    }
    if (options->maxSplitSize < options->largeSegmentSize) __builtin_trap();
    for (std::uint64_t bytes = 1; bytes < std::uint64_t{1} << 40U; bytes = bytes * 2 + 1) {
      const std::uint64_t rounded = roundedSize(*options, bytes);
      if (rounded < bytes || segmentSize(*options, rounded) < rounded) __builtin_trap();
    }
  }
  return 0;
}
