// The conditions of a network, block or operator over its sizes and parameters, as those of a process: its inputs are the names
// of dimensions and the parameters, its outputs the dimensions of the results.
//
// `..s` stands for a fixed number of dimensions here, as does `tensor` without brackets, and all lists of numbers and of tensors
// have the first length for which `pre` can hold. Numbers with a default keep it where they steer the length of a list. A
// schedule is a number. Parameters of other types have their defaults. `training` is false. What an optimiser updates is a
// matrix, and its gradient has that matrix's shape.
#pragma once

#include "compiler/spec/process/Process.h"

#include <optional>
#include <string>
#include <vector>

namespace tbem::spec {

struct Contract {
  ProcessModel model;
  const ast::Callable* decl = nullptr;
  struct Tensor {
    std::string name;
    std::vector<SymbolId> dims;
    bool inList = false;  ///< one of the tensors of the list `name`; they stand side by side
  };
  struct Parameter {
    std::string name;
    std::vector<SymbolId> values;
    bool isList = false;
  };
  std::vector<Tensor> tensors;                                ///< in order of the declaration
  std::vector<Parameter> parameters;                          ///< those that are unknowns
  std::vector<std::optional<std::vector<SymbolId>>> results;  ///< their dimensions; nothing for a list of tensors
  std::vector<ExprId> conditions;                             ///< `pre` and `requires`, conjunct by conjunct, as declared
  std::vector<ExprId> promises;                               ///< `post`, likewise
  std::size_t rank = 0;                                       ///< dimensions of `..s`
  std::size_t length = 0;                                     ///< of lists of numbers and of tensors
  bool keepsDefaults = false;                                 ///< numbers with a default are no unknowns
  bool isOptimizer() const { return !decl->updates.empty(); }
  /// Whether a place in the program belongs to what has to hold of the inputs.
  bool demands(SrcRange range) const;
};

/// Nothing, and in words why, where the declaration is beyond this (parameters without a default of a type that is no number).
/// `rank`: dimensions of each `..s`.
std::optional<Contract> readContract(Session& session, const sema::Program& program, const sema::Module& module,
                                     const ast::Callable& callable, std::size_t rank, std::string& why);

}  // namespace tbem::spec
