// Steps behind a gate that run for a few samples at a time, each thread's own ones.
#include "test/prop/gates/Loaded.h"

#include <fmt/format.h>

#include <thread>

namespace tbem::test {
namespace {

using runtime::HostTensor;

/// Three blocks, each behind a gate, for seven samples.
std::string blocks(int channels, int size) {
  return fmt::format(R"(
network net(x: tensor[b, c, h, w], flag: tensor[b]) -> tensor[b, 2] {{
  var y = x
  for i in 0 .. 3 as unit {{ y = skip residual(y, out: c) when flag > 0 leaving y }}
  return y |> flatten |> dense(2)
}}
design d of net {{ input x: [7, {}, {}, {}]
  input flag: [7] }}
)",
                     channels, size, size);
}

/// So that `going` of the seven samples are computed; these are not the first ones.
void setFlags(runtime::Instance& instance, std::int64_t going, tbem_dtype dtype) {
  std::vector<double> flags(7, 1);
  for (std::int64_t i = 0; i < going; ++i) flags[static_cast<std::size_t>(i * 3 % 7)] = -1;
  ASSERT_TRUE(instance.writeStorage(instance.findStorage("flag").value(), HostTensor::of(dtype, {7}, flags)));
}

/// Each computed block is one chunk from its gather to its last loop, with a list of its own. Convolutions run for a few of a
/// thread's samples at a time; the sample that is left over is for both threads.
TEST(Chunks, TakeWholeBlocks) {
  Loaded l = load(blocks(4, 5), TBEM_F64, noting(), kFewBytes);
  ASSERT_TRUE(l.instance);
  const estimate::Program& program = *l.program;
  ASSERT_EQ(program.chunks.size(), 3U);
  for (const estimate::Chunk& chunk : program.chunks) {
    EXPECT_EQ(program.steps[chunk.first].name, "move_rows");
    EXPECT_EQ(program.steps[chunk.last].name, "channel_affine+add+relu");
    EXPECT_EQ(program.calls[program.steps[chunk.first].index].operands[1], chunk.rows);
    EXPECT_NE(chunk.rows, program.branches[chunk.branch].rows);
    EXPECT_EQ(chunk.threads, 2);
    EXPECT_GE(chunk.samples, 1);
    EXPECT_LE(chunk.samples, 3);
    // While threads are at different steps, what one of them has may lie nowhere where another one's ever does.
    for (std::uint32_t s = chunk.first; s <= chunk.last; ++s) {
      for (const estimate::BufferId id : program.buffersOf(program.steps[s])) {
        const estimate::Buffer& buffer = program[id];
        if (buffer.part == 0) continue;
        const estimate::Allocation& place = program.allocations[buffer.allocation];
        EXPECT_LE(place.first, chunk.first) << buffer.name;
        EXPECT_GE(place.last, chunk.last) << buffer.name;
        EXPECT_GT(place.bytes, buffer.part) << buffer.name;
      }
    }
  }
  const std::int64_t size = program.chunks.front().samples;
  for (std::int64_t going = 0; going <= 7; ++going) {
    setFlags(*l.instance, going, TBEM_F64);
    ran.clear();
    ASSERT_TRUE(l.instance->run(1));
    std::vector<std::int64_t> expected;
    for (int block = 0; block < 3; ++block) {
      for (int thread = 0; thread < 2; ++thread) {
        for (std::int64_t done = 0; done < going / 2; done += size)
          expected.insert(expected.end(), 2, std::min(size, going / 2 - done));
      }
      if (going % 2 == 1) expected.insert(expected.end(), 2, 1);
    }
    EXPECT_EQ(rowsOf(TBEM_PRIMITIVE_conv2d), expected) << going;
  }
}

thread_local std::string saidHere;

/// cpu, whose threads but the first one fail.
const tbem_backend& failingAside() {
  static const std::thread::id first = std::this_thread::get_id();
  static const tbem_backend table = [] {
    tbem_backend t = *tbem_backend_cpu();
    t.run = [](tbem_op* op, void* const* operands, void* work, const double* scalars) {
      if (std::this_thread::get_id() == first) return tbem_backend_cpu()->run(op, operands, work, scalars);
      saidHere = "nothing on the side";
      return TBEM_FAILED;
    };
    // The halves on two threads, whichever is quicker.
    t.parallel = [](std::int32_t, void (*body)(void*, std::int64_t, std::int64_t), void* context, std::int64_t count) {
      std::thread aside([&] { body(context, count / 2, count); });
      body(context, 0, count / 2);
      aside.join();
    };
    t.last_error = [] { return saidHere.c_str(); };
    return t;
  }();
  return table;
}

/// A loop that has one element a sample is no part of a chunk: its buffer has room for the whole batch, which it runs over.
TEST(Chunks, LeaveOutOneElementASample) {
  const std::string text = R"(
block scored(x: tensor[b, c, h, w]) -> tensor[b, c, h, w] {
  let score = x |> conv2d(out: c, kernel: 3, pad: 1) |> relu |> global_avg_pool |> dense(1) |> sigmoid
  return relu(x * reshape(score, shape: [b, 1, 1, 1]) + conv2d(x, out: c, kernel: 1))
}
network net(x: tensor[b, c, h, w], flag: tensor[b]) -> tensor[b, c, h, w] {
  let y = skip scored(x) when flag > 0 leaving x
  return y
}
design d of net { input x: [128, 4, 4, 4]
  input flag: [128] }
)";
  for (const auto& [type, backend] : {std::pair{TBEM_F64, tbem_backend_ref()}, std::pair{TBEM_F32, tbem_backend_cpu()}}) {
    std::vector<double> results[2];
    for (const std::uint64_t bytes : {std::uint64_t{12000}, std::uint64_t{0}}) {
      Loaded l = load(text, type, *backend, bytes);
      ASSERT_TRUE(l.instance);
      std::vector<double> flags(128);
      for (std::size_t i = 0; i < flags.size(); ++i) flags[i] = i % 3 == 1 ? 1 : -1;
      ASSERT_TRUE(l.instance->writeStorage(l.instance->findStorage("flag").value(), HostTensor::of(type, {128}, flags)));
      ASSERT_TRUE(l.instance->run(1));
      const auto arena = l.instance->measureArena();
      EXPECT_TRUE(arena && arena->guardIntact && arena->stray == runtime::kAbsent);
      results[bytes == 0 ? 0 : 1] = l.instance->read(l.instance->executable().outputs.front())->doubles();
    }
    ASSERT_EQ(results[0].size(), results[1].size());
    for (std::size_t i = 0; i < results[0].size(); ++i) ASSERT_NEAR(results[0][i], results[1][i], 1e-5) << backend->name << i;
  }
}

/// Blocks whose rows and weights leave room for two samples of a thread on `cpu`: 4 channels of 8x8 in f32 take 1 KiB.
struct Thin {
  int channels;
  std::uint64_t chunkBytes;
};
class ThinBlocks : public ::testing::TestWithParam<Thin> {};

/// The first room from `bytes` on that two samples of a thread have: a row's bytes depend on the processor's layouts.
std::uint64_t roomForTwo(const std::string& text, std::uint64_t bytes) {
  for (; bytes < 1 << 20; bytes += bytes / 4) {
    const Loaded tried = load(text, TBEM_F32, *tbem_backend_cpu(), bytes);
    if (!tried.instance || (!tried.program->chunks.empty() && tried.program->chunks.front().samples >= 2)) break;
  }
  return bytes;
}

/// Threads that run side by side give what all samples at once give.
TEST_P(ThinBlocks, AreTheSameOnEveryThread) {
  const std::string text = blocks(GetParam().channels, 8);
  Loaded few = load(text, TBEM_F32, *tbem_backend_cpu(), roomForTwo(text, GetParam().chunkBytes));
  Loaded all = load(text, TBEM_F32, *tbem_backend_cpu());
  ASSERT_TRUE(few.instance && all.instance);
  ASSERT_EQ(few.program->chunks.size(), 3U);
  EXPECT_EQ(few.program->chunks.front().threads, 2);
  EXPECT_EQ(few.program->chunks.front().samples, 2);
  EXPECT_LE(few.program->arena, all.program->arena);
  for (int repeat = 0; repeat < 20; ++repeat) {
    for (std::int64_t going = 0; going <= 7; ++going) {
      std::vector<double> results[2];
      for (Loaded* l : {&few, &all}) {
        setFlags(*l->instance, going, TBEM_F32);
        ASSERT_TRUE(l->instance->run(1));
        const auto arena = l->instance->measureArena();
        EXPECT_TRUE(arena && arena->guardIntact && arena->stray == runtime::kAbsent);
        results[l == &few ? 0 : 1] = l->instance->read(l->instance->executable().outputs.front())->doubles();
      }
      ASSERT_EQ(results[0].size(), 14U);
      for (std::size_t i = 0; i < 14; ++i) EXPECT_NEAR(results[0][i], results[1][i], 1e-5) << going;
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Channels, ThinBlocks, ::testing::Values(Thin{4, 10'000}, Thin{16, 40'000}));

/// A thread's failure is the step's, with what the backend said to that thread.
TEST(Chunks, SayWhatFailedInAThread) {
  Loaded l = load(blocks(16, 8), TBEM_F32, failingAside(), 40'000);
  ASSERT_TRUE(l.instance);
  for (const std::int64_t going : {0, 7}) {
    setFlags(*l.instance, going, TBEM_F32);
    const auto done = l.instance->run(1);
    EXPECT_EQ(done.has_value(), going == 0);
    if (done) continue;
    EXPECT_EQ(done.error().status, TBEM_FAILED);
    EXPECT_NE(done.error().message.find("move_rows"), std::string::npos) << done.error().message;
    EXPECT_NE(done.error().message.find("nothing on the side"), std::string::npos) << done.error().message;
  }
}

/// A value that is read again behind a gate inside the block outlives the steps before that gate: those run for all samples at
/// once.
TEST(Chunks, LeaveOutWhatLasts) {
  Loaded l = load(R"(
network net(x: tensor[b, 4, 5, 5], flag: tensor[b]) -> tensor[b, 2] {
  let y = skip inner(x, flag) when flag > 1 leaving x
  return y |> flatten |> dense(2)
}
block inner(x: tensor[b, 4, 5, 5], flag: tensor[b]) -> tensor[b, 4, 5, 5] {
  let z = x |> conv2d(out: 4, kernel: 3, pad: 1)
  let u = skip z |> conv2d(out: 4, kernel: 3, pad: 1) |> relu when flag > 0 leaving z
  return u + z
}
design d of net { input x: [7, 4, 5, 5]
  input flag: [7] }
)",
                  TBEM_F64, *tbem_backend_ref(), kFewBytes);
  ASSERT_TRUE(l.program);
  // The inner block alone: its convolution is the only one whose operands are made and used up among the steps of one branch.
  ASSERT_EQ(l.program->chunks.size(), 1U);
  const estimate::Chunk& chunk = l.program->chunks.front();
  std::vector<std::string> names;
  for (std::uint32_t s = chunk.first; s <= chunk.last; ++s) names.push_back(l.program->steps[s].name);
  EXPECT_EQ(names, (std::vector<std::string>{"move_rows", "conv2d", "relu"}));
}

}  // namespace
}  // namespace tbem::test
