// Sums and maxima over any axes of any layout. Sums over all axes but the second, or all but the last, go through
// ChannelReduce.h: they are the bias gradients; so do sums of images and of the last axes, the means of pooling and of
// normalisations. The rest walk offset tables, one result at a time, in f64.
#include "runtime/backends/cpu/ops/ChannelReduce.h"
#include "runtime/backends/cpu/ops/Op.h"
#include "runtime/backends/cpu/ops/Parallel.h"
#include "runtime/core/Bfloat16.h"

#include <cmath>
#include <cstdio>
#include <cstring>

namespace tbem::cpu {
namespace {

/// The dimensions of x apart: kept ones number the results, reduced ones the terms.
struct Axes {
  int kept[TBEM_MAX_RANK] = {}, reduced[TBEM_MAX_RANK] = {}, keptCount = 0, reducedCount = 0;
  std::int64_t results = 1, terms = 1;
};

Axes axesOf(const tbem_operand& x, const std::int64_t* attributes) {
  bool dropped[TBEM_MAX_RANK] = {};
  for (int i = 0; i < attributes[0]; ++i) dropped[attributes[1 + i]] = true;
  Axes axes;
  for (int d = 0; d < x.rank; ++d) {
    (dropped[d] ? axes.reduced[axes.reducedCount++] : axes.kept[axes.keptCount++]) = d;
    (dropped[d] ? axes.terms : axes.results) *= x.dims[d];
  }
  return axes;
}

/// True where the sum is one a channel; fills the view.
bool channelSum(const tbem_op_desc& op, ChannelView& view) {
  const tbem_operand& x = op.operands[0];
  const Axes axes = axesOf(x, op.attributes);
  if (op.primitive != TBEM_PRIMITIVE_reduce_sum || axes.keptCount != 1 || !runtime::isPlain(op.operands[1])) return false;
  if (axes.kept[0] == x.rank - 1 && x.rank > 1 && runtime::isPlain(x)) {
    view = matrixView(axes.terms, axes.results);
    return true;
  }
  return axes.kept[0] == 1 && sumView(x, view);
}

/// True where the sum is one for each channel of each image, or over the first or the last axes of a row-major tensor; fills the
/// view.
bool imageSum(const tbem_op_desc& op, ChannelView& view) {
  const tbem_operand& x = op.operands[0];
  const Axes axes = axesOf(x, op.attributes);
  if (op.primitive != TBEM_PRIMITIVE_reduce_sum || axes.reducedCount == 0 || !runtime::isPlain(op.operands[1])) return false;
  const bool first = axes.reduced[axes.reducedCount - 1] == axes.reducedCount - 1;
  if (first && runtime::isPlain(x)) {
    view = matrixView(axes.terms, axes.results);
    return true;
  }
  for (int k = 0; k < axes.keptCount; ++k) {
    if (axes.kept[k] != k) return false;
  }
  if (runtime::isPlain(x)) {
    view = {axes.results, 1, axes.terms, 1, 1, axes.terms, axes.terms, 1};
    return true;
  }
  return axes.keptCount == 2 && channelView(x, view);
}

class ImageSums final : public Op {
public:
  explicit ImageSums(const tbem_op_desc& from) : Op(from) { imageSum(desc, view_); }
  tbem_status run(void* const* memory, void*, const double*) override {
    imageSums(view_, {memory[0], nullptr, isNarrow(operands[0])}, static_cast<float*>(memory[1]), threads);
    return TBEM_OK;
  }

private:
  ChannelView view_;
};

class ChannelSums final : public Op {
public:
  explicit ChannelSums(const tbem_op_desc& from) : Op(from) { channelSum(desc, view_); }
  tbem_status run(void* const* memory, void* work, const double*) override {
    auto* y = static_cast<float*>(memory[1]);
    channelReduce(ChannelSum::Sum, view_, {memory[0], nullptr, isNarrow(operands[0])}, static_cast<double*>(work), threads,
                  [&](std::int64_t c, const double* pair) { y[c] = static_cast<float>(pair[0]); });
    return TBEM_OK;
  }

private:
  ChannelView view_;
};

class Reduction final : public Op {
public:
  explicit Reduction(const tbem_op_desc& from)
      : Op(from),
        x_(operands[gradient() ? 1 : 0]),
        y_(operands[gradient() ? 2 : 1]),
        dx_(operands.back()),
        dy_(operands[0]),
        axes_(axesOf(operands[gradient() ? 1 : 0], attributes.data())) {}

  tbem_status run(void* const* memory, void*, const double*) override {
    if (hasPadding(operands.back())) std::memset(memory[operands.size() - 1], 0, operands.back().layout.bytes);
    parallelFor(threads, axes_.results, axes_.results * axes_.terms, [&](std::int64_t i) {
      if (gradient()) {
        maxGradient(memory, i);
      } else if (desc.primitive == TBEM_PRIMITIVE_reduce_sum) {
        const double total = isNarrow(operands[0]) ? sum(static_cast<const runtime::Bfloat16*>(memory[0]), i)
                                                   : sum(static_cast<const float*>(memory[0]), i);
        static_cast<float*>(memory[1])[result(y_, i)] = static_cast<float>(total);
      } else {
        const auto* x = static_cast<const float*>(memory[0]);
        float largest = x[kept(x_, i)];
        forTerms(x_, kept(x_, i), [&](std::int64_t at) {
          if (x[at] > largest || std::isnan(x[at])) largest = x[at];
        });
        static_cast<float*>(memory[1])[result(y_, i)] = largest;
      }
    });
    return TBEM_OK;
  }

private:
  bool gradient() const { return desc.primitive == TBEM_PRIMITIVE_reduce_max_gradient; }

  template <class T>
  double sum(const T* x, std::int64_t i) const {
    double total = 0;
    forTerms(x_, kept(x_, i), [&](std::int64_t at) { total += static_cast<double>(static_cast<float>(x[at])); });
    return total;
  }

  /// dy divided evenly among the elements equal to the maximum.
  void maxGradient(void* const* memory, std::int64_t i) const {
    const auto* x = static_cast<const float*>(memory[1]);
    const float largest = static_cast<const float*>(memory[2])[result(y_, i)];
    std::int64_t equal = 0;
    forTerms(x_, kept(x_, i), [&](std::int64_t at) { equal += x[at] == largest ? 1 : 0; });
    const auto share = static_cast<float>(static_cast<double>(static_cast<const float*>(memory[0])[result(dy_, i)]) /
                                          static_cast<double>(equal));
    auto* dx = static_cast<float*>(memory[3]);
    forTerms(x_, kept(x_, i), [&, base = kept(dx_, i)](std::int64_t at, std::int64_t term) {
      dx[base + termOffset(dx_, term)] = x[at] == largest ? share : 0;
    });
  }

  /// Offset of result i in a tensor of the shape of x, without the reduced dimensions.
  std::int64_t kept(const OffsetTables& tables, std::int64_t i) const {
    std::int64_t at = 0;
    for (int k = axes_.keptCount; k-- > 0;) {
      const auto& table = tables.of[axes_.kept[k]];
      const auto size = static_cast<std::int64_t>(table.size());
      at += table[static_cast<std::size_t>(i % size)];
      i /= size;
    }
    return at;
  }

  /// Offset of result i in a tensor of the shape of y.
  std::int64_t result(const OffsetTables& tables, std::int64_t i) const {
    std::int64_t at = 0;
    for (int k = axes_.keptCount; k-- > 0;) {
      const auto size = static_cast<std::int64_t>(tables.of[k].size());
      at += tables.of[k][static_cast<std::size_t>(i % size)];
      i /= size;
    }
    return at;
  }

  std::int64_t termOffset(const OffsetTables& tables, std::int64_t term) const {
    std::int64_t at = 0;
    for (int k = axes_.reducedCount; k-- > 0;) {
      const auto& table = tables.of[axes_.reduced[k]];
      const auto size = static_cast<std::int64_t>(table.size());
      at += table[static_cast<std::size_t>(term % size)];
      term /= size;
    }
    return at;
  }

  /// Calls use(offset) or use(offset, number of the term) for every term; the last reduced dimension is the inner loop.
  template <class Use>
  void forTerms(const OffsetTables& tables, std::int64_t base, Use use) const {
    static const std::vector<std::int64_t> one = {0};
    const auto& inner = axes_.reducedCount > 0 ? tables.of[axes_.reduced[axes_.reducedCount - 1]] : one;
    const auto size = static_cast<std::int64_t>(inner.size());
    for (std::int64_t first = 0; first < axes_.terms; first += size) {
      const std::int64_t at = base + termOffset(tables, first);
      for (std::int64_t j = 0; j < size; ++j) {
        const std::int64_t here = at + inner[static_cast<std::size_t>(j)];
        if constexpr (std::is_invocable_v<Use, std::int64_t, std::int64_t>) {
          use(here, first + j);
        } else {
          use(here);
        }
      }
    }
  }

  OffsetTables x_, y_, dx_, dy_;
  Axes axes_;
};

tbem_status query(tbem_op_desc& op, tbem_op_info& info) {
  fillAny(op);
  if (op.operands[op.inputs].dtype != TBEM_F32) return fail(TBEM_UNSUPPORTED, "cpu: sums are in f32");
  ChannelView view;
  if (channelSum(op, view)) info.workspace = channelWorkspace(view);
  std::snprintf(info.implementation, sizeof info.implementation, "tbem:reduce");
  return TBEM_OK;
}

tbem_status create(const tbem_op_desc& op, std::unique_ptr<Op>& out) {
  ChannelView view;
  if (channelSum(op, view)) {
    out = std::make_unique<ChannelSums>(op);
  } else if (imageSum(op, view)) {
    out = std::make_unique<ImageSums>(op);
  } else {
    out = std::make_unique<Reduction>(op);
  }
  return TBEM_OK;
}

}  // namespace

Family reduceFamily() { return {query, create}; }

}  // namespace tbem::cpu
