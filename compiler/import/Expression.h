// What a node of an exported graph is in the language, with marks for operands and for what may be a parameter (emit::Code).
// Internal to compiler/import.
#pragma once

#include "compiler/emit/python/Code.h"
#include "compiler/import/Exported.h"

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tbem::imports {

using emit::Binding;
using emit::Marked;

struct Expression {
  // A call: `callee(tensors; arguments)`. Without tensors and with weights an instance can be made of it.
  std::string callee;
  std::vector<Marked> tensors;
  std::vector<emit::Argument> arguments;
  std::vector<std::pair<std::string, ValueId>> weights;  ///< that an instance of the callee owns, by their names there
  // Or any other expression.
  Marked text;
  Binding binding = Binding::Atom;
};

/// The pipe `x |> f(a)`, looser than sums.
inline constexpr Binding kPipe = Binding::BitOr;

/// Makes the text of sizes, whose dimensions belong to the block at hand.
using SizeText = std::function<Marked(const Size&, const std::string& name)>;

/// A node that is not as its operator's nodes are: of a recorded export that is damaged, mostly. Whoever reads nodes catches it.
struct UnlikeNode {};

/// A node with what its text is made by. Throws UnlikeNode where an argument is of another kind, a number depends on the inputs'
/// sizes, or an axis is beyond its tensor.
class NodeReader {
public:
  NodeReader(const Exported& exported, const Value& node, emit::Scribe& scribe, const SizeText& sizeText)
      : exported(exported), node(node), scribe(scribe), sizeText(sizeText) {}

  /// The argument at this position or of this name; None where it is not given.
  const Argument& at(std::size_t position, const char* name = "") const;
  bool has(std::size_t position, const char* name = "") const { return !at(position, name).isNone(); }
  std::int64_t integer(std::size_t position, const char* name, std::int64_t otherwise) const;
  double real(std::size_t position, const char* name, double otherwise) const;
  bool flag(std::size_t position, const char* name, bool otherwise) const;
  /// Of a list, or of a number that stands for all `count`; empty where it is not given. A list of others than 1 and `count`,
  /// which is above 1, is none.
  std::vector<std::int64_t> integers(std::size_t position, const char* name, std::size_t count = 1) const;
  ValueId value(std::size_t position) const;
  bool isTensor(std::size_t position) const { return at(position).kind == Argument::Kind::Value; }

  const Facts& facts(std::size_t position) const { return exported[value(position)].facts; }
  const Size& dimension(std::size_t position, std::size_t axis) const;
  const Facts& result() const { return node.facts; }
  std::size_t axis(std::size_t position, const char* name, std::int64_t otherwise, std::size_t rank) const;

  Marked operand(std::size_t position, Binding least = Binding::Any) const {
    return emit::Scribe::operand(tensor(value(position)), least);
  }
  /// The operand as numbers of the program's own element type, where it is integers or bool.
  Marked asReal(std::size_t position, Binding least = Binding::Any) const;
  /// The operand with elements as the result has them, where PyTorch converts them without a word.
  Marked promoted(std::size_t position, Binding least = Binding::Any) const;
  static Marked operandOf(ValueId value, Binding least = Binding::Any) { return emit::Scribe::operand(tensor(value), least); }
  static graph::TensorId tensor(ValueId value) { return static_cast<graph::TensorId>(value); }
  Marked hole(std::string name, std::string text) const { return scribe.hole(std::move(name), std::move(text)); }
  Marked hole(std::string name, std::int64_t number) const { return hole(std::move(name), std::to_string(number)); }
  /// One number where all agree: 3 for [3, 3].
  Marked even(std::string name, const std::vector<std::int64_t>& numbers) const;
  Marked size(const Size& size, const std::string& name) const { return sizeText(size, name); }
  /// "[n, 64, 7]" of a shape.
  Marked shape(const std::vector<Size>& sizes) const;

  const Exported& exported;
  const Value& node;

private:
  emit::Scribe& scribe;
  const SizeText& sizeText;
};

/// The node or constant in the language, or nothing where it has no form there. Catches UnlikeNode, which the next two throw.
std::optional<Expression> textOf(const NodeReader& node);
std::optional<Expression> expressionOf(const NodeReader& node);
std::optional<Expression> constantOf(const NodeReader& constant);
/// The weights that an instance of the node's operator would own, by their names there; empty: it is none of those.
std::vector<std::pair<std::string, ValueId>> weightsOf(const Exported& exported, const Value& node);
/// The operand that the node gives on as it is, such as `contiguous`.
std::optional<ValueId> givenOn(const Exported& exported, const Value& node);
/// Words that the expressions of all nodes and constants call: a program that calls them has nothing else of these names.
std::set<std::string> calledWords(const Exported& exported);
/// "conv2d" of "aten.conv2d.default", "relu" of "aten.relu_.default".
std::string wordOf(const Value& node);
/// "aten.conv2d.default", or Value::origin.
const std::string& calledInModel(const Value& node);

// ---- Writers, and what they share --------------------------------------------------------------------------------------

/// Of operators that own weights; of element-wise ones and sums; of those that move elements; of the rest.
std::optional<Expression> layerOf(const NodeReader& node, std::string_view word);
std::optional<Expression> elementsOf(const NodeReader& node, std::string_view word);
std::optional<Expression> movedOf(const NodeReader& node, std::string_view word);
std::optional<Expression> reducedOf(const NodeReader& node, std::string_view word);
/// Of products of matrices, attention among them; of those that find elements by their numbers.
std::optional<Expression> productOf(const NodeReader& node, std::string_view word);
std::optional<Expression> indexedOf(const NodeReader& node, std::string_view word);

Expression call(std::string callee, std::vector<Marked> tensors, std::vector<emit::Argument> arguments = {});
Expression infix(const Marked& left, const char* sign, const Marked& right, Binding binding);
/// A number as the language writes it: 0.00001; nothing for what it has no text for (infinity).
std::optional<std::string> numberText(double number);
/// The number; of minus infinity the lowest that sums and products still leave finite.
std::optional<std::string> lowText(double value);
std::string listText(const std::vector<std::int64_t>& numbers);
/// One element of that value and of PyTorch's type, which broadcasts.
Marked filledWith(const Marked& number, std::string_view type);
/// "f32" of "float32"; integers of all sizes are i64; "" of a type that the language lacks.
std::string typeText(std::string_view torch);
bool isReal(const Facts& facts);
/// Integers of any size, and not bool.
bool isIntegral(const Facts& facts);

}  // namespace tbem::imports
