#include "compiler/import/onnx/OnnxModel.h"

#include "compiler/diagnostics/tables/Import.h"

#include <fmt/format.h>
#include <onnx_schema/schema.pb.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <limits>
#include <set>
#include <utility>

namespace tbem::imports {

namespace {

constexpr std::int64_t kFirstOpset = 13, kLastOpset = 25;
constexpr std::int64_t kMostSize = std::int64_t{1} << 40;  // of a dimension
constexpr int kMostRank = 32;
constexpr int kIsExternal = 1;  // TensorProto.DataLocation

/// Stops the reading; parseOnnx gives it as its error.
[[noreturn]] void fail(Diag kind, std::string why) { throw ExportFailure{kind, std::move(why), ""}; }

struct ElementName {
  int onnx;  // TensorProto.DataType
  const char *array, *torch;
};
// Real numbers of every type are of the program's own, which `--dtype` chooses.
constexpr std::array<ElementName, 13> kTypes = {{{1, "f4", "float32"},
                                                 {2, "u1", "uint8"},
                                                 {3, "i1", "int8"},
                                                 {4, "u2", "uint16"},
                                                 {5, "i2", "int16"},
                                                 {6, "i4", "int32"},
                                                 {7, "i8", "int64"},
                                                 {9, "b1", "bool"},
                                                 {10, "f2", "float32"},
                                                 {11, "f8", "float32"},
                                                 {12, "u4", "uint32"},
                                                 {13, "u8", "uint64"},
                                                 {16, "bf16", "float32"}}};

const ElementName* elementOf(int type) {
  const auto* const name = std::ranges::find(kTypes, type, &ElementName::onnx);
  return name == kTypes.end() ? nullptr : name;
}

std::string arrayType(int type, std::string_view what) {
  if (const ElementName* const name = elementOf(type)) return name->array;
  fail(diag::model_file_unread, fmt::format("`{}` has the element type {} of ONNX, which is not read", what, type));
}

/// The fields of a tensor that hold its numbers where it has no raw bytes, narrowed to the type's width.
template <class Numbers>
void append(std::string& bytes, const Numbers& numbers, std::size_t width) {
  for (const auto number : numbers) bytes.append(reinterpret_cast<const char*>(&number), width);
}

/// Tensors and where their bytes are: in the file, or in one beside it.
class Tensors {
public:
  Tensors(OnnxModel& model, std::string folder) : model(model), folder(std::move(folder)) {}

  data::ArrayView read(onnx::Tensor& tensor) {
    const std::string name = tensor.name();
    const std::string type = arrayType(tensor.data_type(), name);
    const std::vector<std::int64_t> shape(tensor.dims().begin(), tensor.dims().end());
    const std::size_t width = data::elementBytes(type);
    const auto count = data::checkedElements(shape, width);
    const auto isLarge = [](std::int64_t size) { return size > kMostSize; };
    if (!count || tensor.dims_size() > kMostRank || std::any_of(shape.begin(), shape.end(), isLarge))
      fail(diag::model_file_damaged,
           fmt::format("`{}` has the shape {}, which no tensor has: the file is damaged", name, data::shapeText(shape)));
    std::string_view bytes;
    if (tensor.data_location() == kIsExternal) {
      bytes = external(tensor, *count * width);
    } else if (!tensor.raw_data().empty()) {
      bytes = model.bytes.emplace_back(std::move(*tensor.mutable_raw_data()));
    } else {
      std::string& numbers = model.bytes.emplace_back();
      if (type == "f4")
        append(numbers, tensor.float_data(), width);
      else if (type == "f8")
        append(numbers, tensor.double_data(), width);
      else if (type == "i8")
        append(numbers, tensor.int64_data(), width);
      else if (type == "u4" || type == "u8")
        append(numbers, tensor.uint64_data(), width);
      else
        append(numbers, tensor.int32_data(), width);
      bytes = numbers;
    }
    if (bytes.size() != *count * width)
      fail(diag::model_file_damaged, fmt::format("`{}` has {} bytes, which {} of {} does not take: the file is damaged", name,
                                                 bytes.size(), data::shapeText(shape), type));
    return {name, type, shape, std::span(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size())};
  }

private:
  /// Bytes of a file that lies in the model's folder.
  std::string_view external(const onnx::Tensor& tensor, std::uint64_t size) {
    std::string location;
    std::uint64_t offset = 0;
    for (const onnx::Entry& entry : tensor.external_data()) {
      const std::string& value = entry.value();
      if (entry.key() == "location") location = value;
      if (entry.key() != "offset") continue;
      if (std::from_chars(value.data(), value.data() + value.size(), offset).ptr != value.data() + value.size())
        fail(diag::model_numbers_apart, fmt::format("`{}` has the offset `{}`", tensor.name(), value));
    }
    const std::filesystem::path path = std::filesystem::path(location).lexically_normal();
    if (location.empty() || path.is_absolute() || *path.begin() == ".." || !isInFolder(path))
      fail(diag::model_numbers_apart,
           fmt::format("the numbers of `{}` are in `{}`, which is not in the model's folder: only files there are read",
                       tensor.name(), location));
    auto known = opened.find(location);
    if (known == opened.end()) {
      auto file = data::MappedFile::open((std::filesystem::path(folder) / path).string());
      if (!file)
        fail(diag::model_numbers_apart,
             fmt::format("the numbers of `{}` are in a file of their own: {}", tensor.name(), file.error()));
      known = opened.emplace(location, &model.files.emplace_back(std::move(*file))).first;
    }
    const std::string_view text = known->second->text();
    if (offset > text.size() || size > text.size() - offset)
      fail(diag::model_numbers_apart,
           fmt::format(
               "the numbers of `{}` should be {} bytes from byte {} of `{}`, which has {}: it is cut off, or another model's",
               tensor.name(), size, offset, location, text.size()));
    return text.substr(offset, size);
  }

  /// Links among the path's folders do not lead out of the model's. A file that is not there is told when it is opened.
  bool isInFolder(const std::filesystem::path& path) const {
    std::error_code failure;
    const std::filesystem::path whole = std::filesystem::canonical(folder.empty() ? "." : folder, failure);
    if (failure) return true;
    const std::filesystem::path target = std::filesystem::weakly_canonical(whole / path, failure);
    const auto [left, at] = std::ranges::mismatch(whole, target);
    return !failure && left == whole.end();
  }

  OnnxModel& model;
  std::string folder;
  std::map<std::string, const data::MappedFile*> opened;
};

class Reader {
public:
  Reader(OnnxModel& model, std::string folder) : model(model), tensors(model, std::move(folder)) {}

  void read(onnx::Model& file) {
    model.producer = file.producer_name() + (file.producer_version().empty() ? "" : " " + file.producer_version());
    for (const onnx::OperatorSet& set : file.opset_import()) {
      if (set.domain().empty() || set.domain() == "ai.onnx") model.opset = set.version();
    }
    if (!file.has_graph() || model.opset == 0)
      fail(diag::model_file_damaged, "it holds no graph of ONNX's operators: is it an ONNX file?");
    if (model.opset < kFirstOpset)
      fail(diag::model_file_version,
           fmt::format(
               "its operators are of opset {}, and those from {} on are read: `onnx.version_converter.convert_version(model, "
               "{})` converts it",
               model.opset, kFirstOpset, kFirstOpset + 4));
    if (model.opset > kLastOpset)
      fail(diag::model_file_version,
           fmt::format("its operators are of opset {}, and those up to {} are known: export the model for an older one",
                       model.opset, kLastOpset));
    onnx::Graph& graph = *file.mutable_graph();
    model.name = graph.name();
    std::set<std::string> names;
    for (onnx::Tensor& tensor : *graph.mutable_initializer()) {
      if (!names.insert(tensor.name()).second)
        fail(diag::model_file_damaged, fmt::format("two tensors are called `{}`", tensor.name()));
      model.tensors.push_back(tensors.read(tensor));
    }
    for (const onnx::ValueInfo& input : graph.input()) {
      if (!names.contains(input.name())) model.inputs.push_back(inputOf(input));
    }
    for (const onnx::ValueInfo& output : graph.output()) model.outputs.push_back(output.name());
    for (const auto* described : {&graph.value_info(), &graph.output()}) {
      for (const onnx::ValueInfo& value : *described) describe(value, model.described);
    }
    for (onnx::Node& node : *graph.mutable_node()) model.nodes.push_back(nodeOf(node));
  }

private:
  static OnnxInput inputOf(const onnx::ValueInfo& input) {
    const onnx::TensorType& type = input.type().tensor_type();
    if (!type.has_shape())
      fail(diag::model_file_unread, fmt::format("the input `{}` has no shape: export it with one", input.name()));
    if (type.shape().dim_size() > kMostRank)
      fail(diag::model_file_unread, fmt::format("the input `{}` has more than {} dimensions", input.name(), kMostRank));
    OnnxInput result{input.name(), arrayType(type.elem_type(), input.name()), {}};
    for (const onnx::Dimension& dim : type.shape().dim()) {
      if (dim.dim_value() < 0 || dim.dim_value() > kMostSize)
        fail(diag::model_file_unread, fmt::format("the input `{}` has a dimension of {}", input.name(), dim.dim_value()));
      result.shape.push_back(dimensionOf(dim));
    }
    return result;
  }

  /// What the file says of a result is a help where there is no other: what cannot be read of it is left out.
  static void describe(const onnx::ValueInfo& value, std::map<std::string, OnnxInput>& described) {
    const onnx::TensorType& type = value.type().tensor_type();
    const ElementName* const element = elementOf(type.elem_type());
    const auto isWrong = [](const onnx::Dimension& dim) { return dim.dim_value() < 0 || dim.dim_value() > kMostSize; };
    if (!type.has_shape() || element == nullptr || type.shape().dim_size() > kMostRank ||
        std::ranges::any_of(type.shape().dim(), isWrong))
      return;
    OnnxInput result{value.name(), element->array, {}};
    for (const onnx::Dimension& dim : type.shape().dim()) result.shape.push_back(dimensionOf(dim));
    described.insert_or_assign(value.name(), std::move(result));
  }

  static OnnxDimension dimensionOf(const onnx::Dimension& dim) {
    OnnxDimension known{std::nullopt, dim.dim_param()};
    if (dim.dim_value() > 0) known.number = dim.dim_value();  // 0: nothing is said of it
    return known;
  }

  OnnxNode nodeOf(onnx::Node& node) {
    OnnxNode result;
    result.name = node.name();
    const bool isOwn = node.domain().empty() || node.domain() == "ai.onnx";
    result.op = (isOwn ? "" : node.domain() + ".") + node.op_type();
    result.inputs.assign(node.input().begin(), node.input().end());
    result.outputs.assign(node.output().begin(), node.output().end());
    for (onnx::Attribute& attribute : *node.mutable_attribute()) {
      result.attributes[attribute.name()] = attributeOf(attribute);
      result.holdsOthers = result.holdsOthers || attribute.graphs_size() > 0;
      if (attribute.has_g()) result.bodies.push_back(bodyOf(attribute.name(), *attribute.mutable_g()));
    }
    for (const onnx::Entry& entry : node.metadata_props()) {
      if (entry.key() == "pkg.torch.onnx.name_scopes") result.scopes = entry.value();
    }
    return result;
  }

  OnnxBody bodyOf(const std::string& attribute, onnx::Graph& graph) {
    OnnxBody body;
    body.attribute = attribute;
    for (onnx::Tensor& tensor : *graph.mutable_initializer()) body.tensors.push_back(tensors.read(tensor));
    for (const onnx::ValueInfo& input : graph.input()) body.inputs.push_back(input.name());
    for (const onnx::ValueInfo& output : graph.output()) body.outputs.push_back(output.name());
    for (const auto* described : {&graph.value_info(), &graph.output()}) {
      for (const onnx::ValueInfo& value : *described) describe(value, body.described);
    }
    for (onnx::Node& node : *graph.mutable_node()) body.nodes.push_back(nodeOf(node));
    return body;
  }

  OnnxAttribute attributeOf(onnx::Attribute& attribute) {
    using Kind = OnnxAttribute::Kind;
    constexpr std::array<Kind, 8> kKinds = {Kind::Other,  Kind::Real,  Kind::Integer, Kind::Text,
                                            Kind::Tensor, Kind::Other, Kind::Reals,   Kind::Integers};
    OnnxAttribute result;
    const auto type = static_cast<std::size_t>(attribute.type());
    result.kind = type < kKinds.size() ? kKinds[type] : Kind::Other;
    result.real = shortest(attribute.f());
    result.integer = attribute.i();
    result.text = attribute.s();
    result.reals.assign(attribute.floats().begin(), attribute.floats().end());
    result.integers.assign(attribute.ints().begin(), attribute.ints().end());
    if (result.kind == Kind::Tensor) result.tensor = tensors.read(*attribute.mutable_t());
    return result;
  }

  OnnxModel& model;
  Tensors tensors;
};

}  // namespace

tl::expected<OnnxModel, ExportFailure> parseOnnx(std::string_view file, const std::string& folder) {
  OnnxModel model;
  try {
    if (file.size() > static_cast<std::size_t>(std::numeric_limits<int>::max()))
      fail(diag::model_file_unread,
           "it has more than 2 GiB, which the format does not allow: keep its tensors in a file beside it");
    onnx::Model parsed;
    if (file.empty() || !parsed.ParseFromArray(file.data(), static_cast<int>(file.size())))
      fail(diag::model_file_damaged, "it is no ONNX file, or it is damaged");
    Reader(model, folder).read(parsed);
  } catch (ExportFailure& refused) {
    return tl::unexpected(std::move(refused));
  }
  return model;
}

double shortest(float number) {
  if (!std::isfinite(number)) return static_cast<double>(number);
  const std::string text = fmt::format("{}", number);
  double same = 0;
  std::from_chars(text.data(), text.data() + text.size(), same);
  return same;
}

std::string torchType(std::string_view dtype) {
  for (const ElementName& name : kTypes) {
    if (name.array == dtype) return name.torch;
  }
  return "";
}

}  // namespace tbem::imports
