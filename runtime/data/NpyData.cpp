// Examples in NumPy's arrays: .npy files, which are mapped and read an example at a time, or members of a .npz.
#include "compiler/diagnostics/Hints.h"
#include "runtime/core/Primitive.h"
#include "runtime/data/File.h"
#include "runtime/data/Image.h"
#include "runtime/data/Npz.h"
#include "runtime/data/Readers.h"
#include "runtime/data/TorchFile.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <filesystem>

namespace tbem::data {

namespace {

using Failure = tl::unexpected<std::string>;

/// An array of a file, kept as cheaply as it can be.
class Source {
public:
  /// "x.npy", or "all.npz:x". Errors are complete.
  static tl::expected<Source, std::string> open(const std::string& given) {
    const std::size_t colon = given.rfind(".npz:");
    const std::string path = colon == std::string::npos ? given : given.substr(0, colon + 4);
    auto file = MappedFile::open(path);
    if (!file) return Failure(file.error());
    if (isPickled(file->text()))
      return Failure(
          fmt::format("{}: it is a file of torch.save, and a dataset reads NumPy's: "
                      "`numpy.save(\"x.npy\", tensor.numpy())` writes what is read here",
                      path));
    Source source(given, std::move(*file));
    const auto problem = colon == std::string::npos ? source.readNpy(path) : source.readMember(given.substr(colon + 5));
    if (!problem.empty()) return Failure(fmt::format("{}: {}", given, problem));
    if (source.view.shape.empty())
      return Failure(fmt::format("{}: it is one number; the first dimension counts the examples", given));
    source.path = path;
    return source;
  }

  std::int64_t count() const { return view.shape.front(); }
  Feature feature() const { return {view.name, {view.shape.begin() + 1, view.shape.end()}}; }
  std::size_t exampleBytes() const { return count() == 0 ? 0 : view.bytes.size() / static_cast<std::size_t>(count()); }
  /// One example as a tensor of this type.
  tl::expected<runtime::HostTensor, std::string> example(std::int64_t number, std::int32_t dtype) const {
    const auto bytes = view.bytes.subspan(static_cast<std::size_t>(number) * exampleBytes(), exampleBytes());
    return toTensor(ArrayView(fmt::format("{}[{}]", given, number), view.dtype, feature().shape, bytes), dtype);
  }

  std::string given, path;
  ArrayView view;

private:
  Source(std::string given, MappedFile file) : given(std::move(given)), file(std::move(file)) {}

  std::string readNpy(const std::string& from) {
    auto header = viewNpy(file.text(), std::filesystem::path(from).stem().string());
    if (!header) return header.error();
    view = std::move(header->array);
    if (!header->columnMajor) return {};
    auto array = parseNpy(file.text(), view.name);
    if (!array) return array.error();
    return keep(std::move(*array));
  }
  std::string readMember(const std::string& member) {
    auto arrays = parseNpz(file.text());
    if (!arrays) return arrays.error();
    std::vector<std::string> names;
    for (Array& array : *arrays) {
      if (array.name == member) return keep(std::move(array));
      names.push_back(array.name);
    }
    return fmt::format("the archive has no array `{}`{}", member,
                       names.empty() ? ": it is empty" : ": it has " + nearestFew(member, std::move(names)));
  }
  std::string keep(Array array) {
    owned = std::move(array);
    view = owned;
    return {};
  }

  MappedFile file;
  Array owned;
};

/// The arrays of a split: inputs, then the target.
using Arrays = std::vector<Source>;

/// Opens the arrays of one split. Errors are complete.
tl::expected<Arrays, std::string> openSplit(const Settings& settings, const char* inputs, const char* target) {
  const auto resolve = [&](const std::string& given) {
    if (settings.folder.empty() || std::filesystem::path(given).is_absolute()) return given;
    return (std::filesystem::path(settings.folder) / given).string();
  };
  Arrays arrays;
  std::vector<std::string> given = settings.get<std::vector<std::string>>(inputs);
  if (given.empty()) return Failure(fmt::format("npy: `{}` names no file", inputs));
  given.push_back(settings.get<std::string>(target));
  if (given.back().empty()) return Failure(fmt::format("npy: `{}` names no file", target));
  for (const std::string& one : given) {
    auto source = Source::open(resolve(one));
    if (!source) return Failure(fmt::format("npy: {}", source.error()));
    arrays.push_back(std::move(*source));
  }
  for (const Source& source : arrays) {
    if (source.count() != arrays.front().count()) {
      return Failure(fmt::format("npy: {} has {} examples, {} has {}", arrays.front().given, arrays.front().count(), source.given,
                                 source.count()));
    }
  }
  if (arrays.front().count() == 0) return Failure(fmt::format("npy: {} has no examples", arrays.front().given));
  return arrays;
}

bool hasTest(const Settings& settings) {
  return !settings.get<std::vector<std::string>>("test_inputs").empty() || !settings.get<std::string>("test_target").empty();
}

class NpyData final : public Dataset {
public:
  static tl::expected<std::unique_ptr<NpyData>, std::string> open(const Settings& settings) {
    auto dataset = std::unique_ptr<NpyData>(new NpyData);
    Description& about = dataset->about;
    auto train = openSplit(settings, "inputs", "target");
    if (!train) return Failure(train.error());
    dataset->splits[0] = std::move(*train);
    if (hasTest(settings)) {
      auto test = openSplit(settings, "test_inputs", "test_target");
      if (!test) return Failure(test.error());
      dataset->splits[1] = std::move(*test);
      if (auto problem = dataset->compareSplits(); !problem.empty()) return Failure(std::move(problem));
      about.test = dataset->splits[1].front().count();
    }
    const Arrays& arrays = dataset->splits[0];
    about.train = arrays.front().count();
    about.classes = settings.get<std::int64_t>("classes");
    if (about.classes < 0) return Failure(fmt::format("npy: `classes` is {}; it is 0 for a regression", about.classes));
    dataset->ignore = settings.get<std::int64_t>("ignore");
    if (about.classes == 0 && dataset->ignore != runtime::kNoClass)
      return Failure("npy: `ignore` is a label, and without `classes` there are none");
    for (std::size_t i = 0; i + 1 < arrays.size(); ++i) about.inputs.push_back(arrays[i].feature());
    about.target = arrays.back().feature();
    dataset->scale = settings.get<double>("scale");
    if (!std::isfinite(dataset->scale) || dataset->scale == 0) return Failure(fmt::format("npy: `scale` is {}", dataset->scale));
    return dataset;
  }

  const Description& description() const override { return about; }

  std::uint64_t fingerprint() const override {
    Fingerprint print;
    print.mix(fmt::format("{:a}", scale));
    print.mix(static_cast<std::uint64_t>(about.classes));
    if (ignore != runtime::kNoClass) print.mix(static_cast<std::uint64_t>(ignore));
    for (const Arrays& arrays : splits) {
      for (const Source& source : arrays) {
        print.mix(source.view.name);
        print.mixFile(source.path);
      }
    }
    return print.value();
  }

  tl::expected<void, std::string> read(Split split, std::span<const std::int64_t> examples, const Batch& into) const override {
    const Arrays& arrays = splits[static_cast<std::size_t>(split)];
    for (std::size_t i = 0; i < examples.size(); ++i) {
      for (std::size_t k = 0; k + 1 < arrays.size(); ++k) {
        if (auto problem = readNumbers(arrays[k], examples[i], static_cast<float>(scale), i, into.inputs[k]); !problem.empty())
          return Failure(std::move(problem));
      }
      const Source& target = arrays.back();
      auto problem = about.classes > 0 ? readLabels(target, examples[i], i, into.labels)
                                       : readNumbers(target, examples[i], 1, i, into.targets);
      if (!problem.empty()) return Failure(std::move(problem));
    }
    return {};
  }

private:
  NpyData() = default;

  /// Writes an example at position `at` of a batch. Returns what is wrong, or "".
  static std::string readNumbers(const Source& source, std::int64_t example, float scale, std::size_t at, float* batch) {
    const auto value = source.example(example, TBEM_F32);
    if (!value) return "npy: " + value.error();
    const std::size_t count = value->count();
    float* out = batch + at * count;
    if (count > 0) std::memcpy(out, value->data.data(), count * sizeof(float));
    for (std::size_t e = 0; e < count; ++e) {
      if (!std::isfinite(out[e])) return fmt::format("npy: {}: number {} of example {} is {}", source.given, e, example, out[e]);
      out[e] *= scale;
    }
    return {};
  }

  std::string readLabels(const Source& source, std::int64_t example, std::size_t at, std::int64_t* batch) const {
    const auto value = source.example(example, TBEM_I64);
    if (!value) return "npy: " + value.error();
    std::vector<std::int64_t> labels = value->integers();
    for (std::size_t e = 0; e < labels.size(); ++e) {
      if (labels[e] != ignore && (labels[e] < 0 || labels[e] >= about.classes)) {
        const std::string which = about.target.shape.empty() ? "the label" : fmt::format("label {}", e);
        return fmt::format("npy: {}: {} of example {} is {}, expected 0 to {}, or {} for none", source.given, which, example,
                           labels[e], about.classes - 1, ignore);
      }
      if (labels[e] == ignore) labels[e] = runtime::kNoClass;
    }
    std::copy(labels.begin(), labels.end(), batch + at * labels.size());
    return {};
  }

  std::string compareSplits() const {
    if (splits[0].size() != splits[1].size())
      return fmt::format("npy: {} arrays of inputs for training, {} for the test", splits[0].size() - 1, splits[1].size() - 1);
    for (std::size_t i = 0; i < splits[0].size(); ++i) {
      const auto a = splits[0][i].feature().shape, b = splits[1][i].feature().shape;
      if (a != b) {
        return fmt::format("npy: examples of {} have the shape {}, those of {} have {}", splits[0][i].given, shapeText(a),
                           splits[1][i].given, shapeText(b));
      }
    }
    return {};
  }

  Description about;
  std::array<Arrays, 2> splits;
  double scale = 1;
  std::int64_t ignore = runtime::kNoClass;  ///< the label in the files that stands for none
};

}  // namespace

tl::expected<Description, std::string> describeNpy(const Settings& settings) {
  const auto dataset = NpyData::open(settings);
  if (!dataset) return Failure(dataset.error());
  return (*dataset)->description();
}

tl::expected<std::unique_ptr<Dataset>, std::string> openNpy(const Settings& settings) {
  auto dataset = NpyData::open(settings);
  if (!dataset) return Failure(dataset.error());
  return std::move(*dataset);
}

}  // namespace tbem::data
