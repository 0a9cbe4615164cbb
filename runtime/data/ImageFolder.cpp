// A folder with a folder of image files a class. Files are listed when the dataset is opened and read when their example is.
#include "runtime/data/File.h"
#include "runtime/data/Image.h"
#include "runtime/data/Readers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>

namespace tbem::data {

namespace {

using Failure = tl::unexpected<std::string>;
namespace fs = std::filesystem;

struct Listing {
  std::vector<std::string> classes;                         ///< names of folders, sorted by bytes
  std::vector<std::pair<std::string, std::int64_t>> files;  ///< paths and classes, by class, then name
};

bool isImage(const fs::path& path) {
  std::string end = path.extension().string();
  std::transform(end.begin(), end.end(), end.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return end == ".png" || end == ".jpg" || end == ".jpeg" || end == ".ppm" || end == ".pgm";
}

/// The entries' paths, sorted; hidden ones are left out. Errors: the folder cannot be read.
tl::expected<std::vector<fs::path>, std::string> sortedEntries(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    if (!at->path().filename().string().starts_with('.')) found.push_back(at->path());
  }
  if (error) return Failure(fmt::format("cannot read {}: {}", folder.string(), error.message()));
  std::sort(found.begin(), found.end(), [](const fs::path& a, const fs::path& b) { return a.native() < b.native(); });
  return found;
}

tl::expected<Listing, std::string> list(const std::string& folder) {
  Listing listing;
  const auto folders = sortedEntries(folder);
  if (!folders) return Failure(folders.error());
  for (const fs::path& entry : *folders) {
    std::error_code ignored;
    if (!fs::is_directory(entry, ignored)) continue;
    const auto files = sortedEntries(entry);
    if (!files) return Failure(files.error());
    const auto label = static_cast<std::int64_t>(listing.classes.size());
    listing.classes.push_back(entry.filename().string());
    for (const fs::path& file : *files) {
      if (isImage(file)) listing.files.emplace_back(file.string(), label);
    }
  }
  if (listing.files.empty()) {
    return Failure(
        fmt::format("{} has no images: expected a folder a class, with .png, .jpg, .jpeg, .ppm or .pgm files", folder));
  }
  return listing;
}

class ImageFolder final : public Dataset {
public:
  static tl::expected<std::unique_ptr<ImageFolder>, std::string> open(const Settings& settings) {
    auto dataset = std::unique_ptr<ImageFolder>(new ImageFolder);
    auto how = Preparation::of(settings, "image_folder");
    if (!how) return Failure(how.error());
    dataset->how = std::move(*how);
    const std::string folders[] = {settings.path("train"), settings.path("test")};
    for (std::size_t s = 0; s < 2; ++s) {
      if (s == 1 && folders[s].empty()) continue;
      auto listing = list(folders[s]);
      if (!listing) return Failure(fmt::format("image_folder: {}", listing.error()));
      dataset->splits[s] = std::move(*listing);
    }
    const Listing &train = dataset->splits[0], &test = dataset->splits[1];
    if (!test.files.empty() && test.classes != train.classes) {
      return Failure(fmt::format("image_folder: {} and {} have other folders of classes ({} and {})", folders[0], folders[1],
                                 train.classes.size(), test.classes.size()));
    }
    Description& about = dataset->about;
    about.inputs = {{"image", {dataset->how.channels, dataset->how.size, dataset->how.size}}};
    about.target = {"label", {}};
    about.classes = static_cast<std::int64_t>(train.classes.size());
    about.classNames = train.classes;
    about.train = static_cast<std::int64_t>(train.files.size());
    about.test = static_cast<std::int64_t>(test.files.size());
    return dataset;
  }

  const Description& description() const override { return about; }

  /// Every file's size and time: asked for once a training, so listing a large folder again is bearable.
  std::uint64_t fingerprint() const override {
    Fingerprint print;
    print.mix(how);
    for (const Listing& listing : splits) {
      for (const std::string& name : listing.classes) print.mix(name);
      for (const auto& [path, label] : listing.files) {
        print.mix(static_cast<std::uint64_t>(label));
        print.mixFile(path);
      }
    }
    return print.value();
  }

  tl::expected<void, std::string> read(Split split, std::span<const std::int64_t> examples, const Batch& into) const override {
    const Listing& listing = splits[static_cast<std::size_t>(split)];
    for (std::size_t i = 0; i < examples.size(); ++i) {
      const auto& [path, label] = listing.files[static_cast<std::size_t>(examples[i])];
      const auto file = MappedFile::open(path);
      if (!file) return Failure(fmt::format("image_folder: {}", file.error()));
      const auto image = decodeImage(file->text());
      if (!image) return Failure(fmt::format("image_folder: {}: {}; take it out of the folder, or mend it", path, image.error()));
      prepare(image->view(), how, into.inputs.front() + i * static_cast<std::size_t>(how.elements()));
      into.labels[i] = label;
    }
    return {};
  }

private:
  ImageFolder() = default;
  Preparation how;
  std::array<Listing, 2> splits;
  Description about;
};

}  // namespace

tl::expected<Description, std::string> describeImageFolder(const Settings& settings) {
  const auto dataset = ImageFolder::open(settings);
  if (!dataset) return Failure(dataset.error());
  return (*dataset)->description();
}

tl::expected<std::unique_ptr<Dataset>, std::string> openImageFolder(const Settings& settings) {
  auto dataset = ImageFolder::open(settings);
  if (!dataset) return Failure(dataset.error());
  return std::move(*dataset);
}

}  // namespace tbem::data
