#include "runtime/core/Family.h"

#include <algorithm>

namespace tbem::runtime {

OwnDescription::OwnDescription(const tbem_op_desc& from)
    : desc(from),
      operands(from.operands, from.operands + from.inputs + from.outputs),
      attributes(from.attributes, from.attributes + from.attribute_count) {
  desc.operands = operands.data();
  desc.attributes = attributes.data();
}

bool layoutsAreChosen(const tbem_op_desc& op) {
  return std::none_of(op.operands, op.operands + op.inputs + op.outputs,
                      [](const tbem_operand& operand) { return operand.present != 0 && operand.layout.any != 0; });
}

}  // namespace tbem::runtime
