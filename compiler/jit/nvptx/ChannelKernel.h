// IR of one kernel for several steps that share nothing between the channels of images: statistics of channels (Ioffe &
// Szegedy 2015, arXiv 1502.03167, algorithm 1) or the sums of their gradient, and the loops around them. A block of threads
// takes a channel through all of them, with a barrier between any two.
#pragma once

#include "compiler/jit/loop/Loop.h"

#include <llvm/IR/Function.h>
#include <llvm/IR/Module.h>
#include <tl/expected.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace tbem::jit {

/// Of images [samples, channels, ..] in row-major order: `plane` elements of a channel lie together. Fewer than 2^31 in all.
struct ChannelImages {
  std::int64_t samples = 0, channels = 0, plane = 0;
  bool operator==(const ChannelImages&) const = default;
};

/// One of the steps.
struct ChannelPart {
  enum class Kind : std::uint8_t {
    Moments,       ///< channel_moments of f32: pointers are those of its operands
    GradientSums,  ///< channel_gradient_sums of f32, likewise
    Image,         ///< a loop over the images
    Vector         ///< a loop over a number for each channel
  } kind{};
  LoopNest nest;                        ///< of a loop, whose pointers are the part's; see fitToPlane
  std::vector<std::uint64_t> pointers;  ///< offsets in the arena
  std::uint32_t eps = 0;                ///< GradientSums: its slot among the step's scalars
};

struct ChannelWork {
  ChannelImages images;
  std::vector<ChannelPart> parts;
};

/// The nest with no more places in a vector than lie together in every plane.
LoopNest fitToPlane(LoopNest nest, std::int64_t plane);

/// Threads of the kernel's blocks, which it says itself (`.reqntid`).
std::int64_t channelThreads(const ChannelImages& images);

/// Bytes that two pieces of work share if one kernel can serve both.
std::string channelKey(const ChannelWork& work);

/// Adds the kernel `void name(pointers.., ptr scalars, i64 seed, i64 channels)` to `module`; pointers are those of all parts, one
/// behind the other, and several may be the same. Blocks share the channels. An error is a loop's, of types.
tl::expected<llvm::Function*, std::string> emitChannelKernel(llvm::Module& module, const ChannelWork& work,
                                                             const std::string& name);

}  // namespace tbem::jit
