// A problem in cuDNN's terms: the graph of one convolution, and the engines that can compute it. Inside runtime/cudnn only.
#pragma once

#include "runtime/cudnn/Descriptor.h"
#include "runtime/cudnn/Engines.h"

#include <array>
#include <cstdint>
#include <vector>

namespace tbem::cudnn {

/// Of the tensors of a graph.
enum TensorId : std::int64_t { kImage = 'x', kWeight = 'w', kResult = 'y' };

/// Its descriptors share one failure, which outlives them.
class Question {
public:
  /// `handle`: of the card that it is about; null where it is about a device that is described.
  Question(const api::Functions& functions, const Convolution& problem, Failure& failure, api::Handle handle = nullptr)
      : functions(functions), problem(problem), failure(failure), handle(handle) {}

  Descriptor make(api::Descriptor type) const { return {functions, failure, type}; }
  Descriptor graph() const;
  /// `described`: the properties of a device that is not there; null for the handle's.
  std::vector<Engine> ask(const Descriptor* described, List list) const;
  /// The engine with its knobs as cuDNN is told to take it.
  Descriptor config(const Descriptor& graph, const Engine& engine) const;

private:
  Descriptor tensor(std::int64_t id, const std::array<std::int64_t, 4>& dims) const;
  Descriptor convolution() const;
  Engine read(const Descriptor& config) const;

  const api::Functions& functions;
  const Convolution& problem;
  Failure& failure;
  api::Handle handle;
};

}  // namespace tbem::cudnn
