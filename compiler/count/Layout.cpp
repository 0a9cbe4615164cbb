#include "compiler/count/Layout.h"

#include <algorithm>
#include <array>
#include <numeric>

namespace tbem::estimate {

namespace {
/// A factor of a dimension: `count` steps of `stride` elements. Listed from the innermost; neighbours that continue one another
/// are one part, so equal places give equal lists.
struct Part {
  std::int64_t count = 1, stride = 0;
  friend bool operator==(const Part&, const Part&) = default;
};
struct Parts {
  std::array<Part, 5> part;  // at most four blocks and the rest
  std::size_t size = 0;
  void add(std::int64_t count, std::int64_t stride) {
    if (count == 1) return;
    if (size > 0 && part[size - 1].stride * part[size - 1].count == stride) {
      part[size - 1].count *= count;
    } else {
      part[size++] = {count, stride};
    }
  }
  friend bool operator==(const Parts& a, const Parts& b) {
    return a.size == b.size && std::equal(a.part.begin(), a.part.begin() + static_cast<std::ptrdiff_t>(a.size), b.part.begin());
  }
};

std::int64_t blockOf(const tbem_layout& layout, int dim) {
  std::int64_t block = 1;
  for (int b = 0; b < layout.blocks; ++b) {
    if (layout.block_dim[b] == dim) block *= layout.block_size[b];
  }
  return block;
}

Parts partsOf(const tbem_layout& layout, int dim) {
  Parts parts;
  std::int64_t stride = 1;
  for (int b = layout.blocks - 1; b >= 0; --b) {
    if (layout.block_dim[b] == dim) parts.add(layout.block_size[b], stride);
    stride *= layout.block_size[b];
  }
  parts.add(layout.padded[dim] / blockOf(layout, dim), layout.strides[dim]);
  return parts;
}
}  // namespace

std::uint64_t elementBytes(std::int32_t dtype) {
  constexpr std::uint8_t kBytes[] = {
#define TBEM_DTYPE(enumerator, name, bytes) bytes,
#include "runtime/include/tbem/dtypes.def"
  };
  return kBytes[dtype];
}

std::span<const std::int64_t> dimsOf(const tbem_operand& operand) {
  return {operand.dims, static_cast<std::size_t>(operand.rank)};
}

std::int64_t elementCount(const tbem_operand& operand) {
  const auto dims = dimsOf(operand);
  return std::accumulate(dims.begin(), dims.end(), std::int64_t{1}, std::multiplies<>());
}

tbem_operand openOperand(std::int32_t dtype, std::span<const std::int64_t> dims) {
  tbem_operand operand{};
  operand.present = 1;
  operand.dtype = dtype;
  operand.rank = static_cast<std::int32_t>(dims.size());
  std::copy(dims.begin(), dims.end(), operand.dims);
  operand.layout.any = 1;
  return operand;
}

tbem_operand plainOperand(std::int32_t dtype, std::span<const std::int64_t> dims) {
  tbem_operand operand = openOperand(dtype, dims);
  operand.layout.any = 0;
  std::int64_t stride = 1;
  for (std::size_t k = dims.size(); k-- > 0;) {
    operand.layout.strides[k] = stride;
    operand.layout.padded[k] = dims[k];
    stride *= dims[k];
  }
  operand.layout.bytes = static_cast<std::uint64_t>(stride) * elementBytes(dtype);
  return operand;
}

tbem_operand likeOperand(const tbem_operand& model, std::int32_t dtype, std::span<const std::int64_t> dims) {
  tbem_operand operand = openOperand(dtype, dims);
  operand.layout = model.layout;
  std::array<int, TBEM_MAX_RANK> order{};
  std::iota(order.begin(), order.end(), 0);
  const auto last = order.begin() + static_cast<std::ptrdiff_t>(dims.size());
  std::stable_sort(order.begin(), last, [&model](int a, int b) { return model.layout.strides[a] > model.layout.strides[b]; });
  std::int64_t stride = 1;
  for (int b = 0; b < model.layout.blocks; ++b) stride *= model.layout.block_size[b];
  for (auto at = last; at != order.begin();) {
    const int k = *--at;
    const std::int64_t block = blockOf(model.layout, k);
    operand.layout.padded[k] = (dims[static_cast<std::size_t>(k)] + block - 1) / block * block;
    operand.layout.strides[k] = stride;
    stride *= operand.layout.padded[k] / block;
  }
  operand.layout.bytes = static_cast<std::uint64_t>(stride) * elementBytes(dtype);
  return operand;
}

bool samePlaces(const tbem_operand& a, const tbem_operand& b) {
  if (a.present != b.present || a.dtype != b.dtype || a.rank != b.rank) return false;
  if (a.layout.any != 0 || b.layout.any != 0 || a.layout.bytes != b.layout.bytes) return false;
  for (int k = 0; k < a.rank; ++k) {
    if (a.dims[k] != b.dims[k] || a.layout.padded[k] != b.layout.padded[k]) return false;
    if (partsOf(a.layout, k) != partsOf(b.layout, k)) return false;
  }
  return true;
}

bool isRowMajor(const tbem_operand& operand) { return samePlaces(operand, plainOperand(operand.dtype, dimsOf(operand))); }

bool isChannelsLast(const tbem_operand& operand) {
  if (operand.rank != 4) return false;
  tbem_operand images = plainOperand(operand.dtype, dimsOf(operand));
  const std::int64_t channels = operand.dims[1], width = operand.dims[3];
  images.layout.strides[1] = 1;
  images.layout.strides[2] = width * channels;
  images.layout.strides[3] = channels;
  return samePlaces(operand, images);
}

bool hasPadding(const tbem_operand& operand) {
  return !std::equal(operand.dims, operand.dims + operand.rank, operand.layout.padded);
}

}  // namespace tbem::estimate
