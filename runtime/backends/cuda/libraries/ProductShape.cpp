#include "runtime/backends/cuda/libraries/ProductShape.h"

#include "runtime/backends/cuda/libraries/TargetCard.h"
#include "runtime/core/Primitive.h"

#include <algorithm>

namespace tbem::cuda {

namespace {

/// The elements of all dimensions but the last.
std::int64_t rowsOf(const tbem_operand& operand) {
  std::int64_t rows = 1;
  for (int d = 0; d + 1 < operand.rank; ++d) rows *= operand.dims[d];
  return rows;
}

ProductShape denseShape(const tbem_op_desc& op) {
  ProductShape shape;
  const tbem_operand* o = op.operands;
  if (op.primitive == TBEM_PRIMITIVE_dense) {
    shape.y = 3, shape.transposeB = true;
    if (o[2].present != 0) shape.bias = 2;
    shape.m = rowsOf(o[0]), shape.k = o[1].dims[1], shape.n = o[1].dims[0];
  } else if (op.primitive == TBEM_PRIMITIVE_dense_input_gradient) {
    shape.m = rowsOf(o[0]), shape.k = o[1].dims[0], shape.n = o[1].dims[1];
  } else {
    shape.a = 1, shape.b = 0, shape.transposeA = true;
    shape.m = o[2].dims[0], shape.k = rowsOf(o[0]), shape.n = o[2].dims[1];
  }
  return shape;
}

/// The distance between the matrices of an operand along a leading dimension of the result, which has `rank`.
std::int64_t strideAlong(const tbem_operand& operand, int rank, int dimension) {
  const int own = dimension - (rank - operand.rank);
  if (own < 0 || operand.dims[own] == 1) return 0;
  std::int64_t stride = 1;
  for (int d = own + 1; d < operand.rank; ++d) stride *= operand.dims[d];
  return stride;
}

/// The leading dimensions from the outermost to the innermost, neighbours joined where one stride walks through both.
std::vector<Lead> leadsOf(const tbem_op_desc& op) {
  const tbem_operand &a = op.operands[0], &b = op.operands[1], &y = op.operands[2];
  std::vector<Lead> leads;
  for (int d = 0; d + 2 < y.rank; ++d) {
    if (y.dims[d] == 1) continue;
    const Lead lead{y.dims[d], strideAlong(a, y.rank, d), strideAlong(b, y.rank, d), strideAlong(y, y.rank, d)};
    if (!leads.empty()) {
      Lead& last = leads.back();
      if (last.a == lead.a * lead.count && last.b == lead.b * lead.count && last.y == lead.y * lead.count) {
        last = {last.count * lead.count, lead.a, lead.b, lead.y};
        continue;
      }
    }
    leads.push_back(lead);
  }
  return leads;
}

ProductShape matmulShape(const tbem_op_desc& op) {
  const runtime::Matmul p = runtime::matmul(op);
  ProductShape shape;
  shape.m = p.m, shape.k = p.k, shape.n = p.n;
  shape.transposeA = p.transposeA, shape.transposeB = p.transposeB;
  shape.outer = leadsOf(op);
  if (shape.outer.empty()) return shape;
  const Lead innermost = shape.outer.back();
  if (innermost.b == 0 && innermost.a == shape.m * shape.k && !shape.transposeA) {
    shape.m *= innermost.count;
    shape.outer.pop_back();
    if (shape.outer.empty()) return shape;
  }
  const auto largest = std::max_element(shape.outer.begin(), shape.outer.end(),
                                        [](const Lead& one, const Lead& other) { return one.count < other.count; });
  shape.batch = *largest;
  shape.outer.erase(largest);
  return shape;
}

}  // namespace

std::int64_t ProductShape::results() const {
  std::int64_t count = m * n * batch.count;
  for (const Lead& lead : outer) count *= lead.count;
  return count;
}

ProductShape productShape(const tbem_op_desc& op) {
  ProductShape shape = op.primitive == TBEM_PRIMITIVE_matmul ? matmulShape(op) : denseShape(op);
  shape.factors = op.operands[shape.a].dtype;
  shape.result = op.operands[shape.y].dtype;
  shape.tf32 = hasTf32(op);
  if (shape.bias >= 0) shape.biasType = op.operands[shape.bias].dtype;
  return shape;
}

std::vector<std::array<std::int64_t, 3>> callsOf(const ProductShape& shape) {
  std::vector<std::array<std::int64_t, 3>> calls{{0, 0, 0}};
  for (const Lead& lead : shape.outer) {
    std::vector<std::array<std::int64_t, 3>> wider;
    for (const auto& [a, b, y] : calls) {
      for (std::int64_t i = 0; i < lead.count; ++i) wider.push_back({a + i * lead.a, b + i * lead.b, y + i * lead.y});
    }
    calls = std::move(wider);
  }
  return calls;
}

std::uint64_t productWorkspace(const ProductShape& shape) {
  constexpr std::int64_t kLongSum = 512, kParts = 32;
  constexpr std::uint64_t kMost = std::uint64_t{8} << 20U;
  const std::int64_t results = shape.m * shape.n * shape.batch.count;
  if (shape.k < kLongSum) return 0;
  constexpr std::uint64_t kEach = kParts * sizeof(float);
  return std::min(kMost, std::min(static_cast<std::uint64_t>(results), kMost) * kEach);
}

}  // namespace tbem::cuda
