// Softmax and log softmax along one axis of any layout, their gradients, and the mean cross entropy of class numbers.
#include "runtime/backends/cpu/loops/SoftmaxLoops.h"
#include "runtime/backends/cpu/ops/Op.h"
#include "runtime/backends/cpu/ops/Parallel.h"
#include "runtime/backends/cpu/ops/View.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace tbem::cpu {
namespace {

SoftmaxLoop loopOf(const tbem_op_desc& op) {
  switch (op.primitive) {
    case TBEM_PRIMITIVE_softmax:
      return SoftmaxLoop::Softmax;
    case TBEM_PRIMITIVE_log_softmax:
      return SoftmaxLoop::LogSoftmax;
    case TBEM_PRIMITIVE_softmax_gradient:
      return SoftmaxLoop::SoftmaxGradient;
    case TBEM_PRIMITIVE_log_softmax_gradient:
      return SoftmaxLoop::LogSoftmaxGradient;
    case TBEM_PRIMITIVE_cross_entropy:
      return SoftmaxLoop::Entropy;
    default:
      return SoftmaxLoop::EntropyGradient;
  }
}

/// Null where each offset is its index: such lines are read as they lie.
const std::int64_t* offsetsOf(const std::vector<std::int64_t>& of) {
  for (std::size_t k = 0; k < of.size(); ++k) {
    if (of[k] != static_cast<std::int64_t>(k)) return of.data();
  }
  return nullptr;
}

/// The four softmax primitives: operands of one shape, each in its own layout.
class Softmax final : public Op {
public:
  explicit Softmax(const tbem_op_desc& from) : Op(from), axis_(static_cast<int>(attributes[0])) {
    for (const tbem_operand& operand : operands) tables_.emplace_back(operand);
    for (const OffsetTables& table : tables_) offsets_.push_back(offsetsOf(table.of[axis_]));
    for (int d = 0; d < operands[0].rank; ++d) lines_ *= d == axis_ ? 1 : operands[0].dims[d];
  }

  tbem_status run(void* const* memory, void*, const double*) override {
    const SoftmaxLoop loop = loopOf(desc);
    const std::int64_t length = operands[0].dims[axis_];
    const std::size_t to = operands.size() - 1;
    if (hasPadding(operands[to])) std::memset(memory[to], 0, operands[to].layout.bytes);
    parallelFor(threads, lines_, 4 * lines_ * length, [&](std::int64_t i) {
      SoftmaxLine line;
      line.length = length;
      line.from = {static_cast<const float*>(memory[0]) + start(0, i), offsets_[0]};
      if (to == 2) line.result = {static_cast<const float*>(memory[1]) + start(1, i), offsets_[1]};
      line.to = {static_cast<float*>(memory[to]) + start(to, i), offsets_[to]};
      softmaxLine(loop, line);
    });
    return TBEM_OK;
  }

private:
  std::int64_t start(std::size_t operand, std::int64_t line) const {
    const OffsetTables& tables = tables_[operand];
    std::int64_t at = 0;
    for (int d = operands[0].rank; d-- > 0;) {
      if (d == axis_) continue;
      at += tables.of[d][static_cast<std::size_t>(line % operands[0].dims[d])];
      line /= operands[0].dims[d];
    }
    return at;
  }

  int axis_;
  std::int64_t lines_ = 1;
  std::vector<OffsetTables> tables_;
  std::vector<const std::int64_t*> offsets_;  ///< along the axis; into tables_
};

/// cross_entropy and its gradient over row-major logits, seen as [outer, classes, inner].
class CrossEntropy final : public Op {
public:
  explicit CrossEntropy(const tbem_op_desc& from) : Op(from) {
    const tbem_operand& shape = operands[desc.primitive == TBEM_PRIMITIVE_cross_entropy_gradient ? 1 : 0];
    for (int d = 0; d < shape.rank; ++d) (d < attributes[0] ? outer_ : d == attributes[0] ? classes_ : inner_) *= shape.dims[d];
    for (std::int64_t k = 0; inner_ != 1 && k < classes_; ++k) offsets_.push_back(k * inner_);
  }

  tbem_status run(void* const* memory, void* work, const double* scalars) override {
    const bool gradient = desc.primitive == TBEM_PRIMITIVE_cross_entropy_gradient;
    const auto* logits = static_cast<const float*>(memory[gradient ? 1 : 0]);
    const auto* target = static_cast<const std::int64_t*>(memory[gradient ? 2 : 1]);
    const std::int64_t lines = outer_ * inner_;
    std::int64_t counted = 0;
    for (std::int64_t i = 0; i < lines; ++i) {
      counted += target[i] != runtime::kNoClass ? 1 : 0;
      if ((target[i] >= 0 && target[i] < classes_) || target[i] == runtime::kNoClass) continue;
      return fail(TBEM_FAILED, fmt::format("cross_entropy: target {} of sample {} is not in 0..{}", target[i], i, classes_ - 1));
    }
    const double count = static_cast<double>(std::max<std::int64_t>(counted, 1));
    const SoftmaxLoop loop = loopOf(desc);
    // One loss a line, summed in order afterwards: the same bits for any number of threads.
    auto* const losses = static_cast<double*>(work);
    SoftmaxLine all;
    all.length = classes_;
    all.smoothing = scalars[0];
    if (gradient) all.scale = static_cast<double>(*static_cast<const float*>(memory[0])) / count;
    parallelFor(threads, lines, 4 * lines * classes_, [&](std::int64_t i) {
      const std::int64_t start = i / inner_ * classes_ * inner_ + i % inner_;
      const std::int64_t* const offsets = inner_ != 1 ? offsets_.data() : nullptr;
      SoftmaxLine line = all;
      line.from = {logits + start, offsets};
      line.target = target[i];
      if (gradient) line.to = {static_cast<float*>(memory[3]) + start, offsets};
      const bool counts = line.target != runtime::kNoClass;
      if (gradient && !counts) {
        for (std::int64_t k = 0; k < classes_; ++k) line.to.data[k * inner_] = 0;
        return;
      }
      const double loss = counts ? softmaxLine(loop, line) : 0;
      if (!gradient) losses[i] = loss;
    });
    if (gradient) return TBEM_OK;
    double sum = 0;
    for (std::int64_t i = 0; i < lines; ++i) sum += losses[i];
    *static_cast<float*>(memory[2]) = static_cast<float>(sum / count);
    return TBEM_OK;
  }

private:
  std::int64_t outer_ = 1, classes_ = 1, inner_ = 1;
  std::vector<std::int64_t> offsets_;  ///< of the classes; empty where they lie side by side
};

bool isEntropy(const tbem_op_desc& op) {
  return op.primitive == TBEM_PRIMITIVE_cross_entropy || op.primitive == TBEM_PRIMITIVE_cross_entropy_gradient;
}

tbem_status query(tbem_op_desc& op, tbem_op_info& info) {
  fillAny(op);
  for (int k = 0; isEntropy(op) && k < op.inputs + op.outputs; ++k) {
    if (!runtime::isPlain(op.operands[k])) return fail(TBEM_UNSUPPORTED, "cpu: cross entropy takes row-major operands");
  }
  if (op.primitive == TBEM_PRIMITIVE_cross_entropy)
    info.workspace = static_cast<std::uint64_t>(runtime::elementCount(op.operands[1])) * sizeof(double);
  std::snprintf(info.implementation, sizeof info.implementation, "tbem:softmax");
  return TBEM_OK;
}

tbem_status create(const tbem_op_desc& op, std::unique_ptr<Op>& out) {
  if (isEntropy(op)) {
    out = std::make_unique<CrossEntropy>(op);
  } else {
    out = std::make_unique<Softmax>(op);
  }
  return TBEM_OK;
}

}  // namespace

Family softmaxFamily() { return {query, create}; }

}  // namespace tbem::cpu
