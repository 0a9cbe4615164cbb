#include "runtime/backends/cuda/libraries/Sum.h"

#include "runtime/core/Layout.h"

#include <fmt/format.h>

#include <array>

namespace tbem::cuda {

namespace {

/// The sum of parts[parts, results] over its first axis.
struct Join {
  explicit Join(const SumShape& shape)
      : operands{runtime::plainOperand(TBEM_F32, {shape.parts(), shape.results()}),
                 runtime::plainOperand(shape.result, {shape.results()})},
        op{sizeof(tbem_op_desc), TBEM_PRIMITIVE_reduce_sum,           1, 1, operands.data(),
           attributes.data(),    static_cast<int>(attributes.size()), 1, 0} {}
  Join(const Join&) = delete;
  Join& operator=(const Join&) = delete;
  std::array<tbem_operand, 2> operands;
  std::array<std::int64_t, 2> attributes{1, 0};
  tbem_op_desc op;
};

/// Of the parts, so that what comes behind them is aligned.
std::uint64_t partBytes(const SumShape& shape) {
  constexpr std::uint64_t kAlignment = 64;
  return (static_cast<std::uint64_t>(shape.parts() * shape.results()) * sizeof(float) + kAlignment - 1) / kAlignment * kAlignment;
}

}  // namespace

std::uint64_t sumWorkspace(const SumShape& shape) {
  if (!shape.joins()) return 0;
  Join join(shape);
  tbem_op_info info{};
  (void)reduceFamily().query(join.op, info);  // which no plain sum fails
  return partBytes(shape) + info.workspace;
}

tl::expected<PreparedSum, std::string> PreparedSum::prepare(const SumShape& shape) {
  auto each = PreparedProduct::prepare(shape.each, 0);
  if (!each) return tl::unexpected(each.error());
  PreparedSum sum(shape, std::move(*each));
  if (shape.rest) {
    auto rest = PreparedProduct::prepare(*shape.rest, 0);
    if (!rest) return tl::unexpected(rest.error());
    sum.rest.emplace(std::move(*rest));
  }
  if (shape.joins()) {
    const Join join(shape);
    if (reduceFamily().create(join.op, sum.join) != TBEM_OK) return tl::unexpected(std::string(lastErrorText()));
  }
  return sum;
}

tbem_status PreparedSum::run(const void* a, const void* b, void* y, void* work) {
  const Device* device = nullptr;
  if (const tbem_status status = openDevice(device)) return status;
  void* const parts = join != nullptr ? work : y;
  const std::int32_t type = shape.each.factors;
  const auto factorsAt = [&](std::int64_t inA, std::int64_t inB, void* to, bool adds) {
    return PreparedProduct::Addresses{elementAt(a, inA, type), elementAt(b, inB, type), nullptr, to, nullptr, adds};
  };
  for (std::int64_t round = 0; round < shape.rounds; ++round) {
    const std::string why = each.run(*device, factorsAt(round * shape.nextA, round * shape.nextB, parts, round > 0));
    if (!why.empty()) return fail(TBEM_FAILED, fmt::format("cuda: {}", why));
  }
  if (rest) {
    void* const last = elementAt(parts, shape.each.batch.count * shape.results(), TBEM_F32);
    const std::string why = rest->run(*device, factorsAt(shape.restA, shape.restB, last, false));
    if (!why.empty()) return fail(TBEM_FAILED, fmt::format("cuda: {}", why));
  }
  if (join == nullptr) return TBEM_OK;
  const std::array<void*, 2> memory{parts, y};
  return join->run(memory.data(), static_cast<char*>(work) + partBytes(shape), nullptr);
}

}  // namespace tbem::cuda
