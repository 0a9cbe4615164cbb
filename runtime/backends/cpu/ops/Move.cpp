// permute, pad, slice and the reorders that oneDNN has not (other element types, equal layouts): elements are carried along
// tables of offsets, whatever the layouts. Padding of the result is written as zero.
#include "runtime/backends/cpu/ops/Carry.h"
#include "runtime/backends/cpu/ops/Op.h"
#include "runtime/backends/cpu/ops/View.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstring>

namespace tbem::cpu {
namespace {

std::vector<std::int64_t> every(const std::vector<std::int64_t>& table, std::int64_t start, std::int64_t step,
                                std::int64_t count) {
  std::vector<std::int64_t> taken;
  for (std::int64_t i = 0; i < count; ++i) taken.push_back(table[static_cast<std::size_t>(start + i * step)]);
  return taken;
}

Carriage carriageOf(const tbem_op_desc& op) {
  const tbem_operand &x = op.operands[0], &y = op.operands[1];
  const OffsetTables from(x), to(y);
  const std::int64_t* a = op.attributes;
  std::vector<CarriedAxis> axes;
  for (int d = 0; d < x.rank; ++d) {
    CarriedAxis axis{from.of[d], to.of[d]};
    if (op.primitive == TBEM_PRIMITIVE_permute) axis.from = from.of[a[1 + d]];
    if (op.primitive == TBEM_PRIMITIVE_slice) axis.from = every(from.of[d], a[1 + d], a[2 + x.rank + d], y.dims[d]);
    if (op.primitive == TBEM_PRIMITIVE_pad) axis.to = every(to.of[d], a[1 + d], a[2 + x.rank + d] + 1, x.dims[d]);
    axes.push_back(std::move(axis));
  }
  return planCarriage(std::move(axes));
}

class Move final : public Op {
public:
  explicit Move(const tbem_op_desc& from)
      : Op(from),
        carriage_(carriageOf(desc)),
        clear_(desc.primitive == TBEM_PRIMITIVE_pad || hasPadding(operands[1])),
        whole_(desc.primitive == TBEM_PRIMITIVE_reorder && operands[0].dtype == operands[1].dtype &&
               runtime::sameLayout(operands[0], operands[1])) {}

  tbem_status run(void* const* memory, void*, const double*) override {
    if (whole_) {
      std::memcpy(memory[1], memory[0], operands[1].layout.bytes);
      return TBEM_OK;
    }
    if (clear_) std::memset(memory[1], 0, operands[1].layout.bytes);
    carry(carriage_, operands[0].dtype, operands[1].dtype, memory[0], memory[1], threads);
    return TBEM_OK;
  }

private:
  Carriage carriage_;
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
  if (!carries(op.operands[0].dtype, op.operands[1].dtype)) {
    return fail(TBEM_UNSUPPORTED, fmt::format("cpu: no conversion of {} to {}", runtime::dtypeName(op.operands[0].dtype),
                                              runtime::dtypeName(op.operands[1].dtype)));
  }
  std::snprintf(info.implementation, sizeof info.implementation, "tbem:move");
  return TBEM_OK;
}

}  // namespace

Family moveFamily() { return Family::of<Move>(query); }

}  // namespace tbem::cpu
