// A whole file: imports, classes, the step, and a main program that takes one.
#include "compiler/emit/python/Reader.h"
#include "compiler/emit/python/Schedule.h"
#include "compiler/emit/python/Wrap.h"
#include "compiler/emit/pytorch/GateText.h"
#include "compiler/emit/pytorch/PyTorch.h"
#include "compiler/emit/pytorch/Training.h"
#include "compiler/emit/text/ClassText.h"
#include "compiler/graph/pass/IntegerBounds.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <set>

namespace tbem::emit {

namespace {

constexpr Framework kFramework = {"PyTorch", "autocast", true, true};

/// Stand-in data of an input: normal, or whole numbers below what the network reads them as.
std::string drawn(const graph::Row& row, graph::TensorId input, std::int64_t bound, bool isShare) {
  const graph::Tensor& tensor = row.graph()[input];
  const std::vector<std::int64_t> sizes = row.shape(input);
  const std::string shape = sizes.empty() ? "()" : fmt::format("{}", fmt::join(sizes, ", "));
  if (tensor.dtype == TBEM_I64) return fmt::format("torch.randint({}, {})", bound > 0 ? bound : 1, pythonText(row.shape(input)));
  if (tensor.dtype == TBEM_BOOL) return fmt::format("torch.rand({}) < 0.5", shape);
  return fmt::format("torch.{}({})", isShare ? "rand" : "randn", shape);
}

/// Of a batch, or of a part of it, whose loss counts as such.
std::string forwardText(const StepText& step, std::size_t indent, const std::string& inputs) {
  std::string text;
  if (!step.mixed.empty()) {
    text += wrapped(indent, fmt::format("with torch.autocast(target.device.type, dtype={}):", step.mixed));
    indent += 4;
  }
  text += wrapped(indent, fmt::format("output = model({})", inputs));
  return text + wrapped(indent, "loss = " + step.loss);
}

/// The gradients of an expression, which stands in parentheses where it is more than a name.
std::string backwardText(const StepText& step, const std::string& loss, bool isCompound) {
  if (step.scalesLoss()) return fmt::format("scaler.scale({}).backward()", loss);
  return (isCompound ? "(" + loss + ")" : loss) + ".backward()";
}

std::string forEachOptimizer(const StepText& step, const char* statement) {
  if (!step.isList) return wrapped(4, statement);
  return wrapped(4, "for optimizer in optimizers:") + wrapped(8, statement);
}

std::string stepFunction(const StepText& step) {
  std::string parameters = "model: nn.Module, ", inputs, parts, chunks;
  if (!step.optimizer.empty())
    parameters += step.isList ? "optimizers: list[torch.optim.Optimizer], " : "optimizer: torch.optim.Optimizer, ";
  if (!step.rate.empty()) parameters += "scheduler: LambdaLR, ";
  if (step.scalesLoss()) parameters += "scaler: torch.amp.GradScaler, ";
  for (const std::string& input : step.inputs) {
    parameters += input + ": Tensor, ";
    inputs += (inputs.empty() ? "" : ", ") + input;
    parts += (parts.empty() ? "" : ", ") + input + "_part";
    chunks += fmt::format("{}.chunk({}), ", input, step.parts);
  }
  std::string text = wrapped(0, fmt::format("def step({}target: Tensor) -> Tensor:", parameters));
  const bool isWhole = step.parts == 1;
  if (!step.optimizer.empty()) text += wrapped(4, step.isList ? "model.zero_grad()" : "optimizer.zero_grad()");
  if (isWhole) {
    text += forwardText(step, 4, inputs);
    if (!step.optimizer.empty()) text += wrapped(4, backwardText(step, "loss", false));
  } else {
    text += wrapped(4, "total = torch.zeros((), device=target.device)");
    text += wrapped(4, fmt::format("parts = zip({}target.chunk({}))", chunks, step.parts));
    text += wrapped(4, fmt::format("for {}, target_part in parts:", parts)) + forwardText(step, 8, parts);
    text += wrapped(8, backwardText(step, fmt::format("loss / {}", step.parts), true));
    text += wrapped(8, fmt::format("total += loss.detach() / {}", step.parts));
  }
  if (!step.optimizer.empty()) {
    if (!step.clip.empty()) {
      if (step.scalesLoss()) text += forEachOptimizer(step, "scaler.unscale_(optimizer)");
      text += wrapped(4, step.clip);
    }
    text += forEachOptimizer(step, step.scalesLoss() ? "scaler.step(optimizer)" : "optimizer.step()");
    if (step.scalesLoss()) text += wrapped(4, "scaler.update()");
    if (!step.rate.empty()) text += wrapped(4, "scheduler.step()");
  }
  return "\n\n" + text + wrapped(4, isWhole ? "return loss" : "return total");
}

/// Of a network at inference in mixed precision: what computes its result.
std::string predictFunction(const StepText& step, std::size_t results) {
  return "\n\n" +
         wrapped(0, fmt::format("def predict(model: nn.Module, {}: Tensor) -> {}:", fmt::join(step.inputs, ": Tensor, "),
                                results == 1 ? "Tensor" : "tuple[Tensor, ...]")) +
         wrapped(
             4, fmt::format("with torch.no_grad(), torch.autocast({}.device.type, dtype={}):", step.inputs.front(), step.mixed)) +
         wrapped(8, fmt::format("return model({})", fmt::join(step.inputs, ", ")));
}

std::string mainFunction(const graph::Row& row, const std::string& type, const StepText& step) {
  const graph::Graph& graph = row.graph();
  const std::vector<std::int64_t> bounds = graph::integerBounds(graph, row.values);
  std::string text = "\n\ndef main() -> None:\n" + wrapped(4, "torch.manual_seed(0)");
  if (graph[graph.outputs.front()].dtype == TBEM_F64) text += wrapped(4, "torch.set_default_dtype(torch.float64)");
  if (graph.tf32) text += wrapped(4, "torch.set_float32_matmul_precision(\"high\")");
  text += wrapped(4, fmt::format("model = {}()", type));
  if (!graph.training) text += wrapped(4, "model.eval()");
  std::string arguments;
  for (const graph::TensorId input : graph.inputs) {
    const std::string& path = graph[graph[input].storage].path;
    const std::string name = variableName(path, pyTorchWords());
    const bool isShare = step.wantsShares && path == "target";
    text += wrapped(4, fmt::format("{} = {}", name, drawn(row, input, bounds[graph::index(input)], isShare)));
    arguments += (arguments.empty() ? "" : ", ") + name;
  }
  if (step.loss.empty()) {
    text += step.mixed.empty() ? wrapped(4, "with torch.no_grad():") + wrapped(8, fmt::format("output = model({})", arguments))
                               : wrapped(4, fmt::format("output = predict(model, {})", arguments));
    text +=
        wrapped(4, graph.outputs.size() == 1 ? "print(tuple(output.shape))" : "print([tuple(part.shape) for part in output])");
  } else {
    if (!step.freeze.empty()) text += wrapped(4, "freeze(model)");
    if (!step.optimizer.empty()) text += wrapped(4, step.optimizer);
    if (!step.rate.empty()) text += wrapped(4, "scheduler = LambdaLR(optimizer, learning_rate)");
    if (step.scalesLoss()) text += wrapped(4, "scaler = torch.amp.GradScaler(target.device.type)");
    std::string updating = step.optimizer.empty() ? ""
                           : step.isList          ? "optimizers, "
                           : step.rate.empty()    ? "optimizer, "
                                                  : "optimizer, scheduler, ";
    if (step.scalesLoss()) updating += "scaler, ";
    text += wrapped(4, fmt::format("loss = step(model, {}{})", updating, arguments));
    text += wrapped(4, "print(f\"loss {loss.item():.6f}\")");
  }
  return text + "\n\nif __name__ == \"__main__\":\n    main()\n";
}

/// A weight of a module's own, filled as its declaration says.
CallText weightText(const graph::Row& row, const graph::Tensor& tensor, Scribe& scribe) {
  std::vector<std::int64_t> shape;
  for (const graph::ExprId dim : tensor.shape) shape.push_back(row.integer(dim));
  const std::string size = scribe.hole("size", shape.size() == 1 ? pythonText(shape.front()) : pythonText(shape));
  const graph::Init& init = row.graph()[tensor.storage].init;
  const auto real = [&](graph::ExprId number) { return pythonReal(row.values[number]); };
  std::string filled;
  if (init.kind == "zeros" || init.kind == "ones") filled = fmt::format("torch.{}({})", init.kind, size);
  if (init.kind == "constant")
    filled = fmt::format("torch.full({}, {})", shape.size() == 1 ? "(" + size + ",)" : size, real(init.a));
  if (init.kind == "normal") filled = fmt::format("nn.init.normal_(torch.empty({}), {}, {})", size, real(init.a), real(init.b));
  if (init.kind == "uniform") filled = fmt::format("nn.init.uniform_(torch.empty({}), {}, {})", size, real(init.a), real(init.b));
  if (init.kind == "torch_uniform" && shape.size() >= 2)
    filled = fmt::format("nn.init.kaiming_uniform_(torch.empty({}), a=5**0.5)", size);
  if (filled.empty() && shape.size() < 2) {  // PyTorch counts nothing by a vector
    const double deviation = deviationOf(init.kind, shape);
    const bool isNormal = init.kind.ends_with("normal");
    filled = isNormal ? fmt::format("nn.init.normal_(torch.empty({}), 0.0, {})", size, deviation)
                      : fmt::format("nn.init.uniform_(torch.empty({}), {}, {})", size, -std::sqrt(3) * deviation,
                                    std::sqrt(3) * deviation);
  }
  for (const auto& [ours, theirs] :
       {std::pair{"he_normal", "kaiming_normal_"}, std::pair{"he_uniform", "kaiming_uniform_"},
        std::pair{"xavier_normal", "xavier_normal_"}, std::pair{"xavier_uniform", "xavier_uniform_"}}) {
    if (filled.empty() && init.kind == ours) filled = fmt::format("nn.init.{}(torch.empty({}))", theirs, size);
  }
  return CallText{"nn.Parameter", {{"", filled, ""}}};
}

/// The words of a class. Of a batch normalisation, which alone has buffers here, the running variance has a name of PyTorch's
/// own.
ClassWords classWords() {
  ClassWords words;
  words.base = words.network = "nn.Module";
  words.forward = "forward";
  words.tensor = "Tensor";
  words.weight = [](graph::TensorId, const std::string& holder, std::string_view name) {
    return holder + "." + (name == "running_variance" ? "running_var" : pythonName(name, pyTorchWords()));
  };
  words.taken = pyTorchWords();
  return words;
}

/// What the network's classes are read from, and how they are written.
struct Writing {
  const graph::Row& row;             ///< with the graph of the gates, where there are any
  const GateGraph* gates = nullptr;  ///< nullptr: there are none

  ModuleSource source() const {
    ModuleSource source{row.graph(), row.structure->calls, true};
    if (gates == nullptr) return source;
    source.armsApart = gates->form == GateForm::Compact;
    source.begin = gates->begin;
    source.hasSamples = gates->hasSamples;
    return source;
  }
  Dialect dialect() const {
    Dialect dialect;
    dialect.call = [this](const graph::Call& call, Scribe& scribe) { return pyTorchCall(row, call, scribe); };
    dialect.op = [this](const graph::Op& op, Scribe& scribe) -> tl::expected<Code, Refusal> {
      if (gates != nullptr && isOfGates(*gates, op)) return gateCode(*gates, op);
      return pyTorchOperator(row, op, scribe);
    };
    dialect.weight = [this](const graph::Tensor& tensor, Scribe& scribe) { return weightText(row, tensor, scribe); };
    dialect.identity = "nn.Identity()";
    dialect.moduleList = "nn.ModuleList";
    dialect.taken = pyTorchWords();
    return dialect;
  }
  ClassWords words() const {
    ClassWords words = classWords();
    if (gates == nullptr) return words;
    const std::size_t count = row.structure->graph.tensors.size();
    words.isNamed = [count](graph::TensorId tensor) { return graph::index(tensor) >= count; };
    words.givenWithoutRows = gates->resultOf;
    return words;
  }
};

/// The graph with gates may be another one than the row's.
tl::expected<Emitted, Refusal> programText(const graph::Row& row, const StepClauses& clauses, const Writing& writing) {
  const Dialect dialect = writing.dialect();
  const tl::expected<NetworkClasses, Refusal> network = networkClasses(
      writing.row, clauses, kFramework, writing.source(), [&](const graph::Call& call) { return hasPyTorch(row, call); },
      dialect);
  if (!network) return tl::unexpected(network.error());
  const Classes& classes = network->classes;
  tl::expected<StepText, Refusal> step = stepText(row);
  if (!step) return tl::unexpected(step.error());
  if (clauses.mixed) step->mixed = pyTorchType(*clauses.mixed);

  const std::string body =
      (writing.gates != nullptr ? gateClasses(*writing.gates) : "") + classText(writing.row.graph(), classes, writing.words());
  const std::string rest = (step->rate.empty() ? "" : rateFunction(step->rate)) + step->freeze + step->groups +
                           (!step->loss.empty()   ? stepFunction(*step)
                            : step->mixed.empty() ? ""
                                                  : predictFunction(*step, row.graph().outputs.size())) +
                           mainFunction(row, classes.classes.back().name, *step);
  std::string head = readsModule(rest, "math.") ? "import math\n" : "";
  if (readsModule(body, "Callable[")) head += "from collections.abc import Callable\n";
  if (!head.empty()) head += "\n";
  head += "import torch\n";
  if (readsModule(body + rest, "F.")) head += "import torch.nn.functional as F\n";
  head += "from torch import Tensor, nn\n";
  if (!step->rate.empty()) head += "from torch.optim.lr_scheduler import LambdaLR\n";
  return Emitted{head + body + rest, ownGradients(row, kFramework)};
}

}  // namespace

const TakenWords& pyTorchWords() {
  static constexpr TakenWords kWords = {
      "T_destination add_module apply bfloat16 buffers call_super_init children compile cpu cuda double dump_patches eval "
      "extra_repr float forward get_buffer get_extra_state get_parameter get_submodule half ipu load_state_dict "
      "modules mtia named_buffers named_children named_modules named_parameters parameters "
      "register_backward_hook register_buffer register_forward_hook register_forward_pre_hook "
      "register_full_backward_hook register_full_backward_pre_hook register_load_state_dict_post_hook "
      "register_load_state_dict_pre_hook register_module register_parameter register_state_dict_post_hook "
      "register_state_dict_pre_hook requires_grad_ set_extra_state set_submodule share_memory state_dict to "
      "to_empty train training type xpu zero_grad ",
      "Callable Exit F LambdaLR Skip Tensor decisions dict freeze groups isinstance learning_rate len list loss main "
      "make_optimizer make_optimizers math model name nn optimizer optimizers output parameter parts predict print range scaler "
      "scheduler step super torch total tuple undecided zip ",
      "Callable Exit F LambdaLR Skip Tensor "};
  return kWords;
}

tl::expected<Emitted, Refusal> emitPyTorch(const graph::Row& row, const StepClauses& clauses) {
  if (!hasGates(row.graph())) return programText(row, clauses, {row});
  tl::expected<GateGraph, Refusal> gates = gateGraph(row, clauses.gates);
  if (!gates) return tl::unexpected(gates.error());
  return programText(row, clauses, {gates->row, &*gates});
}

}  // namespace tbem::emit
