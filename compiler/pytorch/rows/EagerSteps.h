// The steps of rows as eager PyTorch runs them, and what they take: with the device, the optimiser's way, the allocator's options
// and the workspaces that the command line asks for.
#pragma once

#include "compiler/pytorch/eager/EagerMemory.h"
#include "compiler/pytorch/rows/EagerRequest.h"
#include "compiler/pytorch/rows/EagerWorkspaces.h"

#include <optional>
#include <string_view>
#include <unordered_map>

namespace tbem::driver {

/// Whether `--on` names PyTorch and no backend of ours.
bool isPyTorch(std::string_view backend);

/// The version of PyTorch whose steps are asked for: `--torch`, or the newest that is known.
std::string torchVersion(const EagerRequest& request);

/// A note for each design with clauses that eager PyTorch's steps leave out.
void tellLeftOut(State& state);

/// The tensor that a replay had no room for first.
struct NoRoom {
  std::string what;                             ///< "out of memory for 3.000 GiB of activations"
  const estimate::EagerOperator* op = nullptr;  ///< of the step; nothing where no operator makes it
};
NoRoom noRoom(const estimate::EagerStep& step, const estimate::Replay& replay, estimate::EagerEngines engines);

class EagerSteps {
public:
  static tl::expected<EagerSteps, Failed> open(State& state, const std::string& backend, const EagerRequest& request,
                                               const EngineRequest& engines);

  tl::expected<estimate::EagerStep, estimate::NoValue> of(const graph::Row& row);
  /// On CUDA, of a card without end. Errors: no room even there, or under the share of the card that --alloc-conf leaves.
  tl::expected<estimate::EagerMemory, estimate::NoValue> memoryOf(
      const graph::Row& row, const estimate::EagerStep& step,
      estimate::EagerEngines engines = estimate::EagerEngines::Expected) const;
  /// The same history where the card can hand out so much, until it cannot.
  estimate::Replay replayWithin(const estimate::EagerStep& step, std::uint64_t capacity,
                                estimate::EagerEngines engines = estimate::EagerEngines::Expected) const;
  /// Whether the largest workspace of every convolution that was asked so far is known.
  bool engineListsComplete(const estimate::EagerStep& step) const;
  bool onCuda() const { return options.device == estimate::EagerDevice::Cuda; }
  /// Where --device names one.
  const std::optional<EagerWorkspaces>& workspaces() const { return asked; }
  const estimate::AllocatorOptions& allocator() const { return allocatorOptions; }
  /// Keeps what cuDNN was asked. Errors: it could not be asked.
  tl::expected<void, Failed> finish(Events& events);

private:
  estimate::CardMemory card() const;

  estimate::EagerOptions options;
  estimate::AllocatorOptions allocatorOptions;
  std::optional<EagerWorkspaces> asked;
  std::unordered_map<const graph::Structure*, estimate::EagerReader> readers;  ///< structures outlive this
};

}  // namespace tbem::driver
