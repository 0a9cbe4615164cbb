// What the convolutions of a step need on a device that is not here, and what the step's peak would be if they took other
// engines.
#pragma once

#include "compiler/devices/Convolutions.h"
#include "compiler/devices/EngineSource.h"
#include "compiler/lower/memory/Workspaces.h"
#include "runtime/cudnn/Choice.h"

#include <tl/expected.hpp>

#include <optional>
#include <string>
#include <vector>

namespace tbem::driver {

/// One engine list for equal problems of a step.
struct AskedConvolution {
  cudnn::Convolution problem;
  std::vector<ConvolutionCall> calls;
  std::vector<cudnn::Engine> engines;  ///< of the heuristic; of the fallback where none of those may be taken
  bool fallback = false;
  Origin origin = Origin::Cudnn;
  std::optional<std::size_t> first;     ///< into `engines`: what cuDNN's users take; nothing where no engine may be taken
  std::optional<std::size_t> smallest;  ///< of those that may be taken
  std::optional<std::size_t> largest;   ///< of those that may be taken
  std::optional<std::size_t> limited;   ///< the first within the limit; nothing where there is no limit or none fits
};

/// Fills the rest of one whose problem is set: from the heuristic's list, or the fallback's where nothing of it may be taken.
/// "" or why not.
std::string askEngines(AskedConvolution& one, EngineSource& source, cudnn::Policy policy);

/// The step where every convolution takes one choice. Bytes.
struct WorkspaceChoice {
  std::uint64_t largest = 0;  ///< workspace of a single convolution
  estimate::WorkspacePeak peak;
  std::size_t over = 0;  ///< `limited`: convolutions none of whose engines fits, which take the smallest
};

struct WorkspaceUse {
  std::vector<AskedConvolution> convolutions;  ///< by first appearance in the schedule
  std::size_t notAsked = 0;                    ///< convolutions of element types that cuDNN's lack
  WorkspaceChoice none;                        ///< as if no convolution needed any
  WorkspaceChoice first, smallest;
  std::optional<WorkspaceChoice> limited;
};

/// `policy.limit` is that of `limited` alone. Workspaces of other operators do not count. Errors: cuDNN cannot be opened, or
/// refuses a problem.
tl::expected<WorkspaceUse, std::string> queryWorkspaces(const estimate::Program& program, EngineSource& source,
                                                        cudnn::Order order, const cudnn::Policy& policy);

}  // namespace tbem::driver
