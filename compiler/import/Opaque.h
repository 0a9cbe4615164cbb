// Operators of a model that have no form in the language, as opaque operators of the program. Internal to compiler/import.
#pragma once

#include "compiler/import/Expression.h"
#include "compiler/import/Import.h"

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace tbem::imports {

/// One for all calls whose operands and results are of the same types.
struct OpaqueOperator : LackingOperator {
  std::string name;         ///< in the program: "aten_cumsum"
  std::string declaration;  ///< of the program
};

/// The node as a call of an opaque operator, which `known` gets; its result has the shape that the export saw. Nothing where none
/// can stand for it: it has several results or none, a type that the language lacks, or reads no tensor. `taken`: names of
/// others.
std::optional<Expression> opaqueCall(const NodeReader& node, const std::set<std::string>& taken,
                                     std::vector<OpaqueOperator>& known);

}  // namespace tbem::imports
