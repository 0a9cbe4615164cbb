// Units that do the same but for numbers, as one block: what differs is a parameter, or follows from a dimension or from another
// parameter. Internal to compiler/import.
#pragma once

#include "compiler/import/Units.h"

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace tbem::imports {

struct Parameter {
  std::string name;
  std::vector<std::string> values;  ///< as text, by unit of the block
};

struct Block {
  std::string name;
  std::string kind;                ///< the class of its modules
  std::vector<std::size_t> units;  ///< that it stands for, in the order of their calls; the text is that of the first
  std::vector<Parameter> parameters;
  std::vector<std::string> holes;                             ///< by hole: what stands there
  std::map<const Made*, std::vector<std::string>> arguments;  ///< by block that it applies: the values of its parameters
  std::set<std::pair<std::size_t, std::size_t>> dimensions;   ///< of inputs that have names: input, axis
};

struct Blocks {
  std::vector<Block> blocks;          ///< those that others apply before them; the last is the model
  std::vector<std::size_t> position;  ///< by unit: which of its block
};

/// Names that blocks do not have.
struct TakenNames {
  std::set<std::string> called;          ///< by the program
  const std::set<std::string>& library;  ///< which a block would hide: it is called by its Python module, too
};

/// Finds Unit::block. `model`: the network's name.
Blocks blocksOf(const Exported& exported, Units& units, const std::string& model, TakenNames taken);

}  // namespace tbem::imports
