#include "compiler/show/perturb/PerturbReport.h"

#include "compiler/show/perturb/Cells.h"
#include "compiler/show/perturb/DefenceTables.h"
#include "compiler/show/perturb/PerturbPictures.h"
#include "compiler/show/perturb/PerturbTables.h"
#include "runtime/perturb/DecisionJson.h"
#include "runtime/report/Numbers.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstddef>
#include <optional>

namespace tbem::driver {

namespace {

const std::string& nameOf(const PerturbationRun& perturbation) { return perturbation.spec.decl->name.text; }

const char* normText(perturb::Norm norm) { return norm == perturb::Norm::Linf ? "linf" : "l2"; }

/// "fashion.test", of "fashion.test(count: 1000)".
std::string splitText(const PerturbationRun& perturbation) {
  const std::string& name = perturbation.spec.data.name;
  return name.substr(0, name.find('('));
}

std::string titleOf(const PerturbationRun& perturbation) {
  const perturb::Plan& plan = perturbation.plan;
  const graph::TrainingSpec& training = perturbation.training->spec;
  return fmt::format("perturb {}: {} of {}, near {} example{} of {}, within {} {} of each, in [{}, {}]{}", nameOf(perturbation),
                     training.networkText, training.decl->name.text, report::grouped(plan.count), plan.count == 1 ? "" : "s",
                     splitText(perturbation), normText(plan.norm), report::number(plan.radius), report::number(plan.low),
                     report::number(plan.high), plan.keepLabel ? ", with the prediction of each" : "");
}

std::string boundsText(double least, double most) {
  return fmt::format("an example takes {} at least and {} at most", report::flops(least), report::flops(most));
}

std::string storedText(const perturb::Series& series) {
  return fmt::format("{} of {} points were stored", report::grouped(series.stored),
                     report::grouped(static_cast<std::int64_t>(series.points.size())));
}

Json classOrNull(std::int64_t label) { return label < 0 ? Json() : Json(label); }

Json perturbationJson(const PerturbationRun& perturbation, const perturb::Victim& victim, const std::string& backend) {
  const perturb::Plan& plan = perturbation.plan;
  const graph::TrainingSpec& training = perturbation.training->spec;
  Json methods = Json::array();
  for (const MethodRun& method : perturbation.methods) methods.push_back(method.spec.text);
  return {{"name", nameOf(perturbation)},
          {"training", training.decl->name.text},
          {"network", training.networkText},
          {"data", splitText(perturbation)},
          {"examples", plan.count},
          {"norm", normText(plan.norm)},
          {"radius", plan.radius},
          {"low", plan.low},
          {"high", plan.high},
          {"keep_label", plan.keepLabel},
          {"batch", plan.batch},
          {"seed", plan.seed},
          {"backend", backend},
          {"methods", methods},
          {"flops_least", victim.least},
          {"flops_most", victim.most}};
}

Json resultJson(const std::string& name, const MethodResult& result) {
  const perturb::Series& series = result.series;
  const perturb::Summary& summary = result.summary;
  return {{"name", name},
          {"method", series.text},
          {"word", series.word},
          {"examples", summary.examples},
          {"stored", series.stored},
          {"flops_before", summary.flopsBefore},
          {"flops", summary.flops},
          {"increase_mean", summary.meanIncrease},
          {"increase_most", summary.mostIncrease},
          {"headroom", numberOrNull(summary.headroom)},
          {"raised", summary.raised},
          {"coverage", summary.coverage},
          {"accuracy_before", numberOrNull(summary.accuracyBefore)},
          {"accuracy", numberOrNull(summary.accuracy)},
          {"predictions_kept", numberOrNull(summary.kept)},
          {"linf", summary.linf},
          {"l2", summary.l2},
          {"psnr", numberOrNull(summary.psnr)},
          {"ssim", numberOrNull(summary.ssim)},
          {"latency_increase_mean", numberOrNull(summary.latency.mean)},
          {"latency_increase_most", numberOrNull(summary.latency.most)},
          {"correlation", numberOrNull(summary.latency.correlation)},
          {"energy_examples", summary.energy.examples},
          {"energy_before", numberOrNull(summary.energy.before)},
          {"energy", numberOrNull(summary.energy.after)},
          {"energy_increase_mean", numberOrNull(summary.energy.mean)},
          {"energy_increase_most", numberOrNull(summary.energy.most)},
          {"energy_correlation", numberOrNull(summary.energy.correlation)},
          {"battery", numberOrNull(batteryLeft(summary.energy))},
          {"energy_reason", series.noEnergy.empty() ? Json() : Json(series.noEnergy)},
          {"seconds_of_example", numberOrNull(summary.secondsOfExample)},
          {"side_by_side", series.sideBySide},
          {"learning_seconds", series.learning}};
}

/// `decisions`: by gate, numbers.
template <class Decisions>
Json decisionsJson(const std::vector<std::string>& gates, const Decisions& decisions) {
  Json byGate = Json::object();
  for (std::size_t g = 0; g < gates.size() && g < decisions.size(); ++g) byGate[gates[g]] = perturb::jsonOf(decisions[g]);
  return byGate;
}

Json pointJson(const std::string& name, const perturb::Series& series, const perturb::Point& point) {
  Json fields{{"name", name},
              {"method", series.text},
              {"example", point.example},
              {"label", classOrNull(point.label)},
              {"predicted_before", classOrNull(point.before)},
              {"predicted", classOrNull(point.after)},
              {"flops_before", point.flopsBefore},
              {"flops", point.flops},
              {"linf", point.linf},
              {"l2", point.l2},
              {"psnr", point.psnr},
              {"ssim", numberOrNull(point.ssim)},
              {"gates_before", decisionsJson(series.gates, point.decisionsBefore)},
              {"gates", decisionsJson(series.gates, point.decisions)}};
  if (point.latencyBefore > 0) {
    fields["latency_before"] = point.latencyBefore;
    fields["latency"] = point.latency;
  }
  if (point.energyBefore > 0) {
    fields["energy_before"] = point.energyBefore;
    fields["energy"] = point.energy;
  }
  return fields;
}

Json certificateJson(const std::string& name, const Certified& certified, const perturb::Certificate& certificate) {
  return {{"name", name},
          {"example", certificate.example},
          {"flops_bound", certificate.flops},
          {"flops_bound_least", certificate.least},
          {"flops_found", certificate.found},
          {"gates", decisionsJson(certified.gates, certificate.decided)},
          {"open", decisionsJson(certified.gates, certificate.open)}};
}

Json certifiedJson(const std::string& name, const Certified& certified) {
  const auto examples = static_cast<std::int64_t>(certified.certificates.size());
  return {{"name", name},
          {"examples", examples},
          {"below_most", certified.below()},
          {"flops_bound", certified.meanFlops()},
          {"flops_found", certified.meanFound()},
          {"flops_most", certified.most},
          {"unsupported", certified.unsupported()},
          {"stored", certified.stored},
          {"seconds_of_example", numberOrNull(secondsOfBound(certified))}};
}

bool isWhole(const PerturbationRun& perturbation, const MethodResult& result) {
  return result.summary.examples == perturbation.plan.count;
}

/// Tables of all, and what they say together where they are of the same examples.
void printResults(show::Out& out, const PerturbationRun& perturbation, std::span<const MethodResult> results) {
  printMethods(out, nameOf(perturbation), results);
  const auto hasNoEnergy = [](const MethodResult& result) { return !result.series.noEnergy.empty(); };
  if (const auto first = std::ranges::find_if(results, hasNoEnergy); first != results.end())
    out.say("no energy: {}\n", first->series.noEnergy);
  if (!std::ranges::all_of(results, [&](const MethodResult& result) { return isWhole(perturbation, result); })) return;
  if (const std::string verdict = verdictText(results); !verdict.empty()) out.say("{}\n", verdict);
  out.say("{}", crossoverText(results));
}

/// "7 of 40 points of random"
std::string partText(const PerturbationRun& perturbation, const MethodResult& result) {
  return fmt::format("{} of {} points of {}", report::grouped(result.summary.examples), report::grouped(perturbation.plan.count),
                     result.series.text);
}

/// Of a search that was interrupted, with what its methods have.
void sayStopped(show::Out& out, const PerturbationRun& perturbation, std::span<const MethodResult> results, bool keeps) {
  const bool inPart = !results.empty() && !isWhole(perturbation, results.back());
  out.say("stopped{}{}\n", inPart ? " with " + partText(perturbation, results.back()) : "",
          keeps ? "; what was found is stored, and the same command goes on" : "");
}

/// Of an outcome with the numbers that were made of it.
std::vector<MethodResult> resultsOf(const Perturbed& perturbed) {
  std::vector<MethodResult> results;
  const std::vector<perturb::Series>& series = perturbed.outcome->series;
  for (std::size_t i = 0; i < series.size(); ++i) results.push_back({series[i], perturbed.summaries.at(i)});
  return results;
}

}  // namespace

void PerturbReport::perturbationBegins(const PerturbationRun& perturbation, const perturb::Victim& victim) {
  results.clear();
  if (out.display.json) {
    out.json("perturbation", perturbationJson(perturbation, victim, view.backend));
  } else {
    out.print("{}\n{}\n", titleOf(perturbation), boundsText(victim.least, victim.most));
    out.flush();
  }
  if (!view.keeps) out.note("no point is kept: the program is no file; --store FILE keeps them there");
  bar = out.progressBar();
}

void PerturbReport::perturbing(const PerturbationRun& perturbation, std::int64_t done, std::int64_t total,
                               const std::string& what) {
  // The time left is not told: methods take different times.
  constexpr double kUnknown = -1;
  if (bar == nullptr) bar = out.progressBar();  // certificates come behind the end of the search
  bar->update(static_cast<std::size_t>(done), static_cast<std::size_t>(total), nameOf(perturbation) + " " + what, kUnknown);
}

void PerturbReport::methodEnds(const PerturbationRun& perturbation, const perturb::Series& series,
                               const perturb::Summary& summary) {
  const MethodResult& result = results.emplace_back(MethodResult{series, summary});
  const std::string& name = nameOf(perturbation);
  if (out.display.json) {
    if (view.points) {
      for (const perturb::Point& point : series.points) out.json("point", pointJson(name, series, point));
    }
    out.json("perturbed", resultJson(name, result));
    return;
  }
  bar->hide();
  if (series.stored > 0) out.say("{}: {}\n", series.text, storedText(series));
  if (view.points) printPoints(out, name, result);
  out.flush();
}

void PerturbReport::defended(const PerturbationRun& perturbation, const Defences& defences, const perturb::Summary& first) {
  bar.reset();
  if (out.display.json)
    defencesJson(out, nameOf(perturbation), defences);
  else
    printDefences(out, nameOf(perturbation), defences, first);
}

void PerturbReport::certified(const PerturbationRun& perturbation, const Certified& certified) {
  bar.reset();
  const std::string& name = nameOf(perturbation);
  if (!out.display.json) return out.say("{}", certifiedText(certified));
  if (view.points) {
    for (const perturb::Certificate& certificate : certified.certificates)
      out.json("certificate", certificateJson(name, certified, certificate));
  }
  out.json("certified", certifiedJson(name, certified));
}

void PerturbReport::perturbationEnds(const PerturbationRun& perturbation, const perturb::Outcome* outcome) {
  bar.reset();
  if (out.display.json) return;
  if (!results.empty()) printResults(out, perturbation, results);
  if (outcome != nullptr && outcome->interrupted) sayStopped(out, perturbation, results, view.keeps);
  out.flush();
}

void printPerturbed(show::Out& out, const Perturbed& perturbed) {
  out.say("{}\n", titleOf(*perturbed.perturbation));
  if (!perturbed.outcome) {
    out.fail(perturbed.outcome.error());
    return;
  }
  out.say("{}\n", boundsText(perturbed.least, perturbed.most));
  const std::vector<MethodResult> results = resultsOf(perturbed);
  if (results.empty()) return out.say("no point was found yet (tbemc perturb)\n");
  for (const MethodResult& result : results) {
    if (!isWhole(*perturbed.perturbation, result))
      out.say("{} (tbemc perturb goes on)\n", partText(*perturbed.perturbation, result));
  }
  printResults(out, *perturbed.perturbation, results);
  printDefences(out, nameOf(*perturbed.perturbation), perturbed.defences, results.front().summary);
  if (perturbed.certified) out.say("{}", certifiedText(*perturbed.certified));
  if (perturbed.uncertified) out.fail(*perturbed.uncertified);
}

void printPerturbedPage(show::Out& out, const Perturbed& perturbed, const std::string& folder) {
  printPerturbed(out, perturbed);
  if (!perturbed.outcome || perturbed.outcome->series.empty()) return;
  const std::string& name = nameOf(*perturbed.perturbation);
  out.plots(folder, {{fmt::format("{}-flops.svg", name), report::svg(costCurves(name, resultsOf(perturbed)))}});
  if (!perturbed.pictured.empty())
    out.plots(folder, {{fmt::format("{}-pictures.svg", name), report::picturesSvg(picturesOf(perturbed))}});
}

}  // namespace tbem::driver
