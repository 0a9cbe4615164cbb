// A forward pass as a tree of modules, as frameworks have them: each block, and each turn of a loop that holds weights, is a
// module with the tensors that go in and come out; what is neither is written out where it stands. Framework-neutral: which calls
// a framework has as they are, its dialect says.
#pragma once

#include "compiler/graph/ir/Calls.h"

#include <tl/expected.hpp>

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tbem::emit {

/// Why a network cannot be written for a framework, and what in the program it is.
struct Refusal {
  SrcRange at;
  std::string what;  ///< "`top_k`, whose code is its own"
  std::string why;   ///< a full sentence
};

struct ModuleNode;

struct GateArms;

/// A step of a module's forward pass: a module inside, a call that the framework has, or an operator of the graph.
struct ModuleItem {
  std::unique_ptr<ModuleNode> child;
  const graph::Call* call = nullptr;
  graph::OpId op = graph::kNoOp;
  std::unique_ptr<GateArms> arms;  ///< of a `skip` whose arms are functions
  bool isLent = false;             ///< the child or the call is of a module that an outer node holds
};

/// Where the condition is false, and where it is true.
struct GateArm {
  std::vector<ModuleItem> items;
  graph::TensorId output = graph::kNoTensor;
};
struct GateArms {
  std::array<GateArm, 2> list;
  graph::TensorId joined = graph::kNoTensor;  ///< the result of the gate
  std::vector<graph::TensorId> operands;      ///< that have samples, of both arms: each gets its samples' rows
  std::vector<graph::TensorId> captured;      ///< of others that the arms read, and that are no weights of the module
};

/// A module that the node holds, and others below it apply.
struct HeldModule {
  std::string path;
  const graph::Call* call = nullptr;  ///< one that the framework has; nullptr: `child`
  const ModuleNode* child = nullptr;  ///< one application of it
};

struct ModuleNode {
  const graph::Call* call = nullptr;
  const ast::Callable* decl = nullptr;  ///< of the call; of a turn: in whose body the loop stands
  std::string attribute;                ///< its name in the module that holds it: "residual"; of a turn, its loop's: "stage"
  std::int64_t turn = -1;               ///< of a loop's turn: which, from 0
  std::vector<ModuleItem> items;
  std::vector<graph::TensorId> inputs;   ///< that are not its own weights, each once
  std::vector<graph::TensorId> outputs;  ///< of a turn: what is used behind it, in the order of the graph
  std::vector<HeldModule> held;          ///< each once
  std::vector<std::string> borrowed;     ///< paths of modules that it is given, as it or what lies in it applies them

  bool isTurn() const { return turn >= 0; }
};

/// How gates are written. Masks: all is computed for all samples, and rows are chosen. Compact: each arm of a `skip` is computed
/// for the rows of its samples, and behind an `exit` there are those of the samples that go on.
enum class GateForm : std::uint8_t { Masks, Compact };

/// What the tree is made from.
struct ModuleSource {
  const graph::Graph& graph;
  const std::vector<graph::Call>& calls;
  bool lends = false;                   ///< a module may be an argument of another one's forward pass
  bool armsApart = false;               ///< arms of a `skip` are functions
  std::vector<graph::OpId> begin = {};  ///< operators before all others, which stand in no call
  std::vector<char> hasSamples = {};    ///< by tensor, where arms are functions: a row a sample
};

/// Whether the framework has the call as it is.
using IsKnown = std::function<bool(const graph::Call&)>;

/// The module of the call at this position of `source.calls`, which is a network or a block.
tl::expected<std::unique_ptr<ModuleNode>, Refusal> moduleTree(const ModuleSource& source, std::uint32_t root,
                                                              const IsKnown& isKnown);

/// The tensors of a value, one after the other: of a Tensor, a List, a Tuple.
std::vector<graph::TensorId> tensorsOf(const sema::Value& value);
/// The tensors that a step reads and makes, each in order. Weights are among those that it reads where they are named.
std::vector<graph::TensorId> readBy(const graph::Graph& graph, const ModuleItem& item);
std::vector<graph::TensorId> madeBy(const graph::Graph& graph, const ModuleItem& item);
/// "unit" and 3 of "stage[0].unit[3]"; -1 where the last name has no number.
std::pair<std::string, std::int64_t> lastName(std::string_view path);
/// A weight or a buffer.
bool isOfModule(const graph::Storage& storage);
/// The path of a weight or buffer, or nothing.
std::string_view weightPath(const graph::Graph& graph, graph::TensorId tensor);

}  // namespace tbem::emit
