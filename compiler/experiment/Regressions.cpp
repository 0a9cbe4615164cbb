#include "compiler/experiment/Regressions.h"

#include "compiler/design/verify/Aliases.h"
#include "compiler/diagnostics/tables/Run.h"
#include "compiler/diagnostics/tables/Sema.h"
#include "compiler/experiment/Observations.h"
#include "compiler/experiment/Quantities.h"
#include "compiler/experiment/RowsElsewhere.h"
#include "runtime/measure/Quantile.h"
#include "runtime/regress/Blocks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>
#include <tuple>
#include <variant>

namespace tbem::driver {

namespace {

/// What the response is where it adds up quantities of one kind. `names`: those in it, one at least.
report::Quantity commonQuantity(const std::vector<std::string>& names) {
  const report::Quantity first = quantityOf(names.front());
  const bool allSame = std::ranges::all_of(names, [&](const std::string& name) { return quantityOf(name) == first; });
  return allSame ? first : report::Quantity::Number;
}

/// A product of quantities has no simple unit.
bool isLinear(const ast::Expr& expr) {
  const auto* binary = ast::dynCast<ast::Binary>(&expr);
  if (binary == nullptr) return true;
  const bool sum = binary->op == ast::BinaryOp::Add || binary->op == ast::BinaryOp::Sub;
  return sum && isLinear(*binary->left) && isLinear(*binary->right);
}

constexpr double kConfidence = 0.95;
constexpr std::size_t kMostAnalysed = 500;  ///< coefficients: rank and dependence take the third power of their number
constexpr std::size_t kMostEquations = 8;

/// Whether the design's rows can tell the model's terms apart: told before anything is measured.
bool estimable(const DesignRun& run, const design::Model& model, const ast::Regress& decl, DiagnosticSink& sink) {
  const std::vector<design::Factor> factors = run.factors();
  std::vector<design::Point> points;
  for (const LevelIndices& row : run.rows) points.push_back(design::pointOf(factors, row));
  const design::Basis basis(factors, model.terms, model.throughOrigin);
  if (basis.size() > kMostAnalysed) {
    sink.report(diag::regression_refused, decl.terms->range, decl.name.text,
                fmt::format("its terms are {} coefficients, more than {}", basis.size(), kMostAnalysed));
    return false;
  }
  const design::ModelQuality quality = design::modelQuality(basis, points);
  if (quality.rank == quality.parameters) return true;
  Diagnostic& diagnostic =
      sink.report(diag::regression_refused, decl.terms->range, decl.name.text,
                  fmt::format("{} rows tell {} of its {} coefficients apart", points.size(), quality.rank, quality.parameters));
  const std::size_t shown = std::min(quality.dependent.size(), kMostEquations);
  for (std::size_t i = 0; i < shown; ++i) diagnostic.note(quality.dependent[i]);
  if (shown < quality.dependent.size())
    diagnostic.note(fmt::format("{} more coefficients follow from others", quality.dependent.size() - shown));
  return false;
}

bool checkValidation(DiagnosticSink& sink, const ast::Regress& decl) {
  if (decl.validate.empty() || decl.validate.text == "leave_one_out") return true;
  sink.report(diag::unknown_validation, decl.validate.range, decl.validate.text)
      .fix(decl.validate.range, "leave_one_out", Applicability::Maybe);
  return false;
}

}  // namespace

namespace {

DesignRun* designOf(const Designs& designs, const std::string& name) {
  for (const auto& run : designs.runs) {
    if (run->spec.name == name) return run.get();
  }
  return nullptr;
}

/// The design of a regression, and where it is of a file, its rows. False after a report, or where the design has mistakes.
bool readSource(Workspace& workspace, const Designs& designs, const ast::Regress& decl, RegressionPlan& plan) {
  plan.file = fileOf(decl);
  if (!plan.file.empty()) {
    auto elsewhere = readElsewhere(workspace, designs, decl);
    if (!elsewhere) return false;
    plan.run = elsewhere->run;
    plan.elsewhere = std::move(elsewhere->rows);
    plan.columns = std::move(elsewhere->columns);
    plan.fileDesign = std::move(elsewhere->own);
    return true;
  }
  std::vector<std::string> names;
  for (const ast::Design* design : workspace.all<ast::Design>()) names.push_back(design->name.text);
  plan.run = designOf(designs, decl.from.text);
  if (std::ranges::count(names, decl.from.text) != 0) return plan.run != nullptr;
  Diagnostic& diagnostic = workspace.session.sink.report(diag::unknown_design, decl.from.range, decl.from.text);
  const std::string close = nearest(decl.from.text, names);
  if (!close.empty()) diagnostic.fix(decl.from.range, close, Applicability::Maybe);
  return false;
}

}  // namespace

std::vector<RegressionPlan> readRegressions(Workspace& workspace, const Designs& designs) {
  DiagnosticSink& sink = workspace.session.sink;
  std::vector<RegressionPlan> plans;
  for (const ast::Regress* decl : workspace.all<ast::Regress>()) {
    RegressionPlan plan;
    plan.decl = decl;
    const bool isKnown = readSource(workspace, designs, *decl, plan);
    for (const ast::Clause& clause : decl->others) {
      sink.report(diag::not_there_yet, clause.range, fmt::format("the clause `{}` of `regress` is", clause.word.text));
    }
    if (!isKnown || !decl->others.empty() || !checkValidation(sink, *decl)) continue;
    if (decl->response == nullptr || decl->terms == nullptr) {
      sink.report(diag::bad_term, decl->name.range,
                  fmt::format("`{}` has no `{}`", decl->name.text, decl->response == nullptr ? "response" : "terms"));
      continue;
    }
    const std::vector<design::Factor> factors = plan.run->factors();
    const auto quantities = checkResponse(*decl->response, plan.columns, sink);
    const auto terms = termsOf(*decl->terms, factors, sink);
    if (!quantities || !terms) continue;
    if (const auto problem = design::problem(factors, terms->terms, terms->throughOrigin)) {
      sink.report(diag::bad_term, decl->terms->range, *problem);
      continue;
    }
    plan.model = design::hierarchical(terms->terms, factors, terms->throughOrigin);
    if (!estimable(*plan.run, plan.model, *decl, sink)) continue;
    plan.response = std::string(workspace.session.sources.text(decl->response->range));
    if (isLinear(*decl->response)) plan.quantity = commonQuantity(*quantities);
    plans.push_back(std::move(plan));
  }
  return plans;
}

void refuseLaterDeclarations(Workspace& workspace) {
  for (const ast::Decl* decl : workspace.file().declarations) {
    const char* what = nullptr;
    switch (decl->kind) {
      case ast::NodeKind::Fit:
        what = "`fit` is";
        break;
      case ast::NodeKind::Assume:
        what = "`assume` is";
        break;
      default:
        break;
    }
    if (what != nullptr)
      workspace.session.sink.report(diag::not_there_yet, decl->name.empty() ? decl->range : decl->name.range, std::string(what));
  }
}

namespace {

/// Those that a row has, as far as they are known.
Quantities quantitiesOf(const CaseRow& row, const runtime::Measurement& value) {
  Quantities out;
  if (!std::isnan(row.flops))  // else the design has no network
    out = {{"static_memory", static_cast<double>(row.staticMemory)}, {"flops", row.flops}, {"parameters", row.parameters}};
  if (row.isOurs()) {
    // As planned when it ran: what is lowered here may lack what an operator's own library said then.
    out["live"] = static_cast<double>(value.live.value_or(row.live));
    out["arena"] = static_cast<double>(value.arena.value_or(row.arena));
  }
  const auto add = [&](const char* name, const auto& field) {
    if (field) out[name] = static_cast<double>(*field);
  };
  for (const MeasuredQuantity& each : measuredQuantities()) {
    std::visit([&](auto member) { add(each.name, value.*member); }, each.member);
  }
  for (const ExampleQuantity& each : exampleQuantities()) add(each.name, value.*each.member);
  return out;
}

/// What the cells of a file's own columns hold, by row of the design, backend and repeat.
using OwnNumbers = std::map<std::tuple<std::size_t, std::string, std::uint32_t>, const std::map<std::string, double>*>;

OwnNumbers ownNumbers(const RegressionPlan& plan) {
  OwnNumbers numbers;
  for (const RowElsewhere& one : plan.elsewhere)
    numbers[{one.row, one.measured.backend, one.measured.repeat}] = &one.measured.own;
  return numbers;
}

/// A repeat with a response.
struct Response {
  std::size_t at = 0;  ///< position of its row in Fitted::rows
  std::string card;
  double value = 0;
};

/// Where rows ran on several cards, takes what each card adds out of their responses. It is estimated from the median over a
/// row's repeats on each card.
void takeOutCards(Fitted& fitted, std::vector<Response>& responses) {
  std::map<std::string, std::set<std::size_t>> rowsOf;
  for (const Response& response : responses) rowsOf[response.card].insert(response.at);
  if (rowsOf.size() < 2) return;
  for (const auto& [uuid, rows] : rowsOf) fitted.cards.push_back({uuid, rows.size(), 0});
  std::vector<regress::InBlock> repeats;
  repeats.reserve(responses.size());
  std::map<std::pair<std::size_t, std::uint32_t>, std::vector<double>> byCard;
  for (const Response& response : responses) {
    const auto card = std::distance(rowsOf.begin(), rowsOf.find(response.card));  // as in Fitted::cards
    repeats.push_back({response.at, static_cast<std::uint32_t>(card)});
    byCard[{response.at, repeats.back().block}].push_back(response.value);
  }
  const std::vector<design::Factor> factors = fitted.plan->run->factors();
  std::vector<design::Point> points;
  std::vector<double> medians;
  std::vector<std::uint32_t> cards;
  for (auto& [place, values] : byCard) {
    points.push_back(design::pointOf(factors, fitted.plan->run->rows[fitted.rows[place.first]]));
    medians.push_back(measure::median(values));
    cards.push_back(place.second);
  }
  const auto effects = regress::blockEffects(factors, points, medians, fitted.plan->model, cards, fitted.cards.size());
  if (!effects) {
    fitted.cardsRemain = effects.error().text;
    return;
  }
  for (std::size_t i = 0; i < fitted.cards.size(); ++i) fitted.cards[i].effect = (*effects)[i];
  for (std::size_t i = 0; i < responses.size(); ++i) responses[i].value -= (*effects)[repeats[i].block];
  fitted.cardShares = regress::blockShares(repeats, fitted.rows.size(), fitted.cards.size());
}

/// The median over the repeats of the response of each row that has one; what the others lack.
Fitted collect(const RegressionPlan& plan, const Place& place, const std::vector<CaseRow>& rows, const StoredRows& stored) {
  Fitted fitted;
  fitted.plan = &plan;
  fitted.place = place;
  const OwnNumbers own = ownNumbers(plan);
  std::vector<Response> responses;
  for (const Observation& observation : observationsOf(*plan.run, place, rows, stored)) {
    const CaseRow& row = *observation.row;
    Fitted::Lost lost{row.row, "unmeasured", 0, std::max<unsigned>(row.plan->repeats, observation.repeats.size()), {}};
    const std::size_t before = responses.size();
    for (const store::Stored& one : observation.repeats) {
      Quantities quantities = quantitiesOf(row, one.value);
      if (const auto cells = own.find({row.row, place.backend, one.key.repeat}); cells != own.end())
        quantities.insert(cells->second->begin(), cells->second->end());
      if (one.value.status != runtime::Status::Ok) {
        lost.status = runtime::name(one.value.status);
        lost.reason = one.value.reason;
      } else if (const auto value = evaluateResponse(*plan.decl->response, quantities)) {
        responses.push_back({fitted.rows.size(), one.value.card, *value});
      } else if (lost.status == "unmeasured") {
        lost.status = "no value";
      }
    }
    lost.used = static_cast<unsigned>(responses.size() - before);
    if (lost.used < lost.of) fitted.lost.push_back(std::move(lost));
    if (responses.size() > before) fitted.rows.push_back(row.row);
  }
  takeOutCards(fitted, responses);
  std::vector<std::vector<double>> byRow(fitted.rows.size());
  for (const Response& response : responses) byRow[response.at].push_back(response.value);
  for (std::vector<double>& values : byRow) fitted.responses.push_back(measure::median(values));
  return fitted;
}

}  // namespace

namespace {

std::vector<CaseRow> rowsOfFile(const std::vector<CaseRow>& rows, const std::string& file) {
  std::vector<CaseRow> own;
  std::ranges::copy_if(rows, std::back_inserter(own), [&](const CaseRow& row) { return row.plan->file == file; });
  return own;
}

/// The fits of one regression on the rows that all of them have.
Comparison compare(const RegressionPlan& plan, const std::vector<const Fitted*>& fits) {
  Comparison comparison;
  comparison.plan = &plan;
  comparison.rows = fits.front()->rows;
  for (const Fitted* fitted : fits) {
    comparison.places.push_back(fitted->place.text());
    std::erase_if(comparison.rows, [&](std::size_t row) { return std::ranges::count(fitted->rows, row) == 0; });
  }
  const std::vector<design::Factor> factors = plan.run->factors();
  std::vector<design::Point> points;
  for (const std::size_t row : comparison.rows) points.push_back(design::pointOf(factors, plan.run->rows[row]));
  for (const Fitted* fitted : fits) {
    std::vector<double> responses;
    regress::Nuisance cardShares(fitted->cardShares.size());
    for (const std::size_t row : comparison.rows) {
      const auto at = static_cast<std::size_t>(std::ranges::find(fitted->rows, row) - fitted->rows.begin());
      responses.push_back(fitted->responses[at]);
      for (std::size_t card = 0; card < cardShares.size(); ++card) cardShares[card].push_back(fitted->cardShares[card][at]);
    }
    auto result = regress::fit(factors, points, responses, plan.model, kConfidence, cardShares);
    if (!result) {
      comparison.reason = fmt::format("on the {} rows that all have: {}", comparison.rows.size(), result.error().text);
      return comparison;
    }
    comparison.fits.push_back(std::move(*result));
  }
  auto contrasts = regress::contrasts(comparison.fits);
  if (contrasts)
    comparison.contrasts = std::move(*contrasts);
  else
    comparison.reason = contrasts.error();
  return comparison;
}

}  // namespace

std::vector<Comparison> compareFits(const std::vector<RegressionPlan>& plans, const std::vector<Fitted>& fits) {
  std::vector<Comparison> comparisons;
  for (const RegressionPlan& plan : plans) {
    std::vector<const Fitted*> own;
    for (const Fitted& fitted : fits) {
      if (fitted.plan == &plan) own.push_back(&fitted);
    }
    if (own.size() > 1) comparisons.push_back(compare(plan, own));
  }
  return comparisons;
}

std::string lostText(const Fitted& fitted) {
  std::map<std::string, std::vector<std::size_t>> whole;
  for (const Fitted::Lost& lost : fitted.lost) {
    if (lost.used == 0) whole[lost.status].push_back(lost.row + 1);
  }
  std::vector<std::string> parts;
  parts.reserve(whole.size());
  for (const auto& [status, rows] : whole)
    parts.push_back(fmt::format("{} {} (row{} {})", rows.size(), status, rows.size() == 1 ? "" : "s", fmt::join(rows, ", ")));
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::vector<Fitted> fitRegressions(Workspace& workspace, const std::vector<RegressionPlan>& plans, const FitInput& input) {
  std::vector<Fitted> fits;
  for (const RegressionPlan& plan : plans) {
    const bool isOfFile = !plan.file.empty();
    const std::vector<CaseRow> rows = isOfFile ? rowsOfFile(input.elsewhere, plan.file) : input.rows;
    const StoredRows& stored = isOfFile ? input.elsewhereStored : input.stored;
    bool any = false;
    std::vector<std::string> lost;
    for (const Place& place : placesOf(*plan.run, rows)) {
      Fitted fitted = collect(plan, place, rows, stored);
      if (fitted.rows.empty()) {
        const bool ran = std::any_of(fitted.lost.begin(), fitted.lost.end(),
                                     [](const Fitted::Lost& lost) { return lost.status != "unmeasured"; });
        if (ran)
          lost.push_back(fmt::format("on {} {} row{} lost: {}", fitted.place.text(), fitted.lost.size(),
                                     fitted.lost.size() == 1 ? " was" : "s were", lostText(fitted)));
        continue;
      }
      any = true;
      const std::vector<design::Factor> factors = plan.run->factors();
      std::vector<design::Point> points;
      for (const std::size_t row : fitted.rows) points.push_back(design::pointOf(factors, plan.run->rows[row]));
      auto result = regress::fit(factors, points, fitted.responses, plan.model, kConfidence, fitted.cardShares);
      if (!result) {
        Diagnostic& diagnostic = workspace.session.sink.report(diag::regression_refused, plan.decl->name.range,
                                                               plan.decl->name.text, result.error().text);
        for (const std::string& aliased : result.error().aliased) diagnostic.note(aliased);
        continue;
      }
      fitted.result = std::move(*result);
      fits.push_back(std::move(fitted));
    }
    if (!any) {
      Diagnostic& none = workspace.session.sink.report(diag::nothing_measured, plan.decl->name.range, plan.decl->name.text);
      for (std::string& why : lost) none.note(std::move(why));
      if (!lost.empty() || isOfFile) continue;
      const std::vector<unsigned> own = threadsOf(rows);
      std::vector<unsigned> others = threadsMeasured(*input.store, rows);
      std::erase_if(others, [&](unsigned threads) { return std::ranges::count(own, threads) != 0; });
      none.note(others.empty() || own.empty()
                    ? "run `tbemc measure` first, or the whole program by `tbemc FILE`"
                    : fmt::format("rows were measured with {0} thread{1}, and this run has {2}: --threads {0} takes those",
                                  others.front(), others.front() == 1 ? "" : "s", fmt::join(own, ", ")));
    }
  }
  return fits;
}

}  // namespace tbem::driver
