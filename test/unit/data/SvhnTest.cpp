// SVHN's files, written here as "MAT-File Format" (MathWorks, level 5) has them.
#include "test/unit/data/Readers.h"

#include "runtime/data/MatFile.h"

namespace tbem::data {
namespace {

constexpr std::int32_t kInt8 = 1, kUint8 = 2, kInt32 = 5, kUint32 = 6, kDouble = 9, kMatrix = 14, kCompressed = 15;  // data types
constexpr std::int32_t kDoubleClass = 6, kUint8Class = 9;

std::string word(std::int32_t number) {
  std::string bytes(4, '\0');
  std::memcpy(bytes.data(), &number, 4);
  return bytes;
}

/// A data element: type, length, bytes, filled up to 8.
std::string element(std::int32_t type, const std::string& bytes) {
  return word(type) + word(static_cast<std::int32_t>(bytes.size())) + bytes + std::string((8 - bytes.size() % 8) % 8, '\0');
}

std::string array(const std::string& name, std::int32_t type, std::int32_t ofClass, const std::vector<std::int32_t>& dims,
                  const std::string& values) {
  std::string shape;
  for (const std::int32_t dim : dims) shape += word(dim);
  return element(
      kMatrix, element(kUint32, word(ofClass) + word(0)) + element(kInt32, shape) + element(kInt8, name) + element(type, values));
}

std::string bytesOf(const std::vector<double>& numbers) {
  return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(double)};
}

std::string matFile(const std::string& elements) {
  std::string header = "MATLAB 5.0 MAT-file";
  header.resize(124, ' ');
  return header + std::string("\x00\x01IM", 4) + elements;
}

/// As the published files are: each array by itself.
std::string compressed(const std::string& part) {
  uLongf size = compressBound(part.size());
  std::string out(size, '\0');
  compress(reinterpret_cast<Bytef*>(out.data()), &size, reinterpret_cast<const Bytef*>(part.data()), part.size());
  out.resize(size);
  return word(kCompressed) + word(static_cast<std::int32_t>(size)) + out;
}

/// Sample (row, column, channel) of an image; the first index of X is the fastest.
std::uint8_t sampleAt(int row, int column, int channel, int image) {
  return static_cast<std::uint8_t>(row * 7 + column * 3 + channel * 50 + image * 11);
}

std::string images(int count) {
  std::string x;
  for (int n = 0; n < count; ++n)
    for (int c = 0; c < 3; ++c)
      for (int column = 0; column < 32; ++column)
        for (int row = 0; row < 32; ++row) x += static_cast<char>(sampleAt(row, column, c, n));
  return array("X", kUint8, kUint8Class, {32, 32, 3, count}, x);
}

std::string labels(const std::vector<double>& y) {
  return array("y", kDouble, kDoubleClass, {static_cast<std::int32_t>(y.size()), 1}, bytesOf(y));
}

/// Three images to train, compressed, and two to test.
fs::path digits(const char* name) {
  const fs::path path = folder(name);
  write(path / "train_32x32.mat", matFile(compressed(images(3)) + compressed(labels({1, 10, 9}))));
  write(path / "test_32x32.mat", matFile(images(2) + array("y", kUint8, kUint8Class, {2, 1}, std::string("\x0a\x03", 2))));
  return path;
}

TEST(Svhn, HasImagesAndDigits) {
  const auto opened = findReader("svhn")->open(inFolder(digits("svhn"), 32, 3));
  ASSERT_TRUE(opened) << opened.error();
  const Description& about = (*opened)->description();
  EXPECT_EQ(about.train, 3);
  EXPECT_EQ(about.test, 2);
  EXPECT_EQ(about.classes, 10);
  const Read train = readSome(**opened, Split::Train, {2, 0, 1}), test = readSome(**opened, Split::Test, {0, 1});
  EXPECT_EQ(train.labels, (std::vector<std::int64_t>{9, 1, 0}));
  EXPECT_EQ(test.labels, (std::vector<std::int64_t>{0, 3}));
  for (int c = 0; c < 3; ++c)
    for (int row = 0; row < 32; ++row)
      for (int column = 0; column < 32; ++column)
        ASSERT_EQ(train.x[static_cast<std::size_t>((c * 32 + row) * 32 + column)],
                  static_cast<float>(sampleAt(row, column, c, 2)) / 255)
            << c << ' ' << row << ' ' << column;
}

/// As other programs write them.
TEST(Svhn, LabelsMayBeOfAnyType) {
  constexpr std::int32_t kInt64 = 12, kInt64Class = 14;
  const fs::path path = digits("svhn_types");
  const std::vector<std::int64_t> y{7, 10, 2};
  const std::string bytes(reinterpret_cast<const char*>(y.data()), y.size() * sizeof y[0]);
  write(path / "train_32x32.mat", matFile(images(3) + array("y", kInt64, kInt64Class, {3, 1}, bytes)));
  const auto opened = findReader("svhn")->open(inFolder(path, 32, 3));
  ASSERT_TRUE(opened) << opened.error();
  EXPECT_EQ(readSome(**opened, Split::Train, {0, 1, 2}).labels, (std::vector<std::int64_t>{7, 0, 2}));
}

TEST(Svhn, DescribesWhatIsNotThere) {
  const auto about = findReader("svhn")->describe(inFolder(folder("svhn_none"), 32, 3));
  ASSERT_TRUE(about);
  EXPECT_EQ(about->train, 73257);
  EXPECT_EQ(about->test, 26032);
}

TEST(Svhn, SaysWhatIsWrong) {
  const fs::path path = folder("svhn_wrong");
  EXPECT_SAYS(errorOf("svhn", inFolder(path, 32, 3)), "train_32x32.mat is not there; take ufldl.stanford.edu");
  write(path / "train_32x32.mat", "no such file");
  EXPECT_SAYS(errorOf("svhn", inFolder(path, 32, 3)), "train_32x32.mat: it is no .mat file");
  write(path / "train_32x32.mat", matFile(images(3)));
  EXPECT_SAYS(errorOf("svhn", inFolder(path, 32, 3)), "there is no array `y` in it");
  write(path / "train_32x32.mat", matFile(images(3) + labels({1, 2})));
  EXPECT_SAYS(errorOf("svhn", inFolder(path, 32, 3)), "`y` is [2, 1], expected [3, 1]");
  write(path / "train_32x32.mat", matFile(array("X", kUint8, kUint8Class, {2, 2}, "abcd") + labels({1, 2})));
  EXPECT_SAYS(errorOf("svhn", inFolder(path, 32, 3)), "`X` is [2, 2], expected [32, 32, 3, count]");
}

TEST(Svhn, SaysWhatIsWrongWithNumbers) {
  const fs::path path = digits("svhn_damaged");
  const auto readFirst = [&] {
    const auto opened = findReader("svhn")->open(inFolder(path, 32, 3));
    return opened ? readSome(**opened, Split::Train, {1}).error : opened.error();
  };
  write(path / "train_32x32.mat", matFile(images(3) + labels({1, 0, 9})));
  EXPECT_SAYS(readFirst(), "the label of image 1 is 0, expected 1 to 10");
  write(path / "train_32x32.mat", matFile(images(3) + labels({1, 2.5, 9})));
  EXPECT_SAYS(readFirst(), "`y` has something else than whole numbers from 0 to 255");
  write(path / "train_32x32.mat", matFile(labels({1, 2, 9}) + compressed(images(3)).substr(0, 400)));
  EXPECT_SAYS(readFirst(), "it is cut off, or damaged");
  std::string inside = compressed(images(3));  // bytes that zlib cannot follow
  inside.replace(200, 40, std::string(40, '\xff'));
  write(path / "train_32x32.mat", matFile(labels({1, 2, 9}) + inside));
  EXPECT_SAYS(readFirst(), "train_32x32.mat");
}

TEST(MatFile, HasAVersion) {
  const auto version = matLibrary();
  ASSERT_TRUE(version) << version.error();
  EXPECT_SAYS(*version, "1.5");
}

}  // namespace
}  // namespace tbem::data
