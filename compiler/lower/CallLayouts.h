// In which layouts the operands of a native operator lie: the device is asked which it wants. Inside compiler/lower only.
#pragma once

#include "compiler/lower/Lowering.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace tbem::estimate {

/// A native operator on its way to an item.
struct Call {
  const graph::Op& op;
  std::vector<graph::TensorId> tensors;  ///< inputs then outputs, padded to the primitive's signature
  std::size_t inputs = 0;
  std::vector<std::int64_t> attributes;
  std::int32_t algorithm = 0;
};

using Operands = std::vector<tbem_operand>;

inline tbem_operand absent() { return tbem_operand{}; }
bool isWeightGradient(tbem_primitive primitive);
/// By a loop that nobody tuned: oneDNN says so in its name.
bool isSlow(const tbem_op_info& info);

/// The operator's operands and attributes as its primitive lists them. Nothing after an error.
std::optional<Call> describeCall(Lowering& state, const graph::Op& op);
/// With every layout left to the library.
const Answer& askFree(Lowering& state, const Call& call);
/// Finds what was measured of the operator: which algorithm it takes. Of one that was not, whether there is a choice at all.
void chooseAlgorithm(Lowering& state, Call& call, Item& item);
/// The first that the device can run: its own choice or what is there; row-major inputs; everything row-major. An algorithm that
/// does not run in the layouts that came about gives way to the default.
const Answer& choose(Lowering& state, Call& call);

}  // namespace tbem::estimate
