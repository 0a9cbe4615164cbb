// The readers of datasets, on files made here and, where Debian's dataset-fashion-mnist is installed, on that.
#include "test/unit/data/Temporary.h"

#include "runtime/data/Dataset.h"
#include "runtime/data/Idx.h"
#include "runtime/data/Npz.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <chrono>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <numeric>

namespace tbem::data {
namespace {

namespace fs = std::filesystem;

/// An empty folder of this test.
fs::path folder(const char* name) {
  const fs::path path = test::temporary(name);
  fs::remove_all(path);
  fs::create_directories(path);
  return path;
}

void write(const fs::path& path, const std::string& bytes) {
  fs::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << bytes;
}

void writeGzip(const fs::path& path, const std::string& bytes) {
  const gzFile file = gzopen(path.c_str(), "wb");
  gzwrite(file, bytes.data(), static_cast<unsigned>(bytes.size()));
  gzclose(file);
}

std::string idx(std::vector<int> shape, const std::string& bytes, char type = 8) {
  std::string file{'\0', '\0', type, static_cast<char>(shape.size())};
  for (const int size : shape) file += {'\0', '\0', static_cast<char>(size >> 8), static_cast<char>(size)};
  return file + bytes;
}

Settings imageSettings(std::int64_t size, std::int64_t channels) {
  return {{{"size", size}, {"channels", channels}, {"mean", std::vector<double>{}}, {"std", std::vector<double>{}}}, {}};
}
Settings inFolder(const fs::path& path, std::int64_t size, std::int64_t channels) {
  Settings settings = imageSettings(size, channels);
  settings.values["folder"] = path.string();
  settings.values["labels"] = std::string("fine");
  return settings;
}

std::string errorOf(const char* reader, const Settings& settings) {
  const auto opened = findReader(reader)->open(settings);
  return opened ? "" : opened.error();
}
#define EXPECT_SAYS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

struct Read {
  std::vector<float> x;
  std::vector<std::int64_t> labels;
  std::string error;
};
Read readSome(const Dataset& data, Split split, const std::vector<std::int64_t>& numbers) {
  Read out;
  out.x.resize(numbers.size() * static_cast<std::size_t>(data.description().inputs.front().elements()));
  std::vector<float> targets(numbers.size() * static_cast<std::size_t>(data.description().target.elements()));
  out.labels.resize(targets.size());
  const auto done = data.read(split, numbers, {{out.x.data()}, out.labels.data(), targets.data()});
  if (!done) out.error = done.error();
  return out;
}

// ---- IDX ------------------------------------------------------------------------------------------------------------------

TEST(Idx, PlainAndPacked) {
  const std::string plain = idx({2, 3}, "abcdef");
  const fs::path path = folder("idx") / "x.gz";
  writeGzip(path, plain);
  std::stringstream packed;
  packed << std::ifstream(path, std::ios::binary).rdbuf();
  for (const std::string& file : {plain, packed.str()}) {
    const auto array = parseIdx(file);
    ASSERT_TRUE(array) << array.error();
    EXPECT_EQ(array->shape, (std::vector<std::int64_t>{2, 3}));
    EXPECT_EQ(std::string(array->bytes.begin(), array->bytes.end()), "abcdef");
    EXPECT_EQ(*parseIdxShape(file), array->shape);
  }
  EXPECT_FALSE(parseIdx(packed.str().substr(0, packed.str().size() - 9)));
  std::string damaged = packed.str();
  damaged[damaged.size() - 6] ^= 1;  // the checksum
  EXPECT_FALSE(parseIdx(damaged));
}

TEST(Idx, SaysWhatIsWrong) {
  EXPECT_SAYS(parseIdx("PK\3\4").error(), "it begins with the bytes 0x50 0x4b, expected 0x00 0x00");
  EXPECT_SAYS(parseIdx(idx({1}, "abcd", 0x0d)).error(), "its element type (byte 2) is 0x0d; 0x08, unsigned bytes, is read");
  EXPECT_SAYS(parseIdx(idx({}, "")).error(), "it has 0 dimensions");
  EXPECT_SAYS(parseIdx(idx({7}, "abcdef")).error(), "[7] elements");
  EXPECT_SAYS(parseIdx(idx({5}, "abcdef")).error(), "more bytes follow");
  EXPECT_SAYS(parseIdx(std::string("\0\0\x08\x03\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 16)).error(),
              "more than the file's 16");
  EXPECT_SAYS(parseIdx(std::string("\0\0\x08\x02\0\0", 6)).error(), "before byte 8");
}

void writeMnist(const fs::path& path, const std::string& labels = std::string("\3\7\1", 3)) {
  std::string images(3 * 4, '\0');
  std::iota(images.begin(), images.end(), '\1');
  write(path / "train-images-idx3-ubyte", idx({3, 2, 2}, images));
  write(path / "train-labels-idx1-ubyte", idx({3}, labels));
  writeGzip(path / "t10k-images-idx3-ubyte.gz", idx({1, 2, 2}, "\xff\xff\xff\xff"));
  writeGzip(path / "t10k-labels-idx1-ubyte.gz", idx({1}, "\x9"));
}

TEST(Mnist, ReadsTheFourFiles) {
  const fs::path path = folder("mnist");
  writeMnist(path);
  const auto data = findReader("mnist")->open(inFolder(path, 2, 1));
  ASSERT_TRUE(data) << data.error();
  const Description& about = (*data)->description();
  EXPECT_EQ(about.train, 3);
  EXPECT_EQ(about.test, 1);
  EXPECT_EQ(about.classes, 10);
  const Read read = readSome(**data, Split::Train, {2, 0});
  EXPECT_EQ(read.labels, (std::vector<std::int64_t>{1, 3}));
  const std::vector<float> wanted = {9 / 255.0F, 10 / 255.0F, 11 / 255.0F, 12 / 255.0F,
                                     1 / 255.0F, 2 / 255.0F,  3 / 255.0F,  4 / 255.0F};
  for (std::size_t i = 0; i < wanted.size(); ++i) EXPECT_FLOAT_EQ(read.x[i], wanted[i]);
  EXPECT_EQ(readSome(**data, Split::Test, {0}).labels, (std::vector<std::int64_t>{9}));
  EXPECT_EQ(findReader("mnist")->describe(inFolder(path, 2, 1))->train, 3);
}

TEST(Mnist, SaysWhatIsWrong) {
  const fs::path path = folder("mnist");
  EXPECT_SAYS(errorOf("mnist", inFolder(path, 2, 1)), "train-images-idx3-ubyte.gz: No such file or directory (errno 2)");
  EXPECT_SAYS(errorOf("fashion_mnist", inFolder(path, 2, 1)), "apt-get install dataset-fashion-mnist");
  writeMnist(path, "\3\xa\1");
  EXPECT_SAYS(errorOf("mnist", inFolder(path, 2, 1)),
              "train-labels-idx1-ubyte: label 1 (byte 9 of the unpacked file) is 10, expected 0 to 9");
  writeMnist(path, "\3\1");
  EXPECT_SAYS(errorOf("mnist", inFolder(path, 2, 1)), "[3] elements");
  write(path / "train-labels-idx1-ubyte", idx({2}, "\3\1"));
  EXPECT_SAYS(errorOf("mnist", inFolder(path, 2, 1)), "has 2 labels");
  EXPECT_SAYS(errorOf("mnist", inFolder(path, 0, 1)), "`size` is 0");
  EXPECT_SAYS(errorOf("mnist", inFolder(path, 2, 2)), "`channels` is 2; it is 1 (grey) or 3");
  Settings settings = inFolder(path, 2, 3);
  settings.values["mean"] = std::vector<double>{1, 2};
  EXPECT_SAYS(errorOf("mnist", settings), "`mean` has 2 numbers; it has one, or one a channel (3)");
  settings.values["mean"] = std::vector<double>{};
  settings.values["std"] = std::vector<double>{0};
  EXPECT_SAYS(errorOf("mnist", settings), "`std` has 0");
}

TEST(FashionMnist, IsWhatWasPublished) {
  Settings settings = inFolder("/usr/share/datasets/fashion-mnist", 28, 1);
  if (!fs::exists("/usr/share/datasets/fashion-mnist")) GTEST_SKIP() << "dataset-fashion-mnist is not installed";
  const auto data = findReader("fashion_mnist")->open(settings);
  ASSERT_TRUE(data) << data.error();
  const Description& about = (*data)->description();
  EXPECT_EQ(about.train, 60000);
  EXPECT_EQ(about.test, 10000);
  std::vector<std::int64_t> all(60000);
  std::iota(all.begin(), all.end(), 0);
  const Read read = readSome(**data, Split::Train, all);
  // The labels of the first images (an ankle boot, two T-shirts, ..), 6000 a class, and the mean and deviation of all pixels,
  // 0.2860 and 0.3530, are those that its users quote.
  EXPECT_EQ(std::vector<std::int64_t>(read.labels.begin(), read.labels.begin() + 10),
            (std::vector<std::int64_t>{9, 0, 0, 3, 0, 2, 7, 2, 5, 5}));
  EXPECT_EQ(about.classNames[9], "Ankle boot");
  for (std::int64_t label = 0; label < 10; ++label) EXPECT_EQ(std::count(read.labels.begin(), read.labels.end(), label), 6000);
  double sum = 0, squares = 0;
  for (const float one : read.x) {
    sum += one;
    squares += static_cast<double>(one) * one;
  }
  const double mean = sum / static_cast<double>(read.x.size());
  EXPECT_NEAR(mean, 0.2860, 5e-5);
  EXPECT_NEAR(std::sqrt(squares / static_cast<double>(read.x.size()) - mean * mean), 0.3530, 5e-5);
}

// ---- CIFAR ----------------------------------------------------------------------------------------------------------------

std::string cifarRecord(const std::string& labels, char red) {
  return labels + std::string(1024, red) + std::string(2048, '\x33');
}

TEST(Cifar, ReadsRecordsOfAllFiles) {
  const fs::path path = folder("cifar10");
  for (int i = 1; i <= 5; ++i) {
    const auto at = static_cast<char>(i);
    write(path / ("data_batch_" + std::to_string(i) + ".bin"), cifarRecord({at}, at) + cifarRecord({at}, '\x66'));
  }
  write(path / "test_batch.bin", cifarRecord("\x9", '\xff'));
  const auto data = findReader("cifar10")->open(inFolder(path, 32, 3));
  ASSERT_TRUE(data) << data.error();
  EXPECT_EQ((*data)->description().train, 10);
  EXPECT_EQ(findReader("cifar10")->describe(inFolder(path, 32, 3))->train, 10);
  const Read read = readSome(**data, Split::Train, {8, 3, 0});
  EXPECT_EQ(read.labels, (std::vector<std::int64_t>{5, 2, 1}));
  EXPECT_FLOAT_EQ(read.x[0], 5 / 255.0F);
  EXPECT_FLOAT_EQ(read.x[1023], 5 / 255.0F);
  EXPECT_FLOAT_EQ(read.x[1024], 0.2F);
  EXPECT_FLOAT_EQ(read.x[3072], 0.4F);
  EXPECT_FLOAT_EQ(readSome(**data, Split::Test, {0}).x[0], 1);
}

TEST(Cifar, FineAndCoarseLabels) {
  const fs::path path = folder("cifar100");
  write(path / "train.bin", cifarRecord("\x13\x63", '\0'));
  write(path / "test.bin", cifarRecord("\x14\x64", '\0'));
  Settings settings = inFolder(path, 32, 3);
  const auto fine = findReader("cifar100")->open(settings);
  settings.values["labels"] = std::string("coarse");
  const auto coarse = findReader("cifar100")->open(settings);
  ASSERT_TRUE(fine && coarse);
  EXPECT_EQ((*fine)->description().classes, 100);
  EXPECT_EQ((*coarse)->description().classes, 20);
  EXPECT_EQ(readSome(**fine, Split::Train, {0}).labels.front(), 0x63);
  EXPECT_EQ(readSome(**coarse, Split::Train, {0}).labels.front(), 0x13);
  EXPECT_SAYS(readSome(**fine, Split::Test, {0}).error, "test.bin: the label at byte 1 is 100, expected 0 to 99");
  EXPECT_SAYS(readSome(**coarse, Split::Test, {0}).error, "test.bin: the label at byte 0 is 20, expected 0 to 19");
  settings.values["labels"] = std::string("both");
  EXPECT_SAYS(errorOf("cifar100", settings), "`labels` is \"both\"");
}

TEST(Cifar, SaysWhatIsWrong) {
  const fs::path path = folder("cifar100");
  EXPECT_SAYS(errorOf("cifar100", inFolder(path, 32, 3)), "cifar-100-binary.tar.gz");
  write(path / "train.bin", std::string(3075, 'a'));
  EXPECT_SAYS(errorOf("cifar100", inFolder(path, 32, 3)), "it has 3075 bytes, no whole number of records of 3074");
  // Without files the published numbers are described.
  EXPECT_EQ(findReader("cifar10")->describe(inFolder(folder("none"), 32, 3))->train, 50000);
}

// ---- NumPy's arrays -------------------------------------------------------------------------------------------------------

template <class T>
std::string npy(const char* dtype, std::vector<std::int64_t> shape, const std::vector<T>& values) {
  Array array{"", dtype, std::move(shape), std::vector<std::uint8_t>(values.size() * sizeof(T))};
  if (!values.empty()) std::memcpy(array.bytes.data(), values.data(), array.bytes.size());
  return toNpy(array);
}

Settings npySettings(const fs::path& path, std::vector<std::string> inputs, std::string target, std::int64_t classes) {
  return {{{"inputs", std::move(inputs)},
           {"target", std::move(target)},
           {"test_inputs", std::vector<double>{}},
           {"test_target", std::string()},
           {"classes", classes},
           {"scale", 1.0},
           {"ignore", std::int64_t{-100}}},
          path.string()};
}

TEST(NpyData, SeveralInputsAndATarget) {
  const fs::path path = folder("npy");
  write(path / "a.npy", npy<double>("f8", {2, 3}, {1, 2, 3, 4, 5, 6}));
  write(path / "b.npy", npy<std::uint8_t>("u1", {2}, {7, 200}));
  write(path / "y.npy", npy<float>("f4", {2, 1}, {0.5F, -0.5F}));
  Settings settings = npySettings(path, {"a.npy", "b.npy"}, "y.npy", 0);
  settings.values["scale"] = 2.0;
  const auto data = findReader("npy")->open(settings);
  ASSERT_TRUE(data) << data.error();
  const Description& about = (*data)->description();
  ASSERT_EQ(about.inputs.size(), 2U);
  EXPECT_EQ(about.inputs[0].name, "a");
  EXPECT_EQ(about.inputs[0].shape, (std::vector<std::int64_t>{3}));
  EXPECT_TRUE(about.inputs[1].shape.empty());
  EXPECT_EQ(about.train, 2);
  EXPECT_EQ(about.test, 0);
  std::vector<float> a(6), b(2), y(2);
  const std::vector<std::int64_t> numbers = {1, 0};
  ASSERT_TRUE((*data)->read(Split::Train, numbers, {{a.data(), b.data()}, nullptr, y.data()}));
  EXPECT_EQ(a, (std::vector<float>{8, 10, 12, 2, 4, 6}));
  EXPECT_EQ(b, (std::vector<float>{400, 14}));
  EXPECT_EQ(y, (std::vector<float>{-0.5F, 0.5F}));
}

TEST(NpyData, LabelsFromAnArchive) {
  const fs::path path = folder("npy");
  const auto array = [](const char* name, std::vector<std::int64_t> shape, std::vector<std::int64_t> values) {
    Array made{name, "i8", std::move(shape), std::vector<std::uint8_t>(values.size() * 8)};
    std::memcpy(made.bytes.data(), values.data(), made.bytes.size());
    return made;
  };
  ASSERT_TRUE(writeNpz((path / "all.npz").string(), {array("x", {3, 1}, {4, 5, 6}), array("y", {3}, {2, 0, 9})}));
  const auto data = findReader("npy")->open(npySettings(path, {"all.npz:x"}, "all.npz:y", 3));
  ASSERT_TRUE(data) << data.error();
  const Read read = readSome(**data, Split::Train, {1, 0});
  EXPECT_EQ(read.labels, (std::vector<std::int64_t>{0, 2}));
  EXPECT_EQ(read.x, (std::vector<float>{5, 4}));
  EXPECT_SAYS(readSome(**data, Split::Train, {2}).error, "the label of example 2 is 9, expected 0 to 2");
  EXPECT_SAYS(errorOf("npy", npySettings(path, {"all.npz:z"}, "all.npz:y", 3)), "the archive has no array `z`: it has `x`, `y`");
}

TEST(NpyData, LabelsOfPixels) {
  const fs::path path = folder("npy");
  write(path / "x.npy", npy<float>("f4", {2, 1, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8}));
  write(path / "y.npy", npy<std::uint8_t>("u1", {2, 2, 2}, {0, 1, 2, 0, 2, 2, 1, 7}));
  const auto data = findReader("npy")->open(npySettings(path, {"x.npy"}, "y.npy", 3));
  ASSERT_TRUE(data) << data.error();
  EXPECT_EQ((*data)->description().target.shape, (std::vector<std::int64_t>{2, 2}));
  const Read read = readSome(**data, Split::Train, {0, 0});
  EXPECT_EQ(read.labels, (std::vector<std::int64_t>{0, 1, 2, 0, 0, 1, 2, 0}));
  EXPECT_SAYS(readSome(**data, Split::Train, {1}).error, "label 3 of example 1 is 7, expected 0 to 2, or -100 for none");
}

TEST(NpyData, OneLabelMayStandForNone) {
  const fs::path path = folder("npy");
  write(path / "x.npy", npy<float>("f4", {2, 1}, {1, 2}));
  write(path / "y.npy", npy<std::uint8_t>("u1", {2, 3}, {0, 255, 2, 255, 255, 1}));
  Settings settings = npySettings(path, {"x.npy"}, "y.npy", 3);
  const auto plain = findReader("npy")->open(settings);
  ASSERT_TRUE(plain) << plain.error();
  EXPECT_SAYS(readSome(**plain, Split::Train, {0}).error, "label 1 of example 0 is 255, expected 0 to 2, or -100 for none");
  settings.values["ignore"] = std::int64_t{255};
  const auto data = findReader("npy")->open(settings);
  ASSERT_TRUE(data) << data.error();
  EXPECT_EQ(readSome(**data, Split::Train, {1, 0}).labels, (std::vector<std::int64_t>{-100, -100, 1, 0, -100, 2}));
  EXPECT_NE((*data)->fingerprint(), (*plain)->fingerprint());
  settings.values["classes"] = std::int64_t{0};
  EXPECT_SAYS(errorOf("npy", settings), "`ignore` is a label, and without `classes` there are none");
}

TEST(NpyData, SaysWhatIsWrong) {
  const fs::path path = folder("npy");
  write(path / "x.npy", npy<float>("f4", {2, 2}, {1, 2, NAN, 4}));
  write(path / "y.npy", npy<float>("f4", {3}, {1, 0.5F, 2}));
  write(path / "z.npy", npy<float>("f4", {2}, {1, 0.5F}));
  write(path / "s.npy", npy<float>("f4", {}, {1}));
  EXPECT_SAYS(errorOf("npy", npySettings(path, {"x.npy"}, "y.npy", 0)), "has 2 examples");
  EXPECT_SAYS(errorOf("npy", npySettings(path, {}, "y.npy", 0)), "`inputs` names no file");
  EXPECT_SAYS(errorOf("npy", npySettings(path, {"s.npy"}, "y.npy", 0)), "it is one number");
  EXPECT_SAYS(errorOf("npy", npySettings(path, {"w.npy"}, "y.npy", 0)), "errno 2");
  const auto data = findReader("npy")->open(npySettings(path, {"x.npy"}, "z.npy", 2));
  ASSERT_TRUE(data) << data.error();
  EXPECT_SAYS(readSome(**data, Split::Train, {1}).error, "x.npy: number 0 of example 1 is nan");
  const auto labels = findReader("npy")->open(npySettings(path, {"z.npy"}, "z.npy", 2));
  ASSERT_TRUE(labels) << labels.error();
  EXPECT_SAYS(readSome(**labels, Split::Train, {1}).error, "element 0 is 0.5, which i64 cannot hold");
}

// ---- Folders of images ----------------------------------------------------------------------------------------------------

TEST(ImageFolder, ClassesAreFolders) {
  const fs::path path = folder("images");
  write(path / "train/zebra/1.pgm", "P5 1 1 255\n\xff");
  write(path / "train/ant/b.PPM", std::string("P6 2 2 255\n\xff\0\0\xff\0\0\xff\0\0\xff\0\0", 23));
  write(path / "train/ant/a.pgm", std::string("P5 1 1 255\n\0", 12));
  write(path / "train/ant/notes.txt", "no image");
  write(path / "test/ant/1.pgm", "P5 1 1 255\n\x33");
  write(path / "test/zebra/1.pgm", "P5 1 1 255\n");
  Settings settings = imageSettings(1, 3);
  settings.values["train"] = std::string("train");
  settings.values["test"] = std::string("test");
  settings.folder = path.string();
  const auto data = findReader("image_folder")->open(settings);
  ASSERT_TRUE(data) << data.error();
  const Description& about = (*data)->description();
  EXPECT_EQ(about.classNames, (std::vector<std::string>{"ant", "zebra"}));
  EXPECT_EQ(about.train, 3);
  EXPECT_EQ(about.test, 2);
  const Read read = readSome(**data, Split::Train, {2, 1, 0});
  EXPECT_EQ(read.labels, (std::vector<std::int64_t>{1, 0, 0}));
  EXPECT_EQ(read.x, (std::vector<float>{1, 1, 1, 1, 0, 0, 0, 0, 0}));
  EXPECT_SAYS(readSome(**data, Split::Test, {1}).error, "zebra/1.pgm: it has 0 bytes of samples");
  fs::remove_all(path / "test/zebra");
  EXPECT_SAYS(errorOf("image_folder", settings), "have other folders of classes (2 and 1)");
  settings.values["train"] = std::string("nowhere");
  EXPECT_SAYS(errorOf("image_folder", settings), "nowhere: No such file or directory");
  settings.values["train"] = path.string() + "/train/ant";
  EXPECT_SAYS(errorOf("image_folder", settings), "has no images: expected a folder a class");
}

/// A checkpoint is taken up from wherever the same files are named.
TEST(Readers, FingerprintsAreThoseOfFilesWhereverTheyLie) {
  const fs::path path = folder("npy"), moved = path.parent_path() / "moved";
  write(path / "x.npy", npy<float>("f4", {2, 1}, {1, 2}));
  write(path / "y.npy", npy<float>("f4", {2, 1}, {1, 2}));
  const auto print = [](const fs::path& where) {
    return (*findReader("npy")->open(npySettings(where, {"x.npy"}, "y.npy", 0)))->fingerprint();
  };
  const auto before = print(path);
  EXPECT_EQ(print(fs::relative(path)), before);
  fs::remove_all(moved);
  fs::rename(path, moved);
  EXPECT_EQ(print(moved), before);
  fs::last_write_time(moved / "y.npy", fs::last_write_time(moved / "y.npy") + std::chrono::seconds(1));
  EXPECT_NE(print(moved), before);
  fs::remove_all(moved);
}

TEST(Readers, FingerprintsTellSettingsApart) {
  const fs::path path = folder("mnist");
  writeMnist(path);
  const auto print = [&](std::int64_t size, std::int64_t channels) {
    return (*findReader("mnist")->open(inFolder(path, size, channels)))->fingerprint();
  };
  EXPECT_EQ(print(2, 1), print(2, 1));
  EXPECT_NE(print(2, 1), print(2, 3));
  EXPECT_NE(print(2, 1), print(3, 1));
  const auto before = print(2, 1);
  writeMnist(path, std::string("\3\7\2", 3));
  EXPECT_NE(print(2, 1), before);
}

}  // namespace
}  // namespace tbem::data
