// The syntax tree: plain data, a range on every node, no parser behind it.
//
// `ast::File` owns all nodes of one source. Node pointers are stable and never null unless a comment says so.
// Names are `Name {text, range}` so that a diagnostic can mark just the word.
#pragma once

#include "compiler/diagnostics/Source.h"
#include "compiler/syntax/tree/AstNodes.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tbem::ast {

// ---- Declarations ---------------------------------------------------------------------------------------------------

/// `name: type [in values] [= default]`; names that share a type each have their own Parameter.
struct Parameter {
  Name name;
  const Type* type = nullptr;
  const Expr* domain = nullptr;
  const Expr* defaultValue = nullptr;
  SrcRange range;
};
/// A result `y: type`, or a type alone (empty name).
struct Result {
  Name name;
  const Type* type = nullptr;
  SrcRange range;
};
/// `name: expression`, in `flops`, `backward`, `updates`.
struct Part {
  Name name;
  const Expr* value = nullptr;
};
/// A list of words and expressions behind a clause word, for declarations whose stage reads them freely:
/// `epochs 5`, `optimizer sgd(lr: 0.1)`, `validate 0.1`, `on cpu, cuda`, `method generator(epochs: 100)`.
struct Clause {
  Name word;
  std::vector<Argument> items;
  SrcRange range;
  const Expr* on = nullptr;  ///< `optimizer sgd(lr: 0.1) on head`
};

/// `import a.b`, `import a.b as c`, `import a.b: x, y`
struct Import : Of<NodeKind::Import, Decl> {
  std::vector<Name> path;
  Name alias;
  std::vector<Name> names;
};
/// `let name = value` at top level.
struct Constant : Of<NodeKind::Constant, Decl> {
  const Expr* value = nullptr;
};
/// `function f(a: int) -> type { body }`
struct Function : Of<NodeKind::Function, Decl> {
  std::vector<Parameter> parameters;
  const Type* result = nullptr;
  Block body;
};

enum class CallableKind : std::uint8_t { Operator, Block, Network, Dataset };
/// An operator, block or network.
struct Callable : Of<NodeKind::Callable, Decl> {
  CallableKind callable{};
  std::vector<Parameter> tensors;  ///< before the `;` (or of tensor type): type is TensorType, or ListType of one
  std::vector<Parameter> parameters;
  std::vector<Result> results;
  std::vector<const Expr*> pre, post;
  std::vector<const Expr*> requirements;   ///< `requires P(arguments)`: calls of processes
  std::vector<const WeightStmt*> weights;  ///< `weight` and `buffer` clauses
  std::vector<Part> elementwise;           ///< `elementwise y = expression`, one a result
  const Call* native = nullptr;            ///< `native conv2d(x, weight, bias)`; callee a NameRef
  const String* nativeSymbol = nullptr;    ///< `native "lib.so:symbol"` instead
  std::vector<Part> flops, backward, updates;
  const Expr* workspace = nullptr;  ///< of `nativeSymbol`, in bytes
  Name fallback;                    ///< `fallback best`
  bool hasBody = false;
  Block body;
};

/// `process P(a: int | b: int) y: bool ext ... pre ... post ... comment ... end_process`
struct Process : Of<NodeKind::Process, Decl> {
  struct External {
    bool writes = false;
    Name name;
    const Type* type = nullptr;
  };
  std::vector<std::vector<Parameter>> inputs;  ///< ports, separated by `|`
  std::vector<std::vector<Parameter>> outputs;
  std::vector<External> externals;
  const Expr* pre = nullptr;  ///< null: true
  const Expr* post = nullptr;
  std::string comment;  ///< `comment ...`: free text
};

/// `mutate f of base { operation target as name: levels }`
struct Mutate : Of<NodeKind::Mutate, Decl> {
  struct Operation {
    Name word;                       ///< repeat insert drop swap widen
    const Expr* inserted = nullptr;  ///< `insert dropout(0.5) after ...`
    Name where;                      ///< after, before, or empty
    const Expr* path = nullptr;
    Name as;
    std::vector<const Expr*> levels;
    SrcRange range;
  };
  Name base;
  std::vector<Operation> operations;
};

/// `factor name: levels [under parent = level]`; no levels: the parameter's domain.
struct Factor {
  Name name;
  std::vector<const Expr*> levels;
  Name parent;
  const Expr* parentLevel = nullptr;
  SrcRange range;
};
/// `input name: shape [under parent = level]`
struct Input {
  Name name;
  const Expr* shape = nullptr;
  Name parent;
  const Expr* parentLevel = nullptr;
  SrcRange range;
};
/// `budget memory <= 22 GiB on pytorch(h100)`
struct Budget {
  const Expr* limit = nullptr;  ///< the comparison
  const Expr* on = nullptr;     ///< where; null: from shapes alone
  SrcRange range;
};
struct Design : Of<NodeKind::Design, Decl> {
  const Expr* of = nullptr;  ///< network or factor name; null: an array for any experiment
  std::vector<Factor> factors;
  std::vector<Input> inputs;
  const Expr* task = nullptr;  ///< `train(loss: ..., optimizer: ...)` or `infer`; null: infer
  const Expr* strength = nullptr;
  const Expr* covering = nullptr;
  const Expr* within = nullptr;  ///< a Unit
  const Expr* rows = nullptr;
  const Expr* array = nullptr;  ///< a String
  const Expr* seed = nullptr;
  bool full = false;
  SrcRange fullRange;
  std::vector<const Expr*> where;
  bool filter = false;  ///< rows that break a specification are left out
  SrcRange filterRange;
  const Expr* dtype = nullptr;
  const Expr* math = nullptr;
  const Expr* accumulate = nullptr;
  const Expr* mixed = nullptr;
  const Expr* checkpoint = nullptr;
  std::vector<Clause> groups;  ///< `freeze encoder`, `optimizer sgd(lr: 0.1) on head`
  std::vector<Budget> budgets;
};

/// `measure design { on ...; metric ...; repeat n; ... }`: `name` is the design's.
struct Measure : Of<NodeKind::Measure, Decl> {
  std::vector<Name> backends, metrics;
  const Expr* repeat = nullptr;
  std::vector<Clause> others;
};
/// `regress name from design { response e; terms t + u; validate leave_one_out }`
struct Regress : Of<NodeKind::Regress, Decl> {
  Name from;
  const Expr* response = nullptr;
  const Expr* terms = nullptr;  ///< a sum of names, products, `poly(...)`
  Name validate;
  std::vector<Clause> others;
};
/// `predict regression at {batch: 64}`
struct Predict : Of<NodeKind::Predict, Decl> {
  Name regression;
  const Expr* at = nullptr;
};
/// `fit design at {...} over factor into 24 GiB on "device"`; `at`, `device` may be null.
struct Fit : Of<NodeKind::Fit, Decl> {
  Name design;
  const Expr* at = nullptr;
  Name over;
  const Expr* into = nullptr;
  const Expr* device = nullptr;
};
/// `dataset name = call`
struct Dataset : Of<NodeKind::Dataset, Decl> {
  const Expr* value = nullptr;
};
/// `train name = network on data { clauses }`
struct Train : Of<NodeKind::Train, Decl> {
  const Expr* network = nullptr;
  const Expr* data = nullptr;
  std::vector<Clause> clauses;
};
/// `perturb name of target on data { clauses }`
struct Perturb : Of<NodeKind::Perturb, Decl> {
  Name target;
  const Expr* data = nullptr;
  std::vector<Clause> clauses;
};
/// `assume image in [0, 1]`
struct Assume : Of<NodeKind::Assume, Decl> {
  Name input;
  const Expr* domain = nullptr;
};

/// One parsed source. Owns its nodes.
struct File {
  const Source* source = nullptr;
  std::optional<std::uint32_t> version;   ///< `tbem 1`
  std::vector<const Decl*> declarations;  ///< as written
  const Expr* expression = nullptr;       ///< `-e` text that is one expression
  std::vector<SrcRange> comments;         ///< all comments, in order, with their marks

  template <class T>
  T* make(SrcRange range) {
    auto owned = std::make_unique<T>();
    owned->range = range;
    T* raw = owned.get();
    nodes.push_back(std::move(owned));
    return raw;
  }

private:
  std::vector<std::unique_ptr<Node>> nodes;
};

}  // namespace tbem::ast
