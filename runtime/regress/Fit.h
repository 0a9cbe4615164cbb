// Least squares on a hierarchical polynomial model of a design's factors.
#pragma once

#include "compiler/design/model/Basis.h"
#include "compiler/design/model/Terms.h"

#include <tl/expected.hpp>

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tbem::regress {

using design::Factor;
using design::Model;
using design::Point;

struct Interval {
  double low = 0, high = 0;
};

/// A coefficient of the fitted basis (`Basis::name`).
struct Coefficient {
  std::string term;
  double value = 0;
  std::optional<double> standardError;  ///< nothing in a saturated fit
  std::optional<Interval> interval;     ///< t interval at Result::confidence
};

/// A coefficient of the same function in the factors' units: monomials of the factors' values; "optimizer[sgd]" stands for 1 in
/// rows of that level and 0 elsewhere, and the coefficients over a factor's levels sum to zero.
struct RawCoefficient {
  std::string term;
  double value = 0;
};

struct Warning {
  enum class Kind { FewRows, Saturated, NoLeaveOneOut, HierarchyAdded, NoSpread, IllConditioned } kind{};
  std::string text;  ///< lower case, no full stop
};

/// What `fit` found. Everything needed to predict; a plain value.
struct Result {
  design::Basis basis;
  std::vector<Coefficient> coefficients;  ///< by column of the basis
  std::vector<RawCoefficient> raw;
  std::size_t rows = 0, parameters = 0;
  std::size_t residualDegrees = 0;  ///< rows - parameters, less the independent columns of nuisance
  double confidence = 0.95;
  std::optional<double> residualSd;  ///< sqrt(RSS / residualDegrees), in the response's unit; nothing if saturated
  std::optional<double> r2;          ///< 1 - RSS / TSS about the mean, or 0 through the origin; nothing if y does not vary
  std::optional<double> adjustedR2;  ///< nothing if saturated as well
  std::optional<double> looRmse;  ///< sqrt(mean of (e_i / (1 - h_i))^2): each row predicted from the others (Allen's PRESS, 1974)
  std::optional<double> looRelativeError;            ///< looRmse / mean |response|
  std::string intervalReason;                        ///< why there are no intervals; empty where there are
  std::string looReason;                             ///< why there is no leave-one-out error
  std::vector<double> fitted, residuals, leverages;  ///< by row
  std::vector<std::optional<double>> looResiduals;   ///< by row
  double maxLeverage = 0;
  double condition = 0;                 ///< largest over smallest singular value of the columns, each scaled to unit length
  std::vector<Interval> box;            ///< by factor: range of the rows' values
  std::vector<std::vector<bool>> seen;  ///< by factor: categorical levels that a row has; empty for numeric ones
  /// p x p row-major M with M M' = (X' X)^-1, or its part of the coefficients where there is nuisance: the leverage of a row x is
  /// |M' x|^2.
  std::vector<double> rootInverse;
  std::vector<Warning> warnings;
};

/// Why there is no fit. Nothing is ever dropped in silence.
struct Refusal {
  enum class Kind { NoRows, TooFewRows, NotFinite, BadTerms, Aliased } kind{};
  std::string text;                  ///< lower case, no full stop
  std::vector<std::string> aliased;  ///< "P2(batch) = 1 in these rows"
  std::size_t rows = 0, parameters = 0;
};

/// Columns of a linear model that are estimated beside it and not reported, such as effects of blocks (Blocks.h): a number for
/// each row. One that depends on the model and those before it takes nothing.
using Nuisance = std::vector<std::vector<double>>;

/// Householder QR with column pivoting in 113-bit arithmetic (80-bit where the compiler lacks it), on columns scaled to unit
/// length. A column of which less than 1e-10 is independent of the others is aliased: refused, with its equation. `rows[i]` has a
/// number for each factor. Numbers are taken as the decimals that were written (design::decimal). `model` without the constant:
/// through the origin.
tl::expected<Result, Refusal> fit(const std::vector<Factor>& factors, const std::vector<Point>& rows,
                                  std::span<const double> response, const Model& model, double confidence = 0.95,
                                  const Nuisance& nuisance = {});

struct Prediction {
  double value = 0;
  std::optional<Interval> mean;      ///< confidence interval of the mean response
  std::optional<Interval> interval;  ///< prediction interval of one new observation
  double leverage = 0;
  bool inside = false;               ///< within the rows' box and leverage at most the largest of the rows
  std::vector<std::string> outside;  ///< why not: "`batch` = 64 lies above 32, the largest fitted"
};

/// `point` as in `fit`. A level of a categorical factor of the model that no row had has no value: a refusal.
tl::expected<Prediction, Refusal> predict(const Result& result, const Point& point);

/// The result as rows to print: header and cells, numbers with 6 significant digits.
struct Table {
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;
};
Table coefficientTable(const Result& result);
Table rawTable(const Result& result);
Table rowTable(const Result& result, std::span<const double> response);

}  // namespace tbem::regress
