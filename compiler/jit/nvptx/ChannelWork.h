// Steps that share nothing between the channels of images, so that one kernel takes them together: statistics of channels (Ioffe
// & Szegedy 2015, arXiv 1502.03167, algorithm 1) or the sums of their gradient, and the loops around them. Pure analysis; knows
// nothing of LLVM.
#pragma once

#include "compiler/jit/loop/Loop.h"

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
  LoopNest nest;                        ///< of a loop, whose pointers are the part's; see fitToPlane, takeNumbersOfChannels
  std::vector<std::uint64_t> pointers;  ///< offsets in the arena
  /// By pointer: bytes from one channel's number to the next one's, where the nest takes the address of that of the channel at
  /// hand; 0: it takes the address in `pointers`. Empty: all are 0.
  std::vector<std::uint64_t> ofChannel;
  std::uint32_t eps = 0;  ///< GradientSums: its slot among the step's scalars
};

struct ChannelWork {
  ChannelImages images;
  std::vector<ChannelPart> parts;
};

/// The nest with no more places in a vector than lie together in every plane.
LoopNest fitToPlane(LoopNest nest, std::int64_t plane);

/// Of an Image part: inputs of the nest that `isVector` names are a number for each channel. Where that leaves one variable to
/// the nest, it no longer says how large images are: ofChannel has where numbers lie. Else nothing changes.
void takeNumbersOfChannels(ChannelPart& part, const std::vector<bool>& isVector);

/// Divisors of the nest that are as many as a channel has elements are given to the kernel: those of means.
void giveElements(LoopNest& nest, const ChannelImages& images);

/// Elements of a plane that sums take at once: no more than lie at multiples of their size in every plane.
std::int64_t sumWidth(const ChannelImages& images);

/// Threads of the kernel's blocks, which it says itself (`.reqntid`).
std::int64_t channelThreads(const ChannelImages& images);

/// Bytes that two pieces of work share if one kernel can serve both: images of any size, but for the threads that they are worth,
/// the places of a vector, and loops that know their size.
std::string channelKey(const ChannelWork& work);

}  // namespace tbem::jit
