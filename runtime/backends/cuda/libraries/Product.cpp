// The dense layer, its gradients, and batched products by cuBLASLt.
#include "runtime/backends/cuda/device/Op.h"
#include "runtime/backends/cuda/libraries/Bias.h"
#include "runtime/backends/cuda/libraries/Blas.h"

#include <fmt/format.h>

#include <cstdio>
#include <optional>

namespace tbem::cuda {
namespace {

/// The operator's workspace is aligned to less than the library wants of its own.
constexpr std::uint64_t kSpare = PreparedProduct::kWorkAlignment - 64;

tbem_status unsupported(const tbem_op_desc& op, const std::string& why) {
  return fail(TBEM_UNSUPPORTED,
              fmt::format("cuda: {}: {}", runtime::signature(static_cast<tbem_primitive>(op.primitive)).name, why));
}

class Product final : public Op {
public:
  Product(const tbem_op_desc& from, ProductShape shape) : Op(from), shape(std::move(shape)), calls(callsOf(this->shape)) {}

  /// "" or why not.
  std::string prepare() {
    if (shape.results() == 0 || shape.k == 0) return {};
    const std::uint64_t workspace = productWorkspace(shape);
    if (shape.bias >= 0) {
      if (auto withBias = PreparedProduct::prepare(shape, workspace, true)) {
        ready.emplace(std::move(*withBias));
        addsBias = true;
        return {};
      }
    }
    auto without = PreparedProduct::prepare(shape, workspace, false);
    if (!without) return without.error();
    ready.emplace(std::move(*without));
    return {};
  }

  tbem_status run(void* const* memory, void* work, const double*) override {
    if (shape.results() == 0) return TBEM_OK;
    const Device* device = nullptr;
    if (const tbem_status status = openDevice(device)) return status;
    const void* const bias = shape.bias >= 0 ? memory[shape.bias] : nullptr;
    if (!ready) {
      const int zeroed = device->driver->set8(reinterpret_cast<DevicePointer>(memory[shape.y]), 0,
                                              runtime::extentBytes(operands[static_cast<std::size_t>(shape.y)]), device->stream);
      if (const tbem_status status = check(*device, zeroed, "zeroing a product")) return status;
    } else if (const std::string why = multiply(*device, memory, bias, work); !why.empty()) {
      return fail(TBEM_FAILED, fmt::format("cuda: {}", why));
    }
    return bias == nullptr || addsBias ? TBEM_OK : addBias(memory[shape.y], bias, shape.results(), shape.n, 1);
  }

private:
  std::string multiply(const Device& device, void* const* memory, const void* bias, void* work) const {
    constexpr std::uintptr_t kLow = PreparedProduct::kWorkAlignment - 1;
    void* const space = reinterpret_cast<void*>((reinterpret_cast<std::uintptr_t>(work) + kLow) & ~kLow);
    for (const auto& [a, b, y] : calls) {
      std::string why =
          ready->run(device, {static_cast<const float*>(memory[shape.a]) + a, static_cast<const float*>(memory[shape.b]) + b,
                              bias, static_cast<float*>(memory[shape.y]) + y, space});
      if (!why.empty()) return why;
    }
    return {};
  }

  ProductShape shape;
  std::vector<std::array<std::int64_t, 3>> calls;
  std::optional<PreparedProduct> ready;  ///< nothing: there is nothing to add up
  bool addsBias = false;                 ///< the library does
};

tbem_status query(tbem_op_desc& op, tbem_op_info& info) {
  if (const tbem_status status = plainLayouts(op)) return status;
  const ProductShape shape = productShape(op);
  const std::uint64_t workspace = productWorkspace(shape);
  info.workspace = workspace == 0 ? 0 : workspace + kSpare;
  std::snprintf(info.implementation, sizeof info.implementation, "cuBLASLt");
  return TBEM_OK;
}

tbem_status create(const tbem_op_desc& op, std::unique_ptr<Op>& out) {
  auto product = std::make_unique<Product>(op, productShape(op));
  if (const std::string why = product->prepare(); !why.empty()) return unsupported(op, why);
  out = std::move(product);
  return TBEM_OK;
}

}  // namespace

Family productFamily() { return {query, create}; }

}  // namespace tbem::cuda
