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

/// cross_entropy and its gradient over row-major logits.
class CrossEntropy final : public Op {
public:
  using Op::Op;

  tbem_status run(void* const* memory, void*, const double*) override {
    const bool gradient = desc.primitive == TBEM_PRIMITIVE_cross_entropy_gradient;
    const tbem_operand& shape = operands[gradient ? 1 : 0];
    const std::int64_t n = shape.dims[0], classes = shape.dims[1];
    const auto* logits = static_cast<const float*>(memory[gradient ? 1 : 0]);
    const auto* target = static_cast<const std::int64_t*>(memory[gradient ? 2 : 1]);
    for (std::int64_t i = 0; i < n; ++i) {
      if (target[i] >= 0 && target[i] < classes) continue;
      return fail(TBEM_FAILED, fmt::format("cross_entropy: target {} of sample {} is not in 0..{}", target[i], i, classes - 1));
    }
    if (gradient) {
      const double scale = static_cast<double>(*static_cast<const float*>(memory[0])) / static_cast<double>(n);
      backward(logits, target, static_cast<float*>(memory[3]), n, classes, scale);
      return TBEM_OK;
    }
    double sum = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      const float* row = logits + i * classes;
      const Normaliser z = normaliser(row, classes, [](std::int64_t k) { return k; });
      sum += std::log(z.sum) - (static_cast<double>(row[target[i]]) - z.largest);
    }
    *static_cast<float*>(memory[2]) = static_cast<float>(sum / static_cast<double>(n));
    return TBEM_OK;
  }

private:
  void backward(const float* logits, const std::int64_t* target, float* dlogits, std::int64_t n, std::int64_t classes,
                double scale) const {
    parallelFor(threads, n, 16 * n * classes, [&](std::int64_t i) {
      const float* row = logits + i * classes;
      const Normaliser z = normaliser(row, classes, [](std::int64_t k) { return k; });
      for (std::int64_t k = 0; k < classes; ++k) {
        const double probability = std::exp(static_cast<double>(row[k]) - z.largest) / z.sum;
        dlogits[i * classes + k] = static_cast<float>(scale * (probability - (k == target[i] ? 1.0 : 0.0)));
      }
    });
  }
};

bool isEntropy(const tbem_op_desc& op) {
  return op.primitive == TBEM_PRIMITIVE_cross_entropy || op.primitive == TBEM_PRIMITIVE_cross_entropy_gradient;
}

tbem_status query(tbem_op_desc& op, tbem_op_info& info) {
  fillAny(op);
  for (int k = 0; isEntropy(op) && k < op.inputs + op.outputs; ++k) {
    if (!runtime::isPlain(op.operands[k])) return fail(TBEM_UNSUPPORTED, "cpu: cross entropy takes row-major operands");
  }
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
