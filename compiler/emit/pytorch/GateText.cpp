#include "compiler/emit/pytorch/GateText.h"

#include "compiler/emit/python/Reader.h"
#include "compiler/emit/python/Wrap.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace tbem::emit {

using graph::Op;
using graph::OpKind;
using graph::TensorId;

namespace {

constexpr const char* kSkipMasks = R"(

class Skip(nn.Module):
    """A gate. Decides 1: the sample skips what is behind the gate, or 0: it does not."""

    def forward(self, condition: Tensor) -> Tensor:
        self.decision = condition.to(torch.int8)
        return self.decision
)";

constexpr const char* kSkipMasksWithin = R"(

class Skip(nn.Module):
    """A gate. Decides 1: the sample skips what is behind the gate, 0: it does not,
    or -1: it does not come here."""

    def forward(self, condition: Tensor, reached: Tensor | None = None) -> Tensor:
        self.decision = condition.to(torch.int8)
        if reached is not None:
            self.decision = self.decision.masked_fill(~reached, -1)
        return self.decision
)";

constexpr const char* kExitMasks = R"(

class Exit(nn.Module):
    """A gate. Decides 1: the sample leaves the network with its row of the value,
    0: it stays, or -1: it has left."""

    def forward(
        self, condition: Tensor, value: Tensor, inside: Tensor, result: Tensor
    ) -> tuple[Tensor, Tensor]:
        self.decision = condition.to(torch.int8).masked_fill(~inside, -1)
        leaves = self.decision == 1
        return inside & ~leaves, torch.where(leaves{}, value, result)
)";

constexpr const char* kSkipCompact = R"(

class Skip(nn.Module):
    """A gate. Decides 1: the sample skips what is behind the gate, or 0: it does not.
    Each way is computed for the rows of its samples, and not at all without any."""

    def forward(
        self,
        condition: Tensor,
        computed: Callable[..., Tensor],
        left: Callable[..., Tensor],
        *operands: Tensor,
{0}    ) -> Tensor:
{1}        joined = None
        for function, takes in ((computed, ~condition), (left, condition)):
            rows = takes.nonzero().flatten()
            if len(rows) > 0:
                part = function(*(operand[rows] for operand in operands))
                if joined is None:
                    joined = part.new_empty((len(condition), *part.shape[1:]))
                joined = joined.index_copy(0, rows, part)
        return joined
)";
constexpr const char* kSamples = "        samples: Tensor | None = None,\n";
constexpr const char* kDecideAll = "        self.decision = condition.to(torch.int8)\n";
constexpr const char* kDecideSome = R"(        if samples is None:
            self.decision = condition.to(torch.int8)
        else:
            self.decision[samples] = condition.to(torch.int8)
)";
constexpr const char* kNoRows = R"(        if len(condition) == 0:
            return computed(*operands)
)";

constexpr const char* kExitCompact = R"(

class Exit(nn.Module):
    """A gate. Decides 1: the sample leaves the network with its row of the value,
    or 0: it stays. What goes on has the rows of the samples that stay."""

    def forward(
        self,
        condition: Tensor,
        value: Tensor,
        result: Tensor,
        samples: Tensor,
        *others: Tensor,
    ) -> tuple[Tensor, ...]:
        self.decision[samples] = condition.to(torch.int8)
        leaves, stays = condition.nonzero().flatten(), (~condition).nonzero().flatten()
        result = result.index_copy(0, samples[leaves], value[leaves])
        return result, *(rows[stays] for rows in (samples, *others))
)";

constexpr const char* kDecisions = R"(

def decisions(model: nn.Module) -> dict[str, Tensor]:
    """What each gate decided in the last forward pass, a number a sample: 1 or 0, as
    its condition held or not, or -1 where the sample did not come to it."""
    return {{
        name: gate.decision
        for name, gate in model.named_modules()
        if isinstance(gate, {})
    }}
)";

constexpr const char* kUndecided = R"(

def undecided(model: nn.Module, batch: Tensor) -> Tensor:
    """No gate of the model has decided yet. Returns the positions of all samples."""
    for gate in model.modules():
        if isinstance(gate, {}):
            gate.decision = torch.full(
                (len(batch),), -1, dtype=torch.int8, device=batch.device
            )
    return torch.arange(len(batch), device=batch.device)
)";

/// "[:, None, None]" behind a number a sample, beside a tensor of so many dimensions.
std::string alongRows(std::size_t rank) {
  std::string index;
  for (std::size_t k = 1; k < rank; ++k) index += ", None";
  return index.empty() ? "" : "[:" + index + "]";
}

Marked operand(TensorId tensor, Binding least = Binding::Any) { return Scribe::operand(tensor, least); }

Code beginning(const GateGraph& gates, const Op& op) {
  const Marked batch = operand(gates.batch, Binding::Atom);
  if (op.declaration == "samples") return functionCode("undecided", {{"", "self", ""}, {"", batch, ""}});
  std::vector<Argument> arguments = {{"", fmt::format("len({})", batch), ""}};
  const tbem_dtype type = gates.row.graph()[op.outputs.front()].dtype;
  if (op.declaration == "result") {
    const Numbers shape = gates.row.shape(op.outputs.front());
    for (std::size_t k = 1; k < shape.size(); ++k) arguments.push_back({"", pythonText(shape[k]), ""});
  }
  if (tbem_is_floating(type) == 0) arguments.push_back({"dtype", pyTorchType(type), ""});
  arguments.push_back({"device", batch + ".device", ""});
  return functionCode(op.declaration == "result" ? "torch.zeros" : "torch.ones", std::move(arguments));
}

Code skipCode(const GateGraph& gates, const Op& op) {
  Code code;
  code.module = CallText{"Skip", {}};
  code.call.arguments = {{"", operand(op.inputs[0]), ""}};
  if (op.inputs.size() == 1) return code;
  if (gates.form == GateForm::Compact) {
    code.call.arguments.push_back({"samples", operand(op.inputs[1]), ""});
    return code;
  }
  const auto id = static_cast<graph::OpId>(&op - gates.row.graph().ops.data());
  const auto where = gates.reachedWhere.find(id);
  const Marked reached = where == gates.reachedWhere.end()
                             ? operand(op.inputs[1])
                             : fmt::format("{} == {}", operand(op.inputs[1], Binding::BitOr), where->second ? 1 : 0);
  code.call.arguments.push_back({"", reached, ""});
  return code;
}

Code joinCode(const GateGraph& gates, const Op& op) {
  const std::string along = alongRows(gates.row.shape(op.outputs.front()).size());
  if (op.gate != graph::kNoOp) {
    const Marked decided = operand(op.inputs[0], Binding::BitOr) + " == 0";
    return functionCode("torch.where", {{"", along.empty() ? decided : "(" + decided + ")" + along, ""},
                                        {"", operand(op.inputs[1]), ""},
                                        {"", operand(op.inputs[2]), ""}});
  }
  if (gates.form == GateForm::Compact)
    return expressionCode(fmt::format("{}.index_copy(0, {}, {})", operand(op.inputs[0], Binding::Atom), operand(op.inputs[1]),
                                      operand(op.inputs[2])),
                          Binding::Atom);
  return functionCode(
      "torch.where",
      {{"", operand(op.inputs[0], Binding::Atom) + along, ""}, {"", operand(op.inputs[2]), ""}, {"", operand(op.inputs[1]), ""}});
}

}  // namespace

bool isOfGates(const GateGraph& gates, const Op& op) {
  const auto id = static_cast<graph::OpId>(&op - gates.row.graph().ops.data());
  const bool isBegin = std::find(gates.begin.begin(), gates.begin.end(), id) != gates.begin.end();
  return isBegin || op.kind == OpKind::Skip || op.kind == OpKind::Exit || op.kind == OpKind::Join;
}

Code gateCode(const GateGraph& gates, const Op& op) {
  if (op.kind == OpKind::Skip) return skipCode(gates, op);
  if (op.kind == OpKind::Join) return joinCode(gates, op);
  if (op.kind != OpKind::Exit) return beginning(gates, op);
  Code code;
  code.module = CallText{"Exit", {}};
  for (const TensorId input : op.inputs) code.call.arguments.push_back({"", operand(input), ""});
  return code;
}

std::string gateClasses(const GateGraph& gates) {
  const std::vector<Op>& ops = gates.row.graph().ops;
  const auto has = [&](OpKind kind, std::size_t inputs) {
    return std::any_of(ops.begin(), ops.end(), [&](const Op& op) { return op.kind == kind && op.inputs.size() >= inputs; });
  };
  const bool isCompact = gates.form == GateForm::Compact;
  const bool hasSkips = has(OpKind::Skip, 0), hasExits = has(OpKind::Exit, 0), isWithin = has(OpKind::Skip, 2);
  std::string text;
  if (hasSkips && isCompact) {
    text += fmt::format(fmt::runtime(kSkipCompact), isWithin ? kSamples : "",
                        std::string(isWithin ? kDecideSome : kDecideAll) + (hasExits ? kNoRows : ""));
  } else if (hasSkips) {
    text += isWithin ? kSkipMasksWithin : kSkipMasks;
  }
  const std::size_t rank = gates.row.graph()[gates.row.graph().outputs.front()].shape.size();
  if (hasExits) text += isCompact ? std::string(kExitCompact) : fmt::format(fmt::runtime(kExitMasks), alongRows(rank));
  const char* const types = hasSkips && hasExits ? "(Skip, Exit)" : hasSkips ? "Skip" : "Exit";
  text += fmt::format(fmt::runtime(kDecisions), types);
  if (isCompact && !gates.begin.empty()) text += fmt::format(fmt::runtime(kUndecided), types);
  return text;
}

}  // namespace tbem::emit
