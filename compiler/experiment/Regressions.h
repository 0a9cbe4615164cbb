// The `regress` and `predict` declarations of a program: read, fitted to what the store has, printed, plotted.
#pragma once

#include "compiler/experiment/Campaigns.h"
#include "compiler/experiment/Observations.h"
#include "compiler/experiment/RegressionModel.h"
#include "compiler/experiment/RowsElsewhere.h"
#include "runtime/regress/Compare.h"
#include "runtime/regress/Fit.h"
#include "runtime/report/Svg.h"

#include <memory>
#include <string>
#include <vector>

namespace tbem::driver {

/// One `regress` declaration with its design.
struct RegressionPlan {
  const ast::Regress* decl = nullptr;
  DesignRun* run = nullptr;
  std::string file;                                      ///< of rows that were measured elsewhere; "": those of campaigns
  std::vector<RowElsewhere> elsewhere;                   ///< that the file has
  std::vector<std::string> columns;                      ///< of the file, that the response may name
  std::unique_ptr<DesignRun> fileDesign;                 ///< `run`, where the program has none
  design::Model model;                                   ///< closed under hierarchy
  report::Quantity quantity = report::Quantity::Number;  ///< of the response
  std::string response;                                  ///< as written
};

/// Reads the regressions; mistakes go to the session.
std::vector<RegressionPlan> readRegressions(Workspace& workspace, const Designs& designs);
/// Declarations whose stage comes later (train, perturb, fit ...) are refused by name.
void refuseLaterDeclarations(Workspace& workspace);

/// A regression on one backend.
struct Fitted {
  const RegressionPlan* plan = nullptr;
  Place place;                            ///< where it was measured, and of what
  std::optional<regress::Result> result;  ///< there, in all that fitRegressions returns
  std::vector<std::size_t> rows;          ///< of the design, those that were measured
  std::vector<double> responses;          ///< medians over repeats, by row
  /// A row without a response, or with fewer repeats than were asked for.
  struct Lost {
    std::size_t row = 0;        ///< of the design
    std::string status;         ///< "oom", "failed", "timeout", "skipped", "unmeasured", or "no value" of the response
    unsigned used = 0, of = 0;  ///< repeats
    std::string reason;         ///< as the store has it
  };
  std::vector<Lost> lost;  ///< by row
  /// One of several cards on which these rows ran: a block, whose effect on the response is taken out of `responses`.
  struct Card {
    std::string uuid;      ///< "": rows that do not say
    std::size_t rows = 0;  ///< with a repeat there
    double effect = 0;     ///< what it adds; the sum over all cards is 0
  };
  std::vector<Card> cards;       ///< empty: one card, or of another backend
  std::string cardsRemain;       ///< why their effects could not be taken out; "": they were
  regress::Nuisance cardShares;  ///< of each row, how much more of its repeats ran on a card than on the last
};

/// What regressions are fitted to; all must outlive the fit.
struct FitInput {
  const std::vector<CaseRow>& rows;
  const StoredRows& stored;
  store::Store* store = nullptr;  ///< of `stored`; nullptr: there is none, and every regression is of a file
  const std::vector<CaseRow>& elsewhere;
  const StoredRows& elsewhereStored;
};
/// Fits every regression on every backend that has finished rows. Refusals go to the session.
std::vector<Fitted> fitRegressions(Workspace& workspace, const std::vector<RegressionPlan>& plans, const FitInput& input);

/// How the fits of one regression differ from backend to backend.
struct Comparison {
  const RegressionPlan* plan = nullptr;
  std::vector<std::string> places;           ///< Fitted::place, as text
  std::vector<std::size_t> rows;             ///< of the design: those that all places have
  std::vector<regress::Result> fits;         ///< of these rows, by place
  std::vector<regress::Contrast> contrasts;  ///< of each pair of places
  std::string reason;                        ///< why there are none; "" where there are
};
/// Of every regression that was fitted at two places or more.
std::vector<Comparison> compareFits(const std::vector<RegressionPlan>& plans, const std::vector<Fitted>& fits);

/// A number of this quantity for people.
std::string quantityText(report::Quantity quantity, double value);
/// The rows without a response: "1 oom (row 16), 2 failed (rows 3, 4)"; "" where there are none.
std::string lostText(const Fitted& fitted);

}  // namespace tbem::driver
