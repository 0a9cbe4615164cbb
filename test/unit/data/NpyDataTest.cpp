// The reader of NumPy's arrays as datasets.
#include "test/unit/data/Readers.h"

#include "runtime/data/Npz.h"

#include <cmath>
#include <numeric>

namespace tbem::data {
namespace {

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

}  // namespace
}  // namespace tbem::data
