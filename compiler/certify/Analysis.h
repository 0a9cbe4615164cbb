// Bounds of a network's values over a ball of inputs, step by step, and what its gates decide. Internal to this folder.
#pragma once

#include "compiler/certify/Certify.h"
#include "compiler/certify/LinearForms.h"

#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace tbem::certify {

/// Runs the steps in order. A step of a branch that no input comes to is left out, so behind an exit that every input takes there
/// is nothing to do; where a gate is not decided, what follows is bounded for the whole ball, and the value of a skip is the hull
/// of its arms. Intermediate values have intervals by interval arithmetic first, which is cheap; linear forms are carried back
/// for them once a gate is not decided with those, on which lines above and below depend.
class Analysis {
public:
  Analysis(const Steps& steps, Inputs inputs, const Limits& limits);
  /// Goes on from where the other one stands; what it carries back is counted anew.
  Analysis(const Analysis& other);
  ~Analysis() = default;

  /// To the end.
  const Bound& run();
  /// After `run`: as it stood before the first skip that was not decided, whose cases `takeSide` tells apart; nullptr: all were.
  std::unique_ptr<Analysis> takeOpen() { return std::move(open); }
  /// The case of the inputs for which that skip's condition is so, with so many products.
  void takeSide(bool condition, std::int64_t products);

private:
  void passGates();
  void enterSides(std::size_t gate);
  bool isOpen(std::size_t gate) const;
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
  Limits limits;
  Knowledge known;
  LinearForms forms;
  std::int64_t carried = 0;    ///< forms so far
  std::vector<bool> reached;   ///< by branch: some input may come there
  std::vector<bool> narrowed;  ///< by value: its intervals are those of linear forms as well
  bool refining = false;       ///< linear forms are for intermediate values too
  std::size_t refinedTo = 0;   ///< the steps before are refined
  Bound bound;
  ValueId nextStep = 0;
  std::size_t nextGate = 0;
  std::unique_ptr<Analysis> open;
};

}  // namespace tbem::certify
