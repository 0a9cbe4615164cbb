#include "compiler/show/perturb/DefenceTables.h"

#include "compiler/show/perturb/Cells.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <optional>

namespace tbem::driver {

namespace {

using perturb::Detected;
using perturb::Squeezed;
using report::Align;
using report::Cell;

/// "0.7132 to 0.9984": of the detectors that learned another method's points.
Cell othersCell(const perturb::Detection& detection, std::size_t method) {
  std::optional<double> least, most;
  const std::vector<std::optional<double>>& areas = detection.ofMethods[method].areaByLearned;
  for (std::size_t learned = 0; learned < areas.size(); ++learned) {
    if (learned == method || !areas[learned]) continue;
    least = std::min(least.value_or(*areas[learned]), *areas[learned]);
    most = std::max(most.value_or(*areas[learned]), *areas[learned]);
  }
  if (!least) return kNothing;
  return *least == *most ? fmt::format("{:.4f}", *least) : fmt::format("{:.4f} to {:.4f}", *least, *most);
}

std::string costText(const perturb::Detection& detection, double flopsBefore) {
  std::string text = fmt::format("a score is of the {} activations of `{}`, which the network computes anyway, and adds {}",
                                 report::grouped(detection.numbers), detection.layer, report::flops(detection.flops()));
  if (flopsBefore > 0) text += fmt::format(", {} of what an example costs", report::percent(detection.flops() / flopsBefore));
  if (detection.seconds) text += fmt::format(", and {}", report::seconds(*detection.seconds));
  return text;
}

void printDetection(show::Out& out, const std::string& name, const perturb::Detection& detection, double flopsBefore) {
  report::Table table;
  table.title = fmt::format("{}: points told from examples", name);
  table.columns = {{"method", Align::Left},
                   {"pairs", Align::Right},
                   {"AUC", Align::Decimal},
                   {"deviation", Align::Decimal},
                   {"AUC, learned on other methods", Align::Left}};
  for (std::size_t m = 0; m < detection.ofMethods.size(); ++m) {
    const Detected& method = detection.ofMethods[m];
    table.add({method.method, report::grouped(method.pairs), coefficientCell(method.area), coefficientCell(method.deviation),
               othersCell(detection, m)});
  }
  out.table(table);
  out.say("{}\n", costText(detection, flopsBefore));
  if (std::ranges::any_of(detection.ofMethods, [](const Detected& method) { return !method.area; }))
    out.say("{} stands where some fold has no example that the method moved\n", kNothing);
}

void detectionJson(show::Out& out, const std::string& name, const perturb::Detection& detection) {
  for (const Detected& method : detection.ofMethods) {
    Json learned = Json::object();
    for (std::size_t m = 0; m < detection.ofMethods.size(); ++m)
      learned[detection.ofMethods[m].method] = numberOrNull(method.areaByLearned[m]);
    out.json("detected", {{"name", name},
                          {"method", method.method},
                          {"layer", detection.layer},
                          {"numbers", detection.numbers},
                          {"pairs", method.pairs},
                          {"auc", numberOrNull(method.area)},
                          {"auc_deviation", numberOrNull(method.deviation)},
                          {"auc_by_learned", learned},
                          {"flops_of_score", detection.flops()},
                          {"seconds_of_score", numberOrNull(detection.seconds)}});
  }
}

void printSqueezed(show::Out& out, const std::string& name, const std::vector<Squeezed>& squeezed) {
  report::Table table;
  table.title = fmt::format("{}: squeezed inputs", name);
  table.columns = {{"squeezer, method", Align::Left}, {"FLOPs before", Align::Decimal},    {"FLOPs", Align::Decimal},
                   {"I-FLOPs mean", Align::Decimal},  {"accuracy before", Align::Decimal}, {"accuracy", Align::Decimal}};
  for (const Squeezed& each : squeezed) {
    table.add({fmt::format("{}, {}", each.squeezer, each.method), report::flops(each.summary.flopsBefore),
               report::flops(each.summary.flops), report::percent(each.summary.meanIncrease),
               shareCell(each.summary.accuracyBefore), shareCell(each.summary.accuracy)});
  }
  out.table(table);
}

void squeezedJson(show::Out& out, const std::string& name, const std::vector<Squeezed>& squeezed) {
  for (const Squeezed& each : squeezed) {
    out.json("squeezed", {{"name", name},
                          {"squeezer", each.squeezer},
                          {"method", each.method},
                          {"flops_before", each.summary.flopsBefore},
                          {"flops", each.summary.flops},
                          {"increase_mean", each.summary.meanIncrease},
                          {"accuracy_before", numberOrNull(each.summary.accuracyBefore)},
                          {"accuracy", numberOrNull(each.summary.accuracy)}});
  }
}

}  // namespace

void printDefences(show::Out& out, const std::string& name, const Defences& defences, const perturb::Summary& first) {
  if (defences.detection) printDetection(out, name, *defences.detection, first.flopsBefore);
  if (!defences.squeezed.empty()) printSqueezed(out, name, defences.squeezed);
  if (!defences.stoppedIn.empty())
    out.say("stopped in `{}`, which has no numbers; no point is lost, and the same command goes on\n", defences.stoppedIn);
}

void defencesJson(show::Out& out, const std::string& name, const Defences& defences) {
  if (defences.detection) detectionJson(out, name, *defences.detection);
  squeezedJson(out, name, defences.squeezed);
}

}  // namespace tbem::driver
