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

/// The quantities of a row that a response may name (Quantities.h), in SI units and bytes.
using Quantities = std::map<std::string, double>;

/// Terms as they are written, hierarchy not yet closed.
struct WrittenTerms {
  std::vector<design::Term> terms;
  bool throughOrigin = false;  ///< `0 + x`: no constant
};
/// Those of `template + optimizer * batch + poly(depth, width; degree: 2)`. Nothing after a diagnostic.
std::optional<WrittenTerms> termsOf(const ast::Expr& terms, const std::vector<design::Factor>& factors, DiagnosticSink& sink);

/// The names that an expression of a regression mentions, each once, in order: factors of its terms, quantities of its response.
std::vector<std::string> namesIn(const ast::Expr& expr);

/// Checks a response: an arithmetic expression over quantities, numbers and columns of a file (which are plain numbers). The
/// names it uses; nothing after a diagnostic.
std::optional<std::vector<std::string>> checkResponse(const ast::Expr& response, const std::vector<std::string>& columns,
                                                      DiagnosticSink& sink);
/// Its value in a row; nothing where a quantity that it names is missing there, or the value is not finite.
std::optional<double> evaluateResponse(const ast::Expr& response, const Quantities& row);

}  // namespace tbem::driver
