#include "runtime/data/Array.h"

#include "runtime/core/Layout.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstring>

namespace tbem::data {

namespace {

// In the order of the safetensors format's own list, which its writers sort by (from the last to the first).
constexpr std::array<ElementType, 15> kTypes = {{
    {"b1", "BOOL", 1, TBEM_BOOL, true},
    {"u1", "U8", 1, TBEM_U8, true},
    {"i1", "I8", 1, TBEM_I8, true},
    {"f8e5m2", "F8_E5M2", 1, TBEM_F8E5M2, false},
    {"f8e4m3", "F8_E4M3", 1, TBEM_F8E4M3, false},
    {"i2", "I16", 2, -1, true},
    {"u2", "U16", 2, -1, true},
    {"f2", "F16", 2, TBEM_F16, true},
    {"bf16", "BF16", 2, TBEM_BF16, false},
    {"i4", "I32", 4, TBEM_I32, true},
    {"u4", "U32", 4, -1, true},
    {"f4", "F32", 4, TBEM_F32, true},
    {"f8", "F64", 8, TBEM_F64, true},
    {"i8", "I64", 8, TBEM_I64, true},
    {"u8", "U64", 8, -1, true},
}};

template <class T>
void widen(std::span<const std::uint8_t> bytes, std::span<double> to) {
  for (std::size_t i = 0; i < to.size(); ++i) {
    T value;
    std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
    to[i] = static_cast<double>(value);
  }
}

std::vector<double> doublesOf(const ArrayView& array, const ElementType& type) {
  std::vector<double> values(array.bytes.size() / type.bytes);
  if (array.dtype == "i2") {
    widen<std::int16_t>(array.bytes, values);
  } else if (array.dtype == "u2") {
    widen<std::uint16_t>(array.bytes, values);
  } else if (array.dtype == "u4") {
    widen<std::uint32_t>(array.bytes, values);
  } else if (array.dtype == "u8") {
    widen<std::uint64_t>(array.bytes, values);
  } else {
    // The runtime reads whole elements: a mapped file need not be aligned for them.
    const std::vector<std::uint8_t> aligned(array.bytes.begin(), array.bytes.end());
    runtime::toDoubles(type.runtime, aligned.data(), values);
  }
  return values;
}

struct Range {
  double low, high;
};
Range rangeOf(std::int32_t dtype) {
  if (dtype == TBEM_BOOL) return {0, 1};
  if (dtype == TBEM_U8) return {0, 255};
  if (dtype == TBEM_I8) return {-128, 127};
  if (dtype == TBEM_I32) return {-2147483648.0, 2147483647.0};
  return {-9007199254740992.0, 9007199254740992.0};  // 2^53: beyond it a double is not one whole number
}

}  // namespace

std::span<const ElementType> elementTypes() { return kTypes; }

const ElementType* findElementType(std::string_view name) {
  for (const ElementType& type : kTypes) {
    if (type.name == name) return &type;
  }
  return nullptr;
}

const ElementType* findSafetensorsType(std::string_view name) {
  for (const ElementType& type : kTypes) {
    if (type.safetensors == name) return &type;
  }
  return nullptr;
}

const ElementType& elementTypeOf(std::int32_t dtype) {
  for (const ElementType& type : kTypes) {
    if (type.runtime == dtype) return type;
  }
  return kTypes.front();
}

std::size_t elementBytes(std::string_view dtype) {
  const ElementType* type = findElementType(dtype);
  return type != nullptr ? type->bytes : 0;
}

std::optional<std::uint64_t> checkedElements(std::span<const std::int64_t> shape, std::size_t elementBytes) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 62;
  std::uint64_t count = 1;
  bool empty = false;
  for (const std::int64_t size : shape) {
    if (size < 0) return std::nullopt;
    if (size == 0) empty = true;
    // The sizes beside a 0 are bounded too, so that products of them in any order are safe.
    const auto factor = static_cast<std::uint64_t>(size == 0 ? 1 : size);
    if (count > kMost / elementBytes / factor) return std::nullopt;
    count *= factor;
  }
  return empty ? 0 : count;
}

std::int64_t Array::elements() const {
  std::int64_t count = 1;
  for (const std::int64_t size : shape) count *= size;
  return count;
}

std::string shapeText(std::span<const std::int64_t> shape) { return fmt::format("[{}]", fmt::join(shape, ", ")); }

tl::expected<runtime::HostTensor, std::string> toTensor(const ArrayView& array, std::int32_t dtype) {
  const ElementType* type = findElementType(array.dtype);
  if (type == nullptr) return tl::unexpected(fmt::format("`{}`: element type `{}` is not read", array.name, array.dtype));
  if (type->runtime == dtype) {
    runtime::HostTensor same{dtype, array.shape, std::vector<std::byte>(array.bytes.size())};
    if (!array.bytes.empty()) std::memcpy(same.data.data(), array.bytes.data(), array.bytes.size());
    return same;
  }
  const std::vector<double> values = doublesOf(array, *type);
  const auto refused = [&](std::size_t i) {
    return tl::unexpected(
        fmt::format("`{}`: element {} is {}, which {} cannot hold", array.name, i, values[i], runtime::dtypeName(dtype)));
  };
  if (!tbem_is_floating(dtype)) {
    const Range range = rangeOf(dtype);
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (!(values[i] >= range.low && values[i] <= range.high && values[i] == std::floor(values[i]))) return refused(i);
    }
    return runtime::HostTensor::of(dtype, array.shape, values);
  }
  runtime::HostTensor made = runtime::HostTensor::of(dtype, array.shape, values);
  const std::vector<double> held = made.doubles();
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::isfinite(values[i]) && !std::isfinite(held[i])) return refused(i);  // f64's 1e300 would be infinite in f32
  }
  return made;
}

Array fromTensor(std::string name, const runtime::HostTensor& tensor) {
  Array array{std::move(name), std::string(elementTypeOf(tensor.dtype).name), tensor.dims, {}};
  array.bytes.resize(tensor.data.size());
  if (!tensor.data.empty()) std::memcpy(array.bytes.data(), tensor.data.data(), tensor.data.size());
  return array;
}

Array forNumpy(Array array) {
  const ElementType* type = findElementType(array.dtype);
  if (type == nullptr || type->numpy) return array;
  const runtime::HostTensor wide = runtime::HostTensor::of(TBEM_F32, array.shape, doublesOf(array, *type));
  return fromTensor(std::move(array.name), wide);
}

}  // namespace tbem::data
