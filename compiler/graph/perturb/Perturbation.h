// A `perturb` declaration as its run needs it: whose network, near what examples, how far, and by what methods (docs/perturb.md).
#pragma once

#include "compiler/graph/elaborate/Elaborate.h"
#include "compiler/graph/read/Training.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tbem::graph {

enum class Norm : std::uint8_t { Linf, L2 };

/// One method of clause `by`.
struct MethodSpec {
  std::string word;  ///< "gradient"
  std::string text;  ///< "gradient(steps: 30)", as a person writes it
  SrcRange range;
  std::int64_t steps = 1;                ///< of the mover
  std::int64_t look = 0;                 ///< as perturb::Method
  std::int64_t epochs = 0;               ///< of a method that learns; 0: it does not
  std::optional<std::int64_t> examples;  ///< that it learns from, the first so many; nothing: all
  SearchSpec search;                     ///< without `shares`, which need the network's FLOPs
  const ast::Expr* optimizer = nullptr;  ///< of what learns; null: adam
};

/// Move only: values refer to its pool.
struct PerturbSpec {
  const ast::Perturb* decl = nullptr;
  const sema::Module* module = nullptr;
  std::unique_ptr<sema::ExprPool> pool;
  DataSpec data;
  Norm norm = Norm::Linf;
  Rational radius{3, 100};
  Rational low{0}, high{1};
  bool keepLabel = false;
  std::int64_t batch = 100;
  std::optional<std::uint64_t> seed;
  std::int64_t repeats = 0;  ///< of clause `metric latency`; 0: it is not measured
  std::vector<MethodSpec> methods;
};

/// Reads a perturbation. Nothing where it has errors, which were reported.
std::optional<PerturbSpec> readPerturbation(Session& session, const sema::Program& program, const ast::Perturb& decl);

/// One graph of a search: the network itself (Task::Infer), or one of a method's (Task::Move, Task::Learn).
struct SearchGraph {
  Task task = Task::Infer;
  const MethodSpec* method = nullptr;
  std::int64_t batch = 1;
};
/// What a graph around the network of a training is built from. Nothing after a report: the network is not one that can be
/// searched.
std::optional<ExperimentSpec> searchOf(Session& session, const PerturbSpec& spec, const TrainingSpec& training,
                                       const DataShape& data, const SearchGraph& graph);

}  // namespace tbem::graph
