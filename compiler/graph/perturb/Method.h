// How inputs that make a network slow are searched for: near an example, and by which method (docs/perturb.md).
#pragma once

#include "compiler/graph/elaborate/Elaborate.h"

#include <cstdint>
#include <optional>
#include <string>

namespace tbem::graph {

enum class Norm : std::uint8_t { Linf, L2 };

/// Where points may lie: in a ball around their example, and in the box of valid inputs.
struct Ball {
  Norm norm = Norm::Linf;
  Rational radius{3, 100};
  Rational low{0}, high{1};
};

/// One method of clause `by`, or of `harden` of a training.
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

/// Clause `harden` of a training: a share of each batch is moved before the step, so that the network learns what to do there.
struct Hardening {
  Ball ball;
  MethodSpec method;
  Rational share{1, 2};
  std::string text;  ///< of the clause's items, as a person writes them
};

}  // namespace tbem::graph
