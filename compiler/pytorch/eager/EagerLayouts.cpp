#include "compiler/pytorch/eager/EagerLayouts.h"

#include "compiler/count/Layout.h"

#include <algorithm>
#include <array>

namespace tbem::estimate {

using graph::TensorId;

namespace {

constexpr std::size_t kMatrix = 2;  ///< axes of one

/// Operators whose results are row-major whatever their operands are.
bool makesRowMajor(std::string_view name) {
  constexpr std::array<std::string_view, 8> kNames{"dense",   "matmul",      "layer_norm", "concat",
                                                   "softmax", "log_softmax", "roll_axis",  "flip"};
  return std::ranges::find(kNames, name) != kNames.end();
}

std::vector<std::int64_t> numbersOf(const graph::Op& op, std::string_view name, const sema::Values& values) {
  const auto attribute = std::ranges::find(op.attributes, name, &graph::Attribute::name);
  std::vector<std::int64_t> numbers;
  if (attribute == op.attributes.end()) return numbers;
  for (const graph::ExprId value : attribute->values) numbers.push_back(values.integer(value));
  return numbers;
}

}  // namespace

const Strides& EagerLayouts::of(TensorId operand) {
  Strides& known = at(operand);
  if (known.size() != shape(operand).size()) known = rowMajor(shape(operand));
  return known;
}

void EagerLayouts::follow(const EagerOperator& op, const graph::Op& first, std::string_view around, const sema::Values& values,
                          EagerSizes& sizes) {
  sizes.copies = false;
  sizes.copied.clear();
  for (const TensorId result : op.results) {
    at(result) = rowMajor(shape(result));
    if (op.operands.empty()) continue;
    const TensorId operand = op.operands.front();
    if (op.name == "scaled_dot_product_attention" || op.name == "masked_attention") {
      at(result) = ofAttention(operand, result, around);
    } else if (op.result == EagerResult::Reshape && elementsOf(shape(result)) != elementsOf(shape(operand))) {
      if (shape(result).size() == shape(operand).size()) at(result) = of(operand);  // a micro-batch, which is a part of its input
    } else if (op.result == EagerResult::Reshape) {
      const std::optional<Strides> view = viewedAs(shape(result), shape(operand), of(operand));
      sizes.copies = !view;
      if (view) at(result) = *view;
    } else {
      at(result) = made(op, result, first, values);
    }
  }
  if (op.name == "matmul" || op.name == "dense") copyFactors(op, sizes);
  sizes.maskGradient = 0;
  if (op.mask != graph::kNoTensor) alignMask(op, sizes);
}

Strides EagerLayouts::made(const EagerOperator& op, TensorId result, const graph::Op& first, const sema::Values& values) {
  const TensorId operand = op.operands.front();
  const std::size_t rank = shape(result).size();
  if (op.name == "permute") {
    const std::vector<std::int64_t> numbers = numbersOf(first, "order", values);
    const std::vector<std::size_t> order(numbers.begin(), numbers.end());
    return order.size() == rank ? permuted(of(operand), order) : rowMajor(shape(result));
  }
  if (op.result == EagerResult::Expand) return expandedTo(shape(result), shape(operand), of(operand));
  if ((op.result == EagerResult::Slice || op.name == "split") && shape(operand).size() == rank) {
    Strides part = of(operand);
    const std::vector<std::int64_t> steps = numbersOf(first, "stride", values);
    for (std::size_t axis = 0; axis < std::min(steps.size(), rank); ++axis) part[axis] *= steps[axis];
    return part;
  }
  if (makesRowMajor(op.name)) return rowMajor(shape(result));
  const auto whole = std::ranges::find_if(op.operands, [&](TensorId each) { return shape(each) == shape(result); });
  return whole == op.operands.end() ? rowMajor(shape(result)) : denseLike(shape(result), of(*whole));
}

/// The kernels of attention for the CPU, and that for f32 on CUDA, make sample, place, head; the others keep the query's order.
/// torch.nn.MultiheadAttention, which has places first, copies what the kernel for CUDA makes.
Strides EagerLayouts::ofAttention(TensorId query, TensorId result, std::string_view around) {
  constexpr std::size_t kRank = 4;
  constexpr std::array<std::size_t, kRank> kPlaceBeforeHead{0, 2, 1, 3};
  const Shape& heads = shape(result);
  if (heads.size() != kRank) return rowMajor(heads);
  if (device == EagerDevice::Cuda) {
    if (graph[result].dtype != TBEM_F32) return denseLike(heads, of(query));
    if (around == "multi_head_attention" || around == "cross_attention") return rowMajor(heads);
  }
  Shape places(kRank);
  std::ranges::transform(kPlaceBeforeHead, places.begin(), [&heads](std::size_t axis) { return heads[axis]; });
  return permuted(rowMajor(places), kPlaceBeforeHead);
}

/// A product is of two matrices, or of two batches with one axis of samples: factors that cannot be seen as that are copied
/// (_matmul_impl and _flatten_nd_linear of PyTorch 2.15).
void EagerLayouts::copyFactors(const EagerOperator& op, EagerSizes& sizes) {
  const Shape& result = shape(op.results.front());
  const auto copy = [&](TensorId factor, const Shape& whole, const Shape& batch) {
    if (!isCopied(factor, whole, batch)) return;
    sizes.copied.emplace_back(factor, static_cast<std::uint64_t>(elementsOf(batch)) * elementBytes(graph[factor].dtype));
  };
  const auto isMatrix = [this](TensorId factor) { return shape(factor).size() <= kMatrix; };
  const bool isFolded =
      op.name == "dense" || std::ranges::any_of(op.operands, isMatrix) || std::ranges::any_of(op.weights, isMatrix);
  for (const TensorId factor : op.operands) {
    const Shape& own = shape(factor);
    if (own.size() <= kMatrix) continue;
    if (isFolded) {  // all samples are rows of one matrix
      copy(factor, own, {elementsOf(own) / std::max<std::int64_t>(own.back(), 1), own.back()});
      continue;
    }
    Shape whole(result.begin(), result.end() - kMatrix);
    const std::int64_t samples = elementsOf(whole);
    whole.insert(whole.end(), own.end() - kMatrix, own.end());
    copy(factor, whole, {samples, own[own.size() - 2], own.back()});
  }
}

/// On CUDA the kernel for f32 reads rows of a mask that are multiples of 8 numbers, and makes rows of its gradient that are
/// multiples of 16, for every head of every sample (preprocess_mask and _efficient_attention_backward of PyTorch 2.15).
void EagerLayouts::alignMask(const EagerOperator& op, EagerSizes& sizes) {
  constexpr std::int64_t kRowsRead = 8, kRowsMade = 16;
  const Shape &mask = shape(op.mask), &result = shape(op.results.front());
  if (mask.empty() || result.size() < kMatrix || op.operands.size() < kMatrix) return;
  const std::int64_t element = elementBytes(graph[op.results.front()].dtype);
  const auto rows = [](const Shape& of, std::int64_t length, std::int64_t multiple) {
    return static_cast<std::uint64_t>(elementsOf(of) / std::max<std::int64_t>(of.back(), 1) *
                                      ((length + multiple - 1) / multiple * multiple));
  };
  const bool isAligned = device == EagerDevice::Cuda && graph[op.results.front()].dtype == TBEM_F32;
  if (isAligned && mask.back() % kRowsRead != 0) sizes.copied.emplace_back(op.mask, rows(mask, mask.back(), kRowsRead) * element);
  const std::int64_t places = shape(op.operands[1])[shape(op.operands[1]).size() - 2];
  sizes.maskGradient = rows(result, places, isAligned ? kRowsMade : 1) * element;
}

bool EagerLayouts::isCopied(TensorId factor, const Shape& whole, const Shape& batch) {
  return !viewedAs(batch, whole, expandedTo(whole, shape(factor), of(factor)));
}

}  // namespace tbem::estimate
