// The workspaces of eager PyTorch's convolutions on a device that is not here: cuDNN's first engine for each, as PyTorch takes it
// without `torch.backends.cudnn.benchmark`.
#pragma once

#include "compiler/devices/AskedDevice.h"
#include "compiler/devices/EngineRequest.h"
#include "compiler/devices/WorkspaceQuery.h"
#include "compiler/pytorch/eager/EagerStep.h"
#include "compiler/run/State.h"

#include <tl/expected.hpp>

#include <string>
#include <unordered_map>
#include <vector>

namespace tbem::driver {

class EagerWorkspaces {
public:
  /// For the device that --device names. Errors: the exit status, after saying why.
  static tl::expected<EagerWorkspaces, Failed> open(State& state, const EngineRequest& request);

  /// Of a forward convolution of the graph. Nothing is taken where cuDNN cannot be asked; `failure` then says why.
  estimate::OperatorWorkspaces of(const graph::Graph& graph, const sema::Values& values, graph::OpId id);
  const estimate::Device& onDevice() const { return device; }
  /// "H200: cuDNN 9.19.0 (..), .."
  std::string describe() const { return device.name + ": " + source.describe(); }
  /// Keeps the answers for the next time.
  void keep(Events& events);

  std::string failure;
  std::size_t notListed = 0;  ///< questions that cuDNN did not answer: the least and the most are those of a model

private:
  EagerWorkspaces(AskedDevice asked, const EngineRequest& request);
  struct ProblemHash {
    std::size_t operator()(const cudnn::Convolution& problem) const;
  };
  estimate::EagerWorkspace ask(cudnn::Convolution problem, cudnn::Pass pass);
  struct Answer {
    std::vector<std::uint64_t> smaller;  ///< what the workspace points at
    estimate::EagerWorkspace workspace;
  };
  Answer answer(const cudnn::Convolution& problem);

  estimate::Device device;
  EngineSource source;
  cudnn::Policy policy;
  cudnn::Order order = cudnn::Order::Nchw;
  std::unordered_map<cudnn::Convolution, Answer, ProblemHash> answers;  ///< networks repeat their layers
};

}  // namespace tbem::driver
