// permute, pad, slice and the reorders that oneDNN has not (other element types, equal layouts): elements are carried along
// tables of offsets, whatever the layouts. Padding of the result is written as zero.
#include "runtime/backends/cpu/Op.h"
#include "runtime/backends/cpu/Parallel.h"
#include "runtime/backends/cpu/View.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstring>

namespace tbem::cpu {
namespace {

/// Where each element of a box is read and written: two sums of one term a dimension.
struct Walk {
  int rank = 0;
  std::int64_t dims[TBEM_MAX_RANK] = {}, outer = 1, inner = 1;
  std::vector<std::int64_t> from[TBEM_MAX_RANK], to[TBEM_MAX_RANK];
};

std::vector<std::int64_t> every(const std::vector<std::int64_t>& table, std::int64_t start, std::int64_t step,
                                std::int64_t count) {
  std::vector<std::int64_t> taken;
  for (std::int64_t i = 0; i < count; ++i) taken.push_back(table[static_cast<std::size_t>(start + i * step)]);
  return taken;
}

Walk walkOf(const tbem_op_desc& op) {
  const tbem_operand &x = op.operands[0], &y = op.operands[1];
  const OffsetTables from(x), to(y);
  const std::int64_t* a = op.attributes;
  Walk walk;
  walk.rank = x.rank;
  for (int d = 0; d < x.rank; ++d) {
    walk.from[d] = from.of[d], walk.to[d] = to.of[d], walk.dims[d] = y.dims[d];
    if (op.primitive == TBEM_PRIMITIVE_permute) walk.from[d] = from.of[a[1 + d]];
    if (op.primitive == TBEM_PRIMITIVE_slice) walk.from[d] = every(from.of[d], a[1 + d], a[2 + x.rank + d], y.dims[d]);
    if (op.primitive == TBEM_PRIMITIVE_pad) {
      walk.dims[d] = x.dims[d];
      walk.to[d] = every(to.of[d], a[1 + d], a[2 + x.rank + d] + 1, x.dims[d]);
    }
    (d + 1 < x.rank ? walk.outer : walk.inner) *= walk.dims[d];
  }
  return walk;
}

/// Carries every element through `value`.
template <class From, class To>
void carry(const Walk& walk, const void* source, void* destination, int threads) {
  const auto* x = static_cast<const From*>(source);
  auto* y = static_cast<To*>(destination);
  if (walk.rank == 0) {
    y[0] = static_cast<To>(x[0]);
    return;
  }
  const auto &innerFrom = walk.from[walk.rank - 1], &innerTo = walk.to[walk.rank - 1];
  parallelFor(threads, walk.outer, walk.outer * walk.inner, [&](std::int64_t i) {
    std::int64_t from = 0, to = 0, rest = i;
    for (int d = walk.rank - 1; d-- > 0; rest /= walk.dims[d]) {
      const auto at = static_cast<std::size_t>(rest % walk.dims[d]);
      from += walk.from[d][at], to += walk.to[d][at];
    }
    for (std::size_t j = 0; j < static_cast<std::size_t>(walk.inner); ++j)
      y[to + innerTo[j]] = static_cast<To>(x[from + innerFrom[j]]);
  });
}

using Carry = void (*)(const Walk&, const void*, void*, int);

Carry sameType(std::uint64_t bytes) {
  switch (bytes) {
    case 1:
      return carry<std::uint8_t, std::uint8_t>;
    case 2:
      return carry<std::uint16_t, std::uint16_t>;
    case 4:
      return carry<std::uint32_t, std::uint32_t>;
    default:
      return carry<std::uint64_t, std::uint64_t>;
  }
}

template <class From>
Carry conversionFrom(int to) {
  switch (to) {
    case TBEM_F64:
      return carry<From, double>;
    case TBEM_F32:
      return carry<From, float>;
    case TBEM_I64:
      return carry<From, std::int64_t>;
    case TBEM_I32:
      return carry<From, std::int32_t>;
    default:
      return nullptr;
  }
}

Carry carryOf(int from, int to) {
  if (from == to) return sameType(runtime::elementBytes(from));
  switch (from) {
    case TBEM_F64:
      return conversionFrom<double>(to);
    case TBEM_F32:
      return conversionFrom<float>(to);
    case TBEM_I64:
      return conversionFrom<std::int64_t>(to);
    case TBEM_I32:
      return conversionFrom<std::int32_t>(to);
    default:
      return nullptr;
  }
}

class Move final : public Op {
public:
  explicit Move(const tbem_op_desc& from)
      : Op(from),
        walk_(walkOf(desc)),
        carry_(carryOf(operands[0].dtype, operands[1].dtype)),
        clear_(desc.primitive == TBEM_PRIMITIVE_pad || hasPadding(operands[1])),
        whole_(desc.primitive == TBEM_PRIMITIVE_reorder && operands[0].dtype == operands[1].dtype &&
               runtime::sameLayout(operands[0], operands[1])) {}

  tbem_status run(void* const* memory, void*, const double*) override {
    if (whole_) {
      std::memcpy(memory[1], memory[0], operands[1].layout.bytes);
      return TBEM_OK;
    }
    if (clear_) std::memset(memory[1], 0, operands[1].layout.bytes);
    carry_(walk_, memory[0], memory[1], threads);
    return TBEM_OK;
  }

private:
  Walk walk_;
  Carry carry_;
  bool clear_, whole_;
};

tbem_status query(tbem_op_desc& op, tbem_op_info& info) {
  if (op.primitive == TBEM_PRIMITIVE_permute) {
    for (int k = 0; k < 2; ++k) {
      if (op.operands[k].layout.any) runtime::setPlain(op.operands[k]);
    }
  } else {
    fillAny(op);
  }
  if (carryOf(op.operands[0].dtype, op.operands[1].dtype) == nullptr) {
    return fail(TBEM_UNSUPPORTED, fmt::format("cpu: no conversion of {} to {}", runtime::dtypeName(op.operands[0].dtype),
                                              runtime::dtypeName(op.operands[1].dtype)));
  }
  std::snprintf(info.implementation, sizeof info.implementation, "tbem:move");
  return TBEM_OK;
}

tbem_status create(const tbem_op_desc& op, std::unique_ptr<Op>& out) {
  out = std::make_unique<Move>(op);
  return TBEM_OK;
}

}  // namespace

Family moveFamily() { return {query, create}; }

}  // namespace tbem::cpu
