// The object cache, native calls on the reference backend, and what a step allocates.
#include "test/unit/jit/Build.h"

#include <atomic>
#include <filesystem>
#include <fstream>
#include <new>

namespace {
std::atomic<bool> counting{false};
std::atomic<int> allocations{0};
}  // namespace
// Not inlined, so that the compiler neither pairs them with malloc and free nor leaves them out.
[[gnu::noinline]] void* operator new(std::size_t size) {
  if (counting) ++allocations;
  if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc();
}
// Beside it, since a sanitizer has its own where none is given.
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  if (counting) ++allocations;
  return std::malloc(size == 0 ? 1 : size);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace tbem::testing {
namespace {

struct Folder {
  std::filesystem::path path =
      std::filesystem::temp_directory_path() /
      ("tbem-cache-" + std::to_string(::getpid()) + "-" + ::testing::UnitTest::GetInstance()->current_test_info()->name());
  Folder() { std::filesystem::remove_all(path); }
  ~Folder() { std::filesystem::remove_all(path); }
};

/// y = relu(x W^T + b) on the reference backend: one native call, one loop in place.
struct DenseRelu {
  ProgramBuilder p;
  DenseRelu() {
    const BufferId x = p.add(layoutOf(TBEM_F32, {4, 3}, "plain"), "x"), w = p.add(layoutOf(TBEM_F32, {5, 3}, "plain"), "w"),
                   b = p.add(layoutOf(TBEM_F32, {5}, "plain"), "b"), y = p.add(layoutOf(TBEM_F32, {4, 5}, "plain"), "y");
    estimate::NativeCall call;
    call.primitive = TBEM_PRIMITIVE_dense;
    call.operands = {x, w, b, y};
    call.inputs = 3;
    p.program.calls.push_back(call);
    p.program.steps.push_back({estimate::Step::Kind::Call, 0, {}, {}, "dense"});
    LoopBuilder l;
    l.output(p.over(3, p.program[y].operand, "relu"), l.op(ElemOp::Maximum, l.input(y, {0, 1}), l.constant(0)));
    p.add(l);
  }
};

void runDenseRelu(const jit::Compiled& compiled) {
  auto made = runtime::Instance::create(compiled.executable, *tbem_backend_ref());
  ASSERT_TRUE(made) << made.error().message;
  auto& instance = **made;
  const auto x = randomTensor(compiled.executable.buffers[0].operand, 1),
             w = randomTensor(compiled.executable.buffers[1].operand, 2),
             b = randomTensor(compiled.executable.buffers[2].operand, 3);
  ASSERT_TRUE(instance.write(0, x) && instance.write(1, w) && instance.write(2, b));
  ASSERT_TRUE(instance.run(1));
  const auto y = instance.read(4)->doubles(), xs = x.doubles(), ws = w.doubles(), bs = b.doubles();
  for (std::size_t i = 0; i < 4; ++i) {
    for (std::size_t o = 0; o < 5; ++o) {
      double sum = bs[o];
      for (std::size_t k = 0; k < 3; ++k) sum += xs[i * 3 + k] * ws[o * 3 + k];
      EXPECT_NEAR(y[i * 5 + o], std::max(sum, 0.0), 1e-5);
    }
  }
}

TEST(Step, NativeCallAndLoopInPlace) {
  auto compiled = jit::compile(DenseRelu().p.program, {.cache = false});
  ASSERT_TRUE(compiled) << compiled.error().message;
  EXPECT_EQ(compiled->executable.calls[0].name, "dense");
  runDenseRelu(*compiled);
}

TEST(Step, AllocatesNothing) {
  auto compiled = jit::compile(DenseRelu().p.program, {.cache = false});
  ASSERT_TRUE(compiled);
  auto instance = *runtime::Instance::create(compiled->executable, *tbem_backend_ref());
  ASSERT_TRUE(instance->run(1));
  counting = true;
  bool ok = true;
  for (std::uint64_t step = 2; step < 12; ++step) ok = ok && instance->run(step).has_value();
  counting = false;
  EXPECT_TRUE(ok);
  EXPECT_EQ(allocations.load(), 0);
  counting = true;
  ::operator delete(::operator new(1));  // or the counter could not fail
  counting = false;
  EXPECT_GE(allocations.load(), 1);
}

TEST(Step, StatusOfTheFirstFailingCallComesBack) {
  DenseRelu d;
  d.p.program.calls.push_back(d.p.program.calls[0]);
  d.p.program.steps.push_back({estimate::Step::Kind::Call, 1, {}, {}, "second"});
  auto compiled = jit::compile(d.p.program, {.cache = false});
  ASSERT_TRUE(compiled);
  tbem_backend failing = *tbem_backend_ref();
  static int runs;
  runs = 0;
  failing.run = [](tbem_op* op, void* const* operands, void* workspace, const double* scalars) {
    return ++runs == 2 ? TBEM_FAILED : tbem_backend_ref()->run(op, operands, workspace, scalars);
  };
  auto instance = *runtime::Instance::create(compiled->executable, failing);
  auto ran = instance->run(7);
  ASSERT_FALSE(ran);
  EXPECT_EQ(ran.error().status, TBEM_FAILED);
  EXPECT_NE(ran.error().message.find("step 7 failed in second (call 1)"), std::string::npos) << ran.error().message;
  EXPECT_EQ(runs, 2);
}

TEST(Cache, SecondTimeLoadsAndRuns) {
  Folder folder;
  const jit::JitOptions options{.cacheDir = folder.path.string()};
  const DenseRelu d;
  auto first = jit::compile(d.p.program, options);
  ASSERT_TRUE(first);
  EXPECT_FALSE(first->cacheHit);
  EXPECT_EQ(first->cacheNote, "");
  EXPECT_TRUE(std::filesystem::exists(first->cachePath));
  auto second = jit::compile(d.p.program, options);
  ASSERT_TRUE(second);
  EXPECT_TRUE(second->cacheHit);
  runDenseRelu(*second);
}

TEST(Cache, WhatIsLoadedNeedsNoProgram) {
  Folder folder;
  jit::JitOptions options{.cacheDir = folder.path.string(), .link = false};
  const DenseRelu d;
  const std::string nowhere = "0123456789abcdef0123456789abcdef";
  auto refused = jit::load(nowhere, options.cacheDir);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find(nowhere + " is not in the cache"), std::string::npos) << refused.error().message;
  auto stored = jit::compile(d.p.program, options);
  ASSERT_TRUE(stored);
  EXPECT_EQ(stored->step, nullptr);
  EXPECT_TRUE(std::filesystem::exists(stored->cachePath));
  auto loaded = jit::load(stored->key, options.cacheDir);
  ASSERT_TRUE(loaded);
  const tbem_rt_step step = loaded->step;
  loaded->executable = stored->executable;
  loaded->executable.step = step;
  runDenseRelu(*loaded);
}

TEST(Cache, DamagedEntriesAreCompiledAgain) {
  Folder folder;
  const jit::JitOptions options{.cacheDir = folder.path.string()};
  const DenseRelu d;
  const std::string path = jit::compile(d.p.program, options)->cachePath;
  const auto size = std::filesystem::file_size(path);
  for (std::uint64_t at : {std::uint64_t{0}, std::uint64_t{20}, size / 2, size - 1}) {
    {
      std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
      file.seekg(static_cast<std::streamoff>(at));
      const char byte = static_cast<char>(file.get() ^ 0x40);
      file.seekp(static_cast<std::streamoff>(at));
      file.put(byte);
    }
    auto again = jit::compile(d.p.program, options);
    ASSERT_TRUE(again);
    EXPECT_FALSE(again->cacheHit) << at;
    EXPECT_NE(again->cacheNote.find("damaged"), std::string::npos);
    runDenseRelu(*again);
  }
  std::filesystem::resize_file(path, size / 3);
  auto again = jit::compile(d.p.program, options);
  ASSERT_TRUE(again);
  EXPECT_FALSE(again->cacheHit);
  EXPECT_TRUE(jit::compile(d.p.program, options)->cacheHit);
}

TEST(Cache, ObjectsThatOthersCouldHaveWrittenAreNotRun) {
  using std::filesystem::perms;
  const DenseRelu d;
  for (const bool wholeFolder : {true, false}) {
    Folder folder;
    const jit::JitOptions options{.cacheDir = folder.path.string()};
    const std::string path = jit::compile(d.p.program, options)->cachePath;
    ASSERT_TRUE(jit::compile(d.p.program, options)->cacheHit);
    EXPECT_EQ(std::filesystem::status(folder.path).permissions(), perms::owner_all);
    std::filesystem::permissions(wholeFolder ? folder.path : std::filesystem::path(path), perms::others_write,
                                 std::filesystem::perm_options::add);
    auto again = jit::compile(d.p.program, options);
    ASSERT_TRUE(again);
    EXPECT_FALSE(again->cacheHit);
    runDenseRelu(*again);
    if (!wholeFolder) continue;  // a file is replaced by what was just compiled
    EXPECT_NE(again->cacheNote.find("others can write"), std::string::npos) << again->cacheNote;
    auto refused = jit::load(again->key, folder.path.string());
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().message.find("others can write"), std::string::npos) << refused.error().message;
  }
}

TEST(Cache, LinksAreNotFollowed) {
  Folder folder, elsewhere;
  elsewhere.path += "-elsewhere";
  std::filesystem::remove_all(elsewhere.path);
  const DenseRelu d;
  const std::string outside = jit::compile(d.p.program, {.cacheDir = elsewhere.path.string()})->cachePath;
  const jit::JitOptions options{.cacheDir = folder.path.string()};
  const std::string path = jit::compile(d.p.program, options)->cachePath;
  std::filesystem::remove(path);
  std::filesystem::create_symlink(outside, path);
  auto again = jit::compile(d.p.program, options);
  ASSERT_TRUE(again);
  EXPECT_FALSE(again->cacheHit);
  EXPECT_FALSE(std::filesystem::is_symlink(path)) << "the link is replaced by an object of our own";
}

TEST(Cache, AnotherProgramHasAnotherKeyAndNamesDoNotMatter) {
  DenseRelu a, b, c;
  b.p.program.loops[0].nodes[1].value = {1, 1};
  c.p.program.buffers[0].name = "renamed";
  c.p.program.steps[0].name = "renamed";
  const jit::JitOptions options{.cache = false};
  const std::string key = jit::compile(a.p.program, options)->key;
  EXPECT_NE(key, jit::compile(b.p.program, options)->key);
  EXPECT_EQ(key, jit::compile(c.p.program, options)->key);
}

TEST(Cache, FolderThatCannotBeWrittenIsNoError) {
  auto compiled = jit::compile(DenseRelu().p.program, {.cacheDir = "/proc/no-such-folder"});
  ASSERT_TRUE(compiled);
  EXPECT_NE(compiled->cacheNote.find("/proc/no-such-folder"), std::string::npos);
  runDenseRelu(*compiled);
}

}  // namespace
}  // namespace tbem::testing
