#include "compiler/serve/lsp/ConvertCosts.h"

#include "compiler/serve/costs/CallPlaces.h"
#include "compiler/serve/lsp/Convert.h"
#include "runtime/report/Numbers.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>
#include <utility>

namespace tbem::serve {

namespace {

bool before(Position a, Position b) { return std::pair(a.line, a.character) < std::pair(b.line, b.character); }

std::string firstRowOf(const DesignCosts& design) {
  if (design.training) return design.name.empty() ? "the training" : fmt::format("the training `{}`", design.name);
  if (design.levels.empty()) return fmt::format("`{}`", design.name);
  return fmt::format("`{}`, first row: {}", design.name, design.levels);
}

std::string flopsText(const CallCosts& call) {
  std::string text = report::flops(estimate::toDouble(call.forward)) + " forward";
  if (call.backward != 0) text += fmt::format(", {} backward", report::flops(estimate::toDouble(call.backward)));
  return text;
}

/// One paragraph of Markdown.
std::string costText(const CallCosts& call, const DesignCosts& design) {
  std::string text = fmt::format("{}  \nshape `{}`", firstRowOf(design), call.shape);
  if (call.lastShape != call.shape) text += fmt::format(", the last time `{}`", call.lastShape);
  if (call.symbolic != call.shape) text += fmt::format("  \n`{}`", call.symbolic);
  text += "  \n" + flopsText(call);
  text += "  \n";
  if (call.weights != 0) text += fmt::format("weights {}, ", report::bytes(call.weights));
  text += fmt::format("result {}", report::bytes(call.results));
  if (call.times > 1) text += fmt::format("  \n{} times in a step, together", call.times);
  return text;
}

std::string hintLabel(const CallCosts& call) {
  return call.shape == call.lastShape ? call.shape : fmt::format("{} .. {}", call.shape, call.lastShape);
}

std::string lensTitle(const DesignCosts& design) {
  const std::string peak = fmt::format("peak {}{}", report::bytes(design.memory),
                                       design.backend.empty()          ? " from shapes alone"
                                       : design.unknownWorkspaces != 0 ? " without the workspaces of own code"
                                                                       : "");
  const std::string what = fmt::format("{} parameters, {}", report::grouped(design.parameters), peak);
  if (design.training) return what;
  if (design.rows == 1) return fmt::format("1 row: {}", what);
  return fmt::format("{} rows; first row: {}", report::grouped(static_cast<std::int64_t>(design.rows)), what);
}

std::string peakTitle(const DesignCosts& design, bool several) {
  std::string text = fmt::format("peak {} at this line: {}", report::bytes(design.memory), design.peak.name);
  if (!design.peak.scope.empty()) text += " in " + design.peak.scope;
  if (several && !design.name.empty()) text += fmt::format(" ({})", design.name);
  return text;
}

Json lens(Span span, std::string title) {
  // A command without a name: the title is all there is to it.
  return {{"range", toJson(span)}, {"command", {{"title", std::move(title)}, {"command", ""}}}};
}

/// The call that gives its value to a `let` of one name; invalid: the word declares something else. What a `var` holds changes.
SrcRange valueOf(const Reading& reading, SrcRange word) {
  SrcRange call;
  for (const sema::Use& use : reading.uses().at(word.begin)) {
    if (use.kind != sema::NameKind::Let) continue;
    const auto* callable = ast::dynCast<ast::Callable>(reading.holding(use.declaration).decl);
    if (callable == nullptr) continue;
    forEachStatement(callable->body, [&](const ast::Stmt& statement) {
      const auto* let = ast::dynCast<ast::Let>(&statement);
      if (let == nullptr || let->isVar || let->pattern.isTuple || let->pattern.names.size() != 1) return;
      if (let->pattern.names.front().range == use.declaration) call = givingCall(*let->value);
    });
  }
  return call;
}

}  // namespace

Json hintsJson(const Document& document, Span where) {
  Json list = Json::array();
  if (document.costs() == nullptr) return list;
  constexpr int kType = 1;  // InlayHintKind
  std::set<std::pair<std::size_t, std::size_t>> known;
  for (const DesignCosts& design : document.costs()->designs) {
    for (const CallCosts& call : design.calls) {
      const Position end = document.text().position(call.place.end);
      if (before(end, where.begin) || before(where.end, end)) continue;
      if (!known.emplace(call.place.begin, call.place.end).second) continue;
      list.push_back({{"position", toJson(end)},
                      {"label", hintLabel(call)},
                      {"kind", kType},
                      {"paddingLeft", true},
                      {"tooltip", {{"kind", "markdown"}, {"value", costText(call, design)}}}});
    }
  }
  return list;
}

Json lensesJson(const Document& document) {
  Json list = Json::array();
  if (document.costs() == nullptr) return list;
  const std::vector<DesignCosts>& designs = document.costs()->designs;
  for (const DesignCosts& design : designs) {
    list.push_back(lens(document.span(design.place), lensTitle(design)));
    if (design.peak.place) list.push_back(lens(document.span(*design.peak.place), peakTitle(design, designs.size() > 1)));
  }
  return list;
}

std::string costsAt(Document& document, SrcRange word) {
  if (document.costs() == nullptr) return "";
  const Reading& reading = document.reading();
  const Loc base = reading.source.base;
  const Piece asked{word.begin - base, word.end - base};
  const SrcRange value = valueOf(reading, word);
  std::string text;
  for (const DesignCosts& design : document.costs()->designs) {
    for (const CallCosts& call : design.calls) {
      const bool isCallee = call.callee.begin <= asked.begin && asked.end <= call.callee.end;
      const bool isValue = value.valid() && call.place == Piece{value.begin - base, value.end - base};
      if (isCallee || isValue) text += (text.empty() ? "" : "\n\n") + costText(call, design);
    }
  }
  return text;
}

}  // namespace tbem::serve
