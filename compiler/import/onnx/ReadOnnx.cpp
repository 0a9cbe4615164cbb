#include "compiler/import/onnx/ReadOnnx.h"

#include "compiler/diagnostics/tables/Import.h"
#include "compiler/import/onnx/OnnxGraph.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <utility>

namespace tbem::imports {

namespace {

ExportFailure damaged(std::string message, std::string place = "") {
  return {diag::model_file_damaged, std::move(message), std::move(place)};
}

/// Where a node is in the file: by its name, else by its first result's.
std::string placeOf(const OnnxNode& node) {
  if (!node.name.empty()) return fmt::format("the node `{}`", node.name);
  return node.outputs.empty() ? "" : fmt::format("the node that gives `{}`", node.outputs.front());
}

/// Calls of modules need their nodes one behind the other: a module whose nodes lie among others' is none.
void joinModules(Exported& exported) {
  for (bool changed = true; changed;) {
    changed = false;
    std::set<std::string> ended;
    std::vector<std::string> open;
    std::set<std::string> broken;
    for (const Value& value : exported.values) {
      if (value.kind != Value::Kind::Node) continue;
      std::size_t depth = 0;
      while (depth < open.size() && depth < value.modules.size() && open[depth] == value.modules[depth].path) ++depth;
      for (; open.size() > depth; open.pop_back()) ended.insert(open.back());
      for (; depth < value.modules.size(); ++depth) {
        if (ended.contains(value.modules[depth].path)) broken.insert(value.modules[depth].path);
        open.push_back(value.modules[depth].path);
      }
    }
    for (Value& value : exported.values) {
      const auto first = std::find_if(value.modules.begin(), value.modules.end(),
                                      [&](const ModuleUse& use) { return broken.contains(use.path); });
      changed = changed || first != value.modules.end();
      value.modules.erase(first, value.modules.end());
    }
  }
}

bool isNumber(const std::string& word) {
  return !word.empty() && std::all_of(word.begin(), word.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
}

/// "layer" of "layer1.0": what a module is called for, as ONNX does not keep its class.
std::string kindOf(const std::string& path) {
  std::string kind = path;
  while (isNumber(kind.substr(kind.rfind('.') == std::string::npos ? 0 : kind.rfind('.') + 1)) &&
         kind.find('.') != std::string::npos)
    kind.resize(kind.rfind('.'));
  kind = kind.substr(kind.rfind('.') == std::string::npos ? 0 : kind.rfind('.') + 1);
  std::string word = kind;
  while (!word.empty() && (std::isdigit(static_cast<unsigned char>(word.back())) != 0 || word.back() == '_')) word.pop_back();
  // Single letters, and "xs", are what dimensions and tensors are called.
  const bool isWord = word.size() > 1 && word != "xs" && std::isalpha(static_cast<unsigned char>(word.front())) != 0;
  return isWord ? word : "part";
}

/// Gives modules their kinds: what holds numbered modules alone is a Sequential, which runs them one behind the other.
void nameModules(Exported& exported) {
  std::map<std::string, bool> isSequence;  // by path
  for (const Value& value : exported.values) {
    for (std::size_t depth = 0; depth < value.modules.size(); ++depth) {
      const std::string& path = value.modules[depth].path;
      const bool holdsNumber = depth + 1 < value.modules.size() && value.modules[depth + 1].path.starts_with(path + ".") &&
                               isNumber(value.modules[depth + 1].path.substr(path.size() + 1));
      isSequence.try_emplace(path, true).first->second &= holdsNumber;
    }
  }
  for (Value& value : exported.values) {
    if (value.kind != Value::Kind::Node) continue;
    for (ModuleUse& use : value.modules)
      use.kind = isSequence[use.path] ? "torch.nn.modules.container.Sequential" : kindOf(use.path);
    value.modules.insert(value.modules.begin(), ModuleUse{"", "", exported.kind});
  }
}

/// The symbol of an open dimension: the file's word for it, where that can stand among others in a product.
std::string symbolFor(const std::string& name, const std::map<std::string, Size>& known) {
  const auto isOfWord = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; };
  const bool isWord = std::ranges::all_of(name, isOfWord) && std::isalpha(static_cast<unsigned char>(name.front())) != 0;
  return isWord && name.size() < 40 ? name : fmt::format("size_{}", known.size() + 1);
}

/// Gives the inputs numbers for their open dimensions; one symbol is one number.
class Inputs {
public:
  Inputs(const OnnxModel& model, const std::vector<ExportInput>& given) : model(model), given(given) {}

  /// By the file's name of a dimension.
  std::map<std::string, Size> symbols;

  tl::expected<void, ExportFailure> add(Exported& exported, OnnxGraph& graph) {
    for (const ExportInput& input : given) {
      const auto at = std::ranges::find(model.inputs, input.name, &OnnxInput::name);
      if (at == model.inputs.end())
        return tl::unexpected(wrong(fmt::format("the model has no input `{}`: it has {}", input.name, names())));
      if (at->shape.size() != input.shape.size())
        return tl::unexpected(wrong(fmt::format("the input `{}` has {} dimensions in the model, and {} in --input", input.name,
                                                at->shape.size(), input.shape.size())));
    }
    for (const OnnxInput& input : model.inputs) {
      Value value;
      value.kind = Value::Kind::Input;
      value.name = value.path = input.name;
      value.facts.type = torchType(input.type);
      if (auto failure = shapeOf(input, value.facts.shape)) return tl::unexpected(std::move(*failure));
      if (isTooLarge(value.facts.shape))
        return tl::unexpected(ExportFailure{
            diag::model_too_large, fmt::format("the input `{}` has more than 2^48 elements: give it fewer", input.name), ""});
      OnnxTensor tensor;
      tensor.facts = value.facts;
      tensor.value = static_cast<ValueId>(exported.values.size());
      exported.inputs.push_back(*tensor.value);
      exported.values.push_back(std::move(value));
      graph.name(input.name, std::move(tensor));
    }
    return {};
  }

private:
  static bool isTooLarge(const std::vector<Size>& shape) {
    try {
      productOf(shape);
      return false;
    } catch (const NoForm&) {
      return true;
    }
  }
  static ExportFailure wrong(std::string message) { return {diag::model_inputs, std::move(message), ""}; }
  std::string names() const {
    std::string text;
    for (const OnnxInput& input : model.inputs) text += fmt::format("{}`{}`", text.empty() ? "" : ", ", input.name);
    return text.empty() ? "none" : text;
  }

  std::optional<ExportFailure> shapeOf(const OnnxInput& input, std::vector<Size>& shape) {
    const auto at = std::ranges::find(given, input.name, &ExportInput::name);
    std::string wanted;
    bool isOpen = false;
    for (std::size_t d = 0; d < input.shape.size(); ++d) {
      const OnnxDimension& dimension = input.shape[d];
      const std::string symbol = dimension.symbol.empty() ? fmt::format("{}_{}", input.name, d) : dimension.symbol;
      wanted += (d == 0 ? "" : ",") + (dimension.number ? std::to_string(*dimension.number) : symbol);
      const std::int64_t number = at == given.end() ? 0 : at->shape[d];  // 0: none is given
      if (dimension.number) {
        if (number != 0 && number != *dimension.number)
          return wrong(
              fmt::format("dimension {} of `{}` is {} in the model, and {} in --input: export the model anew with that "
                          "dimension open",
                          d + 1, input.name, *dimension.number, number));
        shape.push_back(sizeOf(*dimension.number));
        continue;
      }
      Size& known = symbols.try_emplace(symbol, Size{0, symbolFor(symbol, symbols)}).first->second;
      if (known.number != 0 && number != 0 && known.number != number)
        return wrong(fmt::format("`{}` is {} and {} in --input", symbol, known.number, number));
      if (number != 0) known.number = number;
      isOpen = isOpen || known.number == 0;
      shape.push_back(known);
    }
    if (!isOpen) return std::nullopt;
    return wrong(fmt::format("say how large the open dimensions of `{0}` are: --input {0}={1} with numbers for names", input.name,
                             wanted));
  }

  const OnnxModel& model;
  const std::vector<ExportInput>& given;
};

/// Makes the graph of the file's nodes. One that has no form in the language is kept as what it is, where its results' shapes are
/// known.
std::optional<ExportFailure> makeGraph(const std::string& name, OnnxImport& result, OnnxGraph& graph) {
  bool isAtNode = true;
  const auto at = [&]() { return isAtNode ? graph.node : nullptr; };
  try {
    std::vector<const OnnxNode*> nodes;
    for (const OnnxNode& node : result.model.nodes) nodes.push_back(&node);
    addNodes(nodes, graph);
    isAtNode = false;
    for (const std::string& output : result.model.outputs)
      result.exported.outputs.push_back({graph.valueOf(graph.known(output), output, ""), ""});
  } catch (const NoForm& noForm) {
    if (at() == nullptr) return ExportFailure{diag::operator_without_form, fmt::format("{}: {}", name, noForm.why), ""};
    return ExportFailure{diag::operator_without_form,
                         fmt::format("`{}` has no form in the language, as {} calls it: {}", at()->op, name, noForm.why),
                         placeOf(*at())};
  } catch (const Damaged& wrong) {
    if (at() == nullptr) return damaged(fmt::format("{}: it is damaged: {}", name, wrong.why));
    return damaged(fmt::format("{}: it is damaged at a node `{}`: {}", name, at()->op, wrong.why), placeOf(*at()));
  }
  return std::nullopt;
}

}  // namespace

tl::expected<OnnxImport, ExportFailure> readOnnx(std::string_view file, const std::string& folder, const std::string& name,
                                                 const std::vector<ExportInput>& given) {
  OnnxImport result;
  auto model = parseOnnx(file, folder);
  if (!model) {
    ExportFailure failure = std::move(model.error());
    failure.message = fmt::format("{}: {}", name, failure.message);
    return tl::unexpected(std::move(failure));
  }
  result.model = std::move(*model);
  Exported& exported = result.exported;
  exported.kind = name;
  exported.torch = fmt::format("{}, by ONNX of opset {}",
                               result.model.producer.empty() ? "unknown origin" : result.model.producer, result.model.opset);
  OnnxGraph graph(exported, result.model, result.weights);
  Inputs inputs(result.model, given);
  try {
    for (const data::ArrayView& data : result.model.tensors) graph.name(data.name, initialTensor(data));
    if (auto added = inputs.add(exported, graph); !added) return tl::unexpected(added.error());
  } catch (const Damaged& wrong) {
    return tl::unexpected(damaged(fmt::format("{}: it is damaged: {}", name, wrong.why)));
  }
  graph.symbols = std::move(inputs.symbols);
  if (auto wrong = makeGraph(name, result, graph)) return tl::unexpected(std::move(*wrong));
  if (exported.outputs.empty()) return tl::unexpected(damaged(fmt::format("{}: it has no result", name)));
  joinModules(exported);
  nameModules(exported);
  for (const data::ArrayView& weight : result.weights) exported.state.push_back(weight.name);
  return result;
}

}  // namespace tbem::imports
