// Examples on their way from a dataset into the inputs of an executable.
#pragma once

#include "runtime/core/Executable.h"
#include "runtime/data/Dataset.h"

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace tbem::train {

/// Changes of images [channels, height, width], drawn anew for each example and epoch: left and right swapped with probability
/// 1/2; a window of the image's size out of the image with `crop` zeros around it, each place as likely. A target of two
/// dimensions or more lies on the image and is swapped with it; it has no `crop`.
struct Augmentation {
  bool flip = false;
  std::int64_t crop = 0;
  bool any() const { return flip || crop > 0; }
};
constexpr std::uint64_t kAugmentStream = 0x6175676D656E74;  // "augment"

/// One example's image in place. The numbers are those of (seed, epoch, example) alone.
void augment(const Augmentation& how, std::uint64_t seed, std::uint32_t epoch, std::int64_t example,
             std::span<const std::int64_t> shape, float* image);

/// Changes the numbers of a batch's inputs, before they are written. Errors, in words.
using InputChange = std::function<tl::expected<void, std::string>(std::vector<std::vector<float>>& inputs)>;

/// Fills the inputs of one instance. The dataset and the instance must outlive it.
class Feed {
public:
  /// `inputs`: paths of the instance's inputs in the dataset's order. An input that the step does not read has no storage, and is
  /// read and dropped.
  Feed(const data::Dataset& dataset, runtime::Instance& instance, std::span<const std::string> inputs);

  /// As many examples as the instance's batch. `epoch`: for `how`; not looked at where that changes nothing. `change`: may be
  /// empty.
  tl::expected<void, std::string> load(data::Split split, std::span<const std::int64_t> examples, const Augmentation& how = {},
                                       std::uint64_t seed = 0, std::uint32_t epoch = 0, const InputChange& change = {});
  /// Of the examples that were loaded last, where the dataset has classes; as many each as its target has elements.
  std::span<const std::int64_t> labels() const { return classes; }

private:
  /// What an input of whole numbers cannot take of these examples, or "".
  std::string notWhole(std::size_t input, std::span<const std::int64_t> examples) const;

  const data::Dataset& dataset;
  runtime::Instance& instance;
  std::vector<std::string> inputs;
  std::vector<std::vector<float>> numbers;  ///< by input
  std::vector<float> targets;
  std::vector<std::int64_t> classes;
};

}  // namespace tbem::train
