// Softmax and log softmax along one axis of any layout, their gradients, and the mean cross entropy of class numbers.
// The largest value is subtracted first; sums are f64.
#include "runtime/backends/cpu/Op.h"
#include "runtime/backends/cpu/Parallel.h"
#include "runtime/backends/cpu/View.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>

namespace tbem::cpu {
namespace {

struct Normaliser {
  double largest, sum;
};

template <class At>
Normaliser normaliser(const float* x, std::int64_t length, At at) {
  double largest = -std::numeric_limits<double>::infinity();
  for (std::int64_t k = 0; k < length; ++k) {
    const auto value = static_cast<double>(x[at(k)]);
    if (value > largest || std::isnan(value)) largest = value;
  }
  double sum = 0;
  for (std::int64_t k = 0; k < length; ++k) sum += std::exp(static_cast<double>(x[at(k)]) - largest);
  return {largest, sum};
}

/// The four softmax primitives: operands of one shape, each in its own layout.
class Softmax final : public Op {
public:
  explicit Softmax(const tbem_op_desc& from) : Op(from), axis_(static_cast<int>(attributes[0])) {
    for (const tbem_operand& operand : operands) tables_.emplace_back(operand);
    for (int d = 0; d < operands[0].rank; ++d) lines_ *= d == axis_ ? 1 : operands[0].dims[d];
  }

  tbem_status run(void* const* memory, void*, const double*) override {
    const std::int64_t length = operands[0].dims[axis_];
    if (hasPadding(operands.back())) std::memset(memory[operands.size() - 1], 0, operands.back().layout.bytes);
    parallelFor(threads, lines_, 16 * lines_ * length, [&](std::int64_t line) {
      if (desc.inputs == 1) {
        forward(memory, line, length);
      } else {
        backward(memory, line, length);
      }
    });
    return TBEM_OK;
  }

private:
  void forward(void* const* memory, std::int64_t line, std::int64_t length) const {
    const auto* x = static_cast<const float*>(memory[0]) + start(0, line);
    auto* y = static_cast<float*>(memory[1]) + start(1, line);
    const auto &from = steps(0), &to = steps(1);
    const auto in = [&](std::int64_t k) { return from[static_cast<std::size_t>(k)]; };
    const Normaliser z = normaliser(x, length, in);
    const double logSum = std::log(z.sum);
    for (std::int64_t k = 0; k < length; ++k) {
      const double shifted = static_cast<double>(x[in(k)]) - z.largest;
      y[to[static_cast<std::size_t>(k)]] =
          static_cast<float>(desc.primitive == TBEM_PRIMITIVE_log_softmax ? shifted - logSum : std::exp(shifted) / z.sum);
    }
  }

  void backward(void* const* memory, std::int64_t line, std::int64_t length) const {
    const bool logarithm = desc.primitive == TBEM_PRIMITIVE_log_softmax_gradient;
    const auto* dy = static_cast<const float*>(memory[0]) + start(0, line);
    const auto* y = static_cast<const float*>(memory[1]) + start(1, line);
    auto* dx = static_cast<float*>(memory[2]) + start(2, line);
    double sum = 0;
    for (std::size_t k = 0; k < static_cast<std::size_t>(length); ++k) {
      sum += static_cast<double>(dy[steps(0)[k]]) * (logarithm ? 1.0 : static_cast<double>(y[steps(1)[k]]));
    }
    for (std::size_t k = 0; k < static_cast<std::size_t>(length); ++k) {
      const auto gradient = static_cast<double>(dy[steps(0)[k]]), result = static_cast<double>(y[steps(1)[k]]);
      dx[steps(2)[k]] = static_cast<float>(logarithm ? gradient - std::exp(result) * sum : result * (gradient - sum));
    }
  }

  const std::vector<std::int64_t>& steps(int operand) const { return tables_[static_cast<std::size_t>(operand)].of[axis_]; }

  std::int64_t start(int operand, std::int64_t line) const {
    const OffsetTables& tables = tables_[static_cast<std::size_t>(operand)];
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
};

/// cross_entropy and its gradient over row-major logits, seen as [outer, classes, inner].
class CrossEntropy final : public Op {
public:
  explicit CrossEntropy(const tbem_op_desc& from) : Op(from) {
    const tbem_operand& shape = operands[desc.primitive == TBEM_PRIMITIVE_cross_entropy_gradient ? 1 : 0];
    for (int d = 0; d < shape.rank; ++d) (d < attributes[0] ? outer_ : d == attributes[0] ? classes_ : inner_) *= shape.dims[d];
  }

  tbem_status run(void* const* memory, void* work, const double* scalars) override {
    const bool gradient = desc.primitive == TBEM_PRIMITIVE_cross_entropy_gradient;
    const auto* logits = static_cast<const float*>(memory[gradient ? 1 : 0]);
    const auto* target = static_cast<const std::int64_t*>(memory[gradient ? 2 : 1]);
    const std::int64_t lines = outer_ * inner_;
    for (std::int64_t i = 0; i < lines; ++i) {
      if (target[i] >= 0 && target[i] < classes_) continue;
      return fail(TBEM_FAILED, fmt::format("cross_entropy: target {} of sample {} is not in 0..{}", target[i], i, classes_ - 1));
    }
    if (gradient) {
      backward(logits, target, static_cast<float*>(memory[3]),
               static_cast<double>(*static_cast<const float*>(memory[0])) / static_cast<double>(lines), scalars[0]);
      return TBEM_OK;
    }
    auto* losses = static_cast<double*>(work);
    forward(logits, target, losses, scalars[0]);
    double sum = 0;
    for (std::int64_t i = 0; i < lines; ++i) sum += losses[i];
    *static_cast<float*>(memory[2]) = static_cast<float>(sum / static_cast<double>(lines));
    return TBEM_OK;
  }

private:
  std::int64_t start(std::int64_t line) const { return line / inner_ * classes_ * inner_ + line % inner_; }

  /// One loss a line, summed in order afterwards: the same bits for any number of threads.
  void forward(const float* logits, const std::int64_t* target, double* losses, double smoothing) const {
    parallelFor(threads, outer_ * inner_, 16 * outer_ * inner_ * classes_, [&](std::int64_t i) {
      const float* line = logits + start(i);
      const Normaliser z = normaliser(line, classes_, [&](std::int64_t k) { return k * inner_; });
      double all = 0;
      for (std::int64_t k = 0; smoothing != 0 && k < classes_; ++k) all += static_cast<double>(line[k * inner_]) - z.largest;
      const double own = static_cast<double>(line[target[i] * inner_]) - z.largest;
      losses[i] = std::log(z.sum) - (1 - smoothing) * own - smoothing * all / static_cast<double>(classes_);
    });
  }

  void backward(const float* logits, const std::int64_t* target, float* dlogits, double scale, double smoothing) const {
    const double own = 1 - smoothing, each = smoothing / static_cast<double>(classes_);
    parallelFor(threads, outer_ * inner_, 16 * outer_ * inner_ * classes_, [&](std::int64_t i) {
      const float* line = logits + start(i);
      float* const to = dlogits + start(i);
      const Normaliser z = normaliser(line, classes_, [&](std::int64_t k) { return k * inner_; });
      for (std::int64_t k = 0; k < classes_; ++k) {
        const double probability = std::exp(static_cast<double>(line[k * inner_]) - z.largest) / z.sum;
        to[k * inner_] = static_cast<float>(scale * (probability - each - (k == target[i] ? own : 0.0)));
      }
    });
  }

  std::int64_t outer_ = 1, classes_ = 1, inner_ = 1;
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
