#include "runtime/train/Feed.h"

#include "runtime/core/Inputs.h"
#include "runtime/core/Philox.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tbem::train {

using Failure = tl::unexpected<std::string>;

namespace {

auto wordsOf(std::uint64_t seed, std::uint32_t epoch, std::int64_t example) {
  return runtime::philoxAt(seed, kAugmentStream, epoch, static_cast<std::uint64_t>(example));
}

bool isFlipped(const decltype(wordsOf(0, 0, 0))& words) { return (words[0] & 1U) != 0; }

const tbem_operand& operandOf(const runtime::Executable& executable, std::uint32_t storage) {
  return executable.buffers[executable.storages[storage].buffer].operand;
}

tl::expected<void, std::string> written(const tl::expected<void, runtime::Failure>& done) {
  if (!done) return Failure(done.error().message);
  return {};
}

/// Swaps left and right of a target that lies on images which are swapped.
template <class T>
void flipTargets(std::uint64_t seed, std::uint32_t epoch, std::span<const std::int64_t> examples,
                 std::span<const std::int64_t> shape, std::vector<T>& targets) {
  const auto width = static_cast<std::ptrdiff_t>(shape.back());
  const auto one = static_cast<std::ptrdiff_t>(targets.size() / examples.size());
  for (std::size_t e = 0; e < examples.size(); ++e) {
    if (!isFlipped(wordsOf(seed, epoch, examples[e]))) continue;
    const auto begin = targets.begin() + static_cast<std::ptrdiff_t>(e) * one;
    for (auto row = begin; row != begin + one; row += width) std::reverse(row, row + width);
  }
}

}  // namespace

void augment(const Augmentation& how, std::uint64_t seed, std::uint32_t epoch, std::int64_t example,
             std::span<const std::int64_t> shape, float* image) {
  if (shape.size() != 3) return;
  const auto words = wordsOf(seed, epoch, example);
  const bool flip = how.flip && isFlipped(words);
  const auto offset = [&](std::uint32_t word) { return runtime::philoxBelow({word, 0, 0, 0}, 2 * how.crop + 1) - how.crop; };
  const std::int64_t down = offset(words[1]), right = offset(words[2]), height = shape[1], width = shape[2];
  std::vector<float> before(image, image + shape[0] * height * width);
  for (std::int64_t c = 0; c < shape[0]; ++c) {
    for (std::int64_t y = 0; y < height; ++y) {
      for (std::int64_t x = 0; x < width; ++x) {
        const std::int64_t fromY = y + down, fromX = (flip ? width - 1 - x : x) + right;
        const bool inside = fromY >= 0 && fromY < height && fromX >= 0 && fromX < width;
        *image++ = inside ? before[static_cast<std::size_t>((c * height + fromY) * width + fromX)] : 0;
      }
    }
  }
}

Feed::Feed(const data::Dataset& dataset, std::span<const std::string> inputs)
    : dataset(dataset), inputs(inputs.begin(), inputs.end()), numbers(inputs.size()) {}

tl::expected<void, std::string> Feed::load(data::Split split, std::span<const std::int64_t> examples, const Augmentation& how,
                                           std::uint64_t seed, std::uint32_t epoch) {
  const data::Description& about = dataset.description();
  batch.assign(examples.begin(), examples.end());
  data::Batch into;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    numbers[i].resize(examples.size() * static_cast<std::size_t>(about.inputs[i].elements()));
    into.inputs.push_back(numbers[i].data());
  }
  const std::size_t targetElements = examples.size() * static_cast<std::size_t>(about.target.elements());
  classes.resize(about.classes > 0 ? targetElements : 0);
  targets.resize(about.classes > 0 ? 0 : targetElements);
  into.labels = classes.data();
  into.targets = targets.data();
  if (const auto read = dataset.read(split, examples, into); !read) return Failure(read.error());
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const std::int64_t elements = about.inputs[i].elements();
    for (std::size_t e = 0; how.any() && e < examples.size(); ++e)
      augment(how, seed, epoch, examples[e], about.inputs[i].shape, numbers[i].data() + static_cast<std::int64_t>(e) * elements);
  }
  if (how.flip && about.target.shape.size() >= 2) {
    flipTargets(seed, epoch, examples, about.target.shape, classes);
    flipTargets(seed, epoch, examples, about.target.shape, targets);
  }
  return {};
}

tl::expected<void, std::string> Feed::write(runtime::Instance& instance) const {
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (std::string problem = notWhole(instance, i); !problem.empty()) return Failure(std::move(problem));
    if (auto done = written(runtime::writeInput(instance, inputs[i], std::span<const float>(numbers[i]))); !done) return done;
  }
  if (dataset.description().classes == 0)
    return written(runtime::writeInput(instance, "target", std::span<const float>(targets)));
  return written(runtime::writeInput(instance, "target", std::span<const std::int64_t>(classes)));
}

std::string Feed::notWhole(const runtime::Instance& instance, std::size_t input) const {
  const auto storage = instance.findStorage(inputs[input]);
  if (!storage || operandOf(instance.executable(), *storage).dtype != TBEM_I64) return {};
  constexpr float kExact = 1 << 24U;  // from here f32, which a dataset's inputs are, leaves whole numbers out
  const std::size_t elements = numbers[input].size() / batch.size();
  for (std::size_t e = 0; e < numbers[input].size(); ++e) {
    const float value = numbers[input][e];
    if (std::abs(value) < kExact && value == std::trunc(value)) continue;
    return fmt::format("the input `{}` takes whole numbers below {}; number {} of example {} is {}", inputs[input], kExact,
                       e % elements, batch[e / elements], value);
  }
  return {};
}

}  // namespace tbem::train
