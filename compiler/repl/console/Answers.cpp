#include "compiler/repl/console/Answers.h"

#include "compiler/repl/console/Pixels.h"
#include "compiler/show/memory/KindsReport.h"
#include "runtime/report/Numbers.h"
#include "runtime/report/Table.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <span>
#include <utility>

namespace tbem::repl {

namespace {

std::string shapeText(const ResultShape& result) { return fmt::format("{}[{}]", result.dtype, fmt::join(result.shape, ", ")); }

std::string shapesText(const std::vector<ResultShape>& results) {
  std::string text;
  for (const ResultShape& result : results) text += fmt::format("{}{}", text.empty() ? "" : ", ", shapeText(result));
  return results.size() == 1 ? text : fmt::format("({})", text);
}

Json toJson(const std::vector<ResultShape>& results) {
  Json list = Json::array();
  for (const ResultShape& result : results) list.push_back({{"dtype", result.dtype}, {"shape", result.shape}});
  return list;
}

constexpr std::size_t kFirstNumbers = 8;

}  // namespace

void showDeclared(show::Out& out, const Declared& declared) {
  if (out.display.json) {
    Json list = Json::array();
    for (const auto& [kind, name] : declared.declarations) list.push_back({{"what", kind}, {"name", name}});
    out.json("declared", {{"declarations", list},
                          {"replaced", declared.replaced},
                          {"parts", declared.parts.all},
                          {"parts_checked", declared.parts.again}});
    return;
  }
  if (out.display.quiet) return;
  for (const auto& [kind, name] : declared.declarations) {
    const bool again = std::ranges::find(declared.replaced, name) != declared.replaced.end();
    out.print("{} {}{}\n", kind, name, again ? ", instead of the former one" : "");
  }
  if (!declared.replaced.empty() && declared.parts.all != 0)
    out.print("{} of {} parts of the program checked again\n", declared.parts.again, declared.parts.all);
}

void showValue(show::Out& out, const ShownValue& value) {
  if (out.display.json)
    out.json("value", {{"text", value.text}});
  else
    out.plain(value.text + "\n");
}

void showCost(show::Out& out, const CallCost& cost) {
  if (out.display.json) {
    out.json("call", {{"results", toJson(cost.results)},
                      {"parameters", cost.parameters},
                      {"flops_forward", static_cast<std::uint64_t>(cost.flops)},
                      {"live", cost.live},
                      {"arena", cost.arena},
                      {"peak", cost.peak},
                      {"peak_scope", cost.peakScope}});
    return;
  }
  const std::string scope = cost.peakScope.empty() ? "" : fmt::format(" in {}", cost.peakScope);
  out.print("{}\n", shapesText(cost.results));
  out.print("{} parameters, {}, {} at the peak{}\n", report::grouped(cost.parameters), report::flops(cost.flops),
            report::bytes(cost.arena), cost.peak.empty() ? "" : fmt::format(": {}{}", driver::peakWords(cost.peak), scope));
}

void showTensor(show::Out& out, const std::string& name, const Tensor& tensor) {
  const Statistics& all = tensor.statistics;
  const std::vector<double> numbers = tensor.numbers();
  const std::span<const double> first(numbers.data(), std::min(numbers.size(), kFirstNumbers));
  const std::string dtype(sema::kDTypeNames.at(static_cast<std::size_t>(data::findElementType(tensor.array.dtype)->runtime)));
  if (out.display.json) {
    out.json("tensor", {{"name", name},
                        {"dtype", dtype},
                        {"shape", tensor.type.shape},
                        {"size", all.count},
                        {"not_finite", all.notFinite},
                        {"mean", all.mean},
                        {"deviation", all.deviation},
                        {"min", all.least},
                        {"max", all.most},
                        {"first", std::vector<double>(first.begin(), first.end())}});
    return;
  }
  out.print("{}{}\n", name.empty() ? "" : name + ": ", shapeText({dtype, tensor.type.shape}));
  std::string text;
  for (const double value : first) text += fmt::format("{}{}", text.empty() ? "" : ", ", report::number(value));
  out.print("[{}{}]\n", text, first.size() < numbers.size() ? ", ..." : "");
  if (all.count > 1)
    out.print("mean {}, deviation {}, from {} to {}\n", report::number(all.mean), report::number(all.deviation),
              report::number(all.least), report::number(all.most));
  if (all.notFinite != 0) out.print("{} of {} numbers are not finite\n", all.notFinite, all.count);
}

void showShapes(show::Out& out, const CallCost& cost) {
  report::Table table;
  table.columns = {{"in", report::Align::Left},
                   {"operator", report::Align::Left},
                   {"result", report::Align::Left},
                   {"FLOPs", report::Align::Decimal}};
  for (const OperatorRow& row : cost.operators) {
    if (out.display.json) {
      out.json("call_operator", {{"path", row.path},
                                 {"operator", row.name},
                                 {"results", toJson(row.results)},
                                 {"flops", static_cast<std::uint64_t>(row.flops)}});
      continue;
    }
    table.rows.push_back({row.path, row.name, shapesText(row.results), report::flops(row.flops)});
  }
  if (!out.display.json) out.table(table);
}

void showFlops(show::Out& out, const CallCost& cost) {
  std::map<std::string, std::pair<std::size_t, double>> byName;
  for (const OperatorRow& row : cost.operators) {
    auto& [calls, flops] = byName[row.name];
    ++calls;
    flops += row.flops;
  }
  std::vector<std::pair<std::string, std::pair<std::size_t, double>>> sorted(byName.begin(), byName.end());
  std::ranges::stable_sort(sorted, std::greater(), [](const auto& entry) { return entry.second.second; });
  report::Table table;
  table.columns = {{"operator", report::Align::Left},
                   {"calls", report::Align::Right},
                   {"FLOPs", report::Align::Decimal},
                   {"share", report::Align::Decimal}};
  for (const auto& [name, sums] : sorted) {
    if (out.display.json) {
      out.json("call_flops", {{"operator", name}, {"calls", sums.first}, {"flops", static_cast<std::uint64_t>(sums.second)}});
      continue;
    }
    const double share = cost.flops == 0 ? 0 : sums.second / cost.flops;
    table.rows.push_back({name, std::to_string(sums.first), report::flops(sums.second), report::percent(share)});
  }
  if (!out.display.json) out.table(table);
}

void showPlot(show::Out& out, const std::vector<double>& numbers, bool inARow,
              const std::function<std::optional<report::CellSize>()>& pixels) {
  constexpr std::size_t kMostInARow = 10'000;
  report::TextPlotSize size;
  size.ascii = out.bars().ascii;
  if (!inARow || numbers.size() <= 1 || numbers.size() > kMostInARow) {
    showText(out, "plot", report::histogram(numbers, size));
    return;
  }
  const std::optional<report::CellSize> cell = pixels();
  if (!cell) {
    showText(out, "plot", report::curve(numbers, size));
    return;
  }
  const report::PicturedCurve curve = report::picturedCurve(numbers, size, *cell);
  out.plain(curve.axis);
  out.flush();
  writeToTerminal(curve.picture);
}

void showText(show::Out& out, const char* what, const std::string& text) {
  if (out.display.json)
    out.json("shown_text", {{"what", what}, {"text", text}});
  else
    out.plain(text);
}

void showProgram(show::Out& out, const std::string& text) {
  if (out.display.json) {
    out.json("session_program", {{"text", text}});
    return;
  }
  std::size_t number = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    out.print("{:>4}  {}\n", ++number, text.substr(at, end - at));
    at = end + 1;
  }
}

}  // namespace tbem::repl
