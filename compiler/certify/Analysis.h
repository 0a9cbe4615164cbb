// Bounds of a network's values over a ball of inputs, step by step, and what its gates decide. Internal to this folder.
#pragma once

#include "compiler/certify/Certify.h"
#include "compiler/certify/LinearForms.h"

#include <span>
#include <vector>

namespace tbem::certify {

/// Runs the steps in order. A step of a branch that no input comes to is left out, so behind an exit that every input takes there
/// is nothing to do; where a gate is not decided, what follows is bounded for the whole ball, and the value of a skip is the hull
/// of its arms. Intermediate values have intervals by interval arithmetic first, which is cheap; linear forms are carried back
/// for them once a gate is not decided with those, on which lines above and below depend.
class Analysis {
public:
  Analysis(const Steps& steps, Inputs inputs, const Limits& limits);
  Bound run();

private:
  void step(ValueId value);
  void decide(std::size_t gate);
  bool refine(std::size_t gate);
  std::optional<Bound::Score> scoreOf(ValueId condition) const;
  void nameUnsupported(ValueId condition, Bound& bound) const;
  void join(ValueId value);
  void extreme(ValueId value);
  Interval apart(ValueId a, ValueId b, std::size_t element, Interval difference);
  void smooth(ValueId value);
  void compare(ValueId value);
  Interval confidence(ValueId logits);
  void narrow(ValueId value);
  void evaluateStep(ValueId value);

  bool isLinear() const { return limits.method == Method::Linear; }
  bool mayRefine() const { return refining && forms.products < limits.products; }
  Interval range(std::span<const Term> terms);

  const Steps& steps;
  const Limits limits;
  Knowledge known;
  LinearForms forms;
  std::int64_t carried = 0;    ///< forms so far
  std::vector<bool> reached;   ///< by branch: some input may come there
  std::vector<bool> narrowed;  ///< by value: its intervals are those of linear forms as well
  bool refining = false;       ///< linear forms are for intermediate values too
  std::size_t refinedTo = 0;   ///< the steps before are refined
};

}  // namespace tbem::certify
