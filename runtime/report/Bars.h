// Bar charts of shares: for a terminal, and as SVG.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace tbem::report {

/// A bar `fraction` of `width` columns long (0 to 1; clipped), in eighths of a column, or of `#` in whole columns where `ascii`.
/// A fraction above 0 shows at least the smallest mark. No spaces behind it.
std::string bar(double fraction, std::size_t width, bool ascii);

struct BarGroup {
  std::string title, subtitle;
  struct Bar {
    std::string label;
    double fraction = 0;  ///< 0 to 1
    double second = 0;    ///< drawn behind it in a lighter tone where it is longer: the total effect behind the main effect
    std::string text;     ///< behind the bar: "62.1 %"
    bool faint = false;   ///< below the cut-off
  };
  std::vector<Bar> bars;
};

/// Groups of bars under each other as a whole SVG document; all bars have one scale, from 0 to 1.
std::string barsSvg(const std::string& title, const std::vector<BarGroup>& groups);

}  // namespace tbem::report
