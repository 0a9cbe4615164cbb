// Layouts as the loops of this backend see them.
#pragma once

#include "runtime/core/Layout.h"

#include <cstdint>
#include <vector>

namespace tbem::cpu {

/// A tensor [n, c, spatial..] as n images of `blocks` channel blocks of `lanes` channels at `points` places:
///   element (n, c, s) is at n * image + (c div lanes) * block + s * point + c mod lanes.
/// nChw16c: lanes 16, point 16. nhwc: one block of c lanes, point c. Row-major: c blocks of one lane, point 1.
struct ChannelView {
  std::int64_t n = 0, channels = 0, points = 0;
  std::int64_t blocks = 0, lanes = 0;
  std::int64_t image = 0, block = 0, point = 0;
  bool plain() const { return lanes == 1; }
};

/// False where the operand (rank 2 or more) has none of these three layouts.
bool channelView(const tbem_operand& operand, ChannelView& view);

/// Gives `operand` the kind of layout that `like` has: blocked by as many channels, channels last, or row-major.
void setLike(tbem_operand& operand, const tbem_operand& like);

/// Fills every `any` layout of a description: of the kind of the first operand of that rank whose layout is chosen, else
/// row-major.
void fillAny(tbem_op_desc& op);

/// Writes zeros to the channels between dims and padded.
void zeroPadding(const ChannelView& view, void* data, std::uint64_t elementBytes);

/// Elements of bf16.
inline bool isNarrow(const tbem_operand& operand) { return operand.dtype == TBEM_BF16; }

/// Offset that coordinate i of dimension k adds, for each i: the offset of an element is a sum of one term a dimension.
struct OffsetTables {
  explicit OffsetTables(const tbem_operand& operand);
  std::vector<std::int64_t> of[TBEM_MAX_RANK];
};

/// Bytes of padding to clear: true where some padded element is not an element.
bool hasPadding(const tbem_operand& operand);

}  // namespace tbem::cpu
