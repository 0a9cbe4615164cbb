// The safetensors format against bytes that its own library (PyPI's safetensors 0.8.0) wrote, and against damaged and hostile
// files.
#include "test/unit/data/Temporary.h"

#include "runtime/data/ArrayFile.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

using namespace tbem::data;

namespace {

using tbem::test::temporary;

std::string slurp(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

/// A file with this header and so many bytes of data.
std::string fileOf(std::string header, std::size_t data) {
  std::string bytes;
  for (int i = 0; i < 8; ++i) bytes += static_cast<char>(header.size() >> (8 * i) & 0xFFU);
  return bytes + header + std::string(data, '\1');
}

std::string errorOf(const std::string& file) {
  const auto parsed = parseSafetensors(file);
  return parsed ? "" : parsed.error();
}

template <class T>
Array arrayOf(std::string name, std::string dtype, std::vector<std::int64_t> shape, const std::vector<T>& values) {
  Array array{std::move(name), std::move(dtype), std::move(shape), std::vector<std::uint8_t>(values.size() * sizeof(T))};
  if (!values.empty()) std::memcpy(array.bytes.data(), values.data(), array.bytes.size());
  return array;
}

/// What `safetensors.numpy.save` 0.8.0 gives for the arrays of `theirArrays` with the metadata {"k": "v"}.
std::string theirFile() {
  const std::string header =
      "{\"__metadata__\":{\"k\":\"v\"},\"i\":{\"dtype\":\"I64\",\"shape\":[3],\"data_offsets\":[0,24]},\"a\\\"\xc3\xbc\":{"
      "\"dtype\":\"F64\",\"shape\":[2,2],\"data_offsets\":[24,56]},\"s\":{\"dtype\":\"F32\",\"shape\":[],\"data_offsets\":[56,60]"
      "},"
      "\"z\":{\"dtype\":\"F16\",\"shape\":[3],\"data_offsets\":[60,66]},\"u\":{\"dtype\":\"U8\",\"shape\":[0,4],\"data_offsets\":"
      "[66,"
      "66]},\"b\":{\"dtype\":\"BOOL\",\"shape\":[2],\"data_offsets\":[66,68]}}      ";
  std::string bytes = fileOf(header, 0);
  for (int i = 0; i < 3; ++i) bytes += std::string(1, static_cast<char>(i)) + std::string(7, '\0');
  for (int i = 0; i < 4; ++i) bytes += std::string("\0\0\0\0\0\0\xf0\x3f", 8);
  bytes += std::string("\0\0\x40\x40", 4);
  for (int i = 0; i < 3; ++i) bytes += std::string("\0\x3c", 2);
  return bytes + std::string("\1\0", 2);
}

std::vector<Array> theirArrays() {
  return {arrayOf<std::uint16_t>("z", "f2", {3}, {0x3c00, 0x3c00, 0x3c00}),
          arrayOf<double>("a\"\xc3\xbc", "f8", {2, 2}, {1, 1, 1, 1}),
          arrayOf<std::int64_t>("i", "i8", {3}, {0, 1, 2}),
          arrayOf<std::uint8_t>("u", "u1", {0, 4}, {}),
          arrayOf<float>("s", "f4", {}, {3}),
          arrayOf<std::uint8_t>("b", "b1", {2}, {1, 0})};
}

}  // namespace

TEST(Safetensors, WritesTheBytesOfTheFormatsOwnLibrary) {
  const std::vector<Array> arrays = theirArrays();
  const std::string path = temporary("ours.safetensors");
  ASSERT_TRUE(writeSafetensors(path, std::vector<ArrayView>(arrays.begin(), arrays.end()), {{"k", "v"}}));
  EXPECT_EQ(slurp(path), theirFile());
}

TEST(Safetensors, ReadsThem) {
  const std::string file = theirFile();
  const auto parsed = parseSafetensors(file);
  ASSERT_TRUE(parsed) << parsed.error();
  EXPECT_EQ(parsed->metadata, (Metadata{{"k", "v"}}));
  ASSERT_EQ(parsed->arrays.size(), 6U);
  for (const Array& wanted : theirArrays()) {
    bool found = false;
    for (const ArrayView& array : parsed->arrays) {
      if (array.name != wanted.name) continue;
      found = true;
      EXPECT_EQ(array.dtype, wanted.dtype);
      EXPECT_EQ(array.shape, wanted.shape);
      EXPECT_EQ(std::vector<std::uint8_t>(array.bytes.begin(), array.bytes.end()), wanted.bytes);
    }
    EXPECT_TRUE(found) << wanted.name;
  }
}

TEST(Safetensors, TheFormatsOwnLibraryReadsOurs) {
  if (std::system("/usr/bin/python3 -c 'import safetensors.numpy' 2> /dev/null") != 0)
    GTEST_SKIP() << "the Python package safetensors is not installed";
  const std::string path = temporary("check.safetensors");
  const std::vector<Array> arrays = theirArrays();
  ASSERT_TRUE(writeSafetensors(path, std::vector<ArrayView>(arrays.begin(), arrays.end())));
  const std::string code = "from safetensors.numpy import load_file; d=load_file('" + path +
                           "'); assert d['i'].tolist()==[0,1,2] and d['s']==3 and d['z'].tolist()==[1,1,1] and len(d)==6";
  EXPECT_EQ(std::system(("/usr/bin/python3 -c \"" + code + "\"").c_str()), 0);
}

TEST(Safetensors, AnEmptyFileIsOne) {
  const auto parsed = parseSafetensors(fileOf("{}", 0));
  ASSERT_TRUE(parsed) << parsed.error();
  EXPECT_TRUE(parsed->arrays.empty());
  const std::string path = temporary("empty.safetensors");
  ASSERT_TRUE(writeSafetensors(path, {}));
  EXPECT_EQ(slurp(path), fileOf("{}      ", 0));
}

TEST(Safetensors, SaysWhatIsWrong) {
  const auto header = [](const std::string& fields, std::size_t data = 8) {
    return errorOf(fileOf("{\"w\":{" + fields + "}}", data));
  };
  EXPECT_EQ(errorOf("abc"), "it has 3 bytes, a .safetensors file 10 at least");
  EXPECT_EQ(errorOf(std::string("\xff\xff\xff\xff\xff\xff\xff\x7f{}", 10)),
            "its header of 9223372036854775807 bytes is longer than the format allows (100 MB)");
  EXPECT_EQ(errorOf(std::string("\x40\0\0\0\0\0\0\0{}", 10)), "its header should have 64 bytes, the file has 2: it is cut off");
  EXPECT_EQ(errorOf(fileOf("[]", 0)), "its header does not begin with `{`");
  EXPECT_EQ(errorOf(fileOf("{\"a\":", 0)), "its header is no JSON (byte 14)");
  EXPECT_EQ(header("\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]"), "");
  EXPECT_EQ(header("\"dtype\":\"F32\",\"shape\":[3],\"data_offsets\":[0,8]"),
            "`w` has 8 bytes, which F32 of shape [3] does not take");
  EXPECT_EQ(header("\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]", 12), "4 bytes behind the last array belong to none");
  EXPECT_EQ(header("\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[4,12]", 12),
            "`w` begins at byte 4, the array before it ends at 0: there is a gap");
  EXPECT_EQ(header("\"dtype\":\"F32\",\"shape\":[4],\"data_offsets\":[0,16]"),
            "`w` has the bytes 0 to 16 of 8: the file is cut off or damaged");
  EXPECT_EQ(header("\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[8,0]"),
            "`w` has the bytes 8 to 0 of 8: the file is cut off or damaged");
  EXPECT_EQ(header("\"dtype\":\"C64\",\"shape\":[1],\"data_offsets\":[0,8]"), "`w` has element type `C64`, which is not read");
  EXPECT_EQ(header("\"dtype\":\"F32\",\"shape\":[2]"), "`w` has no `data_offsets` of two numbers");
  EXPECT_EQ(header("\"dtype\":\"F32\",\"data_offsets\":[0,8]"), "`w` has no `shape`");
  EXPECT_EQ(header("\"shape\":[2],\"data_offsets\":[0,8]"), "`w` has no `dtype`");
  EXPECT_EQ(header("\"dtype\":\"F32\",\"dtype\":\"F32\""), "`w` has a second or unknown field `dtype`");
  EXPECT_EQ(header("\"dtype\":\"F32\",\"shape\":[],\"shape\":[]"), "`w` has a second or unknown field `shape`");
  EXPECT_EQ(header("\"data_offsets\":[0,1,2]"), "`w` has more than two `data_offsets`");
  EXPECT_EQ(header("\"shape\":[-1]"), "its header has a negative number where the format has none (in or after `w`)");
  EXPECT_EQ(header("\"shape\":[1.5]"), "its header has a fraction where the format has none (in or after `w`)");
  EXPECT_EQ(header("\"shape\":[[1]]"), "its header has a list where the format has none (in or after `w`)");
  EXPECT_EQ(header("\"shape\":[18446744073709551615]"), "`w` has a dimension above 2^62");
}

TEST(Safetensors, NoSizeOverflows) {
  // 2^33 * 2^33 elements are 2^66: 4 of them modulo 2^64.
  EXPECT_EQ(errorOf(fileOf("{\"w\":{\"dtype\":\"U8\",\"shape\":[8589934592,8589934592],\"data_offsets\":[0,4]}}", 4)),
            "`w` has 4 bytes, which U8 of shape [8589934592, 8589934592] does not take");
  EXPECT_EQ(errorOf(fileOf("{\"w\":{\"dtype\":\"U8\",\"shape\":[0,4611686018427387904,16],\"data_offsets\":[0,0]}}", 0)),
            "`w` has 0 bytes, which U8 of shape [0, 4611686018427387904, 16] does not take");
}

TEST(Safetensors, ArraysNeitherOverlapNorRepeat) {
  const std::string eight = "{\"dtype\":\"U8\",\"shape\":[8],\"data_offsets\":[0,8]}";
  EXPECT_EQ(errorOf(fileOf("{\"a\":" + eight + ",\"b\":" + eight + "}", 8)),
            "`b` begins at byte 0, the array before it ends at 8: they overlap");
  EXPECT_EQ(errorOf(fileOf("{\"a\":" + eight + ",\"a\":" + eight + "}", 8)), "its header has `a` twice");
  EXPECT_EQ(errorOf(fileOf("{\"__metadata__\":{\"x\":\"1\",\"x\":\"2\"}}", 0)), "its metadata have `x` twice");
  EXPECT_EQ(errorOf(fileOf("{\"__metadata__\":{\"x\":1}}", 0)), "its header has a number where the format has none");
}

TEST(Safetensors, NestingIsRefusedAtOnce) {
  std::string deep = "{\"a\":";
  deep.append(1'000'000, '[');
  EXPECT_EQ(errorOf(fileOf(deep, 0)), "its header has a list where the format has none (in or after `a`)");
  deep.assign("{\"__metadata__\":");
  for (int i = 0; i < 100'000; ++i) deep += "{\"x\":";
  EXPECT_EQ(errorOf(fileOf(deep, 0)), "its header has an object where the format has none");
}

TEST(Safetensors, WritesNothingThatItWouldRefuse) {
  const std::string path = temporary("refused.safetensors");
  const Array a = arrayOf<float>("a", "f4", {1}, {1}), bad = arrayOf<float>("\xff", "f4", {1}, {1});
  EXPECT_NE(writeSafetensors(path, std::vector<ArrayView>{a, a}).error().find("the name `a` is taken"), std::string::npos);
  EXPECT_NE(writeSafetensors(path, std::vector<ArrayView>{bad}).error().find("is no UTF-8"), std::string::npos);
  EXPECT_NE(writeSafetensors("/nonexistent/x.safetensors", std::vector<ArrayView>{a}).error().find("(errno 2)"),
            std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(Safetensors, NoBytesMakeItCrash) {
  const std::string whole = theirFile();
  std::mt19937 random(1);
  std::size_t refused = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string bytes = whole;
    for (int k = 0; k < 3; ++k) bytes[random() % bytes.size()] = static_cast<char>(random());
    if (i % 3 == 0) bytes.resize(random() % bytes.size());
    refused += parseSafetensors(bytes) ? 0 : 1;
  }
  EXPECT_GT(refused, 10000U);
}

TEST(ArrayFile, IsToldApartByItsBytes) {
  const std::string npz = temporary("really.npz"), tensors = temporary("really.safetensors"), other = temporary("neither.npz");
  std::vector<Array> arrays = theirArrays();
  arrays[1].name = "a";
  ASSERT_TRUE(writeArrayFile(npz, arrays, {}));
  ASSERT_TRUE(writeArrayFile(tensors, arrays, {{"network", "mlp"}}));
  const auto first = ArrayFile::open(npz), second = ArrayFile::open(tensors);
  ASSERT_TRUE(first) << first.error();
  ASSERT_TRUE(second) << second.error();
  EXPECT_EQ(first->format, ArrayFormat::Npz);
  EXPECT_EQ(second->format, ArrayFormat::Safetensors);
  EXPECT_EQ(first->arrays.size(), second->arrays.size());
  EXPECT_EQ(second->metadata.at("network"), "mlp");
  std::ofstream(other) << "plain text";
  EXPECT_NE(ArrayFile::open(other).error().find("it is neither a .npz archive nor a .safetensors file"), std::string::npos);
  std::ofstream(other) << "\x80\x02}q\x01.";  // an empty dictionary, pickled
  EXPECT_NE(ArrayFile::open(other).error().find("it is a pickle, and not one of torch.save"), std::string::npos);
  EXPECT_NE(ArrayFile::open(testing::TempDir()).error().find("it is a folder"), std::string::npos);
  EXPECT_NE(writeArrayFile(temporary("x.bin"), arrays, {}).error().find("must end in .npz or .safetensors"), std::string::npos);
}

TEST(Array, ConvertsElementTypes) {
  // Bit patterns of IEEE 754 binary16 and of bfloat16 (its upper half): 1.5, -2, the least subnormal, infinity.
  const auto halves = toTensor(arrayOf<std::uint16_t>("h", "f2", {4}, {0x3e00, 0xc000, 0x0001, 0x7c00}), TBEM_F64);
  ASSERT_TRUE(halves);
  EXPECT_EQ(halves->doubles(), (std::vector<double>{1.5, -2, 0x1p-24, HUGE_VAL}));
  const auto brains = toTensor(arrayOf<std::uint16_t>("b", "bf16", {2}, {0x3fc0, 0xc000}), TBEM_F32);
  ASSERT_TRUE(brains);
  EXPECT_EQ(brains->doubles(), (std::vector<double>{1.5, -2}));
  const auto wide = toTensor(arrayOf<std::int16_t>("s", "i2", {2}, {-3, 30000}), TBEM_I64);
  ASSERT_TRUE(wide);
  EXPECT_EQ(wide->integers(), (std::vector<std::int64_t>{-3, 30000}));
  EXPECT_EQ(toTensor(arrayOf<float>("t", "f4", {2}, {1, 0.5F}), TBEM_I64).error(),
            "`t`: element 1 is 0.5, which i64 cannot hold");
  EXPECT_EQ(toTensor(arrayOf<double>("d", "f8", {3}, {3e38, HUGE_VAL, 1e300}), TBEM_F32).error(),
            "`d`: element 2 is 1e+300, which f32 cannot hold");
  EXPECT_EQ(toTensor(arrayOf<std::uint64_t>("u", "u8", {1}, {~0ULL}), TBEM_I32).error(),
            "`u`: element 0 is 1.8446744073709552e+19, which i32 cannot hold");
  EXPECT_FALSE(toTensor(arrayOf<float>("n", "f4", {1}, {NAN}), TBEM_U8));
}
