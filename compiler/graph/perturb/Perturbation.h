// A `perturb` declaration as its run needs it: whose network, near what examples, how far, and by what methods (docs/perturb.md).
#pragma once

#include "compiler/graph/perturb/Defences.h"
#include "compiler/graph/perturb/Method.h"
#include "compiler/graph/read/Training.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tbem::graph {

/// Move only: values refer to its pool.
struct PerturbSpec {
  const ast::Perturb* decl = nullptr;
  const sema::Module* module = nullptr;
  std::unique_ptr<sema::ExprPool> pool;
  DataSpec data;
  Ball ball;
  bool keepLabel = false;
  std::int64_t batch = 100;
  std::optional<std::uint64_t> seed;
  std::int64_t repeats = 0;             ///< of clause `metric latency`; 0: it is not measured
  double energySeconds = 0;             ///< of clause `metric energy`; 0: it is not measured
  bool certifies = false;               ///< clause `certify`
  std::optional<std::int64_t> certify;  ///< of the first so many examples; nothing: of all
  std::optional<DetectSpec> detect;
  std::vector<SqueezeSpec> squeezers;
  std::vector<MethodSpec> methods;
};

/// Reads a perturbation. Nothing where it has errors, which were reported.
std::optional<PerturbSpec> readPerturbation(Session& session, const sema::Program& program, const ast::Perturb& decl);

/// One graph of a search: the network itself (Task::Infer), or one of a method's (Task::Move, Task::Learn).
struct SearchGraph {
  Task task = Task::Infer;
  const MethodSpec* method = nullptr;
  std::int64_t batch = 1;
  bool keepsFirstLayer = false;  ///< Task::Infer: what its first layer computes is an output behind the others
};
/// What a graph around the network of a training is built from. `name`: of the declaration that searches; `read`: what it reads.
/// Nothing after a report: the network is not one that can be searched.
std::optional<ExperimentSpec> searchOf(Session& session, const ast::Name& name, const DataSpec& read,
                                       const TrainingSpec& training, const DataShape& data, const SearchGraph& graph);

}  // namespace tbem::graph
