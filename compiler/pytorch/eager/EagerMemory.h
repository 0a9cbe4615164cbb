// What a step of eager PyTorch takes of a card, part by part: from the tensors that it asks for to the segments that the caching
// allocator reserves for them.
#pragma once

#include "compiler/pytorch/eager/EagerStep.h"

namespace tbem::estimate {

/// Bytes. `kinds`, `rounding` and `unsplit` are of the moment at which most was allocated, and add up to that.
struct EagerMemory {
  EagerPeak live;  ///< of tensors in blocks of 512 bytes
  Replay replay;
  std::size_t event = 0;                           ///< of the step, at which most was allocated
  std::array<std::uint64_t, kEagerKinds> kinds{};  ///< as asked for
  std::uint64_t rounding = 0;                      ///< of requests to the sizes of blocks
  std::uint64_t unsplit = 0;                       ///< rest of blocks that are handed out whole
  std::uint64_t allocated = 0;
  std::uint64_t free = 0;  ///< reserved at its peak, less that
  std::uint64_t reserved = 0;
};
EagerMemory eagerMemory(const EagerStep& step, const AllocatorOptions& options, const CardMemory& card,
                        EagerEngines engines = EagerEngines::Expected);

}  // namespace tbem::estimate
