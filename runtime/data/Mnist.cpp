// MNIST, Fashion-MNIST and whatever has their four files: images and labels of both splits in IDX, plain or compressed by gzip.
#include "runtime/data/File.h"
#include "runtime/data/Idx.h"
#include "runtime/data/Image.h"
#include "runtime/data/Readers.h"

#include <fmt/format.h>

#include <array>
#include <filesystem>

namespace tbem::data {

namespace {

using Failure = tl::unexpected<std::string>;

/// One published set in this form.
struct Published {
  const char* reader;
  const char* wayOut;  ///< how to get the files
  std::vector<std::string> classNames;
};

const Published& fashion() {
  static const Published one = {
      "fashion_mnist",
      "install Debian's package: apt-get install dataset-fashion-mnist (or give `folder`)",
      {"T-shirt/top", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot"}};
  return one;
}
const Published& digits() {
  static const Published one = {"mnist",
                                "put train-images-idx3-ubyte.gz and the three others of the MNIST database there",
                                {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"}};
  return one;
}

constexpr const char* kImages[] = {"train-images-idx3-ubyte", "t10k-images-idx3-ubyte"};
constexpr const char* kLabels[] = {"train-labels-idx1-ubyte", "t10k-labels-idx1-ubyte"};
constexpr std::int64_t kCounts[] = {60000, 10000};

/// The file's path, with .gz where only that is there.
std::string find(const std::string& folder, const char* name) {
  const std::string plain = (std::filesystem::path(folder) / name).string();
  std::error_code ignored;
  return std::filesystem::exists(plain, ignored) ? plain : plain + ".gz";
}

Description describe(const Published& set, const Preparation& how) {
  Description about;
  about.inputs = {{"image", {how.channels, how.size, how.size}}};
  about.target = {"label", {}};
  about.classes = static_cast<std::int64_t>(set.classNames.size());
  about.classNames = set.classNames;
  about.train = kCounts[0];
  about.test = kCounts[1];
  return about;
}

class Mnist final : public Dataset {
public:
  Mnist(Description about, Preparation how) : about(std::move(about)), how(std::move(how)) { print.mix(this->how); }

  const Description& description() const override { return about; }
  std::uint64_t fingerprint() const override { return print.value(); }

  tl::expected<void, std::string> read(Split split, std::span<const std::int64_t> examples, const Batch& into) const override {
    const auto s = static_cast<std::size_t>(split);
    const std::int64_t height = images[s].shape[1], width = images[s].shape[2];
    for (std::size_t i = 0; i < examples.size(); ++i) {
      const std::uint8_t* samples = images[s].bytes.data() + examples[i] * height * width;
      prepare(ImageView::planar(samples, height, width, 1), how,
              into.inputs.front() + i * static_cast<std::size_t>(how.elements()));
      into.labels[i] = labels[s].bytes[static_cast<std::size_t>(examples[i])];
    }
    return {};
  }

  /// Reads and checks the two files of a split; the error is complete but for the way to get the files.
  tl::expected<void, std::string> load(const std::string& folder, Split split) {
    const auto s = static_cast<std::size_t>(split);
    const std::string imagePath = find(folder, kImages[s]), labelPath = find(folder, kLabels[s]);
    auto image = loadFile(imagePath, 3), label = loadFile(labelPath, 1);
    if (!image) return Failure(image.error());
    if (!label) return Failure(label.error());
    if (image->shape[0] != label->shape[0]) {
      return Failure(fmt::format("{} has {} images, {} has {} labels", imagePath, image->shape[0], labelPath, label->shape[0]));
    }
    if (image->shape[1] == 0 || image->shape[2] == 0) return Failure(fmt::format("{}: its images have no pixels", imagePath));
    for (std::size_t i = 0; i < label->bytes.size(); ++i) {
      if (label->bytes[i] < about.classes) continue;
      return Failure(fmt::format("{}: label {} (byte {} of the unpacked file) is {}, expected 0 to {}", labelPath, i, 8 + i,
                                 label->bytes[i], about.classes - 1));
    }
    (split == Split::Train ? about.train : about.test) = image->shape[0];
    images[s] = std::move(*image);
    labels[s] = std::move(*label);
    return {};
  }

private:
  tl::expected<IdxArray, std::string> loadFile(const std::string& path, std::size_t rank) {
    const auto file = MappedFile::open(path);
    if (!file) return Failure(file.error());
    auto array = parseIdx(file->text());
    if (!array) return Failure(fmt::format("{}: {}", path, array.error()));
    if (array->shape.size() != rank)
      return Failure(fmt::format("{}: it has {} dimensions, expected {}", path, array->shape.size(), rank));
    print.mix(file->text());
    return array;
  }

  Description about;
  Preparation how;
  Fingerprint print;
  std::array<IdxArray, 2> images, labels;
};

tl::expected<Description, std::string> describe(const Published& set, const Settings& settings) {
  const auto how = Preparation::of(settings, set.reader);
  if (!how) return Failure(how.error());
  Description about = describe(set, *how);
  // Another set in the same form may have other counts: the headers say so where the files are there.
  for (std::size_t s = 0; s < 2; ++s) {
    const auto file = MappedFile::open(find(settings.path("folder"), kImages[s]));
    if (!file) continue;
    const auto shape = parseIdxShape(file->text());
    if (shape) (s == 0 ? about.train : about.test) = shape->front();
  }
  return about;
}

tl::expected<std::unique_ptr<Dataset>, std::string> open(const Published& set, const Settings& settings) {
  auto how = Preparation::of(settings, set.reader);
  if (!how) return Failure(how.error());
  const std::string folder = settings.path("folder");
  auto dataset = std::make_unique<Mnist>(describe(set, *how), std::move(*how));
  for (const Split split : {Split::Train, Split::Test}) {
    if (const auto loaded = dataset->load(folder, split); !loaded)
      return Failure(fmt::format("{}: {}; {}", set.reader, loaded.error(), set.wayOut));
  }
  return dataset;
}

}  // namespace

tl::expected<Description, std::string> describeFashionMnist(const Settings& settings) { return describe(fashion(), settings); }
tl::expected<std::unique_ptr<Dataset>, std::string> openFashionMnist(const Settings& settings) {
  return open(fashion(), settings);
}
tl::expected<Description, std::string> describeMnist(const Settings& settings) { return describe(digits(), settings); }
tl::expected<std::unique_ptr<Dataset>, std::string> openMnist(const Settings& settings) { return open(digits(), settings); }

}  // namespace tbem::data
