// Clause `attack` of a measurement: what moves the examples of a design's rows, each row at its own levels (docs/perturb.md).
#pragma once

#include "compiler/graph/perturb/Method.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tbem::graph {

/// The clause as one row has it.
struct Attack {
  Ball ball;
  MethodSpec method;
  bool keepLabel = false;
  std::optional<std::uint64_t> seed;
};

/// `attack gradient(steps: n), norm: linf(radius), box: [0, 1], keep: label, seed: 1`, with the factors of the design at a row's
/// levels. Nothing after a report.
std::optional<Attack> readAttack(Session& session, const sema::Program& program, const ast::Clause& clause,
                                 const DesignSpec& design, std::span<const std::uint32_t> levels);

/// What a graph of its method is built from (Task::Move, Task::Learn): around the network of the design, whose factors it has.
/// `input`: the network's one input in the row, with its numbers.
ExperimentSpec attackOf(const DesignSpec& design, const Attack& attack, Task task, InputSpec input);

}  // namespace tbem::graph
