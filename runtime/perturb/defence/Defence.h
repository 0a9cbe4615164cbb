// What helps against slow inputs once they were found: a detector that tells points from examples (Chen et al. 2022, section 6.3:
// a linear support vector machine on the output of the first convolution), and squeezing of what comes in (Xu et al. 2018,
// "Feature Squeezing", section II). Both look at points that methods found, and search for none.
#pragma once

#include "runtime/perturb/Summary.h"

#include <tl/expected.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace tbem::perturb {

/// What a search left: of the plan with Plan::keepInputs. All must outlive what looks at it.
struct Searched {
  const Plan& plan;
  const data::Dataset& dataset;
  const Victim& victim;
  const std::vector<Series>& series;  ///< of all examples, with their inputs
};

/// How far it is, of `total`, and at what; false ends it.
using DefenceProgress = std::function<bool(std::int64_t done, std::int64_t total, const std::string& what)>;

// ---- Detection --------------------------------------------------------------------------------------------------------

struct DetectorPlan {
  std::int64_t count = 0;  ///< the first so many examples, with the points of each
  std::int64_t folds = 5;
  double cost = 1;  ///< C: of a training example on the wrong side, against the length of the separating vector
};

/// What a detector looks at.
struct FirstLayer {
  const runtime::Executable* network = nullptr;  ///< as Victim::single, and its last output is what the layer computes
  std::string name;                              ///< the path of the layer: "conv_bn_relu.conv2d"
};

/// How well points of one method are told from their examples by detectors that never saw these examples.
struct Detected {
  std::string method;      ///< as the program writes it
  std::int64_t pairs = 0;  ///< examples that the method moved, each with its point; those that stayed cannot be told apart
  /// The area under the curve of true over false alarms of detectors that learned this method's points: the share of pairs of
  /// a point and an example of which the point scores higher, equal scores half; in the mean over folds, and the standard
  /// deviation between these (n - 1). Nothing: some fold had no pair to learn from or to look at.
  std::optional<double> area, deviation;
  /// By method whose points a detector learned: the area at this method's points, in the mean over folds.
  std::vector<std::optional<double>> areaByLearned;
};

struct Detection {
  std::string layer;
  std::int64_t numbers = 0;         ///< that the layer computes of an example
  std::optional<double> seconds;    ///< of one score, in the mean over all of them
  std::vector<Detected> ofMethods;  ///< in order
  /// That a score adds: a product and a sum for each number, which the network computes anyway.
  double flops() const { return 2 * static_cast<double>(numbers); }
};

/// An example is in one fold with all its points: place i of train::shuffled(seed, 0, count) is in fold
/// i mod folds. Numbers are scaled by what a fold's detector learns from (LinearMachine.h). Nothing: it was ended.
/// Errors: Environment (data, memory, liblinear), Run (a step failed).
tl::expected<std::optional<Detection>, Failure> detect(const Searched& searched, const DetectorPlan& detector,
                                                       const FirstLayer& layer, const DefenceProgress& progress);

/// The bytes that `detect` takes at its most, beside the points themselves: every number of the layer of examples and points, and
/// liblinear's own of what a detector learns from.
double detectionBytes(const DetectorPlan& detector, const FirstLayer& layer, std::size_t methods);

/// Why no detector can learn on this machine, or which version of liblinear does.
tl::expected<std::string, std::string> detectorLibrary();

// ---- Squeezing --------------------------------------------------------------------------------------------------------

struct Squeezer {
  enum class Kind : std::uint8_t {
    Bits,   ///< each number becomes the nearest of 2^size that lie evenly in the box, of two as near the even one
    Median  ///< each number becomes the median of the size x size around it in its channel, mirrored at the edges; of an even
            ///< count the upper one, and then the window reaches further up and to the left
  } kind = Kind::Bits;
  std::int64_t size = 8;
  std::string text;  ///< "bits(4)", as the program writes it
};

/// The numbers of one example or point. `shape`: of an example; a median wants [channels, height, width].
void squeeze(const Squeezer& squeezer, const Plan& plan, const std::vector<std::int64_t>& shape, std::vector<float>& numbers);

/// What the network does with what one squeezer makes of examples, and of one method's points.
struct Squeezed {
  std::string squeezer, method;  ///< as the program writes them
  Summary summary;               ///< of costs and predictions: of squeezed examples (`before`) and of squeezed points
};

/// Each squeezer with each series: by squeezer, then by method. Nothing: it was ended.
/// Errors: Environment (data, memory), Run (a step failed).
tl::expected<std::optional<std::vector<Squeezed>>, Failure> squeezeAll(const Searched& searched,
                                                                       const std::vector<Squeezer>& squeezers,
                                                                       const DefenceProgress& progress);

}  // namespace tbem::perturb
