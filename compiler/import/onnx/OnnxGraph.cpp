#include "compiler/import/onnx/OnnxGraph.h"

#include "compiler/import/Units.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstring>
#include <utility>

namespace tbem::imports {

namespace {

constexpr std::size_t kMostElements = 8192;  // of a constant that the program writes out, as tools/runners/export.py has it

/// "layer1.0.conv1.weight": a name as torch.onnx keeps those of PyTorch.
bool isPath(const std::string& name) {
  bool begins = true;
  for (const char c : name) {
    const bool isOfWord = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
    if (!isOfWord && (c != '.' || begins)) return false;
    begins = c == '.';
  }
  return !begins && std::isdigit(static_cast<unsigned char>(name.front())) == 0;
}

std::vector<double> elementsOf(const data::ArrayView& data) {
  const auto tensor = data::toTensor(data, TBEM_F64);
  if (!tensor) throw NoForm{tensor.error()};
  std::vector<double> elements = tensor->doubles();
  if (data.dtype != "f8" && (data.dtype.starts_with('f') || data.dtype == "bf16"))
    std::ranges::transform(elements, elements.begin(), [](double element) { return shortest(static_cast<float>(element)); });
  return elements;
}

/// Elements of whole numbers, exactly.
std::vector<std::int64_t> wholeOf(const data::ArrayView& data) {
  const std::size_t width = data::elementBytes(data.dtype);
  std::vector<std::int64_t> numbers(data.bytes.size() / width);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    std::int32_t narrow = 0;
    if (data.dtype == "i8")
      std::memcpy(&numbers[i], data.bytes.data() + i * width, width);
    else if (data.dtype == "i4")
      std::memcpy(&narrow, data.bytes.data() + i * width, width);
    else
      throw NoForm{fmt::format("`{}` is of a type that sizes do not have", data.name)};
    if (data.dtype == "i4") numbers[i] = narrow;
  }
  return numbers;
}

void describe(Value& constant, std::vector<double> elements) {
  const auto isFirst = [&](double element) { return element == elements.front(); };
  if (!elements.empty() && std::all_of(elements.begin(), elements.end(), isFirst)) {
    constant.pattern = {Pattern::Kind::Fill, elements.front(), 0, 0};
    return;
  }
  bool counts = constant.facts.rank() == 1 && constant.facts.type == "int64";
  for (std::size_t i = 0; i < elements.size() && counts; ++i) counts = elements[i] == static_cast<double>(i);
  if (counts) {
    constant.pattern = {Pattern::Kind::Line, 0, 1, 0};
    return;
  }
  if (elements.size() > kMostElements) return;
  constant.elements = std::move(elements);
}

bool isIntegral(const OnnxTensor& tensor) { return tensor.facts.type == "int64" || tensor.facts.type == "int32"; }

}  // namespace

bool OnnxTensor::isOfSizes() const { return rank() < 2 && !value && isIntegral(*this) && (sizes || data != nullptr); }

OnnxTensor initialTensor(const data::ArrayView& data) {
  OnnxTensor tensor;
  tensor.data = &data;
  tensor.isWeight = true;
  tensor.facts.type = torchType(data.dtype);
  for (const std::int64_t size : data.shape) tensor.facts.shape.push_back(sizeOf(size));
  return tensor;
}

OnnxGraph::OnnxGraph(Exported& exported, OnnxModel& model, std::vector<data::ArrayView>& weights)
    : exported(exported), model(model), weights(weights) {
  for (const OnnxNode& reader : model.nodes) addReader(reader, reader);
  for (const std::string& output : model.outputs) readers[output].push_back(nullptr);
}

/// What graphs inside of the node read is read by the node.
void OnnxGraph::addReader(const OnnxNode& reader, const OnnxNode& as) {
  for (const std::string& input : reader.inputs) readers[input].push_back(&as);
  if (&reader == &as) {
    for (const std::string& output : reader.outputs) makers[output] = &reader;
  }
  for (const OnnxBody& body : reader.bodies) {
    for (const OnnxNode& inner : body.nodes) addReader(inner, as);
    for (const std::string& output : body.outputs) readers[output].push_back(&as);
  }
}

std::vector<const OnnxNode*> OnnxGraph::adopt(std::vector<OnnxNode> nodes, const std::vector<std::string>& results,
                                              const std::map<std::string, OnnxInput>& described) {
  std::vector<const OnnxNode*> own;
  own.reserve(nodes.size());
  for (OnnxNode& each : nodes) own.push_back(&adopted.emplace_back(std::move(each)));
  for (const OnnxNode* const each : own) addReader(*each, *each);
  for (const std::string& result : results) readers[result].push_back(nullptr);
  for (const auto& [name, known] : described) model.described.insert_or_assign(name, known);
  return own;
}

const OnnxNode* OnnxGraph::onlyReader(const OnnxNode* of, std::string_view op) const {
  if (of == nullptr || of->outputs.size() != 1) return nullptr;
  const auto at = readers.find(of->outputs[0]);
  const bool isOne = at != readers.end() && at->second.size() == 1 && at->second.front() != nullptr;
  const bool isThis = isOne && at->second.front()->op == op && at->second.front()->outputs.size() == 1;
  return isThis ? at->second.front() : nullptr;
}
const OnnxNode* OnnxGraph::maker(const std::string& name) const {
  const auto at = makers.find(name);
  return at == makers.end() ? nullptr : at->second;
}

std::optional<Argument> OnnxGraph::turnedWeight(std::size_t input, const char* slot) {
  OnnxTensor& tensor = in(input);
  if (tensor.data == nullptr || !tensor.isWeight || !tensor.isReal() || tensor.rank() != 2) return std::nullopt;
  if (tensor.value || tensor.hasOtherNames || readers.at(node->inputs[input]).size() != 1) return std::nullopt;
  const std::size_t width = data::elementBytes(tensor.data->dtype);
  const auto rows = static_cast<std::size_t>(tensor.data->shape[0]), columns = static_cast<std::size_t>(tensor.data->shape[1]);
  std::string& turned = model.bytes.emplace_back(tensor.data->bytes.size(), '\0');
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t column = 0; column < columns; ++column)
      std::memcpy(turned.data() + (column * rows + row) * width, tensor.data->bytes.data() + (row * columns + column) * width,
                  width);
  }
  OnnxTensor weight = tensor;
  weight.facts.shape = {tensor.facts.shape[1], tensor.facts.shape[0]};
  const data::ArrayView view(tensor.data->name, tensor.data->dtype, {tensor.data->shape[1], tensor.data->shape[0]},
                             std::span(reinterpret_cast<const std::uint8_t*>(turned.data()), turned.size()));
  weight.data = &view;
  return valueArgument(valueOf(weight, node->inputs[input], slot));
}

OnnxTensor& OnnxGraph::known(const std::string& name) {
  const auto at = tensors.find(name);
  if (at == tensors.end()) throw Damaged{fmt::format("nothing before it is called `{}`", name)};
  return all[at->second];
}

void OnnxGraph::name(const std::string& name, OnnxTensor tensor) {
  if (!tensors.emplace(name, all.size()).second) throw Damaged{fmt::format("two tensors are called `{}`", name)};
  all.push_back(std::move(tensor));
}

void OnnxGraph::giveSame(std::size_t input) {
  in(input);
  giveCalled(node->inputs[input], 0);
}

void OnnxGraph::giveCalled(const std::string& name, std::size_t number) {
  known(name).hasOtherNames = true;
  if (!tensors.emplace(output(number), tensors.at(name)).second)
    throw Damaged{fmt::format("two tensors are called `{}`", output(number))};
}

const std::string& OnnxGraph::output(std::size_t number) const {
  if (number >= node->outputs.size() || node->outputs[number].empty())
    throw Damaged{fmt::format("it has no output {}", number + 1)};
  return node->outputs[number];
}

bool OnnxGraph::isRead(std::size_t number) const {
  return number < node->outputs.size() && !node->outputs[number].empty() && readers.contains(node->outputs[number]);
}

std::size_t OnnxGraph::results() const {
  std::size_t count = node->outputs.empty() ? 0 : 1;
  for (std::size_t number = 1; number < node->outputs.size(); ++number) count += isRead(number) ? 1 : 0;
  return count;
}

void OnnxGraph::back(const Mark& mark) {
  for (std::size_t at = mark.weights; at < weights.size(); ++at) paths.erase(weights[at].name);
  weights.resize(mark.weights);
  exported.values.resize(mark.values);
  std::erase_if(tensors, [&](const auto& named) { return named.second >= mark.tensors; });
  all.resize(mark.tensors);
  for (OnnxTensor& tensor : all) {
    if (tensor.value && index(*tensor.value) >= mark.values) tensor.value.reset();
  }
}

OnnxTensor& OnnxGraph::in(std::size_t input) {
  if (!has(input)) throw Damaged{fmt::format("it lacks its input {}", input + 1)};
  return known(node->inputs[input]);
}

/// What holds the weights of the node at hand: its module, or a part of that which is called as the node is.
std::string OnnxGraph::ownerOf(const OnnxNode* reader) {
  const auto [at, isNew] = owners.try_emplace(reader);
  if (!isNew) return at->second;
  const auto isFree = [&](const std::string& owner) {
    const auto behind = paths.lower_bound(owner + ".");
    const bool isKept = behind != paths.end() && behind->starts_with(owner + ".weight");
    return !isKept && std::ranges::none_of(owners, [&](const auto& known) { return known.second == owner; });
  };
  const std::string module = modules.empty() ? "" : modules.back();
  if (!module.empty() && isFree(module)) return at->second = module;
  std::string own;
  for (const char c : reader->name.empty() || !module.empty() ? reader->op : reader->name)
    own +=
        std::isalnum(static_cast<unsigned char>(c)) != 0 ? static_cast<char>(std::tolower(static_cast<unsigned char>(c))) : '_';
  const std::string owner = (module.empty() ? "" : module + ".") + own;
  return at->second = numberedName(owner, isFree);
}

/// The file's name, where an operator's weight can be called by it, else the slot of what reads it.
std::string OnnxGraph::weightPath(const std::string& name, const std::string& slot) {
  const bool isNamed = slot != "weight" || name.ends_with(".weight") || name.ends_with("_weight");
  if (isPath(name) && isNamed && !paths.contains(name)) return name;
  const std::string path = ownerOf(node) + "." + (slot.empty() ? "weight" : slot);
  return numberedName(path, [&](const std::string& free) { return !paths.contains(free); });
}

ValueId OnnxGraph::valueOf(OnnxTensor& tensor, const std::string& name, const std::string& slot) {
  if (tensor.value) return *tensor.value;
  Value value;
  value.facts = tensor.facts;
  if (tensor.data != nullptr) {
    std::int64_t count = 1;
    for (const Size& size : tensor.facts.shape) count *= size.number;
    const bool isWeight = tensor.isWeight && tensor.isReal() && (count > 1 || !slot.empty());
    if (isWeight) {
      value.kind = Value::Kind::Weight;
      value.path = weightPath(name, slot);
      value.isLearned = !slot.starts_with("running_");
      paths.insert(value.path);
      weights.emplace_back(value.path, tensor.data->dtype, tensor.data->shape, tensor.data->bytes);
    } else {
      value.kind = Value::Kind::Constant;
      describe(value, elementsOf(*tensor.data));
    }
  } else if (tensor.real) {
    value.kind = Value::Kind::Constant;
    describe(value, {*tensor.real});
  } else if (tensor.sizes) {
    value.kind = Value::Kind::Constant;
    std::vector<double> elements;
    for (const Size& size : *tensor.sizes) {
      if (!size.symbolic.empty()) throw NoForm{"it computes with a size that is open: export the model for a fixed one"};
      elements.push_back(static_cast<double>(size.number));
    }
    describe(value, std::move(elements));
  } else {
    throw NoForm{fmt::format("`{}` has no value", name)};
  }
  value.name = fmt::format("c{}", exported.values.size());
  tensor.value = static_cast<ValueId>(exported.values.size());
  exported.values.push_back(std::move(value));
  return *tensor.value;
}

std::int64_t OnnxGraph::integer(const char* attribute, std::int64_t otherwise) const {
  const auto at = node->attributes.find(attribute);
  return at == node->attributes.end() ? otherwise : at->second.integer;
}
double OnnxGraph::real(const char* attribute, double otherwise) const {
  const auto at = node->attributes.find(attribute);
  return at == node->attributes.end() ? otherwise : at->second.real;
}
std::string OnnxGraph::text(const char* attribute, const char* otherwise) const {
  const auto at = node->attributes.find(attribute);
  return at == node->attributes.end() ? otherwise : at->second.text;
}
std::vector<std::int64_t> OnnxGraph::integers(const char* attribute) const {
  const auto at = node->attributes.find(attribute);
  return at == node->attributes.end() ? std::vector<std::int64_t>() : at->second.integers;
}

std::size_t OnnxGraph::axis(std::int64_t given, std::size_t rank) const {
  const std::int64_t fromFront = given < 0 ? given + static_cast<std::int64_t>(rank) : given;
  if (fromFront < 0 || fromFront >= static_cast<std::int64_t>(rank))
    throw NoForm{fmt::format("axis {} of {} is none", given, rank)};
  return static_cast<std::size_t>(fromFront);
}

std::vector<Size> OnnxGraph::sizes(std::size_t input) {
  OnnxTensor& tensor = in(input);
  if (tensor.sizes) return *tensor.sizes;
  if (tensor.data == nullptr || tensor.rank() > 1)
    throw NoForm{fmt::format("`{}` has to be known when the model is read", node->inputs[input])};
  std::vector<Size> sizes;
  for (const std::int64_t number : wholeOf(*tensor.data)) sizes.push_back(sizeOf(number));
  return sizes;
}

void OnnxGraph::requireRow(std::size_t input, const Size& length) {
  const std::vector<Size>& row = shape(input);
  if (row.size() != 1 || row[0].number != length.number)
    throw NoForm{fmt::format("its input {} is no row of {} numbers", input + 1, length.number)};
}

std::vector<std::int64_t> OnnxGraph::numbers(std::size_t input) {
  std::vector<std::int64_t> numbers;
  for (const Size& size : sizes(input)) {
    if (!size.symbolic.empty())
      throw NoForm{fmt::format("`{}` depends on a size that is open: export the model for a fixed one", node->inputs[input])};
    numbers.push_back(size.number);
  }
  return numbers;
}

std::optional<double> OnnxGraph::equalNumbers(std::size_t input) {
  const OnnxTensor& tensor = in(input);
  if (tensor.data == nullptr) return std::nullopt;
  const std::vector<double> elements = elementsOf(*tensor.data);
  const bool agree = !elements.empty() && std::ranges::all_of(elements, [&](double element) { return element == elements[0]; });
  return agree ? std::optional(elements[0]) : std::nullopt;
}

std::optional<double> OnnxGraph::numberCalled(const std::string& name) const {
  const auto at = tensors.find(name);
  return at == tensors.end() ? std::nullopt : numberOf(all[at->second]);
}

std::optional<double> OnnxGraph::numberOf(const OnnxTensor& tensor) {
  if (tensor.real) return tensor.real;
  if (tensor.sizes && tensor.sizes->size() == 1 && tensor.sizes->front().symbolic.empty())
    return static_cast<double>(tensor.sizes->front().number);
  if (tensor.data == nullptr || data::checkedElements(tensor.data->shape, 1) != 1) return std::nullopt;
  return elementsOf(*tensor.data).front();
}

Argument OnnxGraph::operand(std::size_t input, const char* slot) {
  return valueArgument(valueOf(in(input), node->inputs[input], slot));
}

Argument OnnxGraph::ownOperand(std::size_t input, const char* slot) {
  if (in(input).data == nullptr || !in(input).value) return operand(input, slot);
  OnnxTensor own = in(input);
  own.value.reset();
  return valueArgument(valueOf(own, node->inputs[input], slot));
}

ValueId OnnxGraph::add(const std::string& op, std::vector<Argument> arguments, Facts facts) {
  for (const Size& size : facts.shape) {
    if (size.number < 1) throw NoForm{"its result has no elements"};
  }
  productOf(facts.shape);  // which is within bounds
  Value value;
  value.name = fmt::format("n{}", exported.values.size());
  value.op = "aten." + op;
  value.origin = "onnx." + node->op;
  value.arguments = std::move(arguments);
  value.facts = std::move(facts);
  value.place = node->name;
  for (const std::string& path : modules) value.modules.push_back({path, path, ""});
  exported.values.push_back(std::move(value));
  return static_cast<ValueId>(exported.values.size() - 1);
}

ValueId OnnxGraph::addParts(const std::string& op, std::vector<Argument> arguments, std::vector<std::optional<Facts>> parts) {
  const ValueId list = add(op, std::move(arguments), {});
  exported.values[index(list)].parts = std::move(parts);
  return list;
}

void OnnxGraph::give(const std::string& op, std::vector<Argument> arguments, Facts facts, std::size_t number) {
  OnnxTensor tensor;
  tensor.facts = facts;
  tensor.value = add(op, std::move(arguments), std::move(facts));
  name(output(number), std::move(tensor));
}
void OnnxGraph::give(const std::string& op, std::vector<Argument> arguments, std::vector<Size> shape, std::size_t number) {
  give(op, std::move(arguments), Facts{std::move(shape), in(0).facts.type}, number);
}

void OnnxGraph::giveSizes(std::vector<Size> sizes, std::vector<Size> shape, const char* type) {
  if (sizes.size() > kMostElements) throw NoForm{"it computes more than 8192 sizes"};
  if (productOf(shape).number != static_cast<std::int64_t>(sizes.size())) throw Damaged{"its shapes do not fit"};
  OnnxTensor tensor;
  tensor.facts = {std::move(shape), type};
  tensor.sizes = std::move(sizes);
  giveOn(std::move(tensor));
}

}  // namespace tbem::imports
