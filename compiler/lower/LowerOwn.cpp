// Operators with code of their own: row-major operands, a workspace that is declared, or that their library is asked for.
#include "compiler/lower/Lowering.h"

#include "compiler/diagnostics/tables/Plan.h"
#include "compiler/diagnostics/tables/Run.h"
#include "compiler/diagnostics/tables/Sema.h"
#include "runtime/include/tbem/native.h"

#include <fmt/format.h>

namespace tbem::estimate {

using graph::index;
using graph::kNoTensor;
using graph::TensorId;

bool Lowering::placeOwnWorkspace(const graph::Op& op, const tbem_native_args& args, Item& item) {
  std::optional<std::uint64_t> declared, asked;
  if (const sema::ExprId bytes = op.own.workspace; bytes != sema::kNoExpr) {
    if (values.errorOf(bytes) != sema::EvalError::None || !values[bytes].isInt() || values[bytes].num < 0)
      return fail(diag::row_without_number, op.range, {"`workspace` of `" + op.declaration + "` is no number of bytes"});
    declared = static_cast<std::uint64_t>(values.integer(bytes));
  }
  if (options.ownWorkspace) {
    const auto answer = options.ownWorkspace(op.own, args);
    if (!answer) {
      error = answer.error();
      return false;
    }
    asked = *answer;
  }
  if (declared && asked && *asked > *declared)
    return fail(diag::own_workspace_larger, op.own.range, {std::to_string(*asked), op.declaration, std::to_string(*declared)});
  item.workspace = declared.value_or(asked.value_or(0));
  item.unknownWorkspace = !declared && !asked;
  return true;
}

bool Lowering::lowerOwn(graph::OpId id) {
  const graph::Op& op = graph[id];
  std::vector<TensorId> tensors = op.inputs;
  tensors.insert(tensors.end(), op.outputs.begin(), op.outputs.end());
  std::vector<tbem_operand> operands;
  for (const TensorId tensor : tensors) operands.push_back(tensor == kNoTensor ? tbem_operand{} : plainOf(tensor));
  if (backend.device != nullptr)
    return fail(diag::not_there_yet, op.range, {fmt::format("an operator's own code on backend {} is", backend.name)});
  if (branches.gated()) return fail(diag::not_there_yet, op.range, {"an operator's own code in a network with gates is"});
  Item item;
  item.op = id;
  item.own = true;
  item.implementation = op.own.symbol;
  for (const graph::Attribute& attribute : op.attributes) {
    for (const sema::ExprId value : attribute.values) {
      if (values.errorOf(value) != sema::EvalError::None || !values[value].isInt())
        return fail(diag::row_without_number, op.range, {"`" + attribute.name + "` of `" + op.declaration + "` is no integer"});
      item.attributes.push_back(values.integer(value));
    }
  }
  for (const sema::ExprId scalar : op.scalars) item.scalars.push_back(scalarSlot(scalar, op.range));
  tbem_native_args args{};
  args.size = sizeof args;
  args.threads = options.threads;
  args.inputs = static_cast<std::int32_t>(op.inputs.size());
  args.outputs = static_cast<std::int32_t>(op.outputs.size());
  args.operands = operands.data();
  args.attributes = item.attributes.data();
  args.attribute_count = static_cast<std::int32_t>(item.attributes.size());
  args.scalar_count = static_cast<std::int32_t>(item.scalars.size());
  if (!placeOwnWorkspace(op, args, item)) return false;
  return placeCall(std::move(item), tensors, op.inputs.size(), operands, {});
}

}  // namespace tbem::estimate
