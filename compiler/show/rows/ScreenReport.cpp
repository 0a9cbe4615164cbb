#include "compiler/show/rows/ScreenReport.h"

#include "runtime/report/Bars.h"
#include "runtime/report/Numbers.h"

#include <fmt/format.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace tbem::driver {

namespace {

std::string amount(report::Quantity quantity, double value) {
  switch (quantity) {
    case report::Quantity::Bytes:
      return report::bytes(static_cast<std::uint64_t>(std::llround(value)));
    case report::Quantity::Seconds:
      return report::seconds(value);
    case report::Quantity::Flops:
      return report::flops(value);
    case report::Quantity::Joules:
      return report::joules(value);
    case report::Quantity::Number:
      break;
  }
  return report::grouped(std::llround(value));
}

std::string nameOf(const Screened& found, std::uint32_t factor) { return found.run->spec.factors[factor].name; }

std::string rowsText(const Screened& found) {
  const design::Screening& s = found.screening;
  return s.grid ? fmt::format("every combination of levels, {} rows", s.rows)
                : fmt::format("{}, {} rows of strength {}", found.run->array.name, s.rows, s.strength);
}

/// What the rows can tell, in one line.
std::string telling(const Screened& found) {
  const design::Screening& s = found.screening;
  if (s.grid) return {};
  if (!found.noGrid.empty())
    return fmt::format(
        "{}: not every combination of levels can be built ({}): the design's own rows are screened, of strength {}",
        found.run->spec.name, found.noGrid, s.strength);
  if (s.strength < 2) return "the rows are not balanced: shares of factors overlap, and interactions are not told apart";
  if (s.strength < 3)
    return "rows of strength 2: a share may hold interactions of other factors; --grid N for every combination, if there are N "
           "at most";
  if (s.strength < 4) return "rows of strength 3: a share of an interaction may hold that of another one";
  return {};
}

struct Judged {
  std::vector<std::string> influential, left;
};
Judged judge(const Screened& found, double cutoff) {
  Judged judged;
  for (const std::uint32_t f : design::ranking(found.screening))
    (design::influence(found.screening, f) >= cutoff ? judged.influential : judged.left).push_back(nameOf(found, f));
  return judged;
}

void addEffects(report::Table& table, const Screened& found, double cutoff, const show::BarStyle& style) {
  const design::Screening& s = found.screening;
  for (const std::uint32_t f : design::ranking(s)) {
    const design::MainEffect& effect = s.mains[f];
    const bool matters = design::influence(s, f) >= cutoff;
    const report::Tone tone = matters ? report::Tone::Good : report::Tone::Faint;
    table.add({{nameOf(found, f), matters ? report::Tone::Plain : tone},
               {report::bar(effect.share, style.width, style.ascii), tone},
               report::percent(effect.share),
               effect.total ? report::percent(*effect.total) : "",
               amount(found.quantity, effect.range)});
  }
  std::vector<design::Interaction> shown = s.interactions;
  std::stable_sort(shown.begin(), shown.end(), [](const auto& a, const auto& b) { return a.share > b.share; });
  bool ruled = false;
  for (const design::Interaction& one : shown) {
    if (one.share < cutoff) continue;
    if (!ruled) table.rules.push_back(table.rows.size());
    ruled = true;
    table.add({fmt::format("{} x {}", nameOf(found, one.first), nameOf(found, one.second)),
               {report::bar(one.share, style.width, style.ascii), report::Tone::Good},
               report::percent(one.share)});
  }
}

void addOperators(report::Table& table, const Screened& found, double cutoff, const show::BarStyle& style) {
  std::size_t others = 0;
  for (const Screened::Operator& one : found.operators) {
    if (one.high < cutoff) {
      ++others;
      continue;
    }
    table.add({one.name,
               {report::bar(one.share, style.width, style.ascii), report::Tone::Good},
               report::percent(one.share),
               amount(found.quantity, one.centre),
               report::percent(one.low),
               report::percent(one.high)});
  }
  if (others != 0) table.add({fmt::format("{} others", others)});
}

void printText(show::Out& out, const ScreenView& view, const Screened& found) {
  const design::Screening& s = found.screening;
  const show::BarStyle style = out.bars();
  if (s.squares == 0) {
    out.say("{} is {} in every row: no factor moves it\n\n", found.response, amount(found.quantity, s.mean));
    return;
  }
  report::Table effects;
  effects.title = fmt::format("{}: {} to {}, mean {}", found.response, amount(found.quantity, s.low),
                              amount(found.quantity, s.high), amount(found.quantity, s.mean));
  effects.columns = {{"factor", report::Align::Left},
                     {"main effect", report::Align::Left},
                     {"share", report::Align::Decimal},
                     {"total", report::Align::Decimal},
                     {"range of means", report::Align::Decimal}};
  if (!s.grid) effects.columns[3].title = "";
  addEffects(effects, found, view.cutoff, style);
  out.table(effects);
  const Judged judged = judge(found, view.cutoff);
  out.say("{} or more: {}{}\n\n", report::percent(view.cutoff),
          judged.influential.empty() ? "none" : fmt::format("{}", fmt::join(judged.influential, ", ")),
          judged.left.empty() ? "" : fmt::format("; less: {}", fmt::join(judged.left, ", ")));
  report::Table operators;
  operators.title = fmt::format("{} by operator, at {}", found.response, found.run->levelsText(found.centre));
  operators.columns = {{"operator", report::Align::Left},
                       {"", report::Align::Left},
                       {"share", report::Align::Decimal},
                       {"there", report::Align::Decimal},
                       {"least of all rows", report::Align::Decimal},
                       {"most", report::Align::Decimal}};
  addOperators(operators, found, view.cutoff, style);
  out.table(operators);
}

void printJsonOf(show::Out& out, const ScreenView& view, const Screened& found) {
  const design::Screening& s = found.screening;
  Json effects = Json::array();
  for (const std::uint32_t f : design::ranking(s)) {
    const design::MainEffect& effect = s.mains[f];
    Json means = Json::array();
    for (const std::optional<double>& mean : effect.means) means.push_back(mean ? Json(*mean) : Json());
    Json levels = Json::array();
    for (const graph::Level& level : found.run->spec.factors[f].levels) levels.push_back(level.text);
    effects.push_back({{"factor", nameOf(found, f)},
                       {"share", effect.share},
                       {"squares", effect.squares},
                       {"total", effect.total ? Json(*effect.total) : Json()},
                       {"range", effect.range},
                       {"levels", levels},
                       {"means", means}});
  }
  Json interactions = Json::array();
  for (const design::Interaction& one : s.interactions) {
    interactions.push_back(
        {{"factors", {nameOf(found, one.first), nameOf(found, one.second)}}, {"share", one.share}, {"squares", one.squares}});
  }
  Json operators = Json::array();
  for (const Screened::Operator& one : found.operators) {
    operators.push_back({{"operator", one.name},
                         {"amount", one.centre},
                         {"share", one.share},
                         {"share_least", one.low},
                         {"share_most", one.high}});
  }
  const Judged judged = judge(found, view.cutoff);
  out.json("screen", {{"design", found.run->spec.name},
                      {"response", found.response},
                      {"rows", s.rows},
                      {"grid", s.grid},
                      {"work_ended", found.workEnded},
                      {"no_grid_because", found.noGrid.empty() ? Json() : Json(found.noGrid)},
                      {"strength", s.strength},
                      {"mean", s.mean},
                      {"least", s.low},
                      {"most", s.high},
                      {"squares", s.squares},
                      {"effects", effects},
                      {"interactions", interactions},
                      {"cutoff", view.cutoff},
                      {"influential", judged.influential},
                      {"negligible", judged.left},
                      {"centre", found.run->levels(found.centre)},
                      {"operators", operators}});
}

report::BarGroup groupOf(const Screened& found, double cutoff) {
  const design::Screening& s = found.screening;
  report::BarGroup group;
  group.title = found.response;
  group.subtitle = fmt::format("{} to {}; light: total effect", amount(found.quantity, s.low), amount(found.quantity, s.high));
  for (const std::uint32_t f : design::ranking(s)) {
    const design::MainEffect& effect = s.mains[f];
    group.bars.push_back({nameOf(found, f), effect.share, effect.total.value_or(0), report::percent(effect.share),
                          design::influence(s, f) < cutoff});
  }
  for (const design::Interaction& one : s.interactions) {
    if (one.share >= cutoff) {
      group.bars.push_back({fmt::format("{} x {}", nameOf(found, one.first), nameOf(found, one.second)), one.share, 0,
                            report::percent(one.share), false});
    }
  }
  return group;
}

/// The findings on one design. False where a plot cannot be written, which was said.
bool printFindings(show::Out& out, const State& state, const std::vector<Screened>& findings, const ScreenView& view) {
  if (findings.empty()) return true;
  const Screened& first = findings.front();
  if (!out.display.json) out.say("screening of {}: {}, on {}\n\n", first.run->spec.name, rowsText(first), state.backendName);
  std::vector<report::BarGroup> groups;
  for (const Screened& found : findings) {
    if (out.display.json) {
      printJsonOf(out, view, found);
    } else {
      printText(out, view, found);
    }
    if (found.screening.squares > 0) groups.push_back(groupOf(found, view.cutoff));
  }
  if (const std::string note = telling(first); !note.empty()) out.note(note);
  if (view.folder.empty() || groups.empty()) return true;
  return out.plots(view.folder,
                   {{first.run->spec.name + "-screen.svg",
                     report::barsSvg(fmt::format("what moves {}: share of the variation", first.run->spec.name), groups)}});
}

}  // namespace

int printScreening(show::Out& out, const State& state, const Screening& screening, const ScreenView& view) {
  int status = kOk;
  for (const std::vector<Screened>& findings : screening.designs) {
    if (!printFindings(out, state, findings, view)) status = kEnvironment;
  }
  for (const std::string& message : screening.untimed) out.failure(message);
  if (!screening.leftOut.empty()) {
    out.failure(screening.leftOut);
    status = kEnvironment;
  }
  return screening.untimed.empty() ? status : kProgramErrors;
}

}  // namespace tbem::driver
