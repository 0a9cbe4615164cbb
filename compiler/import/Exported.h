// A model of PyTorch as torch.export sees it: the graph of ATen operators with the modules that they were called in, as
// tools/runners/export.py writes it down. Plain data; nothing in it has been believed yet but its form.
#pragma once

#include "compiler/diagnostics/Diagnostics.h"

#include <tl/expected.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tbem::imports {

/// A size of a tensor: a number, and where it depends on sizes of the inputs how ("s77", "64*s77").
struct Size {
  std::int64_t number = 0;
  std::string symbolic;

  bool operator==(const Size& other) const = default;
};

struct Facts {
  std::vector<Size> shape;
  std::string type;  ///< PyTorch's word: "float32"

  std::size_t rank() const { return shape.size(); }
};

enum class ValueId : std::uint32_t {};
inline std::size_t index(ValueId id) { return static_cast<std::size_t>(id); }

/// An argument of a node.
struct Argument {
  enum class Kind : std::uint8_t { None, Bool, Integer, Real, Text, Type, Value, Size, List, Other };
  Kind kind = Kind::None;
  std::int64_t integer = 0;  ///< of Bool, too
  double real = 0;           ///< of Integer, too
  std::string text;          ///< of Text, Type and Other
  ValueId value{};
  Size size;  ///< of Size; of Integer its number
  std::vector<Argument> items;

  bool isNone() const { return kind == Kind::None; }
  bool isNumber() const { return kind == Kind::Integer || kind == Kind::Real || kind == Kind::Bool; }
};

Argument valueArgument(ValueId value);
Argument integerArgument(std::int64_t number);
Argument realArgument(double number);
Argument flagArgument(bool flag);
Argument textArgument(std::string text);
Argument listArgument(const std::vector<std::int64_t>& numbers);

/// The call of a module: calls of one module have different keys.
struct ModuleUse {
  std::string key, path, kind;  ///< "L__self___layer1_0@1", "layer1.0", "torchvision.models.resnet.Bottleneck"
};

struct GridAxis {
  std::int64_t length = 0, step = 0;
};

/// The pattern of a constant's elements, in the fewest words that say all of them.
struct Pattern {
  enum class Kind : std::uint8_t { None, Fill, Line, Lower, Upper, Grid };
  Kind kind = Kind::None;
  double start = 0, step = 0;  ///< of Fill and Grid: start alone; of Line: along `axis`
  std::int64_t axis = 0;       ///< of Lower and Upper: the diagonal up to or from which elements are true
  /// Of Grid, row-major over all elements: each axis adds its step times the place on it.
  std::vector<GridAxis> grid = {};
};

/// Whatever a node may read.
struct Value {
  enum class Kind : std::uint8_t { Input, Weight, Constant, Node };
  Kind kind = Kind::Node;
  std::string name;  ///< in the graph: "conv2d_1"
  Facts facts;       ///< of a node with several results: of none

  // Of a weight (and of a buffer that a step changes), of a constant that was a buffer.
  std::string path;               ///< "layer1.0.conv1.weight"
  std::vector<std::string> also;  ///< other names of the same weight
  bool isLearned = true;
  bool isFrozen = false;       ///< learned, but the model says that it stays (requires_grad)
  std::optional<double> fill;  ///< all its elements in the model as it was made
  bool isShared = false;       ///< read by several operators, or by one that owns no weights: declared by itself

  // Of a constant.
  Pattern pattern;
  std::vector<double> elements;  ///< none where it has a pattern, or too many

  // Of a node.
  std::string op;  ///< "aten.conv2d.default"
  std::vector<Argument> arguments;
  std::map<std::string, Argument> named;
  std::vector<ModuleUse> modules;           ///< that it was called in, the model first
  std::string place;                        ///< "resnet.py:143"
  std::string origin;                       ///< what the model calls it, where that is another word: "onnx.MaxPool"
  std::string why;                          ///< it has no form in the language, where that is known
  std::vector<std::optional<Facts>> parts;  ///< of several results
};

struct Output {
  ValueId value;
  std::string name;  ///< of a result that the model names
};

/// A rate of dropout that modules of a class keep, and that no operator of the graph has.
struct UnseenRate {
  std::string kind, name;  ///< "BertSelfAttention", "dropout_prob"
  double rate = 0;
  std::string place;  ///< in the code of the first module
  std::size_t count = 0;
};

struct Exported {
  std::string torch, python, kind;  ///< version (without `python`: what wrote the model's file), the program, the model's class
  std::vector<Value> values;        ///< inputs, weights, constants, nodes in the order of their calls
  std::vector<ValueId> inputs;      ///< by position
  std::vector<Output> outputs;
  std::vector<std::string> state;  ///< names of all that a file of the model's weights has
  std::vector<UnseenRate> rates;

  const Value& operator[](ValueId id) const { return values[index(id)]; }
};

/// Why there is no graph: a fault of the model, of the request, of a file or of this Python.
struct ExportFailure {
  Diag kind{};  ///< of diagnostics/tables/Import.def
  std::string message;
  std::string place;  ///< "model.py:12"; of an ONNX file "the node `/layer1/Relu`"; empty: nowhere
};

/// Reads the document. Operands come before what reads them, and all indices are within their lists.
tl::expected<Exported, ExportFailure> readExport(std::string_view text);

}  // namespace tbem::imports
