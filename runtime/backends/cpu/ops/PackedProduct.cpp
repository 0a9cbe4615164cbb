// The dense layer, its gradients and the batched product over packed operands (ProductLoops.h), with space for packing that is
// part of the plan. oneDNN 2.6 has a kernel that packs as well for AVX-512 alone; with AVX2 it takes 1.1 to 2.1 times as long as
// this one, and packs into memory of its own.
#include "runtime/backends/cpu/loops/ProductLoops.h"
#include "runtime/backends/cpu/ops/Op.h"
#include "runtime/backends/cpu/ops/Parallel.h"
#include "runtime/backends/cpu/ops/ProductOperands.h"
#include "runtime/core/Primitive.h"

#include <algorithm>
#include <cstdio>
#include <utility>
#include <vector>

namespace tbem::cpu {
namespace {

// What is packed at once, in lines and their depth: a megabyte of each operand. A panel of the right one, 16 kB with AVX2, stays
// in the first cache, the panels of the left one that a task takes in the second.
constexpr std::int64_t kDepth = 256, kRows = 960, kColumns = 1024;
constexpr std::int64_t kTogetherFloats = std::int64_t{1} << 18U;  ///< small products of a batch are packed together up to so many
constexpr std::int64_t kTaskRows = 12, kTaskColumns = 8;          ///< of a task of one thread, in panels

std::int64_t over(std::int64_t count, std::int64_t by) { return (count + by - 1) / by; }
std::int64_t roundUp(std::int64_t count, std::int64_t to) { return over(count, to) * to; }
/// `count` in as few parts of at most `most` as there can be, evenly, in multiples of `unit`.
std::int64_t evenPart(std::int64_t count, std::int64_t most, std::int64_t unit) {
  return roundUp(over(count, over(count, most)), unit);
}

/// A matrix in an operand: the distances between rows and between columns, and where that of each product of the batch begins.
struct Matrix {
  int operand = 0;
  std::int64_t row = 0, column = 0;
  std::vector<std::int64_t> starts;
};

/// `results` products [rows, depth] [depth, columns].
struct Product {
  std::int64_t rows = 0, columns = 0, depth = 0;
  Matrix left, right, result;
  int bias = -1;  ///< an operand
  std::int64_t results() const { return static_cast<std::int64_t>(result.starts.size()); }
};

Matrix transposed(Matrix matrix) {
  std::swap(matrix.row, matrix.column);
  return matrix;
}

/// A weight [out, in]; x, y and their gradients are row-major with leading dimensions as rows.
Product denseProduct(const tbem_op_desc& op) {
  const runtime::Dense d = runtime::dense(op);
  const auto plain = [&](int operand, std::int64_t columns) { return Matrix{operand, columns, 1, {0}}; };
  const auto weight = [&](int operand) {
    const tbem_layout& layout = op.operands[operand].layout;
    return Matrix{operand, layout.strides[0], layout.strides[1], {0}};
  };
  switch (op.primitive) {
    case TBEM_PRIMITIVE_dense:
      return {d.rows, d.out, d.in, plain(0, d.in), transposed(weight(1)), plain(3, d.out), op.operands[2].present != 0 ? 2 : -1};
    case TBEM_PRIMITIVE_dense_input_gradient:
      return {d.rows, d.in, d.out, plain(0, d.out), weight(1), plain(2, d.in)};
    default:
      break;
  }
  // dw = dy^T x, or, where the weight lies transposed, dw^T = x^T dy: rows of the result are contiguous.
  const Matrix x = plain(0, d.in), dy = plain(1, d.out), dw = weight(2);
  if (dw.column == 1) return {d.out, d.in, d.rows, transposed(dy), x, dw};
  return {d.in, d.out, d.rows, transposed(x), dy, transposed(dw)};
}

/// Along leading dimensions that an operand does not have, or that are 1, it is the same for all results.
Matrix batchedMatrix(const tbem_op_desc& op, int number, int lead) {
  const tbem_operand &operand = op.operands[number], &result = op.operands[2];
  const tbem_layout& layout = operand.layout;
  Matrix matrix{number, layout.strides[operand.rank - 2], layout.strides[operand.rank - 1], {0}};
  const int missing = result.rank - operand.rank;
  for (int d = 0; d < lead; ++d) {
    const bool same = d < missing || operand.dims[d - missing] == 1;
    std::vector<std::int64_t> starts;
    for (const std::int64_t start : matrix.starts) {
      for (std::int64_t i = 0; i < result.dims[d]; ++i) starts.push_back(same ? start : start + i * layout.strides[d - missing]);
    }
    matrix.starts = std::move(starts);
  }
  return matrix;
}

Product productOf(const tbem_op_desc& op) {
  if (op.primitive != TBEM_PRIMITIVE_matmul) return denseProduct(op);
  const runtime::Matmul m = runtime::matmul(op);
  Matrix left = batchedMatrix(op, 0, m.lead), right = batchedMatrix(op, 1, m.lead);
  if (m.transposeA) left = transposed(std::move(left));
  if (m.transposeB) right = transposed(std::move(right));
  return {m.m, m.n, m.k, std::move(left), std::move(right), batchedMatrix(op, 2, m.lead)};
}

/// Floats to pack a block of each operand in. They grow with each dimension, so that a product of fewer samples fits.
struct Packing {
  explicit Packing(const Product& p, std::int64_t results)
      : left(std::min(roundUp(p.rows, productTile().rows), roundUp(kRows, productTile().rows)) * std::min(p.depth, kDepth)),
        right(std::min(roundUp(p.columns, productTile().columns), kColumns) * std::min(p.depth, kDepth)),
        together(std::clamp<std::int64_t>(kTogetherFloats / (left + right), 1, results)),
        floats(std::min(results * (left + right), std::max(left + right, kTogetherFloats))) {}
  std::int64_t left, right;
  std::int64_t together;  ///< products of a batch that are packed at once
  std::int64_t floats;
};

class PackedProduct final : public Op {
public:
  explicit PackedProduct(const tbem_op_desc& from)
      : Op(from),
        tile_(productTile()),
        product_(productOf(desc)),
        packing_(product_, product_.results()),
        rows_(evenPart(product_.rows, kRows, tile_.rows)),
        columns_(evenPart(product_.columns, kColumns, tile_.columns)),
        depth_(evenPart(product_.depth, kDepth, 1)) {}

  tbem_status run(void* const* memory, void* work, const double*) override {
    Block block{memory, static_cast<float*>(work)};
    for (block.first = 0; block.first < product_.results(); block.first += packing_.together) {
      block.results = std::min(packing_.together, product_.results() - block.first);
      for (block.column = 0; block.column < product_.columns; block.column += columns_) {
        block.columns = std::min(columns_, product_.columns - block.column);
        for (block.step = 0; block.step < product_.depth; block.step += depth_) {
          block.depth = std::min(depth_, product_.depth - block.step);
          for (block.row = 0; block.row < product_.rows; block.row += rows_) {
            block.rows = std::min(rows_, product_.rows - block.row);
            pack(block);
            multiply(block);
          }
        }
      }
    }
    return TBEM_OK;
  }

private:
  /// Some products of a batch, and of each a block of rows, of columns and of the depth.
  struct Block {
    void* const* memory;
    float* space;
    std::int64_t first = 0, results = 0, row = 0, rows = 0, column = 0, columns = 0, step = 0, depth = 0;
  };

  float* leftSpace(const Block& block, std::int64_t result) const {
    return block.space + result * (packing_.left + packing_.right);
  }
  float* rightSpace(const Block& block, std::int64_t result) const { return leftSpace(block, result) + packing_.left; }

  float* at(const Block& block, const Matrix& matrix, std::int64_t result, std::int64_t row, std::int64_t column) const {
    return static_cast<float*>(block.memory[matrix.operand]) + matrix.starts[static_cast<std::size_t>(block.first + result)] +
           row * matrix.row + column * matrix.column;
  }

  /// A block of the right operand is packed with the first block of rows.
  void pack(const Block& block) const {
    const std::int64_t lefts = over(block.rows, tile_.rows), rights = block.row == 0 ? over(block.columns, tile_.columns) : 0;
    const std::int64_t panels = lefts + rights;
    parallelFor(threads, block.results * panels, block.results * block.depth * (lefts * tile_.rows + rights * tile_.columns),
                [&](std::int64_t task) {
                  const std::int64_t result = task / panels, panel = task % panels;
                  if (panel < lefts) {
                    const ProductLines lines{at(block, product_.left, result, block.row, block.step), product_.left.row,
                                             product_.left.column, block.rows, block.depth};
                    packLines(lines, tile_.rows, panel, panel + 1, leftSpace(block, result));
                  } else {
                    const ProductLines lines{at(block, product_.right, result, block.step, block.column), product_.right.column,
                                             product_.right.row, block.columns, block.depth};
                    packLines(lines, tile_.columns, panel - lefts, panel - lefts + 1, rightSpace(block, result));
                  }
                });
  }

  void multiply(const Block& block) const {
    const std::int64_t rows = kTaskRows * tile_.rows, columns = kTaskColumns * tile_.columns;
    const std::int64_t across = over(block.columns, columns), tasks = over(block.rows, rows) * across;
    parallelFor(threads, block.results * tasks, block.results * block.rows * block.columns * block.depth / 16,
                [&](std::int64_t task) {
                  const std::int64_t result = task / tasks, row = task % tasks / across * rows, column = task % across * columns;
                  ProductBlock part;
                  part.left = leftSpace(block, result) + row * block.depth;
                  part.right = rightSpace(block, result) + column * block.depth;
                  part.rows = std::min(rows, block.rows - row);
                  part.columns = std::min(columns, block.columns - column);
                  part.depth = block.depth;
                  part.result = at(block, product_.result, result, block.row + row, block.column + column);
                  part.stride = product_.result.row;
                  if (product_.bias >= 0 && block.step == 0)
                    part.bias = static_cast<const float*>(block.memory[product_.bias]) + block.column + column;
                  part.adds = block.step > 0;
                  productBlock(part);
                });
  }

  ProductTile tile_;
  Product product_;
  Packing packing_;
  std::int64_t rows_, columns_, depth_;
};

/// Strides alone say where the elements are, and of a result those of a row are neighbours.
bool canStand(const tbem_op_desc& op, int k) {
  const tbem_operand& operand = op.operands[k];
  if (op.primitive != TBEM_PRIMITIVE_matmul) return runtime::isPlain(operand) || (k == weightOf(op) && liesTransposed(operand));
  const int last = operand.rank - 1;
  return isStrided(operand) && (k != 2 || operand.layout.strides[last] == 1 || operand.dims[last] == 1);
}

tbem_status query(tbem_op_desc& op, tbem_op_info& info) {
  for (int k = 0; k < op.inputs + op.outputs; ++k) {
    tbem_operand& operand = op.operands[k];
    if (!operand.present) continue;
    if (operand.layout.any) runtime::setPlain(operand);
    if (operand.dtype != TBEM_F32 || !canStand(op, k))
      return fail(TBEM_UNSUPPORTED, "cpu: packed products take matrices of f32 without blocks");
  }
  const Product product = productOf(op);
  info.workspace = static_cast<std::uint64_t>(Packing(product, product.results()).floats) * sizeof(float);
  std::snprintf(info.implementation, sizeof info.implementation, "tbem:packed");
  return TBEM_OK;
}

}  // namespace

Family packedFamily() { return Family::of<PackedProduct>(query); }

}  // namespace tbem::cpu
