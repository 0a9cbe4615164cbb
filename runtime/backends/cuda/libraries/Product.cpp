// The dense layer, its gradients, and batched products by cuBLASLt.
#include "runtime/backends/cuda/device/Op.h"
#include "runtime/backends/cuda/libraries/Bias.h"
#include "runtime/backends/cuda/libraries/Blas.h"
#include "runtime/backends/cuda/libraries/Conversion.h"
#include "runtime/backends/cuda/libraries/Sum.h"

#include <fmt/format.h>

#include <cstdio>
#include <utility>

namespace tbem::cuda {
namespace {

/// The operator's workspace is aligned to less than the library wants of its own.
constexpr std::uint64_t kAlignment = PreparedProduct::kWorkAlignment, kSpare = kAlignment - 64;

/// Of the bias in the result's type, so that what comes behind it is aligned.
std::uint64_t castBytes(const ProductShape& shape) {
  const std::uint64_t bytes = static_cast<std::uint64_t>(shape.n) * runtime::elementBytes(shape.result);
  return shape.castsBias() ? (bytes + kAlignment - 1) / kAlignment * kAlignment : 0;
}

class Product final : public Op {
public:
  Product(const tbem_op_desc& from, PreparedProduct ready)
      : Op(from), ready(std::move(ready)), calls(callsOf(this->ready.shape())) {}

  tbem_status run(void* const* memory, void* work, const double*) override {
    const Device* device = nullptr;
    if (const tbem_status status = openDevice(device)) return status;
    constexpr std::uintptr_t kLow = kAlignment - 1;
    auto* const begin = reinterpret_cast<char*>((reinterpret_cast<std::uintptr_t>(work) + kLow) & ~kLow);
    const ProductShape& shape = ready.shape();
    const void* bias = shape.bias >= 0 ? memory[shape.bias] : nullptr;
    if (ready.addsBias() && shape.castsBias()) {
      const std::array<void*, 2> ends{memory[shape.bias], begin};
      if (const tbem_status status = cast->run(ends.data(), nullptr, nullptr)) return status;
      bias = begin;
    }
    for (const auto& [a, b, y] : calls) {
      const PreparedProduct::Addresses at{elementAt(memory[shape.a], a, shape.factors),
                                          elementAt(memory[shape.b], b, shape.factors), bias,
                                          elementAt(memory[shape.y], y, shape.result), begin + castBytes(shape)};
      const std::string why = ready.run(*device, at);
      if (!why.empty()) return fail(TBEM_FAILED, fmt::format("cuda: {}", why));
    }
    if (bias == nullptr || ready.addsBias()) return TBEM_OK;
    return addBias({memory[shape.y], bias, shape.result, shape.biasType, shape.results(), shape.n, 1});
  }

  std::unique_ptr<Op> cast;  ///< of the bias to the result's type; none where they are of one

private:
  PreparedProduct ready;
  std::vector<std::array<std::int64_t, 3>> calls;
};

/// Few results with long sums.
class SplitProduct final : public Op {
public:
  SplitProduct(const tbem_op_desc& from, ProductShape shape, PreparedSum ready)
      : Op(from), shape(std::move(shape)), ready(std::move(ready)) {}

  tbem_status run(void* const* memory, void* work, const double*) override {
    void* const y = memory[shape.y];
    const tbem_status status = ready.run(memory[shape.a], memory[shape.b], y, work);
    if (status != TBEM_OK || shape.bias < 0) return status;
    return addBias({y, memory[shape.bias], shape.result, shape.biasType, shape.results(), shape.n, 1});
  }

private:
  ProductShape shape;
  PreparedSum ready;
};

tbem_status query(tbem_op_desc& op, tbem_op_info& info) {
  if (const tbem_status status = plainLayouts(op)) return status;
  const ProductShape shape = productShape(op);
  if (const auto sum = splitSum(shape)) {
    info.workspace = sumWorkspace(*sum);
    std::snprintf(info.implementation, sizeof info.implementation, "cuBLASLt, %lld parts", static_cast<long long>(sum->parts()));
    return TBEM_OK;
  }
  const std::uint64_t workspace = productWorkspace(shape) + castBytes(shape);
  info.workspace = workspace == 0 ? 0 : workspace + kSpare;
  std::snprintf(info.implementation, sizeof info.implementation, "cuBLASLt");
  return TBEM_OK;
}

tbem_status create(const tbem_op_desc& op, std::unique_ptr<Op>& out) {
  const ProductShape shape = productShape(op);
  if (const auto sum = splitSum(shape)) {
    auto ready = PreparedSum::prepare(*sum);
    if (!ready) return unsupported(op, ready.error());
    out = std::make_unique<SplitProduct>(op, shape, std::move(*ready));
    return TBEM_OK;
  }
  auto ready = PreparedProduct::prepare(shape, productWorkspace(shape));
  if (!ready) return unsupported(op, ready.error());
  auto product = std::make_unique<Product>(op, std::move(*ready));
  if (shape.castsBias()) {
    auto cast = conversionOf(shape.biasType, shape.result, shape.n);
    if (!cast) return unsupported(op, cast.error());
    product->cast = std::move(*cast);
  }
  out = std::move(product);
  return TBEM_OK;
}

}  // namespace

Family productFamily() { return {query, create}; }

}  // namespace tbem::cuda
