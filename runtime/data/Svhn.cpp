// SVHN, its cropped digits (Netzer et al. 2011; ufldl.stanford.edu/housenumbers): two .mat files, each with the images X, of
// [32, 32, 3, count] samples whose first index is the row, and their labels y, from 1 to 10, where 10 is the digit 0. A split is
// decompressed when its first example is read, and then lies in memory: 3073 bytes an example.
#include "runtime/data/Image.h"
#include "runtime/data/MatFile.h"
#include "runtime/data/Readers.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <filesystem>
#include <mutex>

namespace tbem::data {

namespace {

using Failure = tl::unexpected<std::string>;
using Dims = std::vector<std::size_t>;
constexpr std::size_t kSide = 32, kChannels = 3, kSamples = kChannels * kSide * kSide;
constexpr std::array<const char*, 2> kFiles = {"train_32x32.mat", "test_32x32.mat"};
constexpr std::array<std::int64_t, 2> kCounts = {73257, 26032};  // published

std::string pathOf(const Settings& settings, std::size_t split) {
  return (std::filesystem::path(settings.path("folder")) / kFiles[split]).string();
}

/// How many examples arrays of these shapes hold. Errors: they are not those of the set.
tl::expected<std::int64_t, std::string> countOf(const std::string& path, const Dims& images, const Dims& labels) {
  const bool areImages =
      images.size() == 4 && images[0] == kSide && images[1] == kSide && images[2] == kChannels && images[3] > 0;
  if (!areImages) return Failure(fmt::format("{}: `X` is [{}], expected [32, 32, 3, count]", path, fmt::join(images, ", ")));
  if (labels != Dims{images[3], 1}) {
    return Failure(
        fmt::format("{}: `y` is [{}], expected [{}, 1], a label for each image", path, fmt::join(labels, ", "), images[3]));
  }
  return static_cast<std::int64_t>(images[3]);
}

tl::expected<std::int64_t, std::string> countIn(const std::string& path) {
  const auto dims = matDims(path, {"X", "y"});
  if (!dims) return Failure(dims.error());
  return countOf(path, dims->front(), dims->back());
}

class Svhn final : public Dataset {
public:
  Svhn(Preparation how, Description about) : how(std::move(how)), about(std::move(about)) { print.mix(this->how); }

  const Description& description() const override { return about; }
  std::uint64_t fingerprint() const override { return print.value(); }

  tl::expected<void, std::string> read(Split split, std::span<const std::int64_t> examples, const Batch& into) const override {
    const auto part = loaded(split);
    if (!part) return Failure(part.error());
    for (std::size_t i = 0; i < examples.size(); ++i) {
      const auto example = static_cast<std::size_t>(examples[i]);
      const std::uint8_t label = (*part)->labels[example];
      if (label < 1 || label > 10) {
        return Failure(fmt::format("svhn: {}: the label of image {} is {}, expected 1 to 10: the file is damaged",
                                   paths[static_cast<std::size_t>(split)], example, label));
      }
      // Columns lie one after the other, and not rows.
      const ImageView image{(*part)->images.data() + example * kSamples, kSide, kSide, kChannels, 1, kSide, kSide * kSide};
      prepare(image, how, into.inputs.front() + i * static_cast<std::size_t>(how.elements()));
      into.labels[i] = label % 10;
    }
    return {};
  }

  tl::expected<void, std::string> add(std::size_t split, const std::string& path) {
    const auto count = countIn(path);
    if (!count) return Failure(count.error());
    print.mixFile(path);
    paths[split] = path;
    (split == 0 ? about.train : about.test) = *count;
    return {};
  }

private:
  struct Part {
    std::vector<std::uint8_t> images, labels;
  };

  /// Read once, whoever asks first.
  tl::expected<const Part*, std::string> loaded(Split split) const {
    const auto at = static_cast<std::size_t>(split);
    const std::lock_guard lock(loading);
    if (parts[at].labels.empty()) {
      auto arrays = readMat(paths[at], {"X", "y"});
      if (!arrays) return Failure("svhn: " + arrays.error());
      MatArray &images = arrays->front(), &labels = arrays->back();
      const auto count = countOf(paths[at], images.dims, labels.dims);
      if (!count) return Failure("svhn: " + count.error());
      if (*count != (at == 0 ? about.train : about.test))
        return Failure(fmt::format("svhn: {}: it has changed since it was opened", paths[at]));
      parts[at] = {std::move(images.values), std::move(labels.values)};
    }
    return &parts[at];
  }

  Preparation how;
  Description about;
  Fingerprint print;
  std::array<std::string, 2> paths;
  mutable std::mutex loading;
  mutable std::array<Part, 2> parts;
};

}  // namespace

tl::expected<Description, std::string> describeSvhn(const Settings& settings) {
  const auto how = Preparation::of(settings, "svhn");
  if (!how) return Failure(how.error());
  Description about;
  about.inputs = {{"image", {how->channels, how->size, how->size}}};
  about.target = {"label", {}};
  about.classes = 10;
  about.classNames = {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"};
  for (const std::size_t split : {std::size_t{0}, std::size_t{1}}) {
    // The published counts, or those of a part of the set where its files are there.
    const auto count = countIn(pathOf(settings, split));
    (split == 0 ? about.train : about.test) = count.value_or(kCounts[split]);
  }
  return about;
}

tl::expected<std::unique_ptr<Dataset>, std::string> openSvhn(const Settings& settings) {
  auto about = describeSvhn(settings);
  if (!about) return Failure(about.error());
  auto how = Preparation::of(settings, "svhn");
  if (!how) return Failure(how.error());
  auto dataset = std::make_unique<Svhn>(std::move(*how), std::move(*about));
  for (const std::size_t split : {std::size_t{0}, std::size_t{1}}) {
    const std::string path = pathOf(settings, split);
    if (!std::filesystem::exists(path)) {
      return Failure(
          fmt::format("svhn: {} is not there; take ufldl.stanford.edu/housenumbers/{} (format 2, cropped digits) and give "
                      "its folder as `folder`",
                      path, kFiles[split]));
    }
    if (const auto added = dataset->add(split, path); !added) return Failure("svhn: " + added.error());
  }
  return dataset;
}

}  // namespace tbem::data
