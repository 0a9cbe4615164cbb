// Examples on their way from a dataset into the inputs of executables.
#pragma once

#include "runtime/core/Executable.h"
#include "runtime/data/Dataset.h"

#include <cstdint>
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

/// A batch of examples, read once and written into as many instances as compute with it. The dataset must outlive it.
class Feed {
public:
  /// `inputs`: paths of the instances' inputs in the dataset's order.
  Feed(const data::Dataset& dataset, std::span<const std::string> inputs);

  /// Reads a batch. `epoch`: for `how`; not looked at where that changes nothing. Errors, in words.
  tl::expected<void, std::string> load(data::Split split, std::span<const std::int64_t> examples, const Augmentation& how = {},
                                       std::uint64_t seed = 0, std::uint32_t epoch = 0);
  /// Of the batch in hand, the numbers of an input: what is changed here is what instances get.
  std::vector<float>& numbersOf(std::size_t input) { return numbers[input]; }
  /// Writes the batch into the inputs of an instance with as many examples; what the instance does not read has no storage, and
  /// is dropped. Instances in one arena take turns, so that inputs are there for the next run of this instance alone. Errors, in
  /// words.
  tl::expected<void, std::string> write(runtime::Instance& instance) const;
  /// Of the batch in hand, where the dataset has classes; as many for each example as its target has elements.
  std::span<const std::int64_t> labels() const { return classes; }

private:
  /// What an input of whole numbers cannot take of the batch, or "".
  std::string notWhole(const runtime::Instance& instance, std::size_t input) const;

  const data::Dataset& dataset;
  std::vector<std::string> inputs;
  std::vector<std::int64_t> batch;          ///< numbers of its examples
  std::vector<std::vector<float>> numbers;  ///< by input
  std::vector<float> targets;
  std::vector<std::int64_t> classes;
};

}  // namespace tbem::train
