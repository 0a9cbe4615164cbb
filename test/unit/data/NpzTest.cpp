// Arrays out and in. NumPy itself writes and reads the other side where it is there.
#include "test/unit/data/Temporary.h"

#include "runtime/data/Npz.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <random>
#include <sstream>

using namespace tbem::data;

namespace {

Array floats(std::string name, std::vector<std::int64_t> shape, const std::vector<float>& values) {
  Array array{std::move(name), "f4", std::move(shape), std::vector<std::uint8_t>(values.size() * 4)};
  std::memcpy(array.bytes.data(), values.data(), array.bytes.size());
  return array;
}

bool python(const std::string& code) {
  return std::system(("/usr/bin/python3 -c \"" + code + "\" > /dev/null 2>&1").c_str()) == 0;
}
bool haveNumPy() { return python("import numpy"); }
using tbem::test::temporary;

std::string slurp(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

}  // namespace

TEST(Npz, RoundTrip) {
  const std::string path = temporary("round.npz");
  const std::vector<Array> arrays = {floats("weight/a.b[0]", {2, 3}, {1, 2, 3, 4, 5, 6}),
                                     floats("loss", {}, {0.5F}),
                                     {"target", "i8", {1}, std::vector<std::uint8_t>(8, 1)}};
  ASSERT_TRUE(writeNpz(path, arrays));
  const auto back = readNpz(path);
  ASSERT_TRUE(back) << back.error();
  ASSERT_EQ(back->size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ((*back)[i].name, arrays[i].name);
    EXPECT_EQ((*back)[i].dtype, arrays[i].dtype);
    EXPECT_EQ((*back)[i].shape, arrays[i].shape);
    EXPECT_EQ((*back)[i].bytes, arrays[i].bytes);
  }
}

TEST(Npz, NumPyReadsOurs) {
  if (!haveNumPy()) GTEST_SKIP() << "python3-numpy is not installed";
  const std::string path = temporary("ours.npz");
  ASSERT_TRUE(writeNpz(path, {floats("input/x", {2, 3}, {1, 2, 3, 4, 5, 6}), floats("loss", {}, {0.25F})}));
  EXPECT_TRUE(python("import numpy as n; d=n.load('" + path +
                     "'); assert d['input/x'].tolist()==[[1,2,3],[4,5,6]] and d['loss'].shape==() and d['loss']==0.25"));
}

TEST(Npz, ReadsNumPys) {
  if (!haveNumPy()) GTEST_SKIP() << "python3-numpy is not installed";
  const std::string path = temporary("theirs.npz");
  ASSERT_TRUE(python("import numpy as n; n.savez_compressed('" + path +
                     "', a=n.asfortranarray(n.arange(6.0).reshape(2,3)), b=n.int64(7))"));
  const auto back = readNpz(path);
  ASSERT_TRUE(back) << back.error();
  ASSERT_EQ(back->size(), 2U);
  double values[6];
  std::memcpy(values, (*back)[0].bytes.data(), sizeof values);
  for (int i = 0; i < 6; ++i) EXPECT_EQ(values[i], i);
  EXPECT_TRUE((*back)[1].shape.empty());
  EXPECT_EQ((*back)[1].dtype, "i8");
}

TEST(Npz, RefusesPickles) {
  if (!haveNumPy()) GTEST_SKIP() << "python3-numpy is not installed";
  const std::string path = temporary("pickle.npz");
  ASSERT_TRUE(python("import numpy as n; n.savez('" + path + "', a=n.array([{}], dtype=object))"));
  const auto back = readNpz(path);
  ASSERT_FALSE(back);
  EXPECT_NE(back.error().find("element type '|O' is not read"), std::string::npos) << back.error();
}

TEST(Npz, SaysWhatIsWrong) {
  EXPECT_NE(readNpz("/nonexistent/x.npz").error().find("cannot read /nonexistent/x.npz: No such file or directory (errno 2)"),
            std::string::npos);
  EXPECT_EQ(parseNpz("hello").error(), "it is no ZIP archive");
  const std::string path = temporary("damaged.npz");
  ASSERT_TRUE(writeNpz(path, {floats("a", {4}, {1, 2, 3, 4})}));
  std::string bytes = slurp(path);
  bytes[150] = static_cast<char>(bytes[150] ^ 1);
  EXPECT_EQ(parseNpz(bytes).error(), "`a.npy`: its checksum does not agree");
  EXPECT_FALSE(writeNpz("/nonexistent/x.npz", {}));
}

TEST(Npz, NoBytesMakeItCrash) {
  const std::string path = temporary("mutants.npz");
  ASSERT_TRUE(writeNpz(path, {floats("a", {4}, {1, 2, 3, 4}), floats("b", {2, 2}, {1, 2, 3, 4})}));
  const std::string whole = slurp(path);
  std::mt19937 random(1);
  std::size_t refused = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string bytes = whole;
    for (int k = 0; k < 3; ++k) bytes[random() % bytes.size()] = static_cast<char>(random());
    if (i % 3 == 0) bytes.resize(random() % bytes.size());
    refused += parseNpz(bytes) ? 0 : 1;
  }
  EXPECT_GT(refused, 10000U);
}
