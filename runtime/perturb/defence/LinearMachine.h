// A linear support vector machine, by liblinear (Fan et al. 2008), which is opened when it is asked for.
// Internal to this folder.
#pragma once

#include <tl/expected.hpp>

#include <span>
#include <string>
#include <vector>

namespace tbem::perturb {

/// Which side of a plane a row of numbers lies on.
struct LinearMachine {
  std::vector<double> weights;
  double offset = 0;
  /// Above 0: on the side of the rows of class true.
  double score(std::span<const float> row) const;
};

struct LabelledRow {
  std::span<const float> numbers;
  bool label = false;
};

/// Makes |w|^2 / 2 + cost * sum of max(0, 1 - y (w x + b))^2 least (b counts in w), over rows whose numbers were brought to mean
/// 0 and variance 1 / k, with k the numbers that are not always the same: a row has length 1 in the mean, so that a cost means as
/// much for any k. The machine takes rows as they are. There are rows of both classes, all of one length. Deterministic. Errors:
/// why liblinear cannot be opened.
tl::expected<LinearMachine, std::string> separate(std::span<const LabelledRow> rows, double cost);

}  // namespace tbem::perturb
