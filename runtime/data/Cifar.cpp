// CIFAR-10 and CIFAR-100 in their binary versions (Krizhevsky 2009; www.cs.toronto.edu/~kriz/cifar.html): records of one label
// (CIFAR-100: a coarse and a fine one) and 3072 samples, three planes of 32 x 32. The files are mapped, not read.
#include "runtime/data/File.h"
#include "runtime/data/Image.h"
#include "runtime/data/Readers.h"

#include <fmt/format.h>

#include <array>
#include <filesystem>

namespace tbem::data {

namespace {

using Failure = tl::unexpected<std::string>;
constexpr std::int64_t kSide = 32, kSamples = 3 * kSide * kSide;

/// One of the two sets.
struct Kind {
  const char* reader;
  const char* archive;
  std::array<std::vector<std::string>, 2> files;  ///< of each split
  std::int64_t labelBytes;                        ///< of a record
  std::int64_t counts[2];                         ///< published
};

const Kind& cifar10() {
  static const Kind kind = {
      "cifar10",
      "cifar-10-binary.tar.gz",
      {{{"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin", "data_batch_4.bin", "data_batch_5.bin"},
        {"test_batch.bin"}}},
      1,
      {50000, 10000}};
  return kind;
}
const Kind& cifar100() {
  static const Kind kind = {"cifar100", "cifar-100-binary.tar.gz", {{{"train.bin"}, {"test.bin"}}}, 2, {50000, 10000}};
  return kind;
}

/// What the settings say: which label byte counts, and how many classes it has.
struct Labels {
  std::int64_t byte = 0, classes = 10;
  std::vector<std::string> names;
};

tl::expected<Labels, std::string> labelsOf(const Kind& kind, const Settings& settings) {
  if (kind.labelBytes == 1) {
    return Labels{0, 10, {"airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"}};
  }
  const auto labels = settings.get<std::string>("labels");
  if (labels == "fine") return Labels{1, 100, {}};
  if (labels == "coarse") return Labels{0, 20, {}};
  return Failure(fmt::format("cifar100: `labels` is \"{}\"; it is \"fine\" (100 classes) or \"coarse\" (20)", labels));
}

std::string pathOf(const Settings& settings, const std::string& file) {
  return (std::filesystem::path(settings.path("folder")) / file).string();
}

class Cifar final : public Dataset {
public:
  Cifar(const Kind& kind, Preparation how, Labels labels, Description about)
      : kind(kind), how(std::move(how)), labels(std::move(labels)), about(std::move(about)) {
    print.mix(this->how);
    print.mix(static_cast<std::uint64_t>(this->labels.byte));
  }

  const Description& description() const override { return about; }
  std::uint64_t fingerprint() const override { return print.value(); }

  tl::expected<void, std::string> read(Split split, std::span<const std::int64_t> examples, const Batch& into) const override {
    for (std::size_t i = 0; i < examples.size(); ++i) {
      const auto [file, record] = find(split, examples[i]);
      const std::uint8_t* bytes = file->bytes.bytes().data() + record * recordBytes();
      const std::int64_t label = bytes[labels.byte];
      if (label >= labels.classes) {
        return Failure(fmt::format("{}: {}: the label at byte {} is {}, expected 0 to {}: the file is damaged", kind.reader,
                                   file->path, record * recordBytes() + labels.byte, label, labels.classes - 1));
      }
      prepare(ImageView::planar(bytes + kind.labelBytes, kSide, kSide, 3), how,
              into.inputs.front() + i * static_cast<std::size_t>(how.elements()));
      into.labels[i] = label;
    }
    return {};
  }

  tl::expected<void, std::string> load(const std::string& path, Split split) {
    auto file = MappedFile::open(path);
    if (!file) return Failure(file.error());
    const auto size = static_cast<std::int64_t>(file->bytes().size());
    if (size == 0 || size % recordBytes() != 0) {
      return Failure(
          fmt::format("{}: it has {} bytes, no whole number of records of {}: it is cut off, or not the binary version", path,
                      size, recordBytes()));
    }
    print.mixFile(path);
    auto& count = split == Split::Train ? about.train : about.test;
    files[static_cast<std::size_t>(split)].push_back({path, std::move(*file), count});
    count += size / recordBytes();
    return {};
  }

private:
  struct File {
    std::string path;
    MappedFile bytes;
    std::int64_t first;  ///< number of its first example in the split
  };
  std::int64_t recordBytes() const { return kind.labelBytes + kSamples; }
  std::pair<const File*, std::int64_t> find(Split split, std::int64_t example) const {
    const auto& list = files[static_cast<std::size_t>(split)];
    std::size_t f = list.size() - 1;
    while (list[f].first > example) --f;
    return {&list[f], example - list[f].first};
  }

  const Kind& kind;
  Preparation how;
  Labels labels;
  Description about;
  Fingerprint print;
  std::array<std::vector<File>, 2> files;
};

tl::expected<Description, std::string> describe(const Kind& kind, const Settings& settings) {
  const auto how = Preparation::of(settings, kind.reader);
  if (!how) return Failure(how.error());
  auto labels = labelsOf(kind, settings);
  if (!labels) return Failure(labels.error());
  Description about;
  about.inputs = {{"image", {how->channels, how->size, how->size}}};
  about.target = {"label", {}};
  about.classes = labels->classes;
  about.classNames = std::move(labels->names);
  for (std::size_t s = 0; s < 2; ++s) {
    // The published counts, or those of a part of the set where its files are there.
    std::int64_t records = 0;
    for (const std::string& name : kind.files[s]) {
      std::error_code missing;
      const auto size = std::filesystem::file_size(pathOf(settings, name), missing);
      if (!missing) records += static_cast<std::int64_t>(size) / (kind.labelBytes + kSamples);
    }
    (s == 0 ? about.train : about.test) = records > 0 ? records : kind.counts[s];
  }
  return about;
}

tl::expected<std::unique_ptr<Dataset>, std::string> open(const Kind& kind, const Settings& settings) {
  auto about = describe(kind, settings);
  if (!about) return Failure(about.error());
  about->train = about->test = 0;
  auto how = Preparation::of(settings, kind.reader);
  auto labels = labelsOf(kind, settings);
  if (!how || !labels) return Failure(!how ? how.error() : labels.error());
  auto dataset = std::make_unique<Cifar>(kind, std::move(*how), std::move(*labels), std::move(*about));
  for (const Split split : {Split::Train, Split::Test}) {
    for (const std::string& name : kind.files[static_cast<std::size_t>(split)]) {
      if (const auto loaded = dataset->load(pathOf(settings, name), split); !loaded) {
        return Failure(fmt::format("{}: {}; unpack www.cs.toronto.edu/~kriz/{} and give its folder as `folder`", kind.reader,
                                   loaded.error(), kind.archive));
      }
    }
  }
  return dataset;
}

}  // namespace

tl::expected<Description, std::string> describeCifar10(const Settings& settings) { return describe(cifar10(), settings); }
tl::expected<std::unique_ptr<Dataset>, std::string> openCifar10(const Settings& settings) { return open(cifar10(), settings); }
tl::expected<Description, std::string> describeCifar100(const Settings& settings) { return describe(cifar100(), settings); }
tl::expected<std::unique_ptr<Dataset>, std::string> openCifar100(const Settings& settings) { return open(cifar100(), settings); }

}  // namespace tbem::data
