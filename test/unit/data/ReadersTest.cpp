// The readers of datasets, on files made here and, where Debian's dataset-fashion-mnist is installed, on that.
#include "test/unit/data/Readers.h"

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
