// What ref makes of a description whose operands lie in the host's memory: the results that stand-ins are compared with.
#pragma once

#include "tbem/backend.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

namespace tbem::test {

/// `memory`: of the operands in their order; what the primitive computes is written.
inline void runReference(const tbem_op_desc& op, void* const* memory) {
  const tbem_backend& ref = *tbem_backend_ref();
  std::vector<tbem_operand> operands(op.operands, op.operands + op.inputs + op.outputs);
  tbem_op_desc copy = op;
  copy.operands = operands.data();
  tbem_op_info info{};
  ASSERT_EQ(ref.query(&copy, &info), TBEM_OK) << ref.last_error();
  tbem_op* prepared = nullptr;
  ASSERT_EQ(ref.create(&copy, &prepared), TBEM_OK) << ref.last_error();
  std::vector<std::byte> workspace(info.workspace);
  EXPECT_EQ(ref.run(prepared, memory, workspace.data(), nullptr), TBEM_OK) << ref.last_error();
  ref.destroy(prepared);
}

}  // namespace tbem::test
