// An ONNX graph on its way to ATen operators: what is known of each tensor, and the nodes that it becomes. Internal to
// compiler/import.
#pragma once

#include "compiler/import/Exported.h"
#include "compiler/import/onnx/OnnxModel.h"
#include "compiler/import/onnx/Sizes.h"

#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace tbem::imports {

/// The file is not as files of its format are, or not whole. Whoever reads nodes catches it.
struct Damaged {
  std::string why;
};

struct OnnxTensor {
  Facts facts;
  std::optional<ValueId> value;           ///< where it is one by now
  const data::ArrayView* data = nullptr;  ///< of an initialiser, or of a node Constant
  bool isWeight = false;                  ///< may be one: it is no node's
  bool hasOtherNames = false;
  std::optional<std::vector<Size>> sizes;  ///< whole numbers that are known, as of shapes
  std::optional<double> real;              ///< one number that is known

  std::size_t rank() const { return facts.rank(); }
  bool isReal() const { return facts.type == "float32"; }
  /// Whole numbers that are known, in a list or alone.
  bool isOfSizes() const;
};

/// An initialiser, which may be a weight.
OnnxTensor initialTensor(const data::ArrayView& data);

class OnnxGraph {
public:
  OnnxGraph(Exported& exported, OnnxModel& model, std::vector<data::ArrayView>& weights);

  std::map<std::string, Size> symbols;  ///< open dimensions of inputs, by the file's names of them

  /// The tensor that graph, node or file calls by this name; each name is one tensor's.
  void name(const std::string& name, OnnxTensor tensor);
  bool isKnown(const std::string& name) const { return tensors.contains(name); }
  /// Makes it a value of the model.
  ValueId valueOf(OnnxTensor& tensor, const std::string& name, const std::string& slot);
  OnnxTensor& known(const std::string& name);

  // ---- Of the node at hand
  const OnnxNode* node = nullptr;
  std::vector<std::string> modules;  ///< paths of those that it was called in, the outermost first
  std::set<const OnnxNode*> done;    ///< nodes behind it that are part of what it became

  bool has(std::size_t input) const { return input < node->inputs.size() && !node->inputs[input].empty(); }
  OnnxTensor& in(std::size_t input);
  const std::string& output(std::size_t number) const;
  /// Results that matter: those that are read, and the first.
  std::size_t results() const;
  bool isRead(std::size_t output) const;
  const std::vector<Size>& shape(std::size_t input) { return in(input).facts.shape; }
  bool isReal(std::size_t input) { return in(input).isReal(); }
  std::int64_t integer(const char* attribute, std::int64_t otherwise) const;
  double real(const char* attribute, double otherwise) const;
  std::string text(const char* attribute, const char* otherwise) const;
  std::vector<std::int64_t> integers(const char* attribute) const;
  /// From the front.
  std::size_t axis(std::int64_t given, std::size_t rank) const;
  /// Whole numbers of an input that do not depend on sizes.
  std::vector<std::int64_t> numbers(std::size_t input);
  std::vector<Size> sizes(std::size_t input);
  /// Throws NoForm where the input is no row of so many numbers.
  void requireRow(std::size_t input, const Size& length);
  /// The number that an input of one element is, where the graph has it.
  std::optional<double> number(std::size_t input) { return numberOf(in(input)); }
  /// The number that all elements of a known tensor are.
  std::optional<double> equalNumbers(std::size_t input);
  /// The same of a name; nothing where it is none yet.
  std::optional<double> numberCalled(const std::string& name) const;

  /// The one node that reads the only result of this one, if it is of this operator and the result is none of the model; else
  /// nullptr, as of nullptr.
  const OnnxNode* onlyReader(const OnnxNode* of, std::string_view op) const;
  const OnnxNode* maker(const std::string& name) const;
  /// A weight of two dimensions that this node alone reads, turned over.
  std::optional<Argument> turnedWeight(std::size_t input, const char* slot);

  /// `slot`: what the operator calls it, where it is a weight: "weight".
  Argument operand(std::size_t input, const char* slot = "");
  /// A weight of this node alone: exporters keep equal ones once, whatever reads them.
  Argument ownOperand(std::size_t input, const char* slot);
  Argument operandOrNone(std::size_t input, const char* slot) { return has(input) ? operand(input, slot) : Argument(); }

  /// A node of ATen; `give` makes it an output's value, too.
  ValueId add(const std::string& op, std::vector<Argument> arguments, Facts facts);
  /// The node at hand as one that has no form in the language, one for each of its results. Throws NoForm where nothing says what
  /// a result is.
  void giveUnknown(const std::string& why);
  /// One with several results, which nodes `getitem` take from it.
  ValueId addParts(const std::string& op, std::vector<Argument> arguments, std::vector<std::optional<Facts>> parts);
  void give(const std::string& op, std::vector<Argument> arguments, std::vector<Size> shape, std::size_t output = 0);
  void give(const std::string& op, std::vector<Argument> arguments, Facts facts, std::size_t output = 0);
  void giveSizes(std::vector<Size> sizes, std::vector<Size> shape, const char* type = "int64");
  void giveOn(OnnxTensor tensor) { name(output(0), std::move(tensor)); }
  /// The node's result is its operand.
  void giveSame(std::size_t input);
  /// A result of the node is what is known by this name.
  void giveCalled(const std::string& name, std::size_t output);

  /// Nodes of a graph inside of a node, as they are run in its place: by names that are their own in this graph. Where they lie
  /// stays the same.
  std::vector<const OnnxNode*> adopt(std::vector<OnnxNode> nodes, const std::vector<std::string>& results,
                                     const std::map<std::string, OnnxInput>& described);
  std::size_t adoptedCount() const { return adopted.size(); }

  /// Whatever was added behind `mark()` goes again.
  struct Mark {
    std::size_t values, weights, tensors;
  };
  Mark mark() const { return {exported.values.size(), weights.size(), all.size()}; }
  void back(const Mark& mark);

private:
  Exported& exported;
  OnnxModel& model;
  std::map<std::string, std::vector<const OnnxNode*>> readers;
  std::map<std::string, const OnnxNode*> makers;
  std::vector<data::ArrayView>& weights;  ///< by the names that the weights have in `exported`
  std::deque<OnnxTensor> all;
  std::map<std::string, std::size_t> tensors;  ///< positions in `all`
  std::deque<OnnxNode> adopted;
  std::set<std::string> paths;
  std::map<const OnnxNode*, std::string> owners;  ///< of the nodes' weights

  void addReader(const OnnxNode& reader, const OnnxNode& as);
  Facts describedFacts(std::size_t output, const std::string& why) const;
  static std::optional<double> numberOf(const OnnxTensor& tensor);
  std::string ownerOf(const OnnxNode* reader);
  std::string weightPath(const std::string& name, const std::string& slot);
};

/// By ONNX's name of an operator what translates the node at hand.
using OnnxOperators = std::map<std::string_view, void (*)(OnnxGraph&)>;
const OnnxOperators& onnxWindows();
const OnnxOperators& onnxLayers();
const OnnxOperators& onnxElements();
const OnnxOperators& onnxMoves();
const OnnxOperators& onnxParts();
const OnnxOperators& onnxSizes();
const OnnxOperators& onnxBodies();

/// What the node becomes: an operator of ATen or several, or one that has no form in the language.
void addNode(const OnnxNode& node, OnnxGraph& graph);
/// Those of a graph: constants read nothing, so they are known from the start.
void addNodes(const std::vector<const OnnxNode*>& nodes, OnnxGraph& graph);

}  // namespace tbem::imports
