// Examples made of random numbers: one Gaussian cloud a class, or a noisy linear map. For tests, and for programs that shall run
// where no data are.
#include "runtime/core/Philox.h"
#include "runtime/core/Random.h"
#include "runtime/data/Readers.h"

#include <fmt/format.h>

#include <cmath>

namespace tbem::data {

namespace {

using Failure = tl::unexpected<std::string>;

constexpr std::int64_t kMostElements = std::int64_t{1} << 31U;  ///< of one example
constexpr std::int64_t kMostExamples = 1'000'000'000;           ///< of a split: an epoch's order takes 8 bytes for each

/// What the random numbers are for; the split is added, so that no two use the same ones.
enum Stream : std::uint64_t { kCentre = 0x73796e7401, kLabel = 0x73796e7410, kNoise = 0x73796e7420, kTargetNoise = 0x73796e7430 };
constexpr std::uint64_t streamOf(Stream stream, Split split) { return stream + static_cast<std::uint64_t>(split); }

class Synthetic final : public Dataset {
public:
  Synthetic(Description given, const Settings& settings)
      : about(std::move(given)),
        seed(static_cast<std::uint64_t>(settings.get<std::int64_t>("seed"))),
        noise(settings.get<double>("noise")) {
    // Centres of the classes, or rows of the linear map: standard normal, the map divided by sqrt(elements).
    const std::int64_t rows = about.classes > 0 ? about.classes : about.target.elements();
    centres.resize(static_cast<std::size_t>(rows * elements()));
    runtime::normals(seed, kCentre, 0, centres);
    if (about.classes == 0) {
      for (double& one : centres) one /= std::sqrt(static_cast<double>(elements()));
    }
  }

  const Description& description() const override { return about; }

  std::uint64_t fingerprint() const override {
    std::uint64_t hash = 0xCBF29CE484222325U;
    const auto mix = [&](double value) {
      for (const char c : fmt::format("{:a};", value)) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3U;
    };
    mix(static_cast<double>(seed));
    mix(noise);
    for (const std::int64_t one : {about.classes, about.target.elements(), about.train, about.test})
      mix(static_cast<double>(one));
    for (const std::int64_t one : about.inputs.front().shape) mix(static_cast<double>(one));
    return hash;
  }

  tl::expected<void, std::string> read(Split split, std::span<const std::int64_t> examples, const Batch& into) const override {
    std::vector<double> numbers(static_cast<std::size_t>(elements()));
    for (std::size_t i = 0; i < examples.size(); ++i) {
      const auto number = static_cast<std::uint64_t>(examples[i]);
      runtime::normals(seed, streamOf(kNoise, split), number * numbers.size(), numbers);
      float* out = into.inputs.front() + i * numbers.size();
      if (about.classes > 0) {
        const std::int64_t label =
            runtime::philoxBelow(runtime::philoxAt(seed, streamOf(kLabel, split), 0, number), about.classes);
        const double* centre = centres.data() + label * elements();
        for (std::size_t e = 0; e < numbers.size(); ++e) out[e] = static_cast<float>(centre[e] + noise * numbers[e]);
        into.labels[i] = label;
      } else {
        for (std::size_t e = 0; e < numbers.size(); ++e) out[e] = static_cast<float>(numbers[e]);
        readTarget(split, number, numbers, into.targets + i * about.target.elements());
      }
    }
    return {};
  }

private:
  std::int64_t elements() const { return about.inputs.front().elements(); }

  void readTarget(Split split, std::uint64_t number, const std::vector<double>& x, float* out) const {
    std::vector<double> extra(static_cast<std::size_t>(about.target.elements()));
    runtime::normals(seed, streamOf(kTargetNoise, split), number * extra.size(), extra);
    for (std::size_t k = 0; k < extra.size(); ++k) {
      double sum = noise * extra[k];
      for (std::size_t e = 0; e < x.size(); ++e) sum += centres[k * x.size() + e] * x[e];
      out[k] = static_cast<float>(sum);
    }
  }

  Description about;
  std::uint64_t seed;
  double noise;
  std::vector<double> centres;
};

}  // namespace

tl::expected<Description, std::string> describeSynthetic(const Settings& settings) {
  Description about;
  Feature image{"image", {}};
  std::int64_t elements = 1;
  for (const double dim : settings.get<std::vector<double>>("shape")) {
    if (dim < 1 || dim != std::floor(dim) || dim > static_cast<double>(kMostElements / elements))
      return Failure(
          fmt::format("synthetic: `shape` has the dimension {:g}; they are whole numbers from 1, and their product is at "
                      "most {}",
                      dim, kMostElements));
    image.shape.push_back(static_cast<std::int64_t>(dim));
    elements *= image.shape.back();
  }
  about.inputs.push_back(std::move(image));
  about.classes = settings.get<std::int64_t>("classes");
  const auto outputs = settings.get<std::int64_t>("outputs");
  if (about.classes < 0 || outputs < 0 || (about.classes > 0) == (outputs > 0))
    return Failure(fmt::format("synthetic: give `classes` (of a classification) or `outputs` (of a regression), not {}",
                               about.classes > 0 ? "both" : "neither"));
  if (std::max(about.classes, outputs) > kMostElements / elements)
    return Failure(fmt::format("synthetic: {} classes or outputs of {} numbers each are too many",
                               std::max(about.classes, outputs), elements));
  about.target = about.classes > 0 ? Feature{"label", {}} : Feature{"target", {outputs}};
  about.train = settings.get<std::int64_t>("train");
  about.test = settings.get<std::int64_t>("test");
  if (about.train < 1 || about.test < 0)
    return Failure(fmt::format("synthetic: `train` ({}) is at least 1 and `test` ({}) at least 0", about.train, about.test));
  if (std::max(about.train, about.test) > kMostExamples)
    return Failure(fmt::format("synthetic: {} examples are more than {}", std::max(about.train, about.test), kMostExamples));
  if (settings.get<double>("noise") < 0)
    return Failure(fmt::format("synthetic: `noise` is {:g}; it is 0 or more", settings.get<double>("noise")));
  return about;
}

tl::expected<std::unique_ptr<Dataset>, std::string> openSynthetic(const Settings& settings) {
  auto about = describeSynthetic(settings);
  if (!about) return Failure(about.error());
  return std::make_unique<Synthetic>(std::move(*about), settings);
}

}  // namespace tbem::data
