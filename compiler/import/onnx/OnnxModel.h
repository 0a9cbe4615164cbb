// An ONNX file as plain values: its graph of operators, its tensors, which may lie in files beside it. Nothing is run, and
// nothing has been believed yet but its form. Internal to compiler/import.
#pragma once

#include "compiler/import/Exported.h"
#include "runtime/data/Array.h"
#include "runtime/data/File.h"

#include <tl/expected.hpp>

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tbem::imports {

struct OnnxAttribute {
  enum class Kind : std::uint8_t { Other, Real, Integer, Text, Tensor, Reals, Integers };
  Kind kind = Kind::Other;
  double real = 0;
  std::int64_t integer = 0;
  std::string text;
  data::ArrayView tensor;
  std::vector<double> reals;
  std::vector<std::int64_t> integers;
};

struct OnnxBody;

struct OnnxNode {
  std::string name;                          ///< "/layer1/layer1.0/conv1/Conv"
  std::string op;                            ///< "Conv"; with its domain where that is not ONNX's own: "com.microsoft.FusedConv"
  std::vector<std::string> inputs, outputs;  ///< "": an optional one that is not there
  std::map<std::string, OnnxAttribute> attributes;
  std::vector<OnnxBody> bodies;  ///< the graphs that it holds: of a loop, of a choice
  bool holdsOthers = false;      ///< graphs that are not read
  std::string scopes;            ///< that torch.onnx notes: "['', 'layer1', 'layer1.0', 'layer1.0.conv1', 'conv2d']"
};

struct OnnxDimension {
  std::optional<std::int64_t> number;
  std::string symbol;  ///< "batch"; "" for a number, or for a dimension of which nothing is said
};

/// A tensor of which the file says type and shape.
struct OnnxInput {
  std::string name;
  std::string type;  ///< as arrays have it: "f4"
  std::vector<OnnxDimension> shape;
};

/// A graph inside of a node's: it reads what is known around it, too.
struct OnnxBody {
  std::string attribute;  ///< "then_branch"
  std::vector<OnnxNode> nodes;
  std::vector<data::ArrayView> tensors;
  std::vector<std::string> inputs, outputs;
  std::map<std::string, OnnxInput> described;  ///< OnnxModel::described
};

struct OnnxModel {
  std::string producer;  ///< "pytorch 2.15.0"
  std::int64_t opset = 0;
  std::string name;
  std::vector<OnnxNode> nodes;           ///< operands before what reads them
  std::vector<data::ArrayView> tensors;  ///< the graph's initialisers
  std::vector<OnnxInput> inputs;
  std::vector<std::string> outputs;
  std::map<std::string, OnnxInput> described;  ///< results of nodes whose type and shape the file says, by name

  // What the arrays are views into.
  std::deque<std::string> bytes;
  std::deque<data::MappedFile> files;
};

/// `folder`: where tensors that the file names lie, in files of it or below it. Memory is taken for what the file holds. Errors:
/// what is wrong with it, and the way out.
tl::expected<OnnxModel, ExportFailure> parseOnnx(std::string_view file, const std::string& folder);

/// The number that the fewest digits say of those that are the same f32: 0.1 of the one next to it.
double shortest(float number);
/// PyTorch's word for the type that elements have in the program: "float32" of "f4" and of "f2"; "" of a type that has none.
std::string torchType(std::string_view dtype);

}  // namespace tbem::imports
