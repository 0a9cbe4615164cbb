#include "compiler/run/defence/Defences.h"

#include "compiler/graph/perturb/FirstLayer.h"

#include <string>
#include <utility>

namespace tbem::driver {

namespace {

perturb::Failure named(const std::string& clause, const perturb::Failure& failure) {
  return {failure.kind, clause + ": " + failure.message};
}

}  // namespace

tl::expected<Defences, perturb::Failure> defend(const PerturbationRun& run, const KeptLayer& layer,
                                                const perturb::Searched& searched, const perturb::DefenceProgress& progress) {
  Defences defences;
  if (run.detector) {
    const std::string name = graph::layerName(*layer.graph, *graph::firstLayer(*layer.graph));
    auto detection = perturb::detect(searched, *run.detector, {layer.network, name}, progress);
    if (!detection) return tl::unexpected(named("detect", detection.error()));
    defences.detection = std::move(*detection);
    defences.interrupted = !defences.detection;
  }
  if (run.squeezers.empty() || defences.interrupted) return defences;
  auto squeezed = perturb::squeezeAll(searched, run.squeezers, progress);
  if (!squeezed) return tl::unexpected(named("squeeze", squeezed.error()));
  if (*squeezed)
    defences.squeezed = std::move(**squeezed);
  else
    defences.interrupted = true;
  return defences;
}

}  // namespace tbem::driver
