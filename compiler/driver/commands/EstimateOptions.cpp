#include "compiler/driver/commands/EstimateOptions.h"

#include "compiler/count/GateFlops.h"
#include "compiler/explore/FitLimit.h"
#include "compiler/pytorch/rows/EagerSteps.h"
#include "compiler/show/Out.h"

#include <fmt/format.h>

namespace tbem::driver {

namespace {

std::string wrongMemory(const Options& options) {
  if (options.maxMemory.empty()) return wrongReserve(options.reserve, options.target.backend, false);
  std::string why = wrongLimit(options.maxMemory);
  if (why.empty() && !isPyTorch(options.target.backend) && options.maxMemory.find(':') != std::string::npos)
    why = "a word behind the colon is of --on pytorch";
  return why.empty() ? wrongReserve(options.reserve, options.target.backend, true) : fmt::format("--max {}: {}", options.maxMemory, why);
}

/// Options of a GPU or of the allocator where there is none.
std::string wrongDevice(const Options& options) {
  const bool workspaces = options.explain == "workspace", pytorch = isPyTorch(options.target.backend);
  if (workspaces && !options.target.backend.empty() && options.target.backend != "pytorch")
    return fmt::format("--explain workspace is of a GPU (--device NAME), not of {}", options.target.backend);
  if (!options.engines.device.empty() && !pytorch && !workspaces) {
    return fmt::format(
        "--device {0}: with --on pytorch its workspaces are counted, with --explain workspace they are listed; "
        "--roofline {0} shows the least time there",
        options.engines.device);
  }
  if (!pytorch && !options.eager.allocConf.empty()) return "--alloc-conf is of --on pytorch";
  return {};
}

}  // namespace

std::string wrongEstimate(const Options& options) {
  if (std::string why = wrongMemory(options); !why.empty()) return why;
  if (const auto gates = estimate::parseProbabilities(options.gates); !gates) return fmt::format("--gates: {}", gates.error());
  if (std::string why = wrongDevice(options); !why.empty()) return why;
  const bool none = options.target.backend == "none";
  if (none && !options.roofline.empty()) return "--roofline needs the step of a device, not --on none";
  const char* const ofPlans = options.target.keepGradients            ? "--keep-gradients"
                              : options.explain == "gradients" ? "--explain gradients"
                              : none && options.target.threads != 0   ? "--threads"
                              : none && !options.target.tune.empty()  ? "--tune"
                              : none && !options.out.empty()   ? "--out"
                                                               : nullptr;
  if (ofPlans != nullptr && (isPyTorch(options.target.backend) || none))
    return fmt::format("{} is of a step that is planned, not of --on {}", ofPlans, options.target.backend);
  return {};
}

}  // namespace tbem::driver
