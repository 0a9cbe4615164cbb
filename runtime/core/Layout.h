// Where the elements of a tensor lie: helpers over `tbem_layout` (tbem/backend.h).
//
// The offset of an element is a sum of one term a dimension, f_0(i_0) + f_1(i_1) + ..: blocks included. Conversions therefore
// make one table of offsets a dimension and add them. Nothing here allocates device memory; all pointers are host memory.
#pragma once

#include "tbem/backend.h"

#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace tbem::runtime {

/// Bytes of an element; 0 for a number that is no tbem_dtype.
std::uint64_t elementBytes(std::int32_t dtype);
/// "f32", "i64", ..; "?" for a number that is no tbem_dtype.
const char* dtypeName(std::int32_t dtype);

/// Product of the dims, padding not counted; 1 for rank 0.
std::int64_t elementCount(const tbem_operand& operand);

/// A row-major tensor seen as [outer, length, inner] around an axis.
struct Lines {
  std::int64_t outer = 1, length = 1, inner = 1;
};
Lines linesAlong(const tbem_operand& operand, std::int64_t axis);

/// Row-major without blocks or padding; sets `bytes`.
void setPlain(tbem_operand& operand);
/// A present operand in plain layout.
tbem_operand plainOperand(std::int32_t dtype, std::span<const std::int64_t> dims);
tbem_operand plainOperand(std::int32_t dtype, std::initializer_list<std::int64_t> dims);
/// A dense layout: dimensions from the outermost to the innermost as in `order`, then `blocks` {dimension, size} from the
/// outermost to the innermost. Dimensions are padded to a multiple of their blocks. nChw16c: order {0,1,2,3}, blocks {{1,16}};
/// nhwc: order {0,2,3,1}, no blocks; OIhw16i16o: order {0,1,2,3}, blocks {{1,16},{0,16}}. Sets `bytes`.
void setBlocked(tbem_operand& operand, std::span<const int> order, std::span<const std::pair<int, int>> blocks);

/// Images [n, c, h, w] with their channels innermost (NHWC), without blocks or padding; sets `bytes`. Of rank 4.
void setChannelsLast(tbem_operand& operand);
/// Whether it is of rank 4 and lies so. One with a single channel, or of single pixels, may lie in row-major order as well.
bool isChannelsLast(const tbem_operand& operand);

/// Product of the block sizes of dimension k.
std::int64_t blockProduct(const tbem_layout& layout, int k);
/// Extent in elements, padding included: one past the highest offset of a padded element. 0 where a padded dim is 0.
std::int64_t extentElements(const tbem_operand& operand);
/// extentElements * elementBytes: what `tbem_layout::bytes` must be at least.
std::uint64_t extentBytes(const tbem_operand& operand);

/// Offset of the element with these logical coordinates (`rank` of them), in elements.
std::int64_t offsetOf(const tbem_layout& layout, int rank, const std::int64_t* coordinates);
inline std::int64_t offsetOf(const tbem_operand& operand, const std::int64_t* coordinates) {
  return offsetOf(operand.layout, operand.rank, coordinates);
}

/// Row-major without blocks and padding (strides of size-1 dimensions do not matter).
bool isPlain(const tbem_operand& operand);
/// The elements lie at the same offsets: equal dims, and equal layouts but for what cannot be seen (strides of dimensions whose
/// padded size is one block).
bool sameLayout(const tbem_operand& a, const tbem_operand& b);
/// Nothing if the description is sound; else what is wrong, in words: rank, padded < dims, blocks, elements that share an offset,
/// bytes too few.
std::string checkLayout(const tbem_operand& operand);

/// Copies elements out of `operand`'s layout into row-major order (elementCount elements of the same type).
void toPlain(const tbem_operand& operand, const void* source, void* destination);
/// Copies row-major elements into `operand`'s layout, and zeros to its padding.
void fromPlain(const tbem_operand& operand, const void* source, void* destination);

/// Row-major elements of any type as doubles and back (integers exactly up to 2^53; bool: 0 or 1). f16, bf16 and f8 are
/// converted too; a value is rounded to nearest even once. Float to integer truncates towards zero.
void toDoubles(std::int32_t dtype, const void* source, std::span<double> destination);
void fromDoubles(std::int32_t dtype, std::span<const double> source, void* destination);

}  // namespace tbem::runtime
