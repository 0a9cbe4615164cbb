// DLPack's tensors, read and made. Internal to this folder.
#pragma once

#include "compiler/embed/Memory.h"
#include "compiler/embed/include/tbem/dlpack_abi.h"

#include <tl/expected.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tbem::embed {

/// What a tensor is, whoever has it: element type (tbem_dtype), dims, strides in elements.
struct Shape {
  std::int32_t dtype = 0;
  std::vector<std::int64_t> dims, strides;
  std::size_t count() const;  ///< product of dims
  std::uint64_t bytes() const;
  /// Row-major without gaps; strides of dimensions of one element do not matter.
  bool isRowMajor() const;
};
/// With row-major strides.
Shape rowMajor(std::int32_t dtype, std::vector<std::int64_t> dims);

/// "f32[2, 3]"
std::string describe(const Shape& shape);
/// Why DLPack has no code for this element type, as the end of a sentence, or "".
std::string whyNoCode(std::int32_t dtype);

/// A tensor of the caller's in memory that the CPU reads.
struct Viewed {
  std::byte* data = nullptr;  ///< its first element
  Shape shape;
};
/// Errors, in words: it lies on another device, it has an element type that tbem has not, no memory, a negative dimension.
tl::expected<Viewed, std::string> view(const DLTensor& tensor);
/// Its elements in row-major order.
std::vector<std::byte> elementsOf(const Viewed& tensor);

/// New tensors, which keep `memory` until their deleter is called. `whyNoCode` is "".
DLManagedTensor* managed(Memory memory, const Shape& shape);
/// `flags`: DLPACK_FLAG_BITMASK_..
DLManagedTensorVersioned* managedVersioned(Memory memory, const Shape& shape, std::uint64_t flags);

/// Of a tensor that managedVersioned made; nullopt: another made it.
struct Shared {
  Memory memory;
  Shape shape;
};
std::optional<Shared> sharedBy(const DLManagedTensorVersioned& tensor);

}  // namespace tbem::embed
