// A model of PyTorch as a program: its modules as blocks, those that do the same as one, chains of them as lists and loops, its
// weights by the names that its state dict has.
#pragma once

#include "compiler/import/Exported.h"

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace tbem::imports {

/// An operator of the model that has no form in the language.
struct LackingOperator {
  std::string op;     ///< "aten.cumsum.default"
  std::string place;  ///< the first call of it: "model.py:12"; empty: unknown
  std::size_t count = 0;
  std::string why;  ///< of the first call, where it is not the operator but how it is called
};

/// A weight by the model's name and the program's path.
struct WeightName {
  std::string theirs, ours;
  std::vector<std::int64_t> shape;
  bool isLearned = true, isFrozen = false;
};

/// What the program does otherwise than the model, and how the model says it.
struct ImportRemark {
  Diag kind{};          ///< of diagnostics/tables/Import.def
  std::string message;  ///< the diagnostic's
  std::string place;    ///< "model.py:12"; empty: unknown
  std::size_t count = 0;
};

struct NetworkInput {
  std::string name;
  std::vector<std::int64_t> shape;  ///< that the model was exported for
};

struct Imported {
  std::string network;                   ///< its name in the program
  std::string text;                      ///< the program, not yet in the formatter's layout
  std::vector<NetworkInput> inputs;      ///< that the network has: those that the model reads
  std::vector<WeightName> weights;       ///< of all weights and running statistics
  std::vector<std::string> unread;       ///< weights and statistics of the model that its trace does not read
  std::vector<LackingOperator> lacking;  ///< not empty: `text` is none
  std::vector<LackingOperator> opaque;   ///< those that are opaque in the program
  std::vector<std::string> fixed;        ///< sizes that depend on the inputs' sizes in the model, and are numbers here
  std::vector<std::string> state;        ///< Exported::state
  std::vector<ImportRemark> remarks;
  std::int64_t parameters = 0;  ///< elements of the weights that are learned
};

/// A name as the language has it; what it reserves, and what `taken` has, gets an underscore.
std::string nameFor(const std::string& wanted, const std::set<std::string>& taken);

/// `network`: its name; where the program calls something by it, or it is reserved, it gets an underscore. `library`: names of
/// the standard library, which blocks do not hide. `strict`: nothing is opaque.
Imported programOf(Exported exported, const std::string& network, const std::set<std::string>& library, bool strict);

/// The names as a table for `--names`: names that differ in numbers alone are one line. What else a file of the model has, of
/// which the program has nothing, has lines that say so.
std::string namesText(const Imported& imported);

}  // namespace tbem::imports
