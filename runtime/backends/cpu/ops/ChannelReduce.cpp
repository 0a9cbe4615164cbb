#include "runtime/backends/cpu/ops/ChannelReduce.h"

#include "runtime/backends/cpu/ops/Parallel.h"

#include <algorithm>

namespace tbem::cpu::detail {
namespace {

/// Channels last has one block, so its images are cut into up to four segments of places; else one segment.
std::int64_t segmentsOf(const ChannelView& view) {
  return view.blocks == 1 && !view.plain() ? std::clamp<std::int64_t>(view.points / 64, 1, 4) : 1;
}

struct Segment {
  std::int64_t begin, rows;
};

Segment segmentOf(const ChannelView& view, std::int64_t segment) {
  const std::int64_t segments = segmentsOf(view), begin = segment * view.points / segments;
  return {begin, (segment + 1) * view.points / segments - begin};
}

/// Images that one slice joins: small ones together, as long as there are some eight slices for the threads.
std::int64_t imagesTogether(const ChannelView& view) {
  if (view.plain()) return 1;
  const std::int64_t fit = kChannelChunk / std::max<std::int64_t>(view.points, 1);
  return std::clamp<std::int64_t>(std::min(fit, view.n * view.blocks * segmentsOf(view) / 8), 1, view.n);
}

std::int64_t groupsOf(const ChannelView& view) { return (view.n + imagesTogether(view) - 1) / imagesTogether(view); }
std::int64_t slicesOf(const ChannelView& view) { return groupsOf(view) * segmentsOf(view); }

/// Values of a channel in a slice.
double valuesIn(const ChannelView& view, std::int64_t slice) {
  const std::int64_t together = imagesTogether(view), group = slice / segmentsOf(view);
  return static_cast<double>(std::min(together, view.n - group * together) * segmentOf(view, slice % segmentsOf(view)).rows);
}

std::int64_t paddedChannels(const ChannelView& view) { return view.blocks * view.lanes; }

/// One block and one segment of some images, channels side by side.
void lanesSlice(ChannelSum what, const ChannelView& view, StripArguments s, const float* mean, std::int64_t firstChannel) {
  double* const out = s.out;
  for (std::int64_t lane = 0; lane < view.lanes;) {
    const std::int64_t left = view.lanes - lane;
    const bool wide = what == ChannelSum::Sum && left >= kWideStrip;
    const int width = wide ? kWideStrip : left >= 16 ? 16 : left >= 8 ? 8 : left >= 4 ? 4 : 1;
    float means[16] = {};
    for (int i = 0; mean != nullptr && i < width; ++i) {
      const std::int64_t channel = firstChannel + lane + i;
      means[i] = channel < view.channels ? mean[channel] : 0;
    }
    s.mean = means;
    s.out = out + 2 * lane;
    channelStrip(what, width, s);
    s.offset += width;
    lane += width;
  }
}

/// One image, one channel of a row-major tensor; of sums sixteen neighbours side by side, then the rest one by one.
void plainSlice(ChannelSum what, const ChannelView& view, StripArguments s, const float* mean) {
  if (what == ChannelSum::Moments) {
    s.rows = view.points;
    return lineMoments(s);
  }
  double* const out = s.out;
  double lanes[32], rest[2];
  float means[16];
  std::fill_n(means, 16, mean != nullptr ? *mean : 0.0F);
  const std::int64_t wide = view.points / 16 * 16;
  s.mean = means;
  s.rows = view.points / 16, s.stride = 16, s.out = lanes;
  channelStrip(what, 16, s);
  s.offset += wide;
  s.rows = view.points - wide, s.stride = 1, s.out = rest;
  channelStrip(what, 1, s);
  out[0] = rest[0], out[1] = rest[1];
  for (int i = 0; i < 16; ++i) out[0] += lanes[2 * i], out[1] += lanes[2 * i + 1];
}

/// Two doubles a channel for every slice, one after the other in `work`.
void channelSlices(ChannelSum what, const ChannelView& view, const ChannelOperands& of, double* work, int threads) {
  const std::int64_t segments = segmentsOf(view), together = imagesTogether(view);
  parallelFor(threads, slicesOf(view) * view.blocks, view.n * view.image, [&](std::int64_t task) {
    const std::int64_t group = task / (view.blocks * segments), block = task / segments % view.blocks, segment = task % segments;
    const Segment rows = segmentOf(view, segment);
    StripArguments s;
    s.a = of.a, s.b = of.b, s.narrow = of.narrow;
    s.offset = group * together * view.image + block * view.block + rows.begin * view.point;
    s.rows = rows.rows, s.stride = view.point;
    s.images = std::min(together, view.n - group * together), s.imageStride = view.image;
    s.out = work + 2 * ((group * segments + segment) * paddedChannels(view) + block * view.lanes);
    if (view.plain()) {
      plainSlice(what, view, s, of.mean != nullptr ? of.mean + block : nullptr);
    } else {
      lanesSlice(what, view, s, of.mean, block * view.lanes);
    }
  });
}

}  // namespace

void channelSums(ChannelSum what, const ChannelView& view, const ChannelOperands& of, double* work, int threads) {
  channelSlices(what, view, of, work, threads);
  const std::int64_t values = 2 * paddedChannels(view);
  double count = valuesIn(view, 0);
  for (std::int64_t slice = 1; slice < slicesOf(view); ++slice) {
    const double* part = work + slice * values;
    if (what == ChannelSum::Moments) {
      joinMoments(count, valuesIn(view, slice), values / 2, work, part);
    } else {
      for (std::int64_t i = 0; i < values; ++i) work[i] += part[i];
    }
    count += valuesIn(view, slice);
  }
}

}  // namespace tbem::cpu::detail

namespace tbem::cpu {
void imageSums(const ChannelView& view, const ChannelOperands& of, float* y, int threads) {
  constexpr std::int64_t kStrip = kWideStrip;
  const std::int64_t strips = (view.lanes + kStrip - 1) / kStrip;
  parallelFor(threads, view.n * view.blocks * strips, view.n * view.image, [&](std::int64_t task) {
    const std::int64_t n = task / (view.blocks * strips), block = task / strips % view.blocks, lane = task % strips * kStrip;
    double pairs[2 * kStrip];
    StripArguments s;
    s.a = of.a, s.narrow = of.narrow;
    s.offset = n * view.image + block * view.block + lane;
    s.rows = view.points, s.stride = view.point, s.out = pairs;
    ChannelView strip = view;
    strip.lanes = std::min(kStrip, view.lanes - lane);
    if (view.plain()) {
      detail::plainSlice(ChannelSum::Sum, view, s, nullptr);
    } else {
      detail::lanesSlice(ChannelSum::Sum, strip, s, nullptr, 0);
    }
    const std::int64_t first = block * view.lanes + lane;
    for (std::int64_t i = 0; i < std::min(strip.lanes, view.channels - first); ++i)
      y[n * view.channels + first + i] = static_cast<float>(pairs[2 * i]);
  });
}

ChannelView matrixView(std::int64_t rows, std::int64_t columns) {
  return {1, columns, rows, 1, columns, rows * columns, rows * columns, columns};
}

bool sumView(const tbem_operand& operand, ChannelView& view) {
  if (!channelView(operand, view)) return false;
  if (view.plain() && view.points == 1 && runtime::isPlain(operand)) {
    view = matrixView(view.n, view.channels);
  }
  return true;
}

std::uint64_t channelWorkspace(const ChannelView& view) {
  return static_cast<std::uint64_t>(2 * detail::slicesOf(view) * detail::paddedChannels(view)) * sizeof(double);
}
}  // namespace tbem::cpu
