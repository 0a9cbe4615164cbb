// A whole file: imports, classes, the step, and a main program that takes one.
#include "compiler/emit/keras/Keras.h"
#include "compiler/emit/keras/Training.h"
#include "compiler/emit/keras/Writers.h"
#include "compiler/emit/python/Schedule.h"
#include "compiler/emit/python/Wrap.h"
#include "compiler/graph/pass/IntegerBounds.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

namespace tbem::emit {

namespace keras {

namespace {

constexpr Framework kFramework = {"Keras", "a policy of types"};

/// Stand-in data of an input: normal, or whole numbers below what the network reads them as.
std::string drawn(const graph::Row& row, const Layouts& layouts, graph::TensorId input, std::int64_t bound, bool isShare) {
  Numbers sizes = row.shape(input);
  if (layouts.isLast(input)) std::rotate(sizes.begin() + 1, sizes.begin() + 2, sizes.end());
  const std::string shape = pythonText(sizes);
  const tbem_dtype type = row.graph()[input].dtype;
  if (type == TBEM_I64) return fmt::format("keras.random.randint({}, 0, {})", shape, bound > 0 ? bound : 1);
  if (type == TBEM_BOOL) return fmt::format("keras.random.uniform({}) < 0.5", shape);
  return fmt::format("keras.random.{}({})", isShare ? "uniform" : "normal", shape);
}

std::string stepFunction(const StepText& step) {
  std::string parameters, parts, splits;
  for (const std::string& input : step.inputs) {
    parameters += input + ", ";
    parts += input + "_part, ";
    splits += fmt::format("ops.split({}, {}), ", input, step.parts);
  }
  const auto inputs = [&](std::string names) {
    names.resize(names.size() - 2);
    return step.inputs.size() == 1 ? names : "[" + names + "]";
  };
  std::string text = "\n\n" + wrapped(0, fmt::format("def step(model, {}target) -> float:", parameters));
  if (!step.rate.empty()) {  // Keras counts steps of the weights, also where it adds micro-batches up
    text += wrapped(4, "done = int(model.optimizer.iterations)");
    text += wrapped(4, "model.optimizer.learning_rate = learning_rate(done)");
  }
  if (step.parts == 1)
    return text + wrapped(4, fmt::format("return float(model.train_on_batch({}, target))", inputs(parameters)));
  text += wrapped(4, "total = 0.0");
  text += wrapped(4, fmt::format("parts = zip({}ops.split(target, {}))", splits, step.parts));
  text += wrapped(4, fmt::format("for {}target_part in parts:", parts));
  text += wrapped(8, fmt::format("total += float(model.train_on_batch({}, target_part))", inputs(parts)));
  return text + wrapped(4, fmt::format("return total / {}", step.parts));
}

std::string mainFunction(const graph::Row& row, const Layouts& layouts, const StepClauses& clauses, const std::string& type,
                         const StepText& step) {
  const graph::Graph& graph = row.graph();
  const std::vector<std::int64_t> bounds = graph::integerBounds(graph, row.values);
  std::string text = "\n\ndef main() -> None:\n" + wrapped(4, "keras.utils.set_random_seed(0)");
  if (graph[graph.outputs.front()].dtype == TBEM_F64) text += wrapped(4, "keras.config.set_floatx(\"float64\")");
  if (clauses.mixed) {
    text += wrapped(
        4, fmt::format("keras.config.set_dtype_policy(\"{}\")", *clauses.mixed == TBEM_F16 ? "mixed_float16" : "mixed_bfloat16"));
  }
  text += wrapped(4, fmt::format("model = {}()", type));
  if (!step.loss.empty()) {
    text += wrapped(4, "optimizer = " + step.optimizer);
    text += wrapped(4, fmt::format("model.compile(optimizer=optimizer, loss={})", step.loss));
  }
  std::string arguments;
  for (const graph::TensorId input : graph.inputs) {
    const std::string& path = graph[graph[input].storage].path;
    const std::string name = variableName(path, kerasWords());
    const bool isShare = step.wantsShares && path == "target";
    text += wrapped(4, fmt::format("{} = {}", name, drawn(row, layouts, input, bounds[graph::index(input)], isShare)));
    arguments += (arguments.empty() ? "" : ", ") + name;
  }
  if (!step.loss.empty()) {
    text += wrapped(4, fmt::format("print(f\"loss {{step(model, {}):.6f}}\")", arguments));
  } else {
    text += wrapped(4, fmt::format("output = model({})", step.inputs.size() == 1 ? arguments : "[" + arguments + "]"));
    text +=
        wrapped(4, graph.outputs.size() == 1 ? "print(tuple(output.shape))" : "print([tuple(part.shape) for part in output])");
  }
  return text + "\n\nif __name__ == \"__main__\":\n    main()\n";
}

/// A weight of a layer's own, filled as its declaration says.
CallText weightText(const graph::Row& row, const graph::Tensor& tensor, Scribe& scribe) {
  const graph::Storage& storage = row.graph()[tensor.storage];
  Numbers shape;
  for (const graph::ExprId dim : tensor.shape) shape.push_back(row.integer(dim));
  const Marked size =
      shape.size() == 1 ? "(" + scribe.hole("size", pythonText(shape.front())) + ",)" : scribe.hole("shape", pythonText(shape));
  const graph::Init& init = storage.init;
  const auto real = [&](graph::ExprId number) { return pythonReal(row.values[number]); };
  std::string filled;
  if (init.kind == "zeros" || init.kind == "ones") filled = fmt::format("\"{}\"", init.kind);
  if (init.kind == "constant") filled = fmt::format("keras.initializers.Constant({})", real(init.a));
  if (init.kind == "normal") filled = fmt::format("keras.initializers.RandomNormal({}, {})", real(init.a), real(init.b));
  if (init.kind == "uniform") filled = fmt::format("keras.initializers.RandomUniform({}, {})", real(init.a), real(init.b));
  if (filled.empty()) {
    const double deviation = deviationOf(init.kind, shape);
    filled = init.kind.ends_with("normal")
                 ? fmt::format("keras.initializers.RandomNormal(0.0, {})", deviation)
                 : fmt::format("keras.initializers.RandomUniform({}, {})", -std::sqrt(3) * deviation, std::sqrt(3) * deviation);
  }
  const std::string name = lastName(storage.path).first;
  return CallText{"self.add_weight",
                  {{"name", fmt::format("\"{}\"", name), ""}, {"shape", size, ""}, {"initializer", filled, ""}}};
}

}  // namespace

const TakenWords& kerasWords() {
  static constexpr TakenWords kWords = {
      "activity_regularizer add_loss add_metric add_variable add_weight autocast build build_from_config built call "
      "call_signature_parameters compile compile_from_config compiled compiled_loss compiled_metrics compute_dtype "
      "compute_loss compute_mask compute_metrics compute_output_shape compute_output_spec count_params "
      "distribute_reduction_method distribute_strategy dtype dtype_policy evaluate export fit from_config "
      "get_build_config get_compile_config get_config get_layer get_metrics_result get_quantization_layer_structure "
      "get_state_tree get_weights input input_dtype input_spec jit_compile layers load_own_variables load_weights loss "
      "losses make_predict_function make_test_function make_train_function metrics metrics_names metrics_variables name "
      "non_trainable_variables non_trainable_weights optimizer output path predict predict_function predict_on_batch "
      "predict_step quantization_mode quantize quantized_build quantized_call rematerialized_call reset_metrics "
      "run_eagerly save save_own_variables save_weights set_state_tree set_weights stateless_call "
      "stateless_compute_loss steps_per_execution stop_training summary supports_jit supports_masking symbolic_call "
      "test_function test_on_batch test_step to_json train_function train_on_batch train_step trainable "
      "trainable_variables trainable_weights unrolled_steps_per_execution variable_dtype variables weights ",
      "average_pool done float gelu int keras layers learning_rate main math model ops optimizer output parts print range step "
      "super "
      "target_part task_loss total training tuple zip ",
      "Adagrad Adam AdamW Attention BatchNormalization Conv2D Conv2DTranspose DepthwiseConv2D Padded RMSprop SGD "};
  return kWords;
}

tl::expected<StepText, Refusal> stepText(const graph::Row& row) {
  StepText step;
  step.parts = row.graph().microBatches;
  step.inputs = inputNames(row, kerasWords());
  const graph::Call* const loss = lossOf(row);
  if (loss == nullptr) return step;
  if (const std::optional<Refusal> refusal = severalLosses(row, *loss)) return tl::unexpected(*refusal);
  if (row.structure->optimizers.empty())
    return tl::unexpected(Refusal{loss->use, "a loss without an optimiser", "Keras computes a loss in a step of training."});
  tl::expected<StepText, Refusal> known = withLoss(row, *loss, std::move(step));
  if (!known) return known;
  const graph::Call& optimizer = row.structure->optimizers.front();
  if (row.structure->optimizers.size() > 1)
    return tl::unexpected(Refusal{optimizer.use, "parameter groups", "An optimiser of Keras moves all weights by one rate."});
  if (std::ranges::any_of(row.graph().weights, &graph::Graph::Weight::frozen))
    return tl::unexpected(Refusal{optimizer.use, "frozen weights",
                                  "Keras makes weights where a layer is first applied, behind the place where a program could "
                                  "freeze them."});
  return withOptimizer(row, optimizer, std::move(*known));
}

namespace {

/// Writes calls and operators of one row, and what layers call the weights that they hold.
class Writing {
public:
  explicit Writing(const graph::Row& row) : layouts(row), row(row), choices(choicesOf(row)), read(readForResult(row.graph())) {}

  tl::expected<Code, Refusal> call(const graph::Call& call, Scribe& scribe) {
    Code code = kerasCall({row, call, scribe, layouts, choices});
    if (code.module) held[call.path] = code.module->callee;
    const std::vector<graph::TensorId> results = tensorsOf(call.result);
    const bool isRead =
        std::any_of(results.begin(), results.end(), [&](graph::TensorId result) { return read.contains(result); });
    if (!isRead && holdsWeights(call.path))
      return tl::unexpected(
          Refusal{call.use, "`" + call.decl->name.text + "`, whose result nothing reads,",
                  "Keras makes the weights of a layer where it is applied, and this program has no use of it."});
    return readable(std::move(code), call.use);
  }
  tl::expected<Code, Refusal> op(const graph::Op& op, Scribe& scribe) {
    tl::expected<Code, Refusal> code = kerasOperator(row, op, layouts, scribe);
    return code ? readable(std::move(*code), op.range) : code;
  }
  /// What the network gives: images with their channels last, all else in our order.
  std::optional<Code> result(graph::TensorId tensor) const {
    const bool isImage = row.graph()[tensor].shape.size() > 3;
    if (isImage == layouts.isLast(tensor)) return std::nullopt;
    return expressionCode(isImage ? layouts.withLast(tensor) : layouts.inOrder(tensor), Binding::Atom);
  }
  std::string weight(graph::TensorId tensor, const std::string& holder, std::string_view name) const {
    const auto layer = held.find(holderOf(tensor));
    if (layer == held.end()) return holder + "." + pythonName(name, kerasWords());
    const WeightName* const known = weightNameOf(layer->second, name);
    return fmt::format(fmt::runtime(known->pattern), fmt::format("{}.{}", holder, known->theirs));
  }

  Layouts layouts;

private:
  /// All tensors from which the network's results are computed.
  static std::set<graph::TensorId> readForResult(const graph::Graph& graph) {
    std::set<graph::TensorId> read;
    std::vector<graph::TensorId> open = graph.outputs;
    while (!open.empty()) {
      const graph::TensorId tensor = open.back();
      open.pop_back();
      if (tensor == graph::kNoTensor || !read.insert(tensor).second || graph[tensor].producer == graph::kNoOp) continue;
      const std::vector<graph::TensorId>& inputs = graph[graph[tensor].producer].inputs;
      open.insert(open.end(), inputs.begin(), inputs.end());
    }
    return read;
  }
  bool holdsWeights(const std::string& path) const {
    const std::vector<graph::Storage>& storages = row.graph().storages;
    return std::any_of(storages.begin(), storages.end(),
                       [&](const graph::Storage& one) { return isOfModule(one) && one.path.starts_with(path + "."); });
  }
  std::string holderOf(graph::TensorId tensor) const {
    const std::string_view path = weightPath(row.graph(), tensor);
    const std::size_t dot = path.rfind('.');
    return dot == std::string_view::npos ? "" : std::string(path.substr(0, dot));
  }
  /// Weights of a layer, which exist once it is applied, are read in our order where that is a transposition.
  tl::expected<Code, Refusal> readable(Code code, SrcRange use) const {
    Step step;
    step.code = code;
    for (const graph::TensorId tensor : operandsOf(step)) {
      const std::string_view path = weightPath(row.graph(), tensor);
      const auto layer = path.empty() ? held.end() : held.find(holderOf(tensor));
      if (layer == held.end()) continue;
      const std::string_view name = path.substr(layer->first.size() + 1);
      if (weightNameOf(layer->second, name) == nullptr)
        return tl::unexpected(
            Refusal{use, "`" + std::string(path) + "`",
                    "Keras's layer has it in another form, which a transposition alone does not bring into ours."});
    }
    return code;
  }

  const graph::Row& row;
  const Choices choices;
  const std::set<graph::TensorId> read;
  std::map<std::string, std::string, std::less<>> held;  ///< by path of a layer that is applied: its constructor
};

ClassWords classWords(const Writing& writing) {
  ClassWords words;
  words.base = "layers.Layer";
  words.network = "keras.Model";
  words.forward = "call";
  words.passed = "training";
  words.takes = [](const CallText& constructor) {
    constexpr std::array<std::string_view, 4> kTypes = {"layers.BatchNormalization", "BatchNormalization", "layers.Dropout",
                                                        "Attention"};
    return std::find(kTypes.begin(), kTypes.end(), constructor.callee) != kTypes.end();
  };
  words.isOneInput = true;
  words.weight = [&writing](graph::TensorId tensor, const std::string& holder, std::string_view name) {
    return writing.weight(tensor, holder, name);
  };
  words.taken = kerasWords();
  return words;
}

}  // namespace

}  // namespace keras

tl::expected<Emitted, Refusal> emitKeras(const graph::Row& row, const StepClauses& clauses) {
  keras::Writing writing(row);
  Dialect dialect;
  dialect.call = [&](const graph::Call& call, Scribe& scribe) { return writing.call(call, scribe); };
  dialect.op = [&](const graph::Op& op, Scribe& scribe) { return writing.op(op, scribe); };
  dialect.weight = [&](const graph::Tensor& tensor, Scribe& scribe) { return keras::weightText(row, tensor, scribe); };
  dialect.result = [&](graph::TensorId tensor, Scribe&) { return writing.result(tensor); };
  dialect.identity = "layers.Identity()";
  dialect.taken = keras::kerasWords();
  const tl::expected<NetworkClasses, Refusal> network = networkClasses(
      row, clauses, keras::kFramework, {row.graph(), row.structure->calls},
      [&](const graph::Call& call) { return keras::hasKeras(row, call); }, dialect);
  if (!network) return tl::unexpected(network.error());
  const tl::expected<keras::StepText, Refusal> step = keras::stepText(row);
  if (!step) return tl::unexpected(step.error());

  const Classes& classes = network->classes;
  const std::string body = classText(row.graph(), classes, keras::classWords(writing));
  const std::string rest = step->lossFunction + step->optimizerClass + (step->rate.empty() ? "" : rateFunction(step->rate)) +
                           (step->loss.empty() ? "" : keras::stepFunction(*step)) +
                           keras::mainFunction(row, writing.layouts, clauses, classes.classes.back().name, *step);
  const std::string all = keras::ownLayers(body) + body + rest;
  std::string head = readsModule(all, "math.") ? "import math\n\nimport keras\n" : "import keras\n";
  const bool hasLayers = readsModule(all, "layers."), hasOps = readsModule(all, "ops.");
  if (hasLayers || hasOps)
    head += fmt::format("from keras import {}{}{}\n", hasLayers ? "layers" : "", hasLayers && hasOps ? ", " : "",
                        hasOps ? "ops" : "");
  return Emitted{head + all, ownGradients(row, keras::kFramework)};
}

}  // namespace tbem::emit
