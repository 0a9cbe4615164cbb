// concat in any layouts: each input is a box of the result. Padding of the result is written as zero.
#include "runtime/backends/cpu/ops/Carry.h"
#include "runtime/backends/cpu/ops/Op.h"
#include "runtime/backends/cpu/ops/View.h"

#include <cstdio>
#include <cstring>

namespace tbem::cpu {
namespace {

std::vector<Carriage> carriagesOf(const tbem_op_desc& op) {
  const OffsetTables to(op.operands[op.inputs]);
  const auto axis = static_cast<std::size_t>(op.attributes[0]);
  std::vector<Carriage> carriages;
  std::int64_t start = 0;
  for (int k = 0; k < op.inputs; ++k) {
    const tbem_operand& x = op.operands[k];
    const OffsetTables from(x);
    std::vector<CarriedAxis> axes;
    for (std::size_t d = 0; d < static_cast<std::size_t>(x.rank); ++d) {
      CarriedAxis one{from.of[d], to.of[d]};
      if (d == axis) one.to.assign(to.of[d].begin() + start, to.of[d].begin() + start + x.dims[d]);
      axes.push_back(std::move(one));
    }
    start += x.dims[axis];
    carriages.push_back(planCarriage(std::move(axes)));
  }
  return carriages;
}

class Concat final : public Op {
public:
  explicit Concat(const tbem_op_desc& from)
      : Op(from), carriages_(carriagesOf(desc)), clear_(hasPadding(operands[static_cast<std::size_t>(desc.inputs)])) {}

  tbem_status run(void* const* memory, void*, const double*) override {
    const auto result = carriages_.size();
    if (clear_) std::memset(memory[result], 0, operands[result].layout.bytes);
    for (std::size_t k = 0; k < result; ++k)
      carry(carriages_[k], operands[k].dtype, operands[k].dtype, memory[k], memory[result], threads);
    return TBEM_OK;
  }

private:
  std::vector<Carriage> carriages_;
  bool clear_;
};

tbem_status query(tbem_op_desc& op, tbem_op_info& info) {
  fillAny(op);
  std::snprintf(info.implementation, sizeof info.implementation, "tbem:concat");
  return TBEM_OK;
}

}  // namespace

Family concatFamily() { return Family::of<Concat>(query); }

}  // namespace tbem::cpu
