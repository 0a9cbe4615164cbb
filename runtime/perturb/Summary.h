// What a method did, in numbers: the columns of the report's table.
#pragma once

#include "runtime/perturb/Perturb.h"

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

namespace tbem::perturb {

/// What a point takes beside FLOPs, of those of which it was measured; nothing: of none.
struct Growth {
  std::int64_t examples = 0;            ///< those
  std::optional<double> before, after;  ///< means
  std::optional<double> mean, most;     ///< increases, as I-FLOPs
  /// Pearson's correlation with FLOPs, over examples and points together; nothing where one of them does not vary.
  std::optional<double> correlation;
};

/// I-FLOPs of a point: (flops - flopsBefore) / flopsBefore (Chen et al. 2022, equation 10 and section 5.2). Shares are from 0 to
/// 1; what nobody asked for is nothing.
struct Summary {
  std::int64_t examples = 0;
  double meanIncrease = 0, mostIncrease = 0;  ///< I-FLOPs, of examples that cost something before
  std::int64_t raised = 0;                    ///< examples that cost more than before
  /// (flops - flopsBefore) / (most - flopsBefore), in the mean over examples that had room; nothing: none had.
  std::optional<double> headroom;
  double flopsBefore = 0, flops = 0;               ///< means
  std::optional<double> accuracyBefore, accuracy;  ///< where examples have labels and the network predicts classes
  std::optional<double> kept;                      ///< share of predictions that stayed
  double linf = 0, l2 = 0;                         ///< means
  std::optional<double> psnr, ssim;                ///< means over examples that moved
  Growth latency, energy;                          ///< seconds, joules
  /// Share of the gates' sides (taken, not taken) that some point took, of those that exist: decision block coverage.
  double coverage = 0;
  std::optional<double> secondsOfExample;  ///< of moving, for each point that was not stored
};
Summary summarise(const Series& series, const Victim& victim);

/// Sides of gates that were taken: the gate, and whether its condition was true.
using Sides = std::set<std::pair<std::size_t, bool>>;
/// Adds those of one example, whose gates decided so (Answer::decisions): both where some of its rows took each.
void addSides(const std::vector<double>& decisions, Sides& sides);

/// Pearson's; nothing where one of the two does not vary.
std::optional<double> correlation(const std::vector<std::pair<double, double>>& pairs);

/// Peak signal-to-noise ratio in dB, of numbers `width` apart at most; infinite where they are equal.
double psnr(std::span<const float> a, std::span<const float> b, double width);
/// Structural similarity of images [channels, height, width] (Wang et al. 2004: a Gaussian window of 11 x 11 with sigma 1.5, K1
/// 0.01, K2 0.03, windows that lie in the image alone), in the mean over channels; nothing for smaller ones and for what is no
/// image.
std::optional<double> ssim(std::span<const float> a, std::span<const float> b, std::span<const std::int64_t> shape, double width);

}  // namespace tbem::perturb
