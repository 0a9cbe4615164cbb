// From values to places on an axis, and where its ticks stand. Private to this folder.
#pragma once

#include "runtime/report/Svg.h"

#include <string>
#include <vector>

namespace tbem::report {

struct Tick {
  double value = 0;
  std::string text;
};

/// An axis with its range, unit and ticks. `at` maps a value to [0, 1] and beyond.
struct Scale {
  double low = 0, high = 1;
  bool logarithmic = false;
  std::string title;        ///< label and unit: "memory (MiB)"
  std::vector<Tick> ticks;  ///< ascending, within [low, high]

  double at(double value) const;
};

/// Round numbers 1, 2 or 5 times a power of ten that cover [low, high] in at most `most` steps (Heckbert 1990, "Nice numbers
/// for graph labels", Graphics Gems): the step. Positive for low < high.
double niceStep(double low, double high, int most);

/// The scale of an axis for these finite values; `most` ticks at most. No values: 0 to 1.
Scale scaleFor(const Axis& axis, const std::vector<double>& values, int most);

}  // namespace tbem::report
