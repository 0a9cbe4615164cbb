// Where the elements of a tensor lie: what lowering must know of `tbem_layout` (runtime/include/tbem/backend.h).
// Pure functions; nothing here touches memory of tensors.
#pragma once

#include "runtime/include/tbem/backend.h"

#include <cstdint>
#include <span>

namespace tbem::estimate {

/// Bytes of one element.
std::uint64_t elementBytes(std::int32_t dtype);
/// Number of elements without padding.
std::int64_t elementCount(const tbem_operand& operand);

/// A present operand with its layout left open (`any`).
tbem_operand openOperand(std::int32_t dtype, std::span<const std::int64_t> dims);
/// A present operand in row-major order without gaps.
tbem_operand plainOperand(std::int32_t dtype, std::span<const std::int64_t> dims);
/// A tensor of `dims` laid out as `model` is: the same order of dimensions, the same blocks, dimensions padded to whole blocks,
/// no gaps. Ranks must be equal.
tbem_operand likeOperand(const tbem_operand& model, std::int32_t dtype, std::span<const std::int64_t> dims);
std::span<const std::int64_t> dimsOf(const tbem_operand& operand);

/// The dims, element types and every element's place are equal. Layouts that differ only in words are the same: nChw16c with
/// one pixel and a multiple of 16 channels is nchw.
bool samePlaces(const tbem_operand& a, const tbem_operand& b);
/// Elements lie in row-major order without gaps or padding.
bool isRowMajor(const tbem_operand& operand);
/// Images [n, c, h, w] lie with their channels innermost, without gaps or padding.
bool isChannelsLast(const tbem_operand& operand);
bool hasPadding(const tbem_operand& operand);

}  // namespace tbem::estimate
