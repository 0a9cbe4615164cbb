// Matrix products by cuBLASLt, which is opened at run time: libcublasLt.so.13, else libcublasLt.so.12.
#pragma once

#include "runtime/backends/cuda/device/Device.h"
#include "runtime/backends/cuda/libraries/BlasApi.h"
#include "runtime/backends/cuda/libraries/ProductShape.h"

#include <tl/expected.hpp>

#include <array>
#include <memory>
#include <optional>
#include <string>

namespace tbem::cuda {

/// "cuBLASLt 13.1.0"; "" where there is none.
std::string blasVersion();

/// A product that is prepared. Its calls (callsOf) are asked for one by one.
class PreparedProduct {
public:
  /// With an algorithm that needs at most `workspace` bytes and adds in the same order each time. The device is open on this
  /// thread. Errors, in words: there is no library, it has no such product.
  static tl::expected<PreparedProduct, std::string> prepare(const ProductShape& shape, std::uint64_t workspace);

  const ProductShape& shape() const { return product; }
  /// Whether the library adds the bias; it cannot for some products.
  bool addsBias() const { return biased; }

  /// Addresses on the card; `work` is aligned to kWorkAlignment bytes.
  struct Addresses {
    const void *a, *b, *bias;
    void *y, *work;
    bool adds = false;  ///< to what y holds
  };
  /// Puts it behind what the device was asked before. "" or why not. One thread at a time.
  std::string run(const Device& device, const Addresses& at) const;

  static constexpr std::uint64_t kWorkAlignment = 256;

private:
  using Part = std::unique_ptr<void, blas::Status (*)(void*)>;
  PreparedProduct(ProductShape shape, std::uint64_t workspace, bool bias, std::array<void*, 4> parts);
  static tl::expected<PreparedProduct, std::string> prepare(const ProductShape& shape, std::uint64_t workspace, bool bias);
  /// Bytes that matrices lie at multiples of; a bias lies as the result does.
  struct Alignment {
    std::uint32_t factors, result;
  };
  std::optional<blas::Algorithm> choose(const Alignment& alignment, std::string& why) const;

  ProductShape product;
  std::uint64_t workspace;
  bool biased;
  Part description, a, b, y;  ///< as the library sees them: columns innermost, so factors are exchanged
  /// For matrices that lie at multiples of 16 bytes, as those of an arena do, and for those that lie anywhere.
  std::optional<blas::Algorithm> aligned, anywhere;
};

}  // namespace tbem::cuda
