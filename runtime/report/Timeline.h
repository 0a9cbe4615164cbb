// Amounts of several kinds over a sequence of moments, stacked: memory over a training step.
#pragma once

#include <numeric>
#include <string>
#include <vector>

namespace tbem::report {

struct Timeline {
  std::string title, subtitle;
  std::vector<std::string> kinds;  ///< the first lies at the bottom
  struct Moment {
    std::string label;          ///< shown when pointed at: "relu, net.tbem:4"
    std::vector<double> bytes;  ///< by kind
    std::string link;           ///< where pointing at it leads: "#rise3"; "": nowhere
    double sum() const { return std::accumulate(bytes.begin(), bytes.end(), 0.0); }
  };
  std::vector<Moment> moments;  ///< of equal width, in order
  struct Phase {
    std::string name;
    std::size_t from = 0;  ///< its first moment
  };
  std::vector<Phase> phases;  ///< ascending
};

/// The timeline as a whole SVG document: an area a kind, the moments' labels and sums on pointing at them, the highest one marked
/// and named. Kinds that are 0 throughout are left out.
std::string timelineSvg(const Timeline& timeline);

}  // namespace tbem::report
