// From a `regress` declaration to numbers: its terms as model terms, its response as a function of a measured row.
#pragma once

#include "compiler/design/model/Terms.h"
#include "compiler/diagnostics/Diagnostics.h"
#include "compiler/syntax/tree/Ast.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tbem::driver {

/// The quantities of a row that a response may name, in SI units and bytes.
using Quantities = std::map<std::string, double>;
/// Their names, for did-you-mean: memory_peak, static_memory, latency, ...
const std::vector<std::string>& quantityNames();

/// The terms of `terms template + optimizer * batch + poly(depth, width; degree: 2)`, hierarchy not yet closed. Nothing after a
/// diagnostic.
std::optional<std::vector<design::Term>> termsOf(const ast::Expr& terms, const std::vector<design::Factor>& factors,
                                                 DiagnosticSink& sink);

/// Checks a response: an arithmetic expression over quantities and numbers. The names it uses; nothing after a diagnostic.
std::optional<std::vector<std::string>> checkResponse(const ast::Expr& response, DiagnosticSink& sink);
/// Its value in a row; nothing where a quantity that it names is missing there, or the value is not finite.
std::optional<double> evaluateResponse(const ast::Expr& response, const Quantities& row);

}  // namespace tbem::driver
