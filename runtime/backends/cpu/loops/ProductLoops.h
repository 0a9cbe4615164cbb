// The inner loops of a matrix product over packed operands (PackedProduct.cpp), after Goto and van de Geijn, "Anatomy of
// high-performance matrix multiplication", 2008: a tile of the result stays in registers while both operands are streamed.
#pragma once

#include <cstdint>

namespace tbem::cpu {

/// The tile of the result that stays in registers: rows of the left operand by columns of the right one.
struct ProductTile {
  std::int64_t rows, columns;
};
ProductTile productTile();

/// An operand, or a part of one, as `count` lines of `depth` elements: element k of line i is from[i * line + k * step].
/// A line of the left operand is a row, of the right one a column; the depth is what the product sums over.
struct ProductLines {
  const float* from = nullptr;
  std::int64_t line = 0, step = 0, count = 0, depth = 0;
};

/// Lines into panels of `width` lines (productTile), each of which is [depth, width]; those that the last panel lacks are zeros.
/// Panels [first, last).
void packLines(const ProductLines& lines, std::int64_t width, std::int64_t first, std::int64_t last, float* to);

/// result = left right, [rows, columns], rows `stride` apart; panels as packLines makes them. `bias`, one for each column, or
/// null, is added; `adds`: so is what the result holds.
struct ProductBlock {
  const float* left = nullptr;
  const float* right = nullptr;
  std::int64_t rows = 0, columns = 0, depth = 0;
  float* result = nullptr;
  std::int64_t stride = 0;
  const float* bias = nullptr;
  bool adds = false;
};
void productBlock(const ProductBlock& block);

}  // namespace tbem::cpu
