// What a specification says of an output: T(x) => D(x, y), evaluated exactly.
#pragma once

#include "compiler/spec/prove/Scenarios.h"
#include "compiler/spec/size/Points.h"

#include <optional>
#include <vector>

namespace tbem::spec {

class Oracle {
public:
  Oracle(const ProcessModel& model, const std::vector<Scenario>& scenarios);
  /// Whether `pre` holds of the inputs of this point.
  bool admits(const Point& point);
  /// The first scenario that applies to these inputs and whose definition the outputs do not meet; nothing: they meet all.
  /// A definition without a value is not met.
  std::optional<std::size_t> violated(const Point& point);

private:
  std::size_t scenarios;
  Points points;  ///< `pre`, then guard and definition of each scenario
};

}  // namespace tbem::spec
