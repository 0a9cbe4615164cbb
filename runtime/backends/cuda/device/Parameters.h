// The parameters of kernels that are structs: the host fills them, and kernels read them. Plain types, for nvcc compiles this
// too.
//
// `Index` counts elements: 32 bits where a tensor has fewer than 2^31 of them, for a division of 64 bits takes a GPU about ten
// times as long.
#pragma once

#include <cstdint>

namespace tbem::cuda {

constexpr int kThreads = 256;       ///< of a block, but where a line is long
constexpr int kMostColumns = 1024;  ///< blocks across the results of a reduction, where a result is shared out
constexpr int kMostThreads = 1024;  ///< of one that takes a long line
constexpr int kMostAxes = 8;
/// Neighbouring axes of one kind are one, so that those of two kinds take turns.
constexpr int kMostTurns = kMostAxes / 2;

/// Division by a number that is known before: for 32 bits by a multiplication (Granlund & Montgomery 1994, figure 4.1).
template <class Index>
struct Divider;
template <>
struct Divider<std::uint32_t> {
  std::uint32_t divisor = 1, factor = 1, shift = 0;
};
template <>
struct Divider<std::uint64_t> {
  std::uint64_t divisor = 1;
};

/// Dimensions with strides in elements, the innermost first.
template <class Index, int Most>
struct Axes {
  std::int32_t rank = 0;
  Divider<Index> dims[Most];
  Index strides[Most] = {};
};

/// How the threads of a block share out results that each need several: `kThreads >> logDepth` results across, as many threads
/// down as `depth` for each. Threads beside each other stand for results beside each other (columns), or go down together (rows).
struct Tile {
  std::int32_t logDepth = 0;
  std::int32_t columns = 0;
};

/// Results `outputs`, each of `count` elements, of which a block takes `share` (blockIdx.y says which).
/// Rows: `kept` are all kept axes. Columns: the innermost kept axis, of length `inner`, is none of them; a row of results has
/// `tiles` blocks.
template <class Index>
struct ReduceShape {
  Axes<Index, kMostTurns> kept, reduced;
  Index outputs = 0, count = 0, share = 0, inner = 1;
  Divider<Index> tiles;
  Tile tile;
};

/// Lines along the axis of a tensor [outer, length, inner].
template <class Index>
struct LineShape {
  Index lines = 0, length = 0, inner = 1;
  Divider<Index> innerOf;  ///< `inner`, to divide by
  Tile tile;
};

/// reduce_sum, reduce_max, sum_squares: x and result, whose types the kernel says. reduce_max_gradient: the elements of x that
/// are `largest`, counted.
struct ReduceOperands {
  const void* x;
  const float* largest;
  void* result;
};

struct MaxGradientOperands {
  const float *dy, *x, *largest;
  float* dx;
};

/// From elements of x to those of the results that they belong to.
template <class Index>
struct MaxGradient {
  MaxGradientOperands of;
  const double* equal;  ///< how many elements of x share a result's gradient
  Index count;
  Axes<Index, kMostAxes> axes;  ///< of x, with the steps of the result, 0 for reduced ones
};

/// channel_moments and channel_gradient_sums; x and dy are of the type that the kernel says.
struct ChannelOperands {
  const void *x, *dy;
  const float *mean, *variance;
  float *first, *second;  ///< mean and variance, or dweight and dbias
  std::uint64_t plane;    ///< elements of a channel that lie together
  std::uint64_t count;    ///< elements of a channel
  double eps;
};

/// row_gradient_sums. `scale`: 1 / sqrt(variance + eps) of each row.
struct RowSumOperands {
  const void *dy, *x;  ///< of one type
  const float *variance, *weight, *mean;
  double* scale;
  float *first, *second;  ///< dweight and dbias, or sum_g and sum_gx
};

/// An element of y for each of a box: y[toStart + sum i_d to_d] = x[fromStart + sum i_d from_d]. Axes from the innermost.
template <class Index>
struct Walk {
  std::int32_t rank = 0;
  Divider<Index> dims[kMostAxes];
  Index from[kMostAxes] = {}, to[kMostAxes] = {};
  Index fromStart = 0, toStart = 0, count = 0;
};

/// y row-major; along each axis x's elements begin at `low`, `steps` apart, and zeros stand between them. Axes from the
/// innermost.
constexpr int kPadded = 4;  ///< elements of a thread
template <class Index>
struct PadShape {
  std::int32_t rank = 0;
  Divider<Index> dims[kMostAxes], steps[kMostAxes];
  Index low[kMostAxes] = {}, length[kMostAxes] = {}, from[kMostAxes] = {};
  Index count = 0;
};

/// Matrices whose rows and columns change places, in squares of kSquare. `others`: where each matrix begins in x and in y.
constexpr int kSquare = 32;
template <class Index>
struct TurnShape {
  Index rows = 0, columns = 0;        ///< of x's matrix, which is y's with both exchanged
  Index rowStep = 0, columnStep = 0;  ///< in x from one row to the next, in y from one column of x to the next
  Divider<Index> across, down;        ///< squares along columns and rows
  Axes<Index, kMostAxes> from, to;    ///< the other axes
};

/// y[outer, numbers, inner] of x[outer, length, inner]; `word`: device/ErrorWord.h.
template <class Index>
struct GatherShape {
  Divider<Index> numbers, inner;
  Index length = 0, count = 0;
  const std::int64_t* index = nullptr;
  std::uint64_t* word = nullptr;
};

/// gather_gradient. `keys`: a number above its place in the index, `room` of them (a power of two), in ascending order once they
/// are sorted; those of one number lie from `first` to before `last`.
struct ScatterOrder {
  const std::int64_t* index;
  std::uint64_t* word;
  std::uint64_t* keys;
  std::uint32_t *first, *last;
  std::uint64_t length;
  std::uint32_t numbers, room;
};
constexpr std::uint32_t kSortedTogether = 2048;  ///< keys that a block sorts in its own memory

/// A number that comes more often is summed by a block for each kSlice columns of its row, others by a thread for each element.
constexpr std::uint32_t kOften = 64;
constexpr int kTogetherBytes = 16;  ///< that a thread sums where rows come in such pieces
constexpr int kSlice = 32;
template <class Index>
struct ScatterShape {
  Divider<Index> length, inner;
  Divider<Index> slices;  ///< of a row
  Divider<Index> places;  ///< every kOften-th of the sorted keys
  Index count = 0, numbers = 0;
};

/// As many values as a kernel's parameters hold (4 KiB).
struct Values {
  float values[896];
};

/// The cross entropies: what each line adds, and the classes; their mean, or how many lines have a class.
struct EntropyOperands {
  const double* terms;
  const std::int64_t* target;
  void* result;
};

/// What a line of a cross entropy is computed from.
struct EntropyLines {
  const void* logits;
  const std::int64_t* target;
  std::uint64_t* word;  ///< device/ErrorWord.h
  double smoothing;
};

/// split_rows. Lists hold how many they are, then the numbers.
struct SplitOperands {
  const std::uint8_t* condition;
  const std::int64_t* origin;
  std::int64_t *chosen, *others, *chosenOrigin, *othersOrigin;
  std::int64_t samples;
};

/// move_rows. `pieces` of a row are moved, each by a thread.
template <class Index>
struct MoveRows {
  Divider<Index> pieces;
  Index count = 0;  ///< pieces of all rows
  std::int64_t samples = 0;
  const std::int64_t *from = nullptr, *to = nullptr;
  std::uint64_t* word = nullptr;
};

/// Windows along an axis of an image: `windows` of them, of `kernel` elements each (0: adaptive bins), the first beginning
/// `before` the image.
template <class Index>
struct PoolAxis {
  Index length = 0, windows = 0, kernel = 0, stride = 0, before = 0;
  Divider<Index> lengthBy, windowsBy, strideBy;
};

/// Images [planes, rows, columns, channels]: row-major ones have a plane for each channel of an image, and `channels` is 1.
template <class Index>
struct PoolShape {
  PoolAxis<Index> rows, columns;
  Divider<Index> channels;
  Index results = 0, groups = 0;  ///< kGroup elements of a row, of one channel, are a group
  Divider<Index> groupsBy;        ///< of a row
  std::int32_t includePad = 0;
  float share = 0;  ///< an average's, where all windows have as many elements; or 0
};
constexpr int kGroup = 4;

}  // namespace tbem::cuda
