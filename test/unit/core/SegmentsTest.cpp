#include "runtime/core/Segments.h"

#include <gtest/gtest.h>

#include <string>

namespace tbem::runtime {
namespace {

/// A device that writes down what it is asked for.
struct Device {
  std::string done;
  int open = 0;         ///< recordings that are held
  bool fails = false;   ///< at the next piece
  bool cannot = false;  ///< record
  static Device* now;
};
Device* Device::now = nullptr;

struct SegmentsTest : ::testing::Test {
  SegmentsTest() {
    Device::now = &device;
    table.record = [] {
      Device::now->done += Device::now->cannot ? "" : "(";
      return Device::now->cannot ? TBEM_UNSUPPORTED : TBEM_OK;
    };
    table.recorded = [](tbem_recording** out) {
      Device::now->done += ")";
      ++Device::now->open;
      *out = reinterpret_cast<tbem_recording*>(&Device::now->open);
      return tbem_status{TBEM_OK};
    };
    table.replay = [](tbem_recording*) {
      Device::now->done += "!";
      return tbem_status{TBEM_OK};
    };
    table.forget = [](tbem_recording*) { --Device::now->open; };
  }

  /// A step of two segments: so many pieces, a count, and as many zeros as that.
  std::string step(int pieces, int count, std::uint64_t seed = 0) {
    device.done.clear();
    segments.begin({seed});
    for (int i = 0; i < pieces; ++i) EXPECT_TRUE(segments.takes(Segments::Kind::Call, {static_cast<std::uint64_t>(i)}));
    status = flush();
    device.done += " ";
    for (int i = 0; i < count && status == TBEM_OK; ++i) EXPECT_TRUE(segments.takes(Segments::Kind::Zero, {7}));
    if (status == TBEM_OK) status = flush();
    segments.end();
    EXPECT_FALSE(segments.takes(Segments::Kind::Zero, {7})) << "work behind a step is done at once";
    return device.done;
  }
  tbem_status flush() {
    return segments.flush([this](const Segments::Work& work) {
      EXPECT_FALSE(segments.takes(work.kind, {0})) << "what is being done is not kept again";
      if (device.fails) return tbem_status{TBEM_FAILED};
      device.done += work.kind == Segments::Kind::Zero ? "z" : work.kind == Segments::Kind::MicroBatch ? "m" : "c";
      return tbem_status{TBEM_OK};
    });
  }

  Device device;
  tbem_device_table table{};
  Segments segments{table};
  tbem_status status = TBEM_OK;
};

TEST_F(SegmentsTest, AreRecordedWhenTheyComeAgain) {
  EXPECT_EQ(step(5, 4), "ccccc zzzz");
  EXPECT_EQ(step(5, 4), "(ccccc)! (zzzz)!");
  EXPECT_EQ(step(5, 4), "! !");
  EXPECT_EQ(step(5, 6), "! zzzzzz") << "another count: that segment is a new one";
  EXPECT_EQ(step(5, 6), "! (zzzzzz)!");
  EXPECT_EQ(step(5, 4), "! !") << "and the other one is still known";
  EXPECT_EQ(segments.recorded(), 3U);
  segments.forget();
  EXPECT_EQ(device.open, 0);
  EXPECT_EQ(step(5, 4), "ccccc zzzz");
}

TEST_F(SegmentsTest, DependOnWhatTheyAreGiven) {
  step(5, 4, 1);
  step(5, 4, 1);
  EXPECT_EQ(step(5, 4, 2), "ccccc zzzz") << "another seed";
  EXPECT_EQ(step(5, 4, 1), "! !");
}

TEST_F(SegmentsTest, OfFewPiecesAreNotRecorded) {
  for (int i = 0; i < 4; ++i) EXPECT_EQ(step(3, 1), "ccc z");
  EXPECT_EQ(segments.recorded(), 0U);
}

TEST_F(SegmentsTest, TellTheHostItsNumbersAlthoughTheyAreReplayed) {
  const auto accumulated = [&] {
    device.done.clear();
    segments.begin({});
    segments.takes(Segments::Kind::MicroBatch, {3});
    for (std::uint64_t i = 0; i < 4; ++i) segments.takes(Segments::Kind::Call, {i});
    flush();
    segments.end();
    return device.done;
  };
  EXPECT_EQ(accumulated(), "mcccc");
  EXPECT_EQ(accumulated(), "(mcccc)!");
  EXPECT_EQ(accumulated(), "m!");
}

TEST_F(SegmentsTest, AreDoneOneByOneWhereTheDeviceRecordsNothing) {
  device.cannot = true;
  for (int i = 0; i < 3; ++i) EXPECT_EQ(step(5, 4), "ccccc zzzz");
}

/// What failed is neither replayed nor leaked, and is recorded later.
TEST_F(SegmentsTest, OfWhichAPieceFailsAreNotKept) {
  step(5, 4);
  device.fails = true;
  EXPECT_EQ(step(5, 4), "() ");
  EXPECT_EQ(status, TBEM_FAILED);
  EXPECT_EQ(device.open, 0);
  device.fails = false;
  EXPECT_EQ(step(5, 4), "(ccccc)! (zzzz)!");
  EXPECT_EQ(status, TBEM_OK);
}

/// Steps whose seeds never come again must not fill the memory with what is known of them.
TEST_F(SegmentsTest, AreRememberedUpToABound) {
  for (std::uint64_t seed = 0; seed < 40'000; ++seed) step(8, 4, seed);
  EXPECT_EQ(step(8, 4, 0), "(cccccccc)! (zzzz)!") << "the first ones are";
  EXPECT_EQ(step(8, 4, 39'999), "cccccccc zzzz") << "the last ones are not";
}

}  // namespace
}  // namespace tbem::runtime
