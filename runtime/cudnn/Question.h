// A problem in cuDNN's terms: the graph of its operations, and the engines that can compute it. Inside runtime/cudnn only.
#pragma once

#include "runtime/cudnn/Descriptor.h"
#include "runtime/cudnn/Engines.h"

#include <array>
#include <cstdint>
#include <vector>

namespace tbem::cudnn {

/// Of the tensors of a graph: of a convolution, of attention, of numbers that it is told, and from kBetween on of values that are
/// no operands.
enum TensorId : std::int64_t {
  kImage = 'x',
  kWeight = 'w',
  kResult = 'y',
  kQuery = 'q',
  kKey = 'k',
  kValue = 'v',
  kAttended = 'a',
  kLogSums = 's',
  kDy = 'd',
  kDquery = 'Q',
  kDkey = 'K',
  kDvalue = 'V',
  kScale = '*',
  kOne = '1',
  kHidden = '-',
  kBetween = 1000,
};

/// A number that a graph is told when it runs.
struct Constant {
  std::int64_t id;
  float value;
};

/// Its descriptors share one failure, which outlives them.
class Question {
public:
  /// `handle`: of the card that it is about; null where it is about a device that is described.
  Question(const api::Functions& functions, const Problem& problem, Failure& failure, api::Handle handle = nullptr)
      : functions(functions), problem(problem), failure(failure), handle(handle) {}

  Descriptor make(api::Descriptor type) const { return {functions, failure, type}; }
  /// A tensor of four dimensions, which is not finished.
  Descriptor openTensor(std::int64_t id, const std::array<std::int64_t, 4>& dims, const std::array<std::int64_t, 4>& strides,
                        int type) const;
  Descriptor graphOf(const std::vector<Descriptor>& operations) const;
  Descriptor graph() const;
  /// `described`: the properties of a device that is not there; null for the handle's.
  std::vector<Engine> ask(const Descriptor* described, List list) const;
  /// The engine with its knobs as cuDNN is told to take it.
  Descriptor config(const Descriptor& graph, const Engine& engine) const;

private:
  Engine read(const Descriptor& config) const;

  const api::Functions& functions;
  const Problem& problem;
  Failure& failure;
  api::Handle handle;
};

/// The graph of a problem; the tensors that are bound to addresses, in the order of `Plan::run`; the numbers that it is told.
Descriptor graphOf(const Question& question, const Convolution& problem);  // Question.cpp
std::vector<std::int64_t> tensorsOf(const Convolution& problem);
std::vector<Constant> constantsOf(const Convolution& problem);
Descriptor graphOf(const Question& question, const Attention& problem);  // Attention.cpp
std::vector<std::int64_t> tensorsOf(const Attention& problem);
std::vector<Constant> constantsOf(const Attention& problem);

}  // namespace tbem::cudnn
