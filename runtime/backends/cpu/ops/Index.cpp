// gather, its gradient, arg_max and tables of given values. Every index is checked before anything is read by it. A gather by a
// vector takes any dense layout without blocks along the axis, since its result can lie alike; all else is row-major.
#include "runtime/backends/cpu/ops/Op.h"
#include "runtime/backends/cpu/ops/Parallel.h"
#include "runtime/backends/cpu/ops/View.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <optional>

namespace tbem::cpu {
namespace {

using runtime::Lines;
using runtime::linesAlong;

/// The dimension lies in both as in dense tensors of one order that differ in the length of the axis alone.
bool liesAlike(const tbem_operand& a, const tbem_operand& b, std::int64_t axis, std::int64_t inner, int d) {
  const std::int64_t left = a.layout.strides[d], right = b.layout.strides[d];
  if (a.layout.padded[d] != b.layout.padded[d]) return false;
  if (a.layout.padded[d] == runtime::blockProduct(a.layout, d)) return true;  // one block: its stride does not matter
  return left < inner ? left == right : left * b.dims[axis] == right * a.dims[axis];
}

/// How the whole tensor of a gather lies around the axis in memory, padding included, if its part can lie alike: both row-major,
/// or an index that is a vector and one order of dimensions without blocks along the axis. Nothing where not.
std::optional<Lines> aroundOf(const tbem_operand& whole, const tbem_operand& part, std::int64_t axis) {
  if (runtime::isPlain(whole) && runtime::isPlain(part)) return linesAlong(whole, axis);
  if (whole.rank != part.rank || whole.layout.blocks != part.layout.blocks) return std::nullopt;
  for (int b = 0; b < whole.layout.blocks; ++b) {
    if (whole.layout.block_dim[b] == axis || whole.layout.block_dim[b] != part.layout.block_dim[b] ||
        whole.layout.block_size[b] != part.layout.block_size[b])
      return std::nullopt;
  }
  const tbem_operand& longer = whole.dims[axis] > 1 ? whole : part;
  const std::int64_t inner = longer.dims[axis] > 1 ? longer.layout.strides[axis] : runtime::extentElements(whole);
  if (whole.dims[axis] > 1 && part.dims[axis] > 1 && part.layout.strides[axis] != inner) return std::nullopt;
  for (int d = 0; d < whole.rank; ++d) {
    if (d != axis && !liesAlike(whole, part, axis, inner, d)) return std::nullopt;
  }
  return Lines{runtime::extentElements(whole) / (inner * whole.dims[axis]), whole.dims[axis], inner};
}

tbem_status checkIndex(const std::int64_t* index, std::int64_t count, std::int64_t length) {
  for (std::int64_t i = 0; i < count; ++i) {
    if (index[i] < 0 || index[i] >= length)
      return fail(TBEM_FAILED, fmt::format("gather: index {} at position {} is not in 0..{}", index[i], i, length - 1));
  }
  return TBEM_OK;
}

class Gather final : public Op {
public:
  explicit Gather(const tbem_op_desc& from)
      : Op(from),
        x_(aroundOf(operands[0], operands[2], attributes[0]).value_or(Lines{})),
        count_(runtime::elementCount(operands[1])),
        bytes_(static_cast<std::size_t>(x_.inner) * runtime::elementBytes(operands[0].dtype)) {}

  tbem_status run(void* const* memory, void*, const double*) override {
    const auto* index = static_cast<const std::int64_t*>(memory[1]);
    if (const tbem_status wrong = checkIndex(index, count_, x_.length)) return wrong;
    const auto* from = static_cast<const char*>(memory[0]);
    auto* to = static_cast<char*>(memory[2]);
    if (bytes_ == sizeof(float)) {
      parallelFor(threads, x_.outer, x_.outer * count_, [&](std::int64_t o) {
        const char* const line = from + o * x_.length * 4;
        char* const result = to + o * count_ * 4;
        for (std::int64_t i = 0; i < count_; ++i) std::memcpy(result + i * 4, line + index[i] * 4, 4);
      });
      return TBEM_OK;
    }
    parallelFor(threads, x_.outer * count_, x_.outer * count_ * x_.inner, [&](std::int64_t i) {
      const std::int64_t row = i / count_ * x_.length + index[i % count_];
      std::memcpy(to + static_cast<std::size_t>(i) * bytes_, from + static_cast<std::size_t>(row) * bytes_, bytes_);
    });
    return TBEM_OK;
  }

private:
  Lines x_;
  std::int64_t count_;
  std::size_t bytes_;
};

/// Sums in the order of dy, whatever the number of threads: each piece owns some columns of the result's rows.
class GatherGradient final : public Op {
public:
  explicit GatherGradient(const tbem_op_desc& from)
      : Op(from),
        dx_(aroundOf(operands[2], operands[0], attributes[0]).value_or(Lines{})),
        count_(runtime::elementCount(operands[1])) {}

  tbem_status run(void* const* memory, void*, const double*) override {
    constexpr std::int64_t kLine = 16;  // floats of a cache line
    const auto* index = static_cast<const std::int64_t*>(memory[1]);
    if (const tbem_status wrong = checkIndex(index, count_, dx_.length)) return wrong;
    const auto* from = static_cast<const float*>(memory[0]);
    auto* to = static_cast<float*>(memory[2]);
    const std::int64_t wide = (dx_.inner + kLine - 1) / kLine, columns = std::min<std::int64_t>(threads, wide);
    parallelFor(threads, dx_.outer * columns, dx_.outer * (dx_.length + count_) * dx_.inner, [&](std::int64_t piece) {
      const std::int64_t o = piece / columns, part = piece % columns;
      const std::int64_t begin = std::min(dx_.inner, wide * part / columns * kLine),
                         end = std::min(dx_.inner, wide * (part + 1) / columns * kLine);
      float* const base = to + o * dx_.length * dx_.inner;
      for (std::int64_t row = 0; row < dx_.length; ++row)
        std::fill(base + row * dx_.inner + begin, base + row * dx_.inner + end, 0.0F);
      for (std::int64_t i = 0; i < count_; ++i) {
        const float* const dy = from + (o * count_ + i) * dx_.inner;
        float* const row = base + index[i] * dx_.inner;
        for (std::int64_t k = begin; k < end; ++k) row[k] += dy[k];
      }
    });
    return TBEM_OK;
  }

private:
  Lines dx_;
  std::int64_t count_;
};

class ArgMax final : public Op {
public:
  explicit ArgMax(const tbem_op_desc& from) : Op(from), x_(linesAlong(operands[0], attributes[0])) {}

  tbem_status run(void* const* memory, void*, const double*) override {
    const auto* from = static_cast<const float*>(memory[0]);
    auto* to = static_cast<std::int64_t*>(memory[1]);
    parallelFor(threads, x_.outer * x_.inner, x_.outer * x_.length * x_.inner, [&](std::int64_t i) {
      const float* const line = from + i / x_.inner * x_.length * x_.inner + i % x_.inner;
      std::int64_t best = 0;
      for (std::int64_t k = 1; k < x_.length && !std::isnan(line[best * x_.inner]); ++k) {
        const float here = line[k * x_.inner];
        if (here > line[best * x_.inner] || std::isnan(here)) best = k;
      }
      to[i] = best;
    });
    return TBEM_OK;
  }

private:
  Lines x_;
};

/// One thread: a table is read once, and is small beside what reads it.
class Constant final : public Op {
public:
  using Op::Op;

  tbem_status run(void* const* memory, void*, const double* scalars) override {
    std::transform(scalars, scalars + operands[0].dims[0], static_cast<float*>(memory[0]),
                   [](double value) { return static_cast<float>(value); });
    return TBEM_OK;
  }
};

/// A gather by a vector: the result lies as x does, where that can be said.
bool queryAlike(tbem_op_desc& op) {
  if (op.inputs < 2 || op.operands[1].rank != 1) return false;
  tbem_operand &x = op.operands[0], &y = op.operands[2];
  if (x.layout.any && y.layout.any) return false;
  if (op.operands[1].layout.any) runtime::setPlain(op.operands[1]);
  if (x.layout.any) setLike(x, y);
  if (y.layout.any) setLike(y, x);
  const bool gradient = op.primitive == TBEM_PRIMITIVE_gather_gradient;
  return runtime::isPlain(op.operands[1]) && aroundOf(gradient ? y : x, gradient ? x : y, op.attributes[0]).has_value();
}

tbem_status query(tbem_op_desc& op, tbem_op_info& info) {
  const bool alike = queryAlike(op);
  for (int k = 0; k < op.inputs + op.outputs && !alike; ++k) {
    if (op.operands[k].layout.any) runtime::setPlain(op.operands[k]);
    if (!runtime::isPlain(op.operands[k])) {
      return fail(TBEM_UNSUPPORTED, fmt::format("cpu: {} takes row-major tensors here",
                                                runtime::signature(static_cast<tbem_primitive>(op.primitive)).name));
    }
  }
  std::snprintf(info.implementation, sizeof info.implementation, "tbem:index");
  return TBEM_OK;
}

tbem_status create(const tbem_op_desc& op, std::unique_ptr<Op>& out) {
  switch (op.primitive) {
    case TBEM_PRIMITIVE_gather:
      out = std::make_unique<Gather>(op);
      break;
    case TBEM_PRIMITIVE_gather_gradient:
      out = std::make_unique<GatherGradient>(op);
      break;
    case TBEM_PRIMITIVE_constant:
      out = std::make_unique<Constant>(op);
      break;
    default:
      out = std::make_unique<ArgMax>(op);
  }
  return TBEM_OK;
}

}  // namespace

Family indexFamily() { return {query, create}; }

}  // namespace tbem::cpu
