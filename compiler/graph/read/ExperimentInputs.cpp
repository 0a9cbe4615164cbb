#include "compiler/graph/read/ExperimentInputs.h"

#include "compiler/diagnostics/tables/Graph.h"
#include "compiler/diagnostics/tables/Sema.h"
#include "compiler/graph/read/MicroBatches.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

namespace tbem::graph {

namespace {

using Shape = std::vector<ExprId>;

/// What reads the shapes of one declared tensor.
class InputReader {
public:
  InputReader(Elaborator& e, Session& session, const ExperimentSpec& spec, const ast::Callable& network,
              const ast::Parameter& tensor, const RowFactors& row)
      : e(e), session(session), spec(spec), network(network), tensor(tensor), factors(row.values) {
    const auto given = std::find_if(spec.inputs.begin(), spec.inputs.end(), [&](const InputSpec& declared) {
      return declared.name == tensor.name.text && declared.counts(row.levels);
    });
    if (given != spec.inputs.end()) input = &*given;
  }

  /// Where the shape was given.
  SrcRange range() const { return input != nullptr && input->range.valid() ? input->range : tensor.range; }

  std::optional<Shape> shape() {
    if (input == nullptr) return declaredShape();
    if (input->shape == nullptr) return numbers();
    const Value given = e.evaluateIn(*spec.module, *input->shape, factors);
    return given.isPoison() ? std::nullopt : shapeOf(given, tensor.name.text, "a list such as [batch, 3, 32, 32]");
  }

  std::optional<std::vector<Shape>> shapesOfList() {
    constexpr const char* kWanted = "a list of shapes such as [[batch, 3], [batch, 5]]";
    if (input == nullptr) {
      withoutShape();
      return std::nullopt;
    }
    if (input->shape == nullptr) {
      session.sink.report(diag::wrong_kind, input->range, "an input's shape", kWanted, "one shape");
      return std::nullopt;
    }
    const Value given = e.evaluateIn(*spec.module, *input->shape, factors);
    if (given.isPoison()) return std::nullopt;
    if (!given.is(ValueKind::List)) {
      session.sink.report(diag::wrong_kind, input->shape->range, "an input's shape", kWanted, kindName(given));
      return std::nullopt;
    }
    std::vector<Shape> shapes;
    for (const Value& one : given.items) {
      std::optional<Shape> next = shapeOf(one, fmt::format("{}[{}]", tensor.name.text, shapes.size()), kWanted);
      if (!next) return std::nullopt;
      shapes.push_back(std::move(*next));
    }
    return shapes;
  }

private:
  bool add(Shape& shape, const Value& dim, SrcRange range) {
    if (!dim.is(ValueKind::Number)) {
      if (!dim.isPoison()) session.sink.report(diag::wrong_kind, range, "a dimension", "an int", kindName(dim));
      return false;
    }
    shape.push_back(dim.expr);
    return true;
  }

  Shape numbers() {
    Shape shape;
    for (const std::int64_t dim : input->dims) shape.push_back(e.pool.constant(dim));
    return shape;
  }

  std::optional<Shape> shapeOf(const Value& given, const std::string& name, const char* wanted) {
    const SrcRange range = input->shape->range;
    if (!given.is(ValueKind::List)) {
      session.sink.report(diag::wrong_kind, range, "an input's shape", wanted, kindName(given));
      return std::nullopt;
    }
    Shape shape;
    for (const Value& dim : given.items)
      if (!add(shape, dim, range)) return std::nullopt;
    for (const ExprId dim : shape) {
      const auto here = e.peek(dim);
      if (!here || (here->isInt() && here->num >= 1)) continue;
      if (here->isBeyondWhole())
        session.sink.report(diag::number_overflow, range, e.pool.str(dim), sema::kWholeRange);
      else
        session.sink.report(here->isInt() ? diag::dimension_not_positive : diag::dimension_fractional, range, name,
                            here->isInt() ? here->str() : e.pool.str(dim), here->isInt() ? e.pool.str(dim) : here->str());
      return std::nullopt;
    }
    return shape;
  }

  /// Without an `input` clause its dimensions must all be factors or numbers.
  std::optional<Shape> declaredShape() {
    const auto* type = ast::dynCast<ast::TensorType>(tensor.type);
    const auto known = [&](const ast::Expr* dim) {
      const auto* name = ast::dynCast<ast::NameRef>(dim);
      return name != nullptr ? spec.find(name->name.text).has_value() : dim->kind == ast::NodeKind::Number;
    };
    if (type == nullptr || !std::all_of(type->dims.begin(), type->dims.end(), known)) {
      withoutShape();
      return std::nullopt;
    }
    Shape shape;
    for (const ast::Expr* dim : type->dims) {
      if (!add(shape, e.evaluateIn(*spec.module, *dim, factors), dim->range)) return std::nullopt;
    }
    return shape;
  }

  void withoutShape() {
    const Source* source = session.sources.find(spec.range.begin);
    const bool ofCommandLine = source != nullptr && source->name == "<-e>";
    const bool isList = tensor.type->kind == ast::NodeKind::ListType;
    const std::string& name = tensor.name.text;
    session.sink.report(diag::input_without_shape, spec.range, name, network.name.text)
        .label(tensor.range, "declared here")
        .note(isList          ? "add `input " + name + ": [[...], [...]]` to the design: a shape for each tensor"
              : ofCommandLine ? "give it: --input " + name + "=DIMS, such as image=16,3,224,224"
                              : "add `input " + name + ": [...]` to the design");
  }

  Elaborator& e;
  Session& session;
  const ExperimentSpec& spec;
  const ast::Callable& network;
  const ast::Parameter& tensor;
  const std::vector<Local>& factors;
  const InputSpec* input = nullptr;  ///< what the design says of it
};

}  // namespace

std::optional<Value> addInputs(Elaborator& e, Session& session, const ExperimentSpec& spec, const ast::Callable& network,
                               const ast::Parameter& tensor, const RowFactors& row) {
  InputReader reader(e, session, spec, network, tensor, row);
  const bool isList = tensor.type->kind == ast::NodeKind::ListType;
  std::optional<std::vector<Shape>> shapes;
  if (isList) {
    shapes = reader.shapesOfList();
  } else if (std::optional<Shape> shape = reader.shape()) {
    shapes.emplace().push_back(std::move(*shape));
  }
  if (!shapes) return std::nullopt;
  const std::optional<tbem_dtype> dtype = e.inputType(tensor);
  if (!dtype) return std::nullopt;
  const std::vector<std::pair<std::string, std::string>> none;
  std::vector<Value> inputs;
  for (Shape& shape : *shapes) {
    const std::string name = isList ? fmt::format("{}[{}]", tensor.name.text, inputs.size()) : tensor.name.text;
    // A training's learning rate is no level that matters here.
    const auto& at = spec.rateFactor ? none : e.levels;
    const auto made = addBatchInput(e, {name, *dtype, std::move(shape), reader.range()}, spec.accumulateRange(), at);
    if (!made) return std::nullopt;
    inputs.push_back(Value::indexed(ValueKind::Tensor, index(*made)));
  }
  return isList ? Value::list(std::move(inputs)) : std::move(inputs.front());
}

std::optional<std::vector<TensorId>> wantedInputs(Session& session, const ExperimentSpec& spec, const ExperimentOptions& options,
                                                  const Graph& graph) {
  std::vector<TensorId> wanted;
  for (const std::string& name : options.wanted) {
    const auto input =
        std::find_if(graph.inputs.begin(), graph.inputs.end(), [&](TensorId tensor) { return graph[tensor].name == name; });
    if (input == graph.inputs.end()) {
      session.sink.report(diag::unknown_input, spec.range, graph.network, name);
      return std::nullopt;
    }
    if (!tbem_is_floating(graph[*input].dtype)) {
      session.sink.report(diag::wrong_tensor, graph[*input].range, "an input whose gradient is wanted", "a floating type");
      return std::nullopt;
    }
    if (graph.microBatches > 1) {
      session.sink.report(diag::not_there_yet, spec.accumulateRange(), "the gradient of an input that is taken in parts is");
      return std::nullopt;
    }
    wanted.push_back(*input);
  }
  return wanted;
}

}  // namespace tbem::graph
