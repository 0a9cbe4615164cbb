#include "compiler/run/defence/Defences.h"

#include "compiler/graph/perturb/FirstLayer.h"
#include "runtime/report/Numbers.h"

#include <fmt/format.h>

#include <unistd.h>

#include <string>
#include <utility>

namespace tbem::driver {

namespace {

perturb::Failure named(const std::string& clause, const perturb::Failure& failure) {
  return {failure.kind, clause + ": " + failure.message};
}

}  // namespace

std::string whyNoDetector(const PerturbationRun& run, const runtime::Executable* layer) {
  if (!run.detector) return {};
  if (const auto library = perturb::detectorLibrary(); !library) return library.error();
  const double bytes = perturb::detectionBytes(*run.detector, {layer, ""}, run.methods.size());
  const double memory = static_cast<double>(::sysconf(_SC_PHYS_PAGES)) * static_cast<double>(::sysconf(_SC_PAGE_SIZE));
  if (bytes <= memory) return {};
  return fmt::format("it takes {} for {} examples, and this machine has {}: `svm(examples: N)` looks at fewer",
                     report::bytes(bytes), report::grouped(run.detector->count), report::bytes(memory));
}

tl::expected<Defences, perturb::Failure> defend(const PerturbationRun& run, const KeptLayer& layer,
                                                const perturb::Searched& searched, const perturb::DefenceProgress& progress) {
  Defences defences;
  if (run.detector) {
    const std::string name = graph::layerName(*layer.graph, *graph::firstLayer(*layer.graph));
    auto detection = perturb::detect(searched, *run.detector, {layer.network, name}, progress);
    if (!detection) return tl::unexpected(named("detect", detection.error()));
    defences.detection = std::move(*detection);
    if (!defences.detection) defences.stoppedIn = "detect";
  }
  if (run.squeezers.empty() || !defences.stoppedIn.empty()) return defences;
  auto squeezed = perturb::squeezeAll(searched, run.squeezers, progress);
  if (!squeezed) return tl::unexpected(named("squeeze", squeezed.error()));
  if (*squeezed)
    defences.squeezed = std::move(**squeezed);
  else
    defences.stoppedIn = "squeeze";
  return defences;
}

}  // namespace tbem::driver
