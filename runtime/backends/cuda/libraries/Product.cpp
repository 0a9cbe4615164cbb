// The dense layer, its gradients, and batched products by cuBLASLt.
#include "runtime/backends/cuda/device/Op.h"
#include "runtime/backends/cuda/libraries/Bias.h"
#include "runtime/backends/cuda/libraries/Blas.h"
#include "runtime/backends/cuda/libraries/Sum.h"

#include <fmt/format.h>

#include <cstdio>
#include <utility>

namespace tbem::cuda {
namespace {

/// The operator's workspace is aligned to less than the library wants of its own.
constexpr std::uint64_t kSpare = PreparedProduct::kWorkAlignment - 64;

class Product final : public Op {
public:
  Product(const tbem_op_desc& from, PreparedProduct ready)
      : Op(from), ready(std::move(ready)), calls(callsOf(this->ready.shape())) {}

  tbem_status run(void* const* memory, void* work, const double*) override {
    const Device* device = nullptr;
    if (const tbem_status status = openDevice(device)) return status;
    constexpr std::uintptr_t kLow = PreparedProduct::kWorkAlignment - 1;
    void* const space = reinterpret_cast<void*>((reinterpret_cast<std::uintptr_t>(work) + kLow) & ~kLow);
    const ProductShape& shape = ready.shape();
    const auto matrix = [&](int operand, std::int64_t from) { return static_cast<float*>(memory[operand]) + from; };
    const void* const bias = shape.bias >= 0 ? memory[shape.bias] : nullptr;
    for (const auto& [a, b, y] : calls) {
      const std::string why = ready.run(*device, {matrix(shape.a, a), matrix(shape.b, b), bias, matrix(shape.y, y), space});
      if (!why.empty()) return fail(TBEM_FAILED, fmt::format("cuda: {}", why));
    }
    return bias == nullptr || ready.addsBias() ? TBEM_OK : addBias(memory[shape.y], bias, shape.results(), shape.n, 1);
  }

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
    auto* const y = static_cast<float*>(memory[shape.y]);
    const tbem_status status =
        ready.run(static_cast<const float*>(memory[shape.a]), static_cast<const float*>(memory[shape.b]), y, work);
    return status != TBEM_OK || shape.bias < 0 ? status : addBias(y, memory[shape.bias], shape.results(), shape.n, 1);
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
  const std::uint64_t workspace = productWorkspace(shape);
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
  out = std::make_unique<Product>(op, std::move(*ready));
  return TBEM_OK;
}

}  // namespace

Family productFamily() { return {query, create}; }

}  // namespace tbem::cuda
