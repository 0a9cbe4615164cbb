// Cases through the real pipeline: one program of many cases is elaborated, lowered, compiled and run on a backend.
//
// The tensors of a case are weights of the network, so that the training step differentiates in them. Each result is multiplied
// element by element by a weight of its own and summed: that weight's gradient is the result itself.
#pragma once

#include "test/prop/stdlib/Case.h"

#include <memory>
#include <span>

namespace tbem::test {

/// The program's text.
std::string programOf(std::span<const Case> cases);

/// A floating tensor of the program that a step reads: a case's tensor, an operator's own weight, or a result's factor.
struct Leaf {
  std::string path;
  std::vector<double> value, gradient;
  bool factor = false;  ///< its gradient is a case's result
};

struct TrialOptions {
  bool reference = true;  ///< `ref` in f64, else `cpu` in f32
  int steps = 1;          ///< of an optimiser
};

/// A compiled program with its values.
class Trial {
public:
  /// Values come from the cases' kinds and the seed, rounded to f32. What went wrong is in `error`.
  Trial(std::span<const Case> cases, std::uint64_t seed, const TrialOptions& options);
  ~Trial();
  Trial(const Trial&) = delete;
  Trial& operator=(const Trial&) = delete;

  std::string error;
  std::vector<Leaf> leaves;  ///< with values and, after `run`, gradients
  /// Runs steps from the leaves' values. The loss, or nothing and `error`.
  bool run(double& loss);
  /// After `run`: weights and states by path, as the step left them.
  std::vector<std::pair<std::string, std::vector<double>>> persistent() const;

private:
  struct Impl;
  std::unique_ptr<Impl> impl;
};

}  // namespace tbem::test
