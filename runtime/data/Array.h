// Arrays as files hold them: a name, an element type, a shape and row-major little-endian bytes. What the readers and writers of
// .npy, .npz and .safetensors have in common.
#pragma once

#include "runtime/core/Executable.h"

#include <tl/expected.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tbem::data {

/// An element type by its names. `name` is NumPy's ("f4"), with "bf16", "f8e4m3" and "f8e5m2" beside them.
struct ElementType {
  std::string_view name;
  std::string_view safetensors;  ///< "F32"
  std::size_t bytes;
  std::int32_t runtime;  ///< the tbem_dtype, or -1: only converted
  bool numpy;            ///< .npy files can hold it
};
/// All that are read, and nullptr for a name that is none.
std::span<const ElementType> elementTypes();
const ElementType* findElementType(std::string_view name);
const ElementType* findSafetensorsType(std::string_view name);
const ElementType& elementTypeOf(std::int32_t dtype);  ///< of a tbem_dtype

std::size_t elementBytes(std::string_view dtype);  ///< 0 for a type that is not listed

/// The product of the sizes (1 for a scalar), or nothing where it or the bytes exceed 2^62: for shapes that a file claims.
std::optional<std::uint64_t> checkedElements(std::span<const std::int64_t> shape, std::size_t elementBytes);

/// An array in row-major order.
struct Array {
  std::string name;
  std::string dtype;
  std::vector<std::int64_t> shape;  ///< empty: a scalar
  std::vector<std::uint8_t> bytes;

  std::int64_t elements() const;
};

/// An array whose bytes somebody else owns (a mapped file, an Array).
struct ArrayView {
  std::string name;
  std::string dtype;
  std::vector<std::int64_t> shape;
  std::span<const std::uint8_t> bytes;

  ArrayView() = default;
  ArrayView(std::string name, std::string dtype, std::vector<std::int64_t> shape, std::span<const std::uint8_t> bytes)
      : name(std::move(name)), dtype(std::move(dtype)), shape(std::move(shape)), bytes(bytes) {}
  ArrayView(const Array& array) : ArrayView(array.name, array.dtype, array.shape, array.bytes) {}
};

/// "[64, 3, 7, 7]".
std::string shapeText(std::span<const std::int64_t> shape);

/// The array as a tensor of this element type. Floating values are rounded once, to nearest even; a value that a whole-number
/// type cannot hold exactly is an error: which, and where. `array.bytes` must be as many as shape and type ask for.
tl::expected<runtime::HostTensor, std::string> toTensor(const ArrayView& array, std::int32_t dtype);
/// The tensor's elements as they are.
Array fromTensor(std::string name, const runtime::HostTensor& tensor);
/// The same array in a type that .npy files can hold: f2 stays, bf16 and 8-bit floats become f4.
Array forNumpy(Array array);

}  // namespace tbem::data
