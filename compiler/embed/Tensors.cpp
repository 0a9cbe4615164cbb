#include "compiler/embed/Tensors.h"

#include "runtime/core/Layout.h"

#include <fmt/format.h>

#include <cstring>
#include <utility>

namespace tbem::embed {

namespace {

/// Element types that DLPack has had a code for since its version 0 (bool: 0.8).
struct Code {
  tbem_dtype dtype;
  DLDataTypeCode code;
  std::uint8_t bits;
};
constexpr Code kCodes[] = {
    {TBEM_F64, kDLFloat, 64},   {TBEM_F32, kDLFloat, 32}, {TBEM_F16, kDLFloat, 16},
    {TBEM_BF16, kDLBfloat, 16}, {TBEM_I64, kDLInt, 64},   {TBEM_I32, kDLInt, 32},
    {TBEM_I8, kDLInt, 8},       {TBEM_U8, kDLUInt, 8},    {TBEM_BOOL, kDLBool, 8},
};

const Code* codeOf(std::int32_t dtype) {
  for (const Code& each : kCodes) {
    if (each.dtype == dtype) return &each;
  }
  return nullptr;
}

/// nullptr: tbem has no such element type.
const Code* codeOf(DLDataType type) {
  for (const Code& each : kCodes) {
    if (each.code == type.code && each.bits == type.bits && type.lanes == 1) return &each;
  }
  return nullptr;
}

/// What a tensor that was handed over owns.
template <class Managed>
struct Holder {
  Managed tensor{};
  Memory memory;
  Shape shape;
};

template <class Managed>
void release(Managed* self) {
  delete static_cast<Holder<Managed>*>(self->manager_ctx);
}

template <class Managed>
Managed* make(Memory memory, const Shape& shape) {
  auto* const holder = new Holder<Managed>{{}, std::move(memory), shape};
  const Code& code = *codeOf(shape.dtype);
  holder->tensor.manager_ctx = holder;
  holder->tensor.deleter = release<Managed>;
  DLTensor& tensor = holder->tensor.dl_tensor;
  tensor.data = holder->memory.get();
  tensor.device = {kDLCPU, 0};
  tensor.ndim = static_cast<std::int32_t>(shape.dims.size());
  tensor.dtype = {static_cast<std::uint8_t>(code.code), code.bits, 1};
  tensor.shape = holder->shape.dims.data();
  tensor.strides = holder->shape.strides.data();
  return &holder->tensor;
}

}  // namespace

std::size_t Shape::count() const {
  std::size_t product = 1;
  for (const std::int64_t dim : dims) product *= static_cast<std::size_t>(dim);
  return product;
}

std::uint64_t Shape::bytes() const { return count() * runtime::elementBytes(dtype); }

bool Shape::isRowMajor() const {
  std::int64_t expected = 1;
  for (std::size_t k = dims.size(); k-- > 0;) {
    if (dims[k] != 1 && strides[k] != expected) return false;
    expected *= dims[k];
  }
  return true;
}

Shape rowMajor(std::int32_t dtype, std::vector<std::int64_t> dims) {
  Shape shape{dtype, std::move(dims), {}};
  shape.strides.resize(shape.dims.size());
  std::int64_t stride = 1;
  for (std::size_t k = shape.dims.size(); k-- > 0; stride *= shape.dims[k]) shape.strides[k] = stride;
  return shape;
}

std::string describe(const Shape& shape) {
  return fmt::format("{}[{}]", runtime::dtypeName(shape.dtype), fmt::join(shape.dims, ", "));
}

std::string whyNoCode(std::int32_t dtype) {
  return codeOf(dtype) != nullptr ? std::string() : fmt::format("DLPack has no code for {}", runtime::dtypeName(dtype));
}

tl::expected<Viewed, std::string> view(const DLTensor& tensor) {
  if (tensor.device.device_type != kDLCPU && tensor.device.device_type != kDLCUDAHost)
    return tl::unexpected(fmt::format("it lies on DLPack's device {}, not on the CPU (1): move it there first",
                                      static_cast<int>(tensor.device.device_type)));
  const Code* const code = codeOf(tensor.dtype);
  if (code == nullptr)
    return tl::unexpected(fmt::format("its element type has DLPack's code {}, {} bits and {} lanes, which is none of tbem's",
                                      tensor.dtype.code, tensor.dtype.bits, tensor.dtype.lanes));
  if (tensor.ndim < 0 || (tensor.ndim > 0 && tensor.shape == nullptr)) return tl::unexpected(std::string("it has no shape"));
  std::vector<std::int64_t> dims(tensor.shape, tensor.shape + tensor.ndim);
  for (const std::int64_t dim : dims) {
    if (dim < 0) return tl::unexpected(fmt::format("its shape has the negative dimension {}", dim));
  }
  Viewed viewed{static_cast<std::byte*>(tensor.data), rowMajor(code->dtype, std::move(dims))};
  if (tensor.strides != nullptr) viewed.shape.strides.assign(tensor.strides, tensor.strides + tensor.ndim);
  if (viewed.data == nullptr && viewed.shape.count() != 0) return tl::unexpected(std::string("it has no memory"));
  if (viewed.data != nullptr) viewed.data += tensor.byte_offset;
  return viewed;
}

std::vector<std::byte> elementsOf(const Viewed& tensor) {
  const Shape& shape = tensor.shape;
  const std::uint64_t size = runtime::elementBytes(shape.dtype);
  std::vector<std::byte> elements(shape.bytes());
  if (elements.empty()) return elements;
  if (shape.isRowMajor()) {
    std::memcpy(elements.data(), tensor.data, elements.size());
    return elements;
  }
  std::vector<std::int64_t> at(shape.dims.size(), 0);
  std::int64_t offset = 0;
  for (std::byte* to = elements.data(); to != elements.data() + elements.size(); to += size) {
    std::memcpy(to, tensor.data + offset * static_cast<std::int64_t>(size), size);
    for (std::size_t k = at.size(); k-- > 0;) {
      offset += shape.strides[k];
      if (++at[k] < shape.dims[k]) break;
      offset -= at[k] * shape.strides[k];
      at[k] = 0;
    }
  }
  return elements;
}

std::optional<Shared> sharedBy(const DLManagedTensorVersioned& tensor) {
  if (tensor.deleter != release<DLManagedTensorVersioned>) return std::nullopt;
  const auto& holder = *static_cast<const Holder<DLManagedTensorVersioned>*>(tensor.manager_ctx);
  return Shared{holder.memory, holder.shape};
}

DLManagedTensor* managed(Memory memory, const Shape& shape) { return make<DLManagedTensor>(std::move(memory), shape); }

DLManagedTensorVersioned* managedVersioned(Memory memory, const Shape& shape, std::uint64_t flags) {
  auto* const tensor = make<DLManagedTensorVersioned>(std::move(memory), shape);
  tensor->version = {DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION};
  tensor->flags = flags;
  return tensor;
}

}  // namespace tbem::embed
