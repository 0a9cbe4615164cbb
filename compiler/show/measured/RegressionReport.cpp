// Regressions as tables and JSON.
#include "compiler/show/measured/RegressionReport.h"

#include "compiler/design/verify/Aliases.h"
#include "compiler/experiment/Regressions.h"
#include "compiler/show/Out.h"
#include "compiler/show/measured/OrNull.h"
#include "runtime/report/Numbers.h"
#include "runtime/report/Table.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <numeric>

#include <cmath>

namespace tbem::driver {

std::string quantityText(report::Quantity quantity, double value) {
  switch (quantity) {
    case report::Quantity::Bytes:
      return report::signedBytes(value);
    case report::Quantity::Seconds:
      return (value < 0 ? "-" : "") + report::seconds(std::abs(value));
    case report::Quantity::Joules:
      return (value < 0 ? "-" : "") + report::joules(std::abs(value));
    case report::Quantity::Flops:
      return (value < 0 ? "-" : "") + report::flops(std::abs(value));
    case report::Quantity::Number:
      return report::number(value, 6);
  }
  return {};
}

namespace {

Json endsOf(const std::optional<regress::Interval>& value) { return value ? Json::array({value->low, value->high}) : Json(); }

Json lostJson(const Fitted& fitted) {
  Json list = Json::array();
  for (const Fitted::Lost& lost : fitted.lost) {
    list.push_back({{"row", lost.row},
                    {"levels", fitted.plan->run->levels(lost.row)},
                    {"status", lost.status},
                    {"reason", lost.reason},
                    {"repeats_used", lost.used},
                    {"repeats", lost.of}});
  }
  return list;
}

/// "warning: 2 of 16 rows are not in it: 1 oom (row 16), 1 failed (row 3)".
void sayLost(show::Out& out, const Fitted& fitted) {
  const std::size_t count = static_cast<std::size_t>(
      std::count_if(fitted.lost.begin(), fitted.lost.end(), [](const Fitted::Lost& lost) { return lost.used == 0; }));
  if (count != 0)
    out.say("warning: {} of {} rows {} not in it: {}\n", count, count + fitted.rows.size(), count == 1 ? "is" : "are",
            lostText(fitted));
  for (const Fitted::Lost& lost : fitted.lost) {
    if (lost.used != 0)
      out.say("warning: row {} counts with {} of {} repeats: {}\n", lost.row + 1, lost.used, lost.of, lost.status);
  }
}

Json cardsJson(const Fitted& fitted) {
  Json list = Json::array();
  for (const Fitted::Card& card : fitted.cards)
    list.push_back(
        {{"card", card.uuid}, {"rows", card.rows}, {"effect", fitted.cardsRemain.empty() ? Json(card.effect) : Json()}});
  return list;
}

/// What was done about rows that ran on several cards.
void sayCards(show::Out& out, const Fitted& fitted) {
  if (fitted.cards.empty()) return;
  if (!fitted.cardsRemain.empty()) {
    out.say("warning: rows ran on {} cards, and what differs between these is not taken out: {}\n", fitted.cards.size(),
            fitted.cardsRemain);
    return;
  }
  out.say("rows ran on {} cards, whose effects are taken out:\n", fitted.cards.size());
  for (const Fitted::Card& card : fitted.cards) {
    out.say("  {}, {} row{}: {}\n", card.uuid.empty() ? "not known which" : card.uuid, card.rows, card.rows == 1 ? "" : "s",
            quantityText(fitted.plan->quantity, card.effect));
  }
}

void printFitJson(show::Out& out, const Fitted& fitted) {
  const regress::Result& r = *fitted.result;
  Json terms = Json::array();
  for (const regress::Coefficient& c : r.coefficients)
    terms.push_back({{"term", c.term},
                     {"coefficient", c.value},
                     {"standard_error", orNull(c.standardError)},
                     {"interval", endsOf(c.interval)}});
  Json raw = Json::array();
  for (const regress::RawCoefficient& c : r.raw) raw.push_back({{"term", c.term}, {"coefficient", c.value}});
  Json warnings = Json::array();
  for (const regress::Warning& warning : r.warnings) warnings.push_back(warning.text);
  out.json("regress", {{"name", fitted.plan->decl->name.text},
                       {"design", fitted.plan->run->spec.name},
                       {"backend", fitted.place.backend},
                       {"tune", fitted.place.tune},
                       {"examples", fitted.place.examples},
                       {"lost", lostJson(fitted)},
                       {"cards", cardsJson(fitted)},
                       {"response", fitted.plan->response},
                       {"terms", terms},
                       {"raw", raw},
                       {"rows", r.rows},
                       {"parameters", r.parameters},
                       {"r2", orNull(r.r2)},
                       {"adjusted_r2", orNull(r.adjustedR2)},
                       {"residual_sd", orNull(r.residualSd)},
                       {"loo_rmse", orNull(r.looRmse)},
                       {"loo_relative_error", orNull(r.looRelativeError)},
                       {"warnings", warnings}});
}

report::Table toTable(const regress::Table& source, std::string title) {
  report::Table table;
  table.title = std::move(title);
  for (const std::string& name : source.header)
    table.columns.push_back({name, table.columns.empty() ? report::Align::Left : report::Align::Decimal});
  for (const std::vector<std::string>& row : source.rows) table.add({row.begin(), row.end()});
  return table;
}

void printFitText(show::Out& out, const Fitted& fitted, bool brief) {
  const regress::Result& r = *fitted.result;
  const report::Quantity quantity = fitted.plan->quantity;
  out.table(
      toTable(regress::coefficientTable(r), fmt::format("{}: {} of {} on {}", fitted.plan->decl->name.text, fitted.plan->response,
                                                        fitted.plan->run->spec.name, fitted.place.text())));
  if (!brief) out.table(toTable(regress::rawTable(r), "the same in the factors' units"));
  sayLost(out, fitted);
  sayCards(out, fitted);
  out.say("{} rows, {} parameters", r.rows, r.parameters);
  if (r.r2) out.say(", R² {:.6f}", *r.r2);
  if (r.adjustedR2) out.say(" (adjusted {:.6f})", *r.adjustedR2);
  if (r.residualSd) out.say(", residual sd {}", quantityText(quantity, *r.residualSd));
  out.say("\n");
  if (r.looRmse) {
    out.say("leave-one-out error {}", quantityText(quantity, *r.looRmse));
    if (r.looRelativeError) out.say(", {} of the mean response", report::percent(*r.looRelativeError));
    out.say("\n");
  } else if (!r.looReason.empty()) {
    out.say("no leave-one-out error: {}\n", r.looReason);
  }
  if (!r.intervalReason.empty()) out.say("no intervals: {}\n", r.intervalReason);
  for (const regress::Warning& warning : r.warnings) out.say("warning: {}\n", warning.text);
  if (brief) return;  // the design's notes have its aliases
  std::vector<std::string> names;
  for (const graph::FactorSpec& factor : fitted.plan->run->spec.factors) names.push_back(factor.name);
  for (const design::Alias& alias : design::mainEffectAliases(fitted.plan->run->array, names)) out.say("note: {}\n", alias.text);
}

/// "1.2e+06 (1.1e+06 to 1.3e+06)".
std::string withInterval(double value, const std::optional<regress::Interval>& interval) {
  if (!interval) return report::number(value, 4);
  return fmt::format("{} ({} to {})", report::number(value, 4), report::number(interval->low, 4),
                     report::number(interval->high, 4));
}

/// The mean response over the rows that are compared.
double meanOf(const regress::Result& fit) {
  double sum = 0;
  for (const double value : fit.fitted) sum += value;
  return sum / static_cast<double>(fit.rows);
}

void printComparisonJson(show::Out& out, const Comparison& comparison) {
  Json fits = Json::array(), contrasts = Json::array();
  for (std::size_t p = 0; p < comparison.fits.size(); ++p)
    fits.push_back({{"place", comparison.places[p]}, {"mean", meanOf(comparison.fits[p])}});
  for (const regress::Contrast& contrast : comparison.contrasts)
    contrasts.push_back({{"term", contrast.term},
                         {"left", comparison.places[contrast.left]},
                         {"right", comparison.places[contrast.right]},
                         {"difference", contrast.difference},
                         {"interval", Json::array({contrast.interval.low, contrast.interval.high})},
                         {"differs", contrast.differs()}});
  out.json("compare", {{"name", comparison.plan->decl->name.text},
                       {"design", comparison.plan->run->spec.name},
                       {"response", comparison.plan->response},
                       {"rows", comparison.rows.size()},
                       {"fits", fits},
                       {"contrasts", contrasts},
                       {"reason", comparison.reason}});
}

/// A term a line, a place a column: the coefficients of fits on the rows that all places have.
report::Table sideBySide(const Comparison& comparison) {
  report::Table table;
  table.title = fmt::format("{}: {} of {}, {} rows that all places have", comparison.plan->decl->name.text,
                            comparison.plan->response, comparison.plan->run->spec.name, comparison.rows.size());
  table.columns.push_back({"term", report::Align::Left});
  for (const std::string& place : comparison.places) table.columns.push_back({place, report::Align::Left});
  std::vector<report::Cell> means = {"mean"};
  for (const regress::Result& fit : comparison.fits) means.emplace_back(quantityText(comparison.plan->quantity, meanOf(fit)));
  table.add(std::move(means));
  for (std::size_t c = 0; c < comparison.fits.front().parameters; ++c) {
    std::vector<report::Cell> cells = {comparison.fits.front().coefficients[c].term};
    for (const regress::Result& fit : comparison.fits)
      cells.emplace_back(withInterval(fit.coefficients[c].value, fit.coefficients[c].interval));
    table.add(std::move(cells));
  }
  return table;
}

/// Whether the means of two places differ beyond what chance explains.
bool meansDiffer(const Comparison& comparison, std::size_t left, std::size_t right) {
  return std::ranges::any_of(comparison.contrasts, [&](const regress::Contrast& contrast) {
    const bool isPair = (contrast.left == left && contrast.right == right) || (contrast.left == right && contrast.right == left);
    return isPair && contrast.term.empty() && contrast.differs();
  });
}

/// "gap is least on cpu in the mean of these rows; on pytorch it is 12.5 MiB more".
std::string orderText(const Comparison& comparison) {
  std::vector<std::size_t> places(comparison.fits.size());
  std::iota(places.begin(), places.end(), std::size_t{0});
  std::ranges::stable_sort(places, {}, [&](std::size_t place) { return meanOf(comparison.fits[place]); });
  const std::size_t least = places.front();
  std::string text =
      fmt::format("{} is least on {} in the mean of these rows", comparison.plan->decl->name.text, comparison.places[least]);
  for (std::size_t i = 1; i < places.size(); ++i) {
    const double more = meanOf(comparison.fits[places[i]]) - meanOf(comparison.fits[least]);
    text += fmt::format("{} {}{} more{}", i == 1 ? "; on" : ", on", comparison.places[places[i]] + (i == 1 ? " it is " : " "),
                        quantityText(comparison.plan->quantity, more),
                        meansDiffer(comparison, least, places[i]) ? "" : " (which is not shown to differ)");
  }
  return text;
}

void printComparisonText(show::Out& out, const Comparison& comparison) {
  if (!comparison.fits.empty() && comparison.fits.size() == comparison.places.size()) out.table(sideBySide(comparison));
  if (!comparison.reason.empty()) {
    out.say("{} is not compared: {}\n", comparison.plan->decl->name.text, comparison.reason);
    return;
  }
  report::Table table;
  table.title = "differences, 95 % for all at once";
  table.columns = {{"term", report::Align::Left},
                   {"between", report::Align::Left},
                   {"difference", report::Align::Left},
                   {"differs", report::Align::Left}};
  for (const regress::Contrast& contrast : comparison.contrasts) {
    table.add({contrast.term.empty() ? "mean" : contrast.term,
               fmt::format("{} - {}", comparison.places[contrast.left], comparison.places[contrast.right]),
               withInterval(contrast.difference, contrast.interval), contrast.differs() ? "yes" : "not shown"});
  }
  out.table(table);
  out.say("{}\n", orderText(comparison));
}

}  // namespace

void printComparisons(show::Out& out, const std::vector<Comparison>& comparisons) {
  for (const Comparison& comparison : comparisons) {
    if (out.display.json)
      printComparisonJson(out, comparison);
    else
      printComparisonText(out, comparison);
  }
}

void printFitted(show::Out& out, const std::vector<Fitted>& fits, bool brief) {
  for (const Fitted& fitted : fits) {
    if (out.display.json) {
      printFitJson(out, fitted);
    } else {
      printFitText(out, fitted, brief);
    }
  }
}

}  // namespace tbem::driver
