#include "runtime/core/Layout.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace tbem::runtime {
namespace {

struct DtypeRow {
  const char* name;
  std::uint8_t bytes;
};
constexpr DtypeRow kDtypes[] = {
#define TBEM_DTYPE(enumerator, name, bytes) {name, bytes},
#include "tbem/dtypes.def"
};
const DtypeRow* row(std::int32_t dtype) {
  return dtype >= 0 && dtype < static_cast<std::int32_t>(std::size(kDtypes)) ? &kDtypes[dtype] : nullptr;
}

/// f_k: offset that coordinate i of dimension k adds, for i in [0, count).
std::vector<std::int64_t> offsetTable(const tbem_layout& layout, int k, std::int64_t count) {
  std::int64_t product = blockProduct(layout, k);
  std::vector<std::int64_t> table(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t offset = (i / product) * layout.strides[k];
    std::int64_t rest = i % product, stride = 1;
    for (int b = layout.blocks - 1; b >= 0; --b) {
      if (layout.block_dim[b] == k) {
        offset += (rest % layout.block_size[b]) * stride;
        rest /= layout.block_size[b];
      }
      stride *= layout.block_size[b];
    }
    table[static_cast<std::size_t>(i)] = offset;
  }
  return table;
}

/// Calls visit(physical offset, logical number) for every element in row-major order.
template <class Visit>
void forEach(const tbem_operand& operand, Visit visit) {
  const int rank = operand.rank;
  if (elementCount(operand) == 0) return;
  if (rank == 0) return visit(std::int64_t{0}, std::int64_t{0});
  std::array<std::vector<std::int64_t>, TBEM_MAX_RANK> tables;
  for (int k = 0; k < rank; ++k) tables[static_cast<std::size_t>(k)] = offsetTable(operand.layout, k, operand.dims[k]);
  std::array<std::int64_t, TBEM_MAX_RANK> at{};
  std::int64_t number = 0;
  const auto& inner = tables[static_cast<std::size_t>(rank - 1)];
  while (true) {
    std::int64_t base = 0;
    for (int k = 0; k + 1 < rank; ++k)
      base += tables[static_cast<std::size_t>(k)][static_cast<std::size_t>(at[static_cast<std::size_t>(k)])];
    for (std::int64_t offset : inner) visit(base + offset, number++);
    int k = rank - 2;
    for (; k >= 0; --k) {
      if (++at[static_cast<std::size_t>(k)] < operand.dims[k]) break;
      at[static_cast<std::size_t>(k)] = 0;
    }
    if (k < 0) return;
  }
}

template <class T>
void copyOut(const tbem_operand& operand, const void* source, void* destination) {
  const T* from = static_cast<const T*>(source);
  T* to = static_cast<T*>(destination);
  forEach(operand, [&](std::int64_t offset, std::int64_t number) { to[number] = from[offset]; });
}
template <class T>
void copyIn(const tbem_operand& operand, const void* source, void* destination) {
  const T* from = static_cast<const T*>(source);
  T* to = static_cast<T*>(destination);
  forEach(operand, [&](std::int64_t offset, std::int64_t number) { to[offset] = from[number]; });
}

// A small binary float: `mantissa` stored bits, exponent bias `bias`; `infinities` as in IEEE 754 (e4m3 has none: its
// largest exponent holds numbers, and only all-ones is NaN; Micikevicius et al. 2022, arXiv 2209.05433).
struct SmallFloat {
  int exponentBits, mantissa, bias;
  bool infinities;
};
SmallFloat smallFloat(std::int32_t dtype) {
  switch (dtype) {
    case TBEM_F16:
      return {5, 10, 15, true};
    case TBEM_BF16:
      return {8, 7, 127, true};
    case TBEM_F8E4M3:
      return {4, 3, 7, false};
    default:
      return {5, 2, 15, true};
  }
}
double decode(SmallFloat f, std::uint32_t bits) {
  const std::uint32_t mantissaMask = (1U << f.mantissa) - 1U, exponentMask = (1U << f.exponentBits) - 1U;
  std::uint32_t mantissa = bits & mantissaMask, exponent = (bits >> f.mantissa) & exponentMask;
  bool negative = ((bits >> (f.mantissa + f.exponentBits)) & 1U) != 0;
  double value;
  if (exponent == exponentMask && (f.infinities || mantissa == mantissaMask)) {
    value = f.infinities && mantissa == 0 ? HUGE_VAL : std::nan("");
  } else if (exponent == 0) {
    value = std::ldexp(static_cast<double>(mantissa), 1 - f.bias - f.mantissa);
  } else {
    value = std::ldexp(static_cast<double>(mantissa + mantissaMask + 1U), static_cast<int>(exponent) - f.bias - f.mantissa);
  }
  return negative ? -value : value;
}
std::uint32_t encode(SmallFloat f, double value) {
  const std::uint32_t mantissaMask = (1U << f.mantissa) - 1U, exponentMask = (1U << f.exponentBits) - 1U;
  const std::uint32_t sign = std::signbit(value) ? 1U << (f.mantissa + f.exponentBits) : 0U;
  const std::uint32_t nan = (exponentMask << f.mantissa) | mantissaMask;
  const std::uint32_t overflow = f.infinities ? exponentMask << f.mantissa : nan;
  if (std::isnan(value)) return sign | nan;
  value = std::fabs(value);
  if (std::isinf(value)) return sign | overflow;
  if (value == 0) return sign;
  int exponent = std::max(std::ilogb(value), 1 - f.bias);
  // Units in the last place of the result: rounded to nearest even by nearbyint; a carry moves into the exponent by itself.
  auto units = static_cast<std::uint32_t>(std::nearbyint(std::ldexp(value, f.mantissa - exponent)));
  std::uint64_t bits = units + ((static_cast<std::uint64_t>(exponent + f.bias) - 1U) << f.mantissa);
  if (bits >= overflow) return sign | overflow;
  return sign | static_cast<std::uint32_t>(bits);
}

template <class T>
void widen(const void* source, std::span<double> destination) {
  const T* from = static_cast<const T*>(source);
  for (std::size_t i = 0; i < destination.size(); ++i) destination[i] = static_cast<double>(from[i]);
}
template <class T>
void narrow(std::span<const double> source, void* destination) {
  T* to = static_cast<T*>(destination);
  for (std::size_t i = 0; i < source.size(); ++i) to[i] = static_cast<T>(source[i]);
}

}  // namespace

std::uint64_t elementBytes(std::int32_t dtype) { return row(dtype) != nullptr ? row(dtype)->bytes : 0; }
const char* dtypeName(std::int32_t dtype) { return row(dtype) != nullptr ? row(dtype)->name : "?"; }

std::int64_t elementCount(const tbem_operand& operand) {
  std::int64_t count = 1;
  for (int k = 0; k < operand.rank; ++k) count *= operand.dims[k];
  return count;
}

Lines linesAlong(const tbem_operand& operand, std::int64_t axis) {
  Lines lines;
  for (int d = 0; d < operand.rank; ++d) (d < axis ? lines.outer : d == axis ? lines.length : lines.inner) *= operand.dims[d];
  return lines;
}

void setPlain(tbem_operand& operand) {
  std::array<int, TBEM_MAX_RANK> order{};
  for (int k = 0; k < TBEM_MAX_RANK; ++k) order[static_cast<std::size_t>(k)] = k;
  setBlocked(operand, std::span<const int>(order.data(), static_cast<std::size_t>(operand.rank)), {});
}

tbem_operand plainOperand(std::int32_t dtype, std::span<const std::int64_t> dims) {
  tbem_operand operand{};
  operand.present = 1;
  operand.dtype = dtype;
  operand.rank = static_cast<std::int32_t>(dims.size());
  std::copy(dims.begin(), dims.end(), operand.dims);
  setPlain(operand);
  return operand;
}
tbem_operand plainOperand(std::int32_t dtype, std::initializer_list<std::int64_t> dims) {
  return plainOperand(dtype, std::span<const std::int64_t>(dims.begin(), dims.size()));
}

void setBlocked(tbem_operand& operand, std::span<const int> order, std::span<const std::pair<int, int>> blocks) {
  tbem_layout layout{};
  layout.blocks = static_cast<std::int32_t>(blocks.size());
  std::int64_t stride = 1;
  for (std::size_t b = blocks.size(); b-- > 0;) {
    layout.block_dim[b] = blocks[b].first;
    layout.block_size[b] = blocks[b].second;
    stride *= blocks[b].second;
  }
  for (std::size_t i = order.size(); i-- > 0;) {
    const int k = order[i];
    const std::int64_t block = std::max<std::int64_t>(blockProduct(layout, k), 1);
    layout.padded[k] = (operand.dims[k] + block - 1) / block * block;
    layout.strides[k] = stride;
    stride *= layout.padded[k] / block;
  }
  operand.layout = layout;
  operand.layout.bytes = extentBytes(operand);
}

std::int64_t blockProduct(const tbem_layout& layout, int k) {
  std::int64_t product = 1;
  for (int b = 0; b < layout.blocks; ++b) {
    if (layout.block_dim[b] == k) product *= layout.block_size[b];
  }
  return product;
}

std::int64_t extentElements(const tbem_operand& operand) {
  std::int64_t extent = 1;
  for (int b = 0; b < operand.layout.blocks; ++b) extent *= operand.layout.block_size[b];
  for (int k = 0; k < operand.rank; ++k) {
    const std::int64_t outer = operand.layout.padded[k] / blockProduct(operand.layout, k);
    if (outer == 0) return 0;
    extent += (outer - 1) * operand.layout.strides[k];
  }
  return extent;
}
std::uint64_t extentBytes(const tbem_operand& operand) {
  return static_cast<std::uint64_t>(extentElements(operand)) * elementBytes(operand.dtype);
}

std::int64_t offsetOf(const tbem_layout& layout, int rank, const std::int64_t* coordinates) {
  std::int64_t offset = 0;
  std::array<std::int64_t, TBEM_MAX_RANK> rest{};
  for (int k = 0; k < rank; ++k) {
    const std::int64_t block = blockProduct(layout, k);
    offset += coordinates[k] / block * layout.strides[k];
    rest[static_cast<std::size_t>(k)] = coordinates[k] % block;
  }
  std::int64_t stride = 1;
  for (int b = layout.blocks - 1; b >= 0; --b) {
    auto& r = rest[static_cast<std::size_t>(layout.block_dim[b])];
    offset += (r % layout.block_size[b]) * stride;
    r /= layout.block_size[b];
    stride *= layout.block_size[b];
  }
  return offset;
}

bool isPlain(const tbem_operand& operand) {
  tbem_operand plain = operand;
  setPlain(plain);
  return sameLayout(operand, plain);
}

void setChannelsLast(tbem_operand& operand) {
  constexpr std::array<int, 4> kFromTheInnermost{1, 3, 2, 0};
  setPlain(operand);
  std::int64_t stride = 1;
  for (const int k : kFromTheInnermost) {
    operand.layout.strides[k] = stride;
    stride *= operand.dims[k];
  }
}

bool isChannelsLast(const tbem_operand& operand) {
  if (operand.rank != 4) return false;
  tbem_operand last = operand;
  setChannelsLast(last);
  return sameLayout(operand, last);
}

bool sameLayout(const tbem_operand& a, const tbem_operand& b) {
  if (a.rank != b.rank || !std::equal(a.dims, a.dims + a.rank, b.dims)) return false;
  // Blocks of size 1 change nothing; the others must be the same list.
  auto blocks = [](const tbem_layout& l) {
    std::vector<std::pair<int, int>> list;
    for (int i = 0; i < l.blocks; ++i) {
      if (l.block_size[i] > 1) list.emplace_back(l.block_dim[i], l.block_size[i]);
    }
    return list;
  };
  if (blocks(a.layout) != blocks(b.layout)) return false;
  for (int k = 0; k < a.rank; ++k) {
    if (a.layout.padded[k] != b.layout.padded[k]) return false;
    if (a.layout.padded[k] > blockProduct(a.layout, k) && a.layout.strides[k] != b.layout.strides[k]) return false;
  }
  return true;
}

std::string checkLayout(const tbem_operand& operand) {
  if (operand.rank < 0 || operand.rank > TBEM_MAX_RANK)
    return "rank " + std::to_string(operand.rank) + " is not in 0.." + std::to_string(TBEM_MAX_RANK);
  if (elementBytes(operand.dtype) == 0) return "no element type has number " + std::to_string(operand.dtype);
  if (operand.layout.any != 0) return "the layout is not chosen yet";
  if (operand.layout.blocks < 0 || operand.layout.blocks > 4)
    return "it has " + std::to_string(operand.layout.blocks) + " blocks";
  std::int64_t stride = 1;
  for (int b = operand.layout.blocks - 1; b >= 0; --b) {
    if (operand.layout.block_dim[b] < 0 || operand.layout.block_dim[b] >= operand.rank || operand.layout.block_size[b] < 1) {
      return "block " + std::to_string(b) + " is not of a dimension";
    }
    stride *= operand.layout.block_size[b];
  }
  // Sorted by stride, each dimension must begin where the one inside it ends: then no two elements share an offset.
  std::vector<std::pair<std::int64_t, std::int64_t>> outer;
  for (int k = 0; k < operand.rank; ++k) {
    const std::int64_t block = blockProduct(operand.layout, k);
    if (operand.dims[k] < 0 || operand.layout.padded[k] < operand.dims[k] || operand.layout.padded[k] % block != 0) {
      return "dimension " + std::to_string(k) + " is padded to " + std::to_string(operand.layout.padded[k]) + " for " +
             std::to_string(operand.dims[k]);
    }
    if (operand.layout.padded[k] > block) outer.emplace_back(operand.layout.strides[k], operand.layout.padded[k] / block);
  }
  std::sort(outer.begin(), outer.end());
  for (const auto& [step, count] : outer) {
    if (step < stride) return "elements share an offset";
    stride = step * count;
  }
  if (operand.layout.bytes < extentBytes(operand))
    return "bytes " + std::to_string(operand.layout.bytes) + " are fewer than " + std::to_string(extentBytes(operand));
  return {};
}

void toPlain(const tbem_operand& operand, const void* source, void* destination) {
  const std::uint64_t bytes = elementBytes(operand.dtype);
  if (isPlain(operand)) {
    if (elementCount(operand) > 0) std::memcpy(destination, source, static_cast<std::size_t>(elementCount(operand)) * bytes);
  } else if (bytes == 8) {
    copyOut<std::uint64_t>(operand, source, destination);
  } else if (bytes == 4) {
    copyOut<std::uint32_t>(operand, source, destination);
  } else if (bytes == 2) {
    copyOut<std::uint16_t>(operand, source, destination);
  } else {
    copyOut<std::uint8_t>(operand, source, destination);
  }
}

void fromPlain(const tbem_operand& operand, const void* source, void* destination) {
  const std::uint64_t bytes = elementBytes(operand.dtype);
  const std::uint64_t extent = std::max(operand.layout.bytes, extentBytes(operand));
  if (extent > static_cast<std::uint64_t>(elementCount(operand)) * bytes) std::memset(destination, 0, extent);
  if (isPlain(operand)) {
    if (elementCount(operand) > 0) std::memcpy(destination, source, static_cast<std::size_t>(elementCount(operand)) * bytes);
  } else if (bytes == 8) {
    copyIn<std::uint64_t>(operand, source, destination);
  } else if (bytes == 4) {
    copyIn<std::uint32_t>(operand, source, destination);
  } else if (bytes == 2) {
    copyIn<std::uint16_t>(operand, source, destination);
  } else {
    copyIn<std::uint8_t>(operand, source, destination);
  }
}

void toDoubles(std::int32_t dtype, const void* source, std::span<double> destination) {
  switch (dtype) {
    case TBEM_F64:
      return widen<double>(source, destination);
    case TBEM_F32:
      return widen<float>(source, destination);
    case TBEM_I64:
      return widen<std::int64_t>(source, destination);
    case TBEM_I32:
      return widen<std::int32_t>(source, destination);
    case TBEM_I8:
      return widen<std::int8_t>(source, destination);
    case TBEM_U8:
    case TBEM_BOOL:
      return widen<std::uint8_t>(source, destination);
    default:
      break;
  }
  const SmallFloat format = smallFloat(dtype);
  for (std::size_t i = 0; i < destination.size(); ++i) {
    const std::uint32_t bits =
        elementBytes(dtype) == 2 ? static_cast<const std::uint16_t*>(source)[i] : static_cast<const std::uint8_t*>(source)[i];
    destination[i] = decode(format, bits);
  }
}

void fromDoubles(std::int32_t dtype, std::span<const double> source, void* destination) {
  switch (dtype) {
    case TBEM_F64:
      return narrow<double>(source, destination);
    case TBEM_F32:
      return narrow<float>(source, destination);
    case TBEM_I64:
      return narrow<std::int64_t>(source, destination);
    case TBEM_I32:
      return narrow<std::int32_t>(source, destination);
    case TBEM_I8:
      return narrow<std::int8_t>(source, destination);
    case TBEM_U8:
      return narrow<std::uint8_t>(source, destination);
    case TBEM_BOOL:
      for (std::size_t i = 0; i < source.size(); ++i) static_cast<std::uint8_t*>(destination)[i] = source[i] != 0;
      return;
    default:
      break;
  }
  const SmallFloat format = smallFloat(dtype);
  for (std::size_t i = 0; i < source.size(); ++i) {
    const std::uint32_t bits = encode(format, source[i]);
    if (elementBytes(dtype) == 2) {
      static_cast<std::uint16_t*>(destination)[i] = static_cast<std::uint16_t>(bits);
    } else {
      static_cast<std::uint8_t*>(destination)[i] = static_cast<std::uint8_t>(bits);
    }
  }
}

}  // namespace tbem::runtime
