// Nodes of an ONNX file, each as what it becomes.
#include "compiler/import/onnx/OnnxGraph.h"

#include <fmt/format.h>

#include <utility>

namespace tbem::imports {

namespace {

const OnnxOperators::mapped_type* operatorOf(const std::string& op) {
  for (const OnnxOperators* all :
       {&onnxWindows(), &onnxLayers(), &onnxElements(), &onnxMoves(), &onnxParts(), &onnxSizes(), &onnxBodies()}) {
    if (const auto at = all->find(op); at != all->end()) return &at->second;
  }
  return nullptr;
}

/// Paths of the modules that a node was called in, the outermost first: of "/layer1/layer1.0/conv1/Conv", as torch.onnx names
/// nodes, "layer1", "layer1.0", "layer1.0.conv1"; or as it notes them beside: "['', 'layer1', 'layer1.0', 'conv2d']".
std::vector<std::string> modulesOf(const OnnxNode& node) {
  std::vector<std::string> paths;
  if (!node.scopes.empty()) {
    for (std::size_t at = node.scopes.find('\''); at != std::string::npos;) {
      const std::size_t end = node.scopes.find('\'', at + 1);
      if (end == std::string::npos) break;
      paths.push_back(node.scopes.substr(at + 1, end - at - 1));
      at = node.scopes.find('\'', end + 1);
    }
    if (!paths.empty()) paths.pop_back();  // the node itself
    std::erase(paths, "");
    return paths;
  }
  if (!node.name.starts_with('/')) return paths;
  std::string path;
  for (std::size_t at = 1;;) {
    const std::size_t slash = node.name.find('/', at);
    if (slash == std::string::npos) break;
    const std::string word = node.name.substr(at, slash - at);
    // A module of a list repeats the list's name: "layer1.0" in "layer1".
    const std::size_t dot = path.rfind('.');
    const std::string last = dot == std::string::npos ? path : path.substr(dot + 1);
    if (!last.empty() && word.starts_with(last + "."))
      path += word.substr(last.size());
    else
      path += (path.empty() ? "" : ".") + word;
    paths.push_back(path);
    at = slash + 1;
  }
  return paths;
}

/// Operators all of whose operands are of one type.
void requireOneType(OnnxGraph& graph) {
  static const std::set<std::string_view> kOperators = {"Add",
                                                        "And",
                                                        "BatchNormalization",
                                                        "Clip",
                                                        "Concat",
                                                        "Conv",
                                                        "ConvTranspose",
                                                        "Div",
                                                        "Equal",
                                                        "Gemm",
                                                        "Greater",
                                                        "GreaterOrEqual",
                                                        "GroupNormalization",
                                                        "InstanceNormalization",
                                                        "LayerNormalization",
                                                        "Less",
                                                        "LessOrEqual",
                                                        "MatMul",
                                                        "Max",
                                                        "Min",
                                                        "Mod",
                                                        "Mul",
                                                        "Or",
                                                        "PRelu",
                                                        "Range",
                                                        "RMSNormalization",
                                                        "Sub",
                                                        "Sum"};
  static const std::set<std::string_view> kReal = {"AveragePool",
                                                   "BatchNormalization",
                                                   "Clip",
                                                   "Conv",
                                                   "ConvTranspose",
                                                   "Elu",
                                                   "Gelu",
                                                   "Gemm",
                                                   "GlobalAveragePool",
                                                   "GlobalMaxPool",
                                                   "GroupNormalization",
                                                   "InstanceNormalization",
                                                   "LayerNormalization",
                                                   "LeakyRelu",
                                                   "LogSoftmax",
                                                   "MatMul",
                                                   "MaxPool",
                                                   "Pow",
                                                   "PRelu",
                                                   "Resize",
                                                   "RMSNormalization",
                                                   "Softmax"};
  const OnnxNode& node = *graph.node;
  if (kReal.contains(node.op) && !graph.isReal(0)) throw NoForm{"it is of whole numbers"};
  for (std::size_t input = 1; input < node.inputs.size() && kOperators.contains(node.op); ++input) {
    if (graph.has(input) && graph.in(input).facts.type != graph.in(0).facts.type)
      throw Damaged{"its operands are of different types"};
  }
  const bool isChoice = node.op == "Where";
  if (isChoice && (graph.in(0).facts.type != "bool" || graph.in(1).facts.type != graph.in(2).facts.type))
    throw Damaged{"its operands are of different types"};
  const bool isLogical = node.op == "And" || node.op == "Or" || node.op == "Not";
  if (isLogical && graph.in(0).facts.type != "bool") throw Damaged{"its operands are not true or false"};
}

}  // namespace

void addNode(const OnnxNode& node, OnnxGraph& graph) {
  graph.node = &node;
  graph.modules = modulesOf(node);
  const OnnxOperators::mapped_type* const form = operatorOf(node.op);
  const OnnxGraph::Mark before = graph.mark();
  std::string why;
  try {
    if (form != nullptr) {
      requireOneType(graph);
      return (*form)(graph);
    }
  } catch (const NoForm& noForm) {
    why = noForm.why;
  }
  graph.node = &node;
  graph.back(before);
  graph.giveUnknown(why);
}

void addNodes(const std::vector<const OnnxNode*>& nodes, OnnxGraph& graph) {
  for (const bool areConstants : {true, false}) {
    for (const OnnxNode* const node : nodes) {
      if ((node->op == "Constant") == areConstants && !graph.done.contains(node)) addNode(*node, graph);
    }
  }
}

/// Type and shape of a result, as the file says them.
Facts OnnxGraph::describedFacts(std::size_t number, const std::string& why) const {
  const auto refuse = [&](const std::string& more) { throw NoForm{why.empty() ? more : why + "; " + more}; };
  const auto described = model.described.find(output(number));
  if (described == model.described.end()) {
    const std::string which = results() == 1 ? "its result" : fmt::format("its result {}", number + 1);
    refuse(fmt::format("the file does not say which shape {} has: onnx.shape_inference.infer_shapes adds that", which));
  }
  Facts facts;
  facts.type = torchType(described->second.type);
  for (const OnnxDimension& dimension : described->second.shape) {
    const auto symbol = symbols.find(dimension.symbol);
    if (!dimension.number && symbol == symbols.end())
      refuse(fmt::format("its result has a dimension `{}`, which no input has", dimension.symbol));
    facts.shape.push_back(dimension.number ? sizeOf(*dimension.number) : symbol->second);
  }
  return facts;
}

void OnnxGraph::giveUnknown(const std::string& why) {
  if (!node->bodies.empty() || node->holdsOthers)
    throw NoForm{why.empty() ? "it holds a graph of its own, which is not read" : why};
  std::vector<Argument> operands;
  for (std::size_t input = 0; input < node->inputs.size(); ++input) {
    const bool isTensor = has(input) && (in(input).value || in(input).data != nullptr);
    if (isTensor) operands.push_back(operand(input));
  }
  for (std::size_t number = 0; number < node->outputs.size(); ++number) {
    if (number > 0 && !isRead(number)) continue;
    OnnxTensor tensor;
    tensor.facts = describedFacts(number, why);
    tensor.value = add("", operands, tensor.facts);
    Value& value = exported.values[index(*tensor.value)];
    if (number > 0) value.origin += fmt::format(".result{}", number + 1);
    value.op = value.origin;
    value.why = why;
    name(output(number), std::move(tensor));
  }
}

}  // namespace tbem::imports
