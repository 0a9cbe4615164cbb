// A `perturb` declaration as its run needs it: whose network, near what examples, how far, and by what methods.
#pragma once

#include "compiler/graph/elaborate/Elaborate.h"
#include "compiler/graph/read/Training.h"
#include "runtime/perturb/Perturb.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tbem::graph {

/// One method of clause `by`.
struct MethodSpec {
  std::string word;  ///< "gradient"
  std::string text;  ///< "gradient(steps: 30)", as a person writes it
  SrcRange range;
  std::int64_t steps = 1;           ///< of the mover
  std::int64_t look = 0;            ///< as perturb::Method
  std::int64_t epochs = 0;          ///< of a method that learns; 0: it does not
  const ast::Expr* through = nullptr;    ///< the network that moves examples; null: `move` does
  const ast::Expr* optimizer = nullptr;  ///< of that network's weights
};

/// Move only: values refer to its pool.
struct PerturbSpec {
  const ast::Perturb* decl = nullptr;
  const sema::Module* module = nullptr;
  std::unique_ptr<sema::ExprPool> pool;
  DataSpec data;
  perturb::Norm norm = perturb::Norm::Linf;
  Rational radius{3, 100};
  Rational low{0}, high{1};
  bool keepLabel = false;
  std::int64_t batch = 100;
  std::optional<std::uint64_t> seed;
  std::int64_t repeats = 0;  ///< of clause `metric latency`; 0: it is not measured
  std::vector<MethodSpec> methods;
};

}  // namespace tbem::graph
