#include "runtime/train/Checkpoint.h"

#include "runtime/data/ArrayFile.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>

namespace tbem::train {
namespace {

using runtime::BufferClass;
using runtime::HostTensor;

class CheckpointTest : public ::testing::Test {
protected:
  void SetUp() override {
    folder = std::filesystem::temp_directory_path() / ("tbem-checkpoint-" + std::to_string(getpid()));
    std::filesystem::remove_all(folder);
  }
  void TearDown() override { std::filesystem::remove_all(folder); }
  std::string path() const { return (folder / "deep" / "net.safetensors").string(); }
  std::filesystem::path folder;
};

Checkpoint sample() {
  Checkpoint checkpoint;
  checkpoint.now.entries = {
      {BufferClass::Weight, "conv2d.weight", HostTensor::of(TBEM_F32, {2, 2}, std::vector<double>{1, -2, 0.5, 1e-30})},
      {BufferClass::Buffer, "batch_norm.running_mean", HostTensor::of(TBEM_F32, {1}, std::vector<double>{3})},
      {BufferClass::State, "conv2d.weight.velocity", HostTensor::of(TBEM_F64, {3}, std::vector<double>{0.1, 1.0 / 3, -7})}};
  checkpoint.best.entries = {{BufferClass::Weight, "conv2d.weight", HostTensor::of(TBEM_F32, {2, 2}, std::vector<double>(4, 9))}};
  checkpoint.identity = {{"batch", "32"}, {"seed", "1"}};
  checkpoint.machine = {{"threads", "2"}};
  Progress& p = checkpoint.progress;
  p.epoch = 3;
  p.inEpoch = 2;
  p.step = 11;
  p.tally = {0.1 + 0.2, 57.5, 40, 60};
  p.seconds = 1.5;
  p.bestLoss = 1.0 / 3;
  p.bestEpoch = 2;
  EpochReport epoch;
  epoch.epoch = 1;
  epoch.train = {0.7, 0.25};
  epoch.validation = Score{0.8, std::nullopt};
  epoch.best = true;
  p.epochs = {epoch};
  p.test = Score{0.123456789012345678, 0.5};
  return checkpoint;
}

TEST_F(CheckpointTest, ReadsBackWhatWasWritten) {
  const Checkpoint before = sample();
  const auto written = writeCheckpoint(path(), before);
  ASSERT_TRUE(written) << written.error();
  const auto read = readCheckpoint(path());
  ASSERT_TRUE(read) << read.error();
  ASSERT_TRUE(*read);
  const Checkpoint& after = **read;
  EXPECT_EQ(after.identity, before.identity);
  EXPECT_EQ(after.machine, before.machine);
  ASSERT_EQ(after.now.entries.size(), 3U);
  for (const Snapshot::Entry& entry : before.now.entries) {
    const Snapshot::Entry* same = after.now.find(entry.kind, entry.path);
    ASSERT_NE(same, nullptr) << entry.path;
    EXPECT_EQ(same->value.dtype, entry.value.dtype);
    EXPECT_EQ(same->value.dims, entry.value.dims);
    EXPECT_EQ(same->value.data, entry.value.data);
  }
  ASSERT_EQ(after.best.entries.size(), 1U);
  const Progress &a = after.progress, &b = before.progress;
  EXPECT_EQ(std::tie(a.epoch, a.inEpoch, a.step, a.tally.loss, a.tally.weight, a.tally.correct, a.tally.counted, a.seconds,
                     a.bestLoss, a.bestEpoch),
            std::tie(b.epoch, b.inEpoch, b.step, b.tally.loss, b.tally.weight, b.tally.correct, b.tally.counted, b.seconds,
                     b.bestLoss, b.bestEpoch));
  ASSERT_EQ(a.epochs.size(), 1U);
  EXPECT_EQ(a.epochs[0].train.accuracy, 0.25);
  EXPECT_EQ(a.epochs[0].validation->accuracy, std::nullopt);
  EXPECT_EQ(a.test->loss, b.test->loss);
}

TEST_F(CheckpointTest, KeepsLossesThatAreNotFinite) {
  Checkpoint before = sample();
  before.progress.epochs[0].validation->loss = std::numeric_limits<double>::infinity();
  before.progress.test->loss = std::numeric_limits<double>::quiet_NaN();
  ASSERT_TRUE(writeCheckpoint(path(), before));
  const auto read = readCheckpoint(path());
  ASSERT_TRUE(read) << read.error();
  EXPECT_EQ((*read)->progress.epochs[0].validation->loss, std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan((*read)->progress.test->loss));
}

TEST_F(CheckpointTest, NoFileIsNoCheckpoint) {
  const auto read = readCheckpoint(path());
  ASSERT_TRUE(read);
  EXPECT_FALSE(*read);
}

TEST_F(CheckpointTest, OtherFilesAreRefusedWithAWayOut) {
  std::filesystem::create_directories(folder / "deep");
  std::ofstream(path()) << "this is no checkpoint at all";
  auto read = readCheckpoint(path());
  ASSERT_FALSE(read);
  EXPECT_NE(read.error().find("--fresh"), std::string::npos) << read.error();
  const data::Array array = data::fromTensor("weight/a", HostTensor::of(TBEM_F32, {1}, std::vector<double>{1}));
  ASSERT_TRUE(data::writeSafetensors(path(), std::vector<data::ArrayView>{array}));
  read = readCheckpoint(path());
  ASSERT_FALSE(read);
  EXPECT_NE(read.error().find("no checkpoint of a training"), std::string::npos) << read.error();
}

TEST_F(CheckpointTest, ACutOffFileIsRefused) {
  ASSERT_TRUE(writeCheckpoint(path(), sample()));
  const auto size = std::filesystem::file_size(path());
  for (const std::uintmax_t keep : {size - 1, size / 2, std::uintmax_t{12}, std::uintmax_t{0}}) {
    ASSERT_TRUE(writeCheckpoint(path(), sample()));
    std::filesystem::resize_file(path(), keep);
    EXPECT_FALSE(readCheckpoint(path())) << keep;
  }
}

TEST_F(CheckpointTest, AChangedByteIsRefused) {
  ASSERT_TRUE(writeCheckpoint(path(), sample()));
  std::ifstream in(path(), std::ios::binary);
  const std::string file{std::istreambuf_iterator<char>(in), {}};
  const std::size_t key = file.find("checksum");
  ASSERT_NE(key, std::string::npos);
  for (std::size_t at = 0; at < file.size(); ++at) {
    if (at >= key && at < key + 8)
      continue;  // under another name it is a file from before checksums: its arrays are what they were
    std::string changed = file;
    changed[at] = static_cast<char>(changed[at] ^ 1);
    std::ofstream(path(), std::ios::binary) << changed;
    EXPECT_FALSE(readCheckpoint(path())) << "byte " << at;
  }
}

TEST_F(CheckpointTest, MetadataThatIsNotOursIsRefused) {
  std::filesystem::create_directories(folder / "deep");
  const data::Array array = data::fromTensor("weight/a", HostTensor::of(TBEM_F32, {1}, std::vector<double>{1}));
  for (const char* progress : {"", "[]", "{\"epoch\": \"x\"}", "{\"epoch\": -1}"}) {
    const data::Metadata metadata = {{"tbem", "training 1"}, {"identity", "{}"}, {"machine", "{}"}, {"progress", progress}};
    ASSERT_TRUE(data::writeSafetensors(path(), std::vector<data::ArrayView>{array}, metadata));
    EXPECT_FALSE(readCheckpoint(path())) << progress;
  }
}

TEST(Differences, NamesWhatDiffers) {
  EXPECT_EQ(differences({{"batch", "32"}}, {{"batch", "32"}}), "");
  EXPECT_EQ(differences({{"batch", "32"}, {"seed", "1"}}, {{"batch", "64"}, {"seed", "1"}}), "batch was 32, is 64");
  EXPECT_EQ(differences({{"a", ""}}, {{"a", "x"}}), "a was none, is x");
  EXPECT_EQ(differences({{"a", "1"}, {"b", "2"}}, {{"a", "1"}}), "b was 2, is none");
}

}  // namespace
}  // namespace tbem::train
